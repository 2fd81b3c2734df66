/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in files, offline: new ones, and what is there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "crypto/aead.h"
#include "crypto/random.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"

#define FILES_MAX 4096u
#define SUFFIX ".key"

/* ---- key new ------------------------------------------------------------------------- */

/* Never over a key that is there. */
static enum reason write_key(const char *path, struct bytes content, mode_t mode)
{
	enum reason r = fd_write_new(path, content, mode);

	return r == R_FILE ? ctl_file_error(path) : r;
}

static enum reason token_new(const char *path)
{
	uint8_t key[AEAD_KEY_LEN];

	TRY(random_bytes(key, sizeof(key)));
	enum reason r = write_key(path, BYTES(key), 0600);
	wipe(key, sizeof(key));
	TRY(r);
	printf("%s: a token key\n", path);
	return R_OK;
}

static enum reason public_beside(const struct private_key *key, const char *path, const char *public_path)
{
	_cleanup_(blob_free) struct blob pem = BLOB(8192);

	TRY(private_key_public_pem(key, &pem));
	enum reason r = write_key(public_path, blob_bytes(&pem), 0644);
	/* Half of a pair is no use, and in the way of the next try. */
	if (r != R_OK)
		(void)unlink(path);
	return r;
}

/* NAME.key, and its public half in NAME.pem. */
static enum reason pair_new(const char *type, const char *path)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(8192);
	const size_t n = strlen(path), stem = n - strlen(SUFFIX);
	char public_path[1024], hex[2 * KEY_ID_LEN + 1];
	uint8_t id[KEY_ID_LEN];
	struct ec_public p;

	if (n <= strlen(SUFFIX) || strcmp(path + stem, SUFFIX) != 0 || n >= sizeof(public_path)) {
		fprintf(stderr, "bootgatectl: %s: a private key's file is NAME%s, its public half NAME.pem\n", path,
			SUFFIX);
		return R_USAGE;
	}
	snprintf(public_path, sizeof(public_path), "%.*s.pem", (int)stem, path);
	TRY(private_key_make(&key));
	TRY(private_key_to_pem(key, &pem));
	TRY(private_key_public(key, &p));
	TRY(ec_public_id(&p, id));
	TRY(write_key(path, blob_bytes(&pem), 0600));
	TRY(public_beside(key, path, public_path));
	hex_encode(BYTES(id), hex);
	printf("%s: a %s key, id %s\n%s: its public half, for the site's %s-keys\n", path, type, hex, public_path,
	       type);
	return R_OK;
}

int ctl_key_new(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "type", false, false } };
	struct options o;
	enum reason r;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "type"))
		return CTL_USAGE;
	const char *type = option(&o, "type"), *path = o.argument[0];
	if (strcmp(type, "token") == 0) {
		r = token_new(path);
	} else if (strcmp(type, "verdict") == 0 || strcmp(type, "release") == 0) {
		r = pair_new(type, path);
	} else {
		fprintf(stderr, "bootgatectl: --type %s: there is verdict, release, token\n", type);
		return CTL_USAGE;
	}
	if (r == R_USAGE)
		return CTL_USAGE;
	return r == R_OK ? 0 : ctl_refused(r, path);
}

/* ---- key show ------------------------------------------------------------------------ */

/* False for what is no key of ours. */
static bool key_in(struct bytes content, struct ec_public *ret, bool *ret_private)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;

	*ret_private = ec_public_from_pem(content, ret) != R_OK;
	return !*ret_private ||
	       (private_key_from_pem(content, &key) == R_OK && private_key_public(key, ret) == R_OK);
}

static enum reason show_file(const char *path, json_t *keys)
{
	_cleanup_(blob_free) struct blob content = BLOB(CTL_KEY_FILE_MAX);
	char hex[2 * SHA256_LEN + 1];
	uint8_t fingerprint[SHA256_LEN];
	struct ec_public p;
	bool is_private;

	enum reason r = fd_read_named(path, &content);
	if (r == R_FILE)
		return ctl_file_error(path);
	if (r != R_OK || !key_in(blob_bytes(&content), &p, &is_private))
		return R_SITE_KEYS;
	TRY(ec_public_fingerprint(&p, fingerprint));
	hex_encode(BYTES(fingerprint), hex);
	json_array_append_new(keys, json_pack("{s:s%, s:s, s:s, s:s}", "id", hex, (size_t)(2 * KEY_ID_LEN), "sha256",
					      hex, "kind", is_private ? "private" : "public", "file", path));
	return R_OK;
}

/* A folder's keys by content; what is none is counted. */
static enum reason show(const char *path, json_t *keys, long long *ret_others)
{
	_cleanup_(fd_names_free) struct fd_names files = { 0 };

	*ret_others = 0;
	enum reason r = fd_list_tree(path, FILES_MAX, &files);
	if (r == R_FILE && errno == ENOTDIR)
		return show_file(path, keys);
	if (r == R_FILE)
		return ctl_file_error(path);
	TRY(r);
	for (size_t i = 0; i < files.n; i++) {
		r = show_file(files.v[i], keys);
		if (r != R_OK && r != R_SITE_KEYS)
			return r;
		*ret_others += r != R_OK;
	}
	return R_OK;
}

int ctl_key_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "json", true, false } };
	_cleanup_(client_free) json_t *a = json_object();
	long long others;
	struct options o;
	json_t *keys = json_array(), *k;
	size_t i;

	json_object_set_new(a, "keys", keys);
	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = show(o.argument[0], keys, &others);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_object_set_new(a, "other_files", json_integer(others));
	if (client_json(&o, a))
		return 0;
	json_array_foreach(keys, i, k)
		printf("%s  %-7s  %s\n  sha256 %s\n", member_text(k, "id"), member_text(k, "kind"),
		       member_text(k, "file"), member_text(k, "sha256"));
	if (others > 0)
		printf("%lld other files\n", others);
	return 0;
}
