/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site check: what is wrong with a site folder. bootgate-mkimage calls it
 * before it builds, so that there is one opinion.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "crypto/cert.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"
#include "format/conf.h"

#define CA_FILE_MAX (64u << 10)
#define SECRET_FILE_MAX (1u << 20)
#define FOLDER_MAX 1000u

static enum reason check_conf(const char *dir, struct boot_conf *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	char path[1024], where[CONF_WHERE_MAX];
	struct conf_error err = { 0 };

	TRY(ctl_path(dir, "boot.conf", path, sizeof(path)));
	TRY(ctl_read_file(path, LIMIT_CONF, &text));
	enum reason r = boot_conf_read(blob_bytes(&text), ret, &err);
	if (r != R_OK) {
		conf_where(&err, where);
		fprintf(stderr, "bootgatectl: %s: %s: %s\n", path, where, reason_sentence(r));
	}
	return r;
}

static enum reason check_ca(const char *dir)
{
	_cleanup_(cert_store_free) struct cert_store *store = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(CA_FILE_MAX);
	char path[1024];
	size_t count = 0;

	TRY(ctl_path(dir, "server-ca.pem", path, sizeof(path)));
	TRY(cert_store_make(&store));
	TRY(ctl_read_file(path, CA_FILE_MAX, &pem));
	if (cert_store_add(store, blob_bytes(&pem), &count) != R_OK || count == 0) {
		fprintf(stderr, "bootgatectl: %s: no certificate in it\n", path);
		return R_SITE_KEYS;
	}
	return R_OK;
}

static enum reason check_keys(const char *dir, const char *name, size_t least, size_t *ret_count)
{
	struct pinned_keys keys;
	char path[1024];

	TRY(ctl_path(dir, name, path, sizeof(path)));
	TRY(ctl_keys(path, &keys));
	*ret_count = keys.count;
	for (size_t i = 0; i < keys.count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (memcmp(keys.key[i].id, keys.key[k].id, KEY_ID_LEN) == 0) {
				fprintf(stderr, "bootgatectl: %s: %s and %s are the same key\n", path, keys.key[k].name,
					keys.key[i].name);
				return R_SITE_KEYS;
			}
		}
	}
	if (keys.count < least) {
		fprintf(stderr, "bootgatectl: %s: %zu keys, and release.threshold is %zu\n", path, keys.count, least);
		return R_SITE_KEYS;
	}
	return R_OK;
}

/* Hooks would run in the gate's place; the image has no way to run them yet. */
static enum reason check_hooks(const char *dir)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char path[1024], shown[CTL_SHOWN_MAX];

	TRY(ctl_path(dir, "hooks", path, sizeof(path)));
	enum reason r = fd_list(path, FOLDER_MAX, &names);
	if (r == R_FILE)
		return errno == ENOENT ? R_OK : ctl_file_error(path);
	TRY(r);
	if (names.n == 0)
		return R_OK;
	fprintf(stderr, "bootgatectl: %s/%s: site hooks are not supported by this release\n", path,
		ctl_shown(names.v[0], shown));
	return R_SITE_HOOKS;
}

/* Private keys have no place in what every node can read. */
static enum reason check_no_secrets(const char *dir)
{
	static const char *const folders[] = { ".", "verdict-keys", "release-keys" };
	static const char mark[] = "PRIVATE KEY-----";
	char folder[1024], path[2048], shown[CTL_SHOWN_MAX];

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		_cleanup_(fd_names_free) struct fd_names names = { 0 };

		TRY(ctl_path(dir, folders[i], folder, sizeof(folder)));
		/* What is not there or cannot be read is the other checks' business. */
		if (fd_list(folder, FOLDER_MAX, &names) != R_OK)
			continue;
		for (size_t k = 0; k < names.n; k++) {
			_cleanup_(blob_free) struct blob content = BLOB(SECRET_FILE_MAX);

			TRY(ctl_path(folder, names.v[k], path, sizeof(path)));
			if (fd_read_named(path, &content) != R_OK || content.n == 0)
				continue;
			if (memmem(content.p, content.n, mark, sizeof(mark) - 1)) {
				fprintf(stderr, "bootgatectl: %s: a private key\n", ctl_shown(path, shown));
				return R_SITE_SECRET;
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

	if (!c || !options_read(argc, argv, NULL, 0, &o) || o.arguments != 1)
		return CTL_USAGE;
	/* All that is wrong is said at once; the first reason is the result. */
	const char *dir = o.argument[0];
	enum reason first = check_conf(dir, c);
	const enum reason others[] = {
		check_ca(dir),
		check_keys(dir, "verdict-keys", 1, &verdict_keys),
		check_keys(dir, "release-keys", first == R_OK ? c->release_threshold : 1, &release_keys),
		check_hooks(dir),
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
