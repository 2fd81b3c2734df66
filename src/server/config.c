/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/config.h"
#include "server/listen.h"

enum kind { TEXT, LISTEN, LISTEN_LOOPBACK, NUMBER };

static const struct field {
	const char *key;
	enum kind kind;
	size_t at, size;
	uint32_t min, max, fallback;
} fields[] = {
#define TEXT_FIELD(key, kind, member) \
	{ key, kind, offsetof(struct server_conf, member), sizeof(((struct server_conf *)0)->member), 0, 0, 0 }
#define NUMBER_FIELD(key, member, min, max, fallback) \
	{ key, NUMBER, offsetof(struct server_conf, member), sizeof(uint32_t), min, max, fallback }
	TEXT_FIELD("listen.tls", LISTEN, listen_tls),
	TEXT_FIELD("listen.plain", LISTEN_LOOPBACK, listen_plain),
	NUMBER_FIELD("server.workers", workers, 1, 16, 2),
	NUMBER_FIELD("server.challenge-lifetime", challenge_lifetime, 10, 3600, 120),
	NUMBER_FIELD("server.pending-max", pending_max, 1, 1000000, 10000),
	/* Longer than any challenge lives: a nonce that is forgotten must not be good any more. */
	NUMBER_FIELD("server.pending-lifetime", pending_lifetime, 7200, 31536000, 2592000),
	NUMBER_FIELD("server.connections-per-address", per_address, 1, 4096, 64),
	NUMBER_FIELD("admin.gid", admin_gid, 0, UINT32_MAX - 1, 0),
	NUMBER_FIELD("run.uid", run_uid, 1, UINT32_MAX - 1, 65521),
	NUMBER_FIELD("ledger.uid", ledger_uid, 1, UINT32_MAX - 1, 65522),
	NUMBER_FIELD("signer.uid", signer_uid, 1, UINT32_MAX - 1, 65523),
	TEXT_FIELD("release.key-folder", TEXT, release_key_folder),
};

static enum reason set(void *ctx, const char *key, const char *value)
{
	struct server_conf *c = ctx;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct field *f = &fields[i];

		if (strcmp(f->key, key) != 0)
			continue;
		if (f->kind != NUMBER) {
			if (strlen(value) >= f->size)
				return R_CONF_VALUE;
			if (f->kind != TEXT)
				TRY(listen_check(value, f->kind == LISTEN_LOOPBACK));
			snprintf((char *)c + f->at, f->size, "%s", value);
			return R_OK;
		}
		uint64_t v;
		if (text_u64(bytes_str(value), f->max, &v) != R_OK || v < f->min)
			return R_CONF_VALUE;
		uint32_t small = (uint32_t)v;
		memcpy((char *)c + f->at, &small, sizeof(small));
		return R_OK;
	}
	return R_CONF_UNKNOWN;
}

/* Names the key of the one that has another's user. */
static const char *shared_user(const struct server_conf *c)
{
	if (c->ledger_uid == c->run_uid)
		return "ledger.uid";
	if (c->signer_uid == c->run_uid || c->signer_uid == c->ledger_uid)
		return "signer.uid";
	return NULL;
}

void server_conf_default(struct server_conf *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].kind == NUMBER)
			memcpy((char *)ret + fields[i].at, &fields[i].fallback, sizeof(uint32_t));
}

enum reason server_conf_read(struct bytes in, struct server_conf *ret, struct conf_error *err)
{
	struct conf_key keys[ARRAY_LEN(fields)];
	struct server_conf c;

	server_conf_default(&c);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		keys[i] = (struct conf_key){ fields[i].key, false, set };
	TRY(conf_read(in, keys, ARRAY_LEN(keys), &c, err));
	if (!c.listen_tls[0] && !c.listen_plain[0]) {
		*err = (struct conf_error){ .line = 0 };
		snprintf(err->key, sizeof(err->key), "listen.tls");
		return R_CONF_MISSING;
	}
	const char *shared = shared_user(&c);
	if (shared) {
		*err = (struct conf_error){ .line = 0 };
		snprintf(err->key, sizeof(err->key), "%s", shared);
		return R_CONF_VALUE;
	}
	*ret = c;
	return R_OK;
}

enum reason server_conf_write(const struct server_conf *c, struct blob *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct field *f = &fields[i];
		const char *text = (const char *)c + f->at;
		char number[16];
		uint32_t v;

		if (f->kind == NUMBER) {
			memcpy(&v, text, sizeof(v));
			snprintf(number, sizeof(number), "%u", v);
			text = number;
		} else if (text[0] == '\0') {
			continue;
		}
		TRY(conf_write(ret, f->key, text));
	}
	return R_OK;
}

enum reason server_path(const char *dir, const char *name, char ret[SERVER_PATH_MAX])
{
	int n = snprintf(ret, SERVER_PATH_MAX, "%s/%s", dir, name);

	return n > 0 && (size_t)n < SERVER_PATH_MAX ? R_OK : R_FORMAT_TOO_LARGE;
}
