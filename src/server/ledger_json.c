/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "server/ledger_json.h"

void out_begin(struct out *o)
{
	memset(o, 0, sizeof(*o));
	o->open[0] = json_object();
	o->failed = !o->open[0];
}

void out_free(struct out *o)
{
	json_decref(o->open[0]);
	o->open[0] = NULL;
}

/* Takes over `value` in every case. */
static void add(struct out *o, const char *key, json_t *value)
{
	json_t *in = o->open[o->depth];

	if (!value || o->failed) {
		json_decref(value);
		o->failed = true;
		return;
	}
	int r = json_is_array(in) ? json_array_append_new(in, value) : json_object_set_new(in, key, value);
	if (r != 0)
		o->failed = true;
}

void out_text(struct out *o, const char *key, const char *value)
{
	add(o, key, json_string(value));
}

void out_number(struct out *o, const char *key, uint64_t value)
{
	add(o, key, json_integer((json_int_t)value));
}

void out_bool(struct out *o, const char *key, bool value)
{
	add(o, key, json_boolean(value));
}

void out_hex(struct out *o, const char *key, struct bytes value)
{
	_cleanup_free_ char *text = malloc(2 * value.n + 1);

	if (text)
		hex_encode(value, text);
	add(o, key, text ? json_string(text) : NULL);
}

void out_base64(struct out *o, const char *key, struct bytes value)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_ADMIN_ANSWER);

	if (base64_encode(value, &text) != R_OK)
		o->failed = true;
	else
		add(o, key, json_stringn((const char *)text.p, text.n));
}

void out_time(struct out *o, const char *key, int64_t value)
{
	char text[32];
	time_t t = (time_t)value;
	struct tm tm;

	if (value == 0)
		return;
	if (!gmtime_r(&t, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		o->failed = true;
	else
		add(o, key, json_string(text));
}

static void open_add(struct out *o, const char *key, json_t *value)
{
	if (o->depth + 1 == JSON_DEPTH) {
		json_decref(value);
		o->failed = true;
		return;
	}
	add(o, key, value);
	if (!o->failed)
		o->open[++o->depth] = value;	/* borrowed: its parent owns it */
}

void out_object(struct out *o, const char *key)
{
	open_add(o, key, json_object());
}

void out_array(struct out *o, const char *key)
{
	open_add(o, key, json_array());
}

void out_end(struct out *o)
{
	if (o->depth > 0)
		o->depth--;
}

void out_answer(struct ledger *l, struct ipc *to, uint64_t id, enum reason r, const char *about,
		const struct out *o)
{
	if (r == R_OK && o->failed)
		r = R_INTERNAL_MEMORY;
	if (r != R_OK) {
		answer_problem(l, to, id, r, about, 0);
		return;
	}
	_cleanup_free_ char *text = json_dumps(o->open[0], JSON_COMPACT | JSON_SORT_KEYS);
	answer_json(l, to, id, 200, text ? bytes_str(text) : BYTES_NONE);
}
