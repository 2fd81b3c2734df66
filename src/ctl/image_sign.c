/* SPDX-License-Identifier: Apache-2.0 */
/* Host images, offline: describing, signing, one more signature, verifying. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "ctl/bzimage.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"
#include "format/manifest.h"

#define COPY_CHUNK (1u << 20)

/* ---- artifacts ------------------------------------------------------------------ */

static enum reason too_large(const char *path)
{
	fprintf(stderr, "bootgatectl: %s: larger than an image may be\n", path);
	return R_FORMAT_TOO_LARGE;
}

/* Size and SHA-256 of a file, read once; copied to `to` where it is not -1. */
static enum reason artifact_of(const char *path, int to, const char *to_path, struct artifact *ret)
{
	_cleanup_(digest_free) struct digest *d = NULL;
	_cleanup_free_ uint8_t *chunk = malloc(COPY_CHUNK);
	_cleanup_fd_ int fd = -1;
	uint8_t digest[DIGEST_MAX];
	uint64_t size = 0;
	ssize_t n;

	if (!chunk)
		return R_INTERNAL_MEMORY;
	if (fd_open_named(path, O_RDONLY, &fd) != R_OK)
		return ctl_file_error(path);
	TRY(digest_begin(ALG_SHA256, &d));
	while ((n = read(fd, chunk, COPY_CHUNK)) > 0) {
		struct bytes part = bytes_of(chunk, (size_t)n);

		size += part.n;
		if (size > LIMIT_ARTIFACT)
			return too_large(path);
		TRY(digest_update(d, part));
		if (to >= 0 && fd_write_full(to, part) != R_OK)
			return ctl_file_error(to_path);
	}
	if (n < 0)
		return ctl_file_error(path);
	TRY(digest_end(d, digest));
	ret->size = size;
	memcpy(ret->sha256, digest, SHA256_LEN);
	return R_OK;
}

static enum reason make_folder(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST ? R_OK : ctl_file_error(path);
}

/* MIRROR/sha256/<hex>, put there whole. */
static enum reason publish(const char *path, const char *mirror, struct artifact *ret)
{
	char folder[1024], part[1100], place[1200], hex[2 * SHA256_LEN + 1];

	TRY(ctl_path(mirror, "sha256", folder, sizeof(folder)));
	TRY(make_folder(mirror));
	TRY(make_folder(folder));
	snprintf(part, sizeof(part), "%s/.part-XXXXXX", folder);
	_cleanup_fd_ int fd = mkstemp(part);
	if (fd < 0)
		return ctl_file_error(folder);
	enum reason r = artifact_of(path, fd, part, ret);
	if (r == R_OK && (fchmod(fd, 0644) != 0 || fsync(fd) != 0))
		r = ctl_file_error(part);
	if (r == R_OK) {
		hex_encode(BYTES(ret->sha256), hex);
		snprintf(place, sizeof(place), "%s/%s", folder, hex);
		if (rename(part, place) != 0)
			r = ctl_file_error(place);
	}
	if (r != R_OK)
		unlink(part);
	return r;
}

static enum reason artifact(const struct options *o, const char *name, struct artifact *ret)
{
	const char *path = option(o, name), *mirror = option(o, "mirror");

	return mirror ? publish(path, mirror, ret) : artifact_of(path, -1, NULL, ret);
}

/* ---- sign ------------------------------------------------------------------------- */

/* NAME:TYPE:BOUND */
static enum reason parameter(const char *text, struct manifest_parameter *ret)
{
	static const char *const types[] = { "hex", "address", "host", "number" };
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	uint64_t bound;

	if (!second || (size_t)(colon - text) >= sizeof(ret->name) ||
	    text_u64(bytes_str(second + 1), UINT32_MAX, &bound) != R_OK)
		return R_USAGE;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(colon - text), text);
	ret->bound = (uint32_t)bound;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (strlen(types[i]) == (size_t)(second - colon - 1) &&
		    strncmp(types[i], colon + 1, strlen(types[i])) == 0) {
			ret->type = (enum parameter_type)i;
			return R_OK;
		}
	}
	return R_USAGE;
}

static enum reason number(const struct options *o, const char *name, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	if (!option(o, name) || text_u64(bytes_str(option(o, name)), max, ret) == R_OK)
		return R_OK;
	fprintf(stderr, "bootgatectl: --%s %s: not a number up to %llu\n", name, option(o, name),
		(unsigned long long)max);
	return R_USAGE;
}

static enum reason text(const struct options *o, const char *name, char *ret, size_t n)
{
	const char *value = option(o, name);

	if (!value || strlen(value) >= n) {
		fprintf(stderr, "bootgatectl: --%s %s\n", name, value ? "is too long" : "is missing");
		return R_USAGE;
	}
	memcpy(ret, value, strlen(value) + 1);
	return R_OK;
}

