/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "crypto/sign.h"
#include "gate/gate.h"

#define PATH_LEN 512u
#define DIGEST_TAG "bootgate-config-v1"

/*
 * Configuration digest: SHA-256 over the tag with its NUL and, for each file
 * in a fixed order (boot.conf, server-ca.pem, verdict-keys/ and release-keys/
 * by name), length of its name (u16), name, length of its content (u32),
 * content; numbers big-endian. bootgate(8) says so too.
 */
static enum reason digest_file(struct digest *d, const char *name, struct bytes content)
{
	_cleanup_(blob_free) struct blob head = BLOB(512);

	TRY(blob_be16(&head, (uint16_t)strlen(name)));
	TRY(blob_append(&head, name, strlen(name)));
	TRY(blob_be32(&head, (uint32_t)content.n));
	TRY(digest_update(d, blob_bytes(&head)));
	return digest_update(d, content);
}

static enum reason read_part(const char *folder, const char *name, struct digest *d,
			     struct blob *ret)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (fd_read_named(path, ret))
		return log_reason_errno(R_SITE_KEYS, "%s", path);
	return digest_file(d, name, blob_bytes(ret));
}

static enum reason read_boot_conf(const char *folder, struct digest *d, struct boot_conf *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
	struct conf_error error = { 0 };
	enum reason r;

	TRY(read_part(folder, "boot.conf", d, &b));
	r = boot_conf_read(blob_bytes(&b), ret, &error);
	if (r != R_OK)
		return log_reason(r, "boot.conf line %u %s", error.line, error.key);
	return R_OK;
}

/* A key that is put aside under another name must not stay in force unseen. */
static bool is_pem(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".pem") == 0;
}

static enum reason read_keys(const char *folder, const char *sub, struct digest *d,
			     struct pinned_keys *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char path[PATH_LEN];

	ret->count = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, sub);
	if (fd_list(path, COSE_KEYS_MAX, &names))
		return log_reason_errno(R_SITE_KEYS, "%s", path);
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
		struct pinned_key *key = &ret->key[ret->count];
		char name[PATH_LEN];

		snprintf(name, sizeof(name), "%s/%s", sub, names.v[i]);
		TRY(read_part(folder, name, d, &b));
		snprintf(key->name, sizeof(key->name), "%.63s", names.v[i]);
		if (!is_pem(names.v[i]) || ec_public_from_pem(blob_bytes(&b), &key->key) ||
		    ec_public_id(&key->key, key->id))
			return log_reason(R_SITE_KEYS, "%s", name);
		ret->count++;
	}
	if (ret->count == 0)
		return log_reason(R_SITE_KEYS, "%s is empty", path);
	return R_OK;
}

/* The image's build id; a gate that runs by hand has its version only. */
static void read_build(const char *folder, char *ret, size_t n)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	char path[PATH_LEN];
	size_t length = 0;

	snprintf(path, sizeof(path), "%s/build-id", folder);
	if (fd_read_named(path, &b) == R_OK)
		while (length < b.n && length < n - 1 && b.p[length] > ' ' && b.p[length] < 0x7f)
			length++;
	if (length == 0) {
		snprintf(ret, n, "%s", BOOTGATE_VERSION);
		return;
	}
	memcpy(ret, b.p, length);
	ret[length] = 0;
}

static enum reason read_all(const char *folder, struct config *c)
{
	_cleanup_(digest_free) struct digest *d = NULL;
	uint8_t out[DIGEST_MAX];

	TRY(digest_begin(ALG_SHA256, &d));
	TRY(digest_update(d, bytes_of(DIGEST_TAG, sizeof(DIGEST_TAG))));
	TRY(read_boot_conf(folder, d, &c->boot));
	TRY(read_part(folder, "server-ca.pem", d, &c->server_ca));
	TRY(read_keys(folder, "verdict-keys", d, &c->verdict_keys));
	TRY(read_keys(folder, "release-keys", d, &c->release_keys));
	if (c->boot.release_threshold > c->release_keys.count)
		return log_reason(R_SITE_KEYS, "release.threshold %u, %zu release keys",
				  (unsigned)c->boot.release_threshold, c->release_keys.count);
	TRY(digest_end(d, out));
	memcpy(c->digest, out, SHA256_LEN);
	read_build(folder, c->build, sizeof(c->build));
	return R_OK;
}

enum reason config_read(const char *folder, struct config *ret)
{
	enum reason r;

	memset(ret, 0, sizeof(*ret));
	ret->server_ca = BLOB(LIMIT_CONF);
	r = read_all(folder, ret);
	if (r != R_OK)
		config_free(ret);
	return r;
}

void config_free(struct config *c)
{
	blob_free(&c->server_ca);
}
