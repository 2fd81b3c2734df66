/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private release keys that this machine can see. Whoever has one and the
 * server can boot anything: it is said until the last of them is gone.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "format/cose.h"
#include "server/msg.h"
#include "server/supervisor_internal.h"

#define KEY_FILE_MAX 8192u
#define FILES_MAX 4096u

struct look {
	struct ec_public pinned[COSE_KEYS_MAX];
	size_t count;
	struct msg_release_keys seen;
};

typedef void (*visitor)(struct look *l, const char *path, struct bytes content);

static void visit_file(struct look *l, const char *path, visitor visit)
{
	_cleanup_(blob_free) struct blob content = BLOB(KEY_FILE_MAX);

	/* What is longer is no key; what cannot be read cannot be seen. */
	if (fd_read_named(path, &content) == R_OK)
		visit(l, path, blob_bytes(&content));
}

/* Every file below the folder. */
static void visit_tree(struct look *l, const char *folder, visitor visit)
{
	_cleanup_(fd_names_free) struct fd_names files = { 0 };

	if (fd_list_tree(folder, FILES_MAX, &files) != R_OK)
		return;
	for (size_t i = 0; i < files.n; i++)
		visit_file(l, files.v[i], visit);
}

static void pinned(struct look *l, const char *path, struct bytes content)
{
	(void)path;
	if (l->count < COSE_KEYS_MAX && ec_public_from_pem(content, &l->pinned[l->count]) == R_OK)
		l->count++;
}

static void seen(struct look *l, const char *path)
{
	if (l->seen.count++ == 0)
		(void)text_escape(bytes_str(path), l->seen.path, sizeof(l->seen.path));
}

/* In a folder that is for nothing else: also one that has a password. */
static void any_private(struct look *l, const char *path, struct bytes content)
{
	static const char mark[] = "PRIVATE KEY-----";

	if (memmem(content.p, content.n, mark, sizeof(mark) - 1))
		seen(l, path);
}

/* Among other keys: one that the site pins. */
static void private_of_pinned(struct look *l, const char *path, struct bytes content)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	struct ec_public p;

	if (private_key_from_pem(content, &key) != R_OK || private_key_public(key, &p) != R_OK)
		return;
	for (size_t i = 0; i < l->count; i++) {
		if (memcmp(&l->pinned[i], &p, sizeof(p)) != 0)
			continue;
		seen(l, path);
		return;
	}
}

/* state/ and run/ are others' to write: nothing of theirs is read here. */
static enum reason look_around(const struct supervisor *s, struct look *l)
{
	static const char *const folders[] = { "keys", "tls", "site" };
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char path[SERVER_PATH_MAX];

	TRY(server_path(s->dir, "site/release-keys", path));
	visit_tree(l, path, pinned);
	if (s->conf.release_key_folder[0])
		visit_tree(l, s->conf.release_key_folder, any_private);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		TRY(server_path(s->dir, folders[i], path));
		visit_tree(l, path, private_of_pinned);
	}
	if (fd_list(s->dir, FILES_MAX, &names) != R_OK)
		return R_OK;
	for (size_t i = 0; i < names.n; i++) {
		TRY(server_path(s->dir, names.v[i], path));
		visit_file(l, path, private_of_pinned);
	}
	return R_OK;
}

enum reason release_keys_tell(struct supervisor *s)
{
	struct look l = { 0 };

	TRY(look_around(s, &l));
	if (l.seen.count > 0)
		log_line(LEVEL_WARN,
			 "private release keys can be seen (%u): %s: move them off this machine; "
			 "the server never needs them", l.seen.count, l.seen.path);
	const struct bytes body = bytes_of((const uint8_t *)&l.seen, sizeof(l.seen));

	return ipc_send_wait(&s->ledger, MSG_RELEASE_KEYS, 0, &body, 1, -1, 5000);
}
