/* SPDX-License-Identifier: Apache-2.0 */
/* site check: what is wrong with a site folder, before an image is built of it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "crypto/cert.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"
#include "format/conf.h"

static enum reason path_of(const char *dir, const char *name, char *ret, size_t n)
{
	return snprintf(ret, n, "%s/%s", dir, name) < (int)n ? R_OK : R_FILE;
}

static enum reason check_conf(const char *dir, struct boot_conf *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	struct conf_error err = { 0 };
	char path[1024];

	TRY(path_of(dir, "boot.conf", path, sizeof(path)));
	enum reason r = fd_read_named(path, &text);
	if (r == R_OK)
		r = boot_conf_read(blob_bytes(&text), ret, &err);
	if (r != R_OK)
		fprintf(stderr, "%s: line %u: %s: %s\n", path, err.line, err.key, reason_sentence(r));
	return r;
}

static enum reason check_ca(const char *dir)
{
	_cleanup_(cert_store_free) struct cert_store *store = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(64u << 10);
	char path[1024];
	size_t count = 0;

	TRY(path_of(dir, "server-ca.pem", path, sizeof(path)));
	TRY(cert_store_make(&store));
	if (fd_read_named(path, &pem) != R_OK || cert_store_add(store, blob_bytes(&pem), &count) != R_OK || count == 0) {
		fprintf(stderr, "%s: no certificate in it\n", path);
		return R_SITE_KEYS;
	}
	return R_OK;
}

static enum reason check_keys(const char *dir, const char *name, size_t least, size_t *ret_count)
{
	struct pinned_keys keys;
	char path[1024];

	TRY(path_of(dir, name, path, sizeof(path)));
	TRY(ctl_keys(path, &keys));
	*ret_count = keys.count;
	for (size_t i = 0; i < keys.count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (memcmp(keys.key[i].id, keys.key[k].id, KEY_ID_LEN) == 0) {
				fprintf(stderr, "%s: %s and %s are the same key\n", path, keys.key[k].name,
					keys.key[i].name);
				return R_SITE_KEYS;
			}
		}
	}
	if (keys.count < least) {
		fprintf(stderr, "%s: %zu keys, and release.threshold is %zu\n", path, keys.count, least);
		return R_SITE_KEYS;
	}
	return R_OK;
}

/* Private keys have no place in what every node can read. */
static enum reason check_no_secrets(const char *dir)
{
	static const char *const folders[] = { "", "verdict-keys", "release-keys", "hooks" };
	char folder[1024], path[2048];

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		_cleanup_(fd_names_free) struct fd_names names = { 0 };

		TRY(path_of(dir, folders[i], folder, sizeof(folder)));
		if (fd_list(folder, 1000, &names) != R_OK)
			continue;
		for (size_t k = 0; k < names.n; k++) {
			_cleanup_(blob_free) struct blob content = BLOB(1u << 20);

			TRY(path_of(folder, names.v[k], path, sizeof(path)));
			if (fd_read_named(path, &content) != R_OK || blob_u8(&content, 0) != R_OK)
				continue;
			if (strstr((const char *)content.p, "PRIVATE KEY-----")) {
				fprintf(stderr, "%s: a private key; every node could read it\n", path);
				return R_SITE_KEYS;
			}
		}
	}
	return R_OK;
}

int ctl_site_check(int argc, char **argv)
{
	_cleanup_free_ struct boot_conf *c = calloc(1, sizeof(*c));
	size_t verdict_keys = 0, release_keys = 0;
	struct options o;

	if (!c || !options_read(argc, argv, NULL, 0, &o) || o.arguments != 1) {
		fprintf(stderr, "usage: bootgatectl site check DIR\n");
		return 2;
	}
	/* All that is wrong is said at once; the first reason is the result. */
	const char *dir = o.argument[0];
	enum reason first = check_conf(dir, c);
	const enum reason others[] = {
		check_ca(dir),
		check_keys(dir, "verdict-keys", 1, &verdict_keys),
		check_keys(dir, "release-keys", first == R_OK ? c->release_threshold : 1, &release_keys),
		check_no_secrets(dir),
	};
	for (size_t i = 0; i < ARRAY_LEN(others) && first == R_OK; i++)
		first = others[i];
	if (first != R_OK)
		return ctl_refused(first, dir);
	printf("%s: server %s, mirror %s, %zu verdict keys, %u of %zu release keys\n", dir, c->server_url,
	       c->mirror_url, verdict_keys, c->release_threshold, release_keys);
	return 0;
}
