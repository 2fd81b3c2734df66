/* SPDX-License-Identifier: Apache-2.0 */
/* Host images: signing and verifying offline, adding and selecting at the server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "ctl/bzimage.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"
#include "format/manifest.h"

#define COPY_CHUNK (1u << 20)
#define KEY_FILE_MAX 8192u

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

static enum reason sign_digest(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	return es256_sign(ctx, digest, ret);
}

static enum reason signer_of(const char *path, struct cose_signer *ret)
{
	_cleanup_(blob_free) struct blob pem = BLOB(KEY_FILE_MAX);
	struct private_key *key = NULL;
	struct ec_public public_key;

	TRY(ctl_read_file(path, KEY_FILE_MAX, &pem));
	if (private_key_from_pem(blob_bytes(&pem), &key) != R_OK) {
		fprintf(stderr, "bootgatectl: %s: not a P-256 private key in PEM\n", path);
		return R_SITE_KEYS;
	}
	*ret = (struct cose_signer){ .sign = sign_digest, .ctx = key };
	TRY(private_key_public(key, &public_key));
	return ec_public_id(&public_key, ret->id);
}

static void artifact_print(const struct options *o, const char *name, const struct artifact *a)
{
	char hex[2 * SHA256_LEN + 1];

	hex_encode(BYTES(a->sha256), hex);
	printf("  %s  %s, %llu bytes, sha256 %s\n", name, option(o, name), (unsigned long long)a->size, hex);
}

static void signed_print(const struct options *o, const struct manifest *m, size_t keys)
{
	printf("%s: %s %s, purpose %s, security version %u, signed with %zu keys\n", o->argument[0], m->line,
	       m->version, purpose_name(m->purpose), m->security_version, keys);
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
	size_t count = option_all(o, "key", &keys);
	enum reason r = R_OK;

	if (!m)
		return R_INTERNAL_MEMORY;
	TRY(describe(o, m));
	TRY(manifest_write(m, &payload));
	for (size_t i = 0; i < count && r == R_OK; i++) {
		r = signer_of(keys[i], &signers[i]);
		for (size_t k = 0; k < i && r == R_OK; k++)
			if (memcmp(signers[k].id, signers[i].id, KEY_ID_LEN) == 0)
				fprintf(stderr, "bootgatectl: %s and %s are the same key\n", keys[k], keys[i]);
	}
	if (r == R_OK)
		r = cose_sign_write(blob_bytes(&payload), COSE_AAD_MANIFEST, signers, count, &cose);
	for (size_t i = 0; i < count; i++) {
		struct private_key *key = signers[i].ctx;
		private_key_free(&key);
	}
	TRY(r);
	TRY(ctl_write_file(o->argument[0], blob_bytes(&cose)));
	signed_print(o, m, count);
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

static enum reason verify(const struct options *o, size_t *ret_valid, struct manifest *m)
{
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST);
	struct pinned_keys keys;
	struct bytes payload;
	uint64_t threshold;

	TRY(number(o, "threshold", COSE_KEYS_MAX, &threshold));
	TRY(ctl_keys(option(o, "keys"), &keys));
	TRY(ctl_read_file(o->argument[0], LIMIT_MANIFEST, &cose));
	TRY(cose_sign_verify(blob_bytes(&cose), COSE_AAD_MANIFEST, &keys, threshold ? threshold : 1, &payload,
			     ret_valid));
	TRY(manifest_read(payload, m));
	TRY(same_file(o, "kernel", &m->kernel));
	return same_file(o, "initrd", &m->initrd);
}

int ctl_image_verify(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "keys", false, false },
						    { "threshold", false, false },
						    { "kernel", false, false },
						    { "initrd", false, false } };
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	struct options o;
	size_t valid = 0;

	if (!m || !options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "keys"))
		return CTL_USAGE;
	enum reason r = verify(&o, &valid, m);
	if (r == R_USAGE)
		return CTL_USAGE;
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	printf("%s: %s %s, purpose %s, security version %u, signed by %zu pinned keys\n", o.argument[0], m->line,
	       m->version, purpose_name(m->purpose), m->security_version, valid);
	return 0;
}

/* ---- at the server -------------------------------------------------------------------- */

static void row(const json_t *m)
{
	printf("%.16s  %-12s  %-16s  %-12s  %6lld  %s", member_text(m, "digest"), member_text(m, "line"),
	       member_text(m, "version"), member_text(m, "purpose"), member_number(m, "security_version"),
	       member_text(m, "added"));
}

/* "  all, group gpu-hall, 2 nodes" */
static void selections(const json_t *targets)
{
	const char *before = "  ";
	const json_t *target;
	size_t i, nodes = 0;

	json_array_foreach(targets, i, target) {
		const char *t = json_string_value(target);

		if (!t)
			continue;
		if (strcmp(t, "*") == 0)
			printf("%sall", before);
		else if (strncmp(t, "group:", 6) == 0)
			printf("%sgroup %s", before, t + 6);
		else {
			nodes++;
			continue;
		}
		before = ", ";
	}
	if (nodes > 0)
		printf("%s%zu node%s", before, nodes, nodes == 1 ? "" : "s");
	printf("\n");
}

int ctl_image_add(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST), encoded = BLOB(2ul * LIMIT_MANIFEST);
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], LIMIT_MANIFEST, &cose);
	if (r == R_OK)
		r = base64_encode(blob_bytes(&cose), &encoded);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *body = json_object();
	json_object_set_new(body, "body", json_stringn((const char *)encoded.p, encoded.n));
	r = client_post(&o, CLIENT_PATH("image"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%s:%s %s at the server, digest %s\n", member_text(a, "line"), member_text(a, "version"),
		       client_is(&o), member_text(a, "digest"));
	return reason_exit(r);
}

int ctl_image_select(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "node", false, false }, { "group", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 ||
	    (option(&o, "node") && option(&o, "group")))
		return CTL_USAGE;
	json_t *body = json_object();
	if (option(&o, "group"))
		json_object_set_new(body, "group", json_string(option(&o, "group")));
	else
		json_object_set_new(body, "target", json_string(option(&o, "node") ? option(&o, "node") : "*"));
	enum reason r = client_post(&o, CLIENT_PATH("image", "select", o.argument[0]), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%s:%s %s selected for %s\n", member_text(a, "line"), member_text(a, "version"), client_is(&o),
		       strcmp(member_text(a, "target"), "*") == 0 ? "every node" : member_text(a, "target"));
	return reason_exit(r);
}

int ctl_image_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *m;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("image"), NULL, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	json_array_foreach(json_object_get(a, "images"), i, m) {
		row(m);
		selections(json_object_get(m, "selected_for"));
	}
	return 0;
}
