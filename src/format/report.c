/* SPDX-License-Identifier: Apache-2.0 */
#include "format/report.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"
#include "format/protocol.h"

#define NAME_MAX 64u

static const char *const results[CHECK_RESULT_MAX] = {
	"pass", "fail", "warn", "skip", "unknown",
};

const char *check_result_name(enum check_result r)
{
	return r < CHECK_RESULT_MAX ? results[r] : "invalid";
}

/* [* [name, value]]; a name may come more than once (one for each device). */
static enum reason facts_read(struct cursor *c, struct report *ret)
{
	size_t pair;

	TRY(cbor_array(c, 0, REPORT_FACTS_MAX, &ret->fact_count));
	for (size_t i = 0; i < ret->fact_count; i++) {
		struct report_fact *f = &ret->fact[i];

		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_text(c, 1, NAME_MAX, CHARSET_NAME, &f->name));
		TRY(cbor_text(c, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, &f->value));
	}
	return R_OK;
}

/* [* [id, result, observed, expected]] */
static enum reason checks_read(struct cursor *c, struct report *ret)
{
	uint32_t result;
	size_t parts;

	TRY(cbor_array(c, 0, REPORT_CHECKS_MAX, &ret->check_count));
	for (size_t i = 0; i < ret->check_count; i++) {
		struct report_check *k = &ret->check[i];

		TRY(cbor_array(c, 4, 4, &parts));
		TRY(cbor_text(c, 1, NAME_MAX, CHARSET_NAME, &k->id));
		TRY(cbor_u32(c, 0, CHECK_RESULT_MAX - 1, &result));
		k->result = (enum check_result)result;
		TRY(cbor_text(c, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, &k->observed));
		TRY(cbor_text(c, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, &k->expected));
	}
	return R_OK;
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason report_read(struct bytes in, struct report *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;

	if (in.n > LIMIT_REPORT)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(facts_read(&c, ret));
	TRY(cbor_key(&map, 3));
	TRY(checks_read(&c, ret));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

enum reason report_write(const struct report *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 3);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_array(&w, 0, REPORT_FACTS_MAX, m->fact_count);
	for (size_t i = 0; i < m->fact_count && i < REPORT_FACTS_MAX; i++) {
		const struct report_fact *f = &m->fact[i];

		cbor_put_array(&w, 2, 2, 2);
		cbor_put_text(&w, 1, NAME_MAX, CHARSET_NAME, f->name);
		cbor_put_text(&w, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, f->value);
	}
	cbor_put_int(&w, 3);
	cbor_put_array(&w, 0, REPORT_CHECKS_MAX, m->check_count);
	for (size_t i = 0; i < m->check_count && i < REPORT_CHECKS_MAX; i++) {
		const struct report_check *k = &m->check[i];

		cbor_put_array(&w, 4, 4, 4);
		cbor_put_text(&w, 1, NAME_MAX, CHARSET_NAME, k->id);
		cbor_put_uint(&w, 0, CHECK_RESULT_MAX - 1, k->result);
		cbor_put_text(&w, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, k->observed);
		cbor_put_text(&w, 0, LIMIT_FACT_VALUE, CHARSET_PRINTABLE, k->expected);
	}
	return cbor_write_end(&w, LIMIT_REPORT);
}