/* Before it is signed, not when a node cannot start it. */
static enum reason kernel_check(const char *path)
{
	_cleanup_fd_ int fd = -1;
	uint8_t head[BZIMAGE_HEAD];

	if (fd_open_named(path, O_RDONLY, &fd) != R_OK)
		return ctl_file_error(path);
	ssize_t n = read(fd, head, sizeof(head));
	if (n < 0)
		return ctl_file_error(path);
	enum reason r = bzimage_check(bytes_of(head, (size_t)n));
	if (r != R_OK)
		fprintf(stderr, "bootgatectl: %s: not signed\n", path);
	return r;
}

static enum reason describe(const struct options *o, struct manifest *m)
{
	const char *const *parameters;
	uint64_t security_version;

	TRY(text(o, "line", m->line, sizeof(m->line)));
	TRY(text(o, "version", m->version, sizeof(m->version)));
	TRY(text(o, "cmdline", m->cmdline, sizeof(m->cmdline)));
	TRY(number(o, "security-version", UINT32_MAX, &security_version));
	TRY(number(o, "memory", UINT64_MAX / 2, &m->memory));
	m->security_version = (uint32_t)security_version;
	if (option(o, "purpose") && !purpose_find(option(o, "purpose"), &m->purpose)) {
		fprintf(stderr, "bootgatectl: --purpose %s: there is host, maintenance, cvm\n", option(o, "purpose"));
		return R_USAGE;
	}
	m->parameter_count = option_all(o, "parameter", &parameters);
	if (m->parameter_count > MANIFEST_PARAMETERS_MAX)
		return R_USAGE;
	for (size_t i = 0; i < m->parameter_count; i++) {
		if (parameter(parameters[i], &m->parameter[i]) == R_OK)
			continue;
		fprintf(stderr, "bootgatectl: --parameter %s: not NAME:TYPE:BOUND\n", parameters[i]);
		return R_USAGE;
	}
	TRY(kernel_check(option(o, "kernel")));
	TRY(artifact(o, "kernel", &m->kernel));
	return artifact(o, "initrd", &m->initrd);
}

static void artifact_print(const struct options *o, const char *name, const struct artifact *a)
{
	char hex[2 * SHA256_LEN + 1];

	hex_encode(BYTES(a->sha256), hex);
	printf("  %s  %s%s%llu bytes, sha256 %s\n", name, option(o, name) ? option(o, name) : "",
	       option(o, name) ? ", " : "", (unsigned long long)a->size, hex);
}

static void signed_print(const struct options *o, const struct manifest *m, const char *how)
{
	printf("%s: %s %s, purpose %s, security version %u, %s\n", o->argument[0], m->line, m->version,
	       purpose_name(m->purpose), m->security_version, how);
	artifact_print(o, "kernel", &m->kernel);
	artifact_print(o, "initrd", &m->initrd);
	if (option(o, "mirror"))
		printf("  both are in %s/sha256\n", option(o, "mirror"));
}

static enum reason sign(const struct options *o)
{
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	_cleanup_(blob_free) struct blob payload = BLOB(LIMIT_MANIFEST), cose = BLOB(LIMIT_MANIFEST);
	struct cose_signer signers[OPTION_VALUES_MAX] = { 0 };
	const char *const *keys;
	char how[48];
	size_t count = option_all(o, "key", &keys);
	enum reason r = R_OK;

	if (!m)
		return R_INTERNAL_MEMORY;
	TRY(describe(o, m));
	TRY(manifest_write(m, &payload));
	for (size_t i = 0; i < count && r == R_OK; i++) {
		r = ctl_signer(keys[i], &signers[i]);
		for (size_t k = 0; k < i && r == R_OK; k++)
			if (memcmp(signers[k].id, signers[i].id, KEY_ID_LEN) == 0)
				fprintf(stderr, "bootgatectl: %s and %s are the same key\n", keys[k], keys[i]);
	}
	if (r == R_OK)
		r = cose_sign_write(blob_bytes(&payload), COSE_AAD_MANIFEST, signers, count, &cose);
	for (size_t i = 0; i < count; i++)
		ctl_signer_free(&signers[i]);
	TRY(r);
	TRY(ctl_write_file(o->argument[0], blob_bytes(&cose)));
	snprintf(how, sizeof(how), "signed with %zu key%s", count, count == 1 ? "" : "s");
	signed_print(o, m, how);
	return R_OK;
}

int ctl_image_sign(int argc, char **argv)
{
	static const struct option_rule rules[] = {
		{ "key", false, true },	       { "line", false, false },	     { "purpose", false, false },
		{ "version", false, false },   { "security-version", false, false }, { "kernel", false, false },
		{ "initrd", false, false },    { "cmdline", false, false },	     { "parameter", false, true },
		{ "memory", false, false },    { "mirror", false, false },
	};
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "key") ||
	    !option(&o, "kernel") || !option(&o, "initrd"))
		return CTL_USAGE;
	enum reason r = sign(&o);
	if (r == R_USAGE)
		return CTL_USAGE;
	return r == R_OK ? 0 : ctl_refused(r, o.argument[0]);
}

