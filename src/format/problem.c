/* SPDX-License-Identifier: Apache-2.0 */
#include "format/problem.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"

/* RFC 9290: standard members are negative, ours hang below one URI. */
#define L_TITLE (-1)
#define L_DETAIL (-2)
#define OWN_MEMBERS "tag:bootgate,2026:problem"
#define RETRY_MAX 86400u

enum reason problem_read(struct bytes in, struct problem *ret)
{
	struct cursor c = cursor_of(in);
	struct problem m;
	struct cbor_map map, own;

	if (in.n > LIMIT_PROBLEM)
		return R_FORMAT_TOO_LARGE;
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key(&map, L_TITLE));
	TRY(cbor_string(&c, 0, sizeof m.title, CHARSET_PRINTABLE, m.title));
	TRY(cbor_key(&map, L_DETAIL));
	TRY(cbor_string(&c, 0, sizeof m.remedy, CHARSET_PRINTABLE, m.remedy));
	TRY(cbor_key_named(&map, OWN_MEMBERS));
	TRY(cbor_map_begin(&c, &own));
	TRY(cbor_key(&own, 0));
	TRY(cbor_string(&c, 1, sizeof m.reason, CHARSET_NAME, m.reason));
	TRY(cbor_key(&own, 1));
	TRY(cbor_u32(&c, 0, RETRY_MAX, &m.retry_after));
	TRY(cbor_map_end(&own));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason problem_write(const struct problem *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 3);
	cbor_put_int(&w, L_TITLE);
	cbor_put_string(&w, 0, sizeof m->title, CHARSET_PRINTABLE, m->title);
	cbor_put_int(&w, L_DETAIL);
	cbor_put_string(&w, 0, sizeof m->remedy, CHARSET_PRINTABLE, m->remedy);
	cbor_put_text(&w, 1, 64, CHARSET_PRINTABLE, bytes_str(OWN_MEMBERS));
	cbor_put_map(&w, 2);
	cbor_put_int(&w, 0);
	cbor_put_string(&w, 1, sizeof m->reason, CHARSET_NAME, m->reason);
	cbor_put_int(&w, 1);
	cbor_put_uint(&w, 0, RETRY_MAX, m->retry_after);
	return cbor_write_end(&w, LIMIT_PROBLEM);
}

/* Cut to the room there is; the texts of reason.def fit. */
static void copy_text(const char *from, char *to, size_t size)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

void problem_of(enum reason r, uint32_t retry_after, struct problem *ret)
{
	copy_text(reason_name(r), ret->reason, sizeof ret->reason);
	copy_text(reason_sentence(r), ret->title, sizeof ret->title);
	copy_text(reason_remedy(r), ret->remedy, sizeof ret->remedy);
	ret->retry_after = retry_after < RETRY_MAX ? retry_after : RETRY_MAX;
}

enum reason failure_read(struct bytes in, struct failure *ret)
{
	struct cursor c = cursor_of(in);
	struct failure m;
	struct cbor_map map;

	if (in.n > LIMIT_FAILURE)
		return R_FORMAT_TOO_LARGE;
	memset(&m, 0, sizeof m);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_string(&c, 1, sizeof m.reason, CHARSET_NAME, m.reason));
	TRY(cbor_key(&map, 3));
	TRY(cbor_string(&c, 0, sizeof m.step, CHARSET_NAME, m.step));
	TRY(cbor_key(&map, 4));
	TRY(cbor_bytes(&c, 0, LIMIT_FAILURE_LOG, &m.log));
	TRY(cbor_key_optional(&map, 5, &m.has_ak_name));
	if (m.has_ak_name)
		TRY(cbor_copy(&c, m.ak_name, AK_NAME_LEN));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason failure_write(const struct failure *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, m->has_ak_name ? 5 : 4);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_string(&w, 1, sizeof m->reason, CHARSET_NAME, m->reason);
	cbor_put_int(&w, 3);
	cbor_put_string(&w, 0, sizeof m->step, CHARSET_NAME, m->step);
	cbor_put_int(&w, 4);
	cbor_put_bytes(&w, 0, LIMIT_FAILURE_LOG, m->log);
	if (m->has_ak_name) {
		cbor_put_int(&w, 5);
		cbor_put_copy(&w, m->ak_name, AK_NAME_LEN);
	}
	return cbor_write_end(&w, LIMIT_FAILURE);
}