/* ---- verify ---------------------------------------------------------------------------- */

static enum reason same_file(const struct options *o, const char *name, const struct artifact *want)
{
	struct artifact have = { 0 };

	if (!option(o, name))
		return R_OK;
	TRY(artifact_of(option(o, name), -1, NULL, &have));
	if (have.size == want->size && memcmp(have.sha256, want->sha256, SHA256_LEN) == 0)
		return R_OK;
	fprintf(stderr, "bootgatectl: %s: not the %s of this manifest\n", option(o, name), name);
	return have.size != want->size ? R_IMAGE_SIZE : R_IMAGE_DIGEST;
}

/* Which of the pinned keys signed: a line for each, and their number. */
static enum reason signers_print(struct bytes cose, const struct pinned_keys *keys)
{
	struct pinned_keys one = { .count = 1 };
	struct bytes payload;
	size_t valid;

	for (size_t i = 0; i < keys->count; i++) {
		one.key[0] = keys->key[i];
		enum reason r = cose_sign_verify(cose, COSE_AAD_MANIFEST, &one, 1, &payload, &valid);
		if (r == R_COSE_SIGNATURE)
			fprintf(stderr, "bootgatectl: a signature under the id of %s is not its\n", keys->key[i].name);
		if (r != R_OK && r != R_MANIFEST_THRESHOLD)
			return r;
		printf("  %-9s %s\n", r == R_OK ? "signed" : "not", keys->key[i].name);
	}
	return R_OK;
}

static enum reason verify(const struct options *o, struct manifest *m)
{
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST);
	struct pinned_keys keys;
	struct bytes payload;
	uint64_t threshold;
	size_t valid;

	TRY(number(o, "threshold", COSE_KEYS_MAX, &threshold));
	if (threshold == 0)
		threshold = 1;
	TRY(ctl_keys(option(o, "keys"), &keys));
	TRY(ctl_read_file(o->argument[0], LIMIT_MANIFEST, &cose));
	TRY(signers_print(blob_bytes(&cose), &keys));
	TRY(cose_sign_verify(blob_bytes(&cose), COSE_AAD_MANIFEST, &keys, threshold, &payload, &valid));
	TRY(manifest_read(payload, m));
	TRY(same_file(o, "kernel", &m->kernel));
	TRY(same_file(o, "initrd", &m->initrd));
	printf("%s: %s %s, purpose %s, security version %u, signed by %zu of %zu pinned keys, %llu needed\n",
	       o->argument[0], m->line, m->version, purpose_name(m->purpose), m->security_version, valid, keys.count,
	       (unsigned long long)threshold);
	return R_OK;
}

int ctl_image_verify(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "keys", false, false },
						    { "threshold", false, false },
						    { "kernel", false, false },
						    { "initrd", false, false } };
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	struct options o;

	if (!m || !options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "keys"))
		return CTL_USAGE;
	enum reason r = verify(&o, m);
	if (r == R_USAGE)
		return CTL_USAGE;
	return r == R_OK ? 0 : ctl_refused(r, o.argument[0]);
}

/* ---- one more signature ---------------------------------------------------------------- */

/* What is signed is looked at first: the holder of this key answers for it as well. */
static enum reason add_signature(const struct options *o, struct manifest *m)
{
	_cleanup_(blob_free) struct blob before = BLOB(LIMIT_MANIFEST), after = BLOB(LIMIT_MANIFEST);
	struct cose_signer signer;
	struct pinned_keys keys;
	struct bytes payload;

	TRY(ctl_read_file(o->argument[0], LIMIT_MANIFEST, &before));
	TRY(cose_payload(blob_bytes(&before), &payload));
	TRY(manifest_read(payload, m));
	TRY(same_file(o, "kernel", &m->kernel));
	TRY(same_file(o, "initrd", &m->initrd));
	TRY(ctl_signer(option(o, "key"), &signer));
	enum reason r = cose_sign_add(blob_bytes(&before), COSE_AAD_MANIFEST, &signer, &after);
	ctl_signer_free(&signer);
	TRY(r);
	if (option(o, "keys")) {
		TRY(ctl_keys(option(o, "keys"), &keys));
		TRY(signers_print(blob_bytes(&after), &keys));
	}
	TRY(ctl_write_file(o->argument[0], blob_bytes(&after)));
	signed_print(o, m, "one signature more");
	return R_OK;
}

int ctl_image_add_signature(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "key", false, false },
						    { "keys", false, false },
						    { "kernel", false, false },
						    { "initrd", false, false } };
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	struct options o;

	if (!m || !options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "key"))
		return CTL_USAGE;
	enum reason r = add_signature(&o, m);
	return r == R_OK ? 0 : ctl_refused(r, o.argument[0]);
}
