/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks any deterministic CBOR with the calls that message readers use, and
 * writes what it reads: what was read to its end is written as the same.
 */
#include "fuzz.h"

#include "format/cbor.h"

#define DEPTH 8u

/* An array or a map that is not read to its end. */
struct open {
	size_t left;			/* items of an array */
	bool is_map;
	struct cbor_map map;
};

static enum reason read_scalar(struct cursor *c, struct cbor_writer *w)
{
	struct bytes b;
	uint64_t u;
	uint32_t u32;
	int64_t i;
	bool t;
	char s[9];
	uint8_t four[4];

	if (cbor_u32(c, 0, 1000, &u32) == R_OK)
		cbor_put_uint(w, 0, 1000, u32);
	else if (cbor_uint(c, 0, UINT64_MAX, &u) == R_OK)
		cbor_put_uint(w, 0, UINT64_MAX, u);
	else if (cbor_int(c, -9, 9, &i) == R_OK || cbor_int(c, INT64_MIN, INT64_MAX, &i) == R_OK)
		cbor_put_int(w, i);
	else if (cbor_bool(c, &t) == R_OK)
		cbor_put_bool(w, t);
	else if (cbor_copy(c, four, sizeof four) == R_OK)
		cbor_put_copy(w, four, sizeof four);
	else if (cbor_bytes(c, 0, SIZE_MAX, &b) == R_OK)
		cbor_put_bytes(w, 0, SIZE_MAX, b);
	else if (cbor_string(c, 1, sizeof s, CHARSET_LABEL, s) == R_OK)
		cbor_put_string(w, 1, sizeof s, CHARSET_LABEL, s);
	else {
		TRY(cbor_text(c, 0, SIZE_MAX, CHARSET_PRINTABLE, &b));
		cbor_put_text(w, 0, SIZE_MAX, CHARSET_PRINTABLE, b);
	}
	return R_OK;
}

/* The next key in whichever way takes it. */
static enum reason read_key(struct cbor_map *m, struct cbor_writer *w)
{
	char name[33];
	bool found;
	uint64_t u;

	if (cbor_key_optional(m, 1, &found) == R_OK && found) {
		cbor_put_int(w, 1);
	} else if (cbor_key_uint(m, UINT64_MAX, &u) == R_OK) {
		cbor_put_uint(w, 0, UINT64_MAX, u);
	} else if (cbor_key(m, -70001) == R_OK) {
		cbor_put_int(w, -70001);
	} else if (cbor_key_named(m, "tag") == R_OK) {
		cbor_put_string(w, 1, sizeof name, CHARSET_NAME, "tag");
	} else {
		TRY(cbor_key_text(m, 0, sizeof name, CHARSET_NAME, name));
		cbor_put_string(w, 0, sizeof name, CHARSET_NAME, name);
	}
	return R_OK;
}

static enum reason read_item(struct cursor *c, struct cbor_writer *w, struct open *ret, bool *ret_opens)
{
	*ret_opens = true;
	*ret = (struct open){ .left = 0 };
	if (cbor_tag(c, 18) == R_OK) {
		cbor_put_tag(w, 18);
		ret->left = 1;
		return R_OK;
	}
	if (cbor_array(c, 0, SIZE_MAX, &ret->left) == R_OK) {
		cbor_put_array(w, 0, SIZE_MAX, ret->left);
		return R_OK;
	}
	if (cbor_map_begin(c, &ret->map) == R_OK) {
		ret->is_map = true;
		cbor_put_map(w, ret->map.left);
		return R_OK;
	}
	*ret_opens = false;
	return read_scalar(c, w);
}

/* At its end a map has no key of any kind, whatever comes behind it. */
static enum reason map_end(struct cbor_map *m)
{
	char name[9];
	uint64_t u;

	must(cbor_key(m, 1) == R_FORMAT_MISSING_KEY);
	must(cbor_key_uint(m, 9, &u) == R_FORMAT_MISSING_KEY);
	must(cbor_key_text(m, 0, sizeof name, CHARSET_NAME, name) == R_FORMAT_MISSING_KEY);
	return cbor_map_end(m);
}

static enum reason walk(struct cursor *c, struct cbor_writer *w)
{
	struct open open[DEPTH] = { { .left = 1 } };
	size_t depth = 1;

	while (depth > 0) {
		struct open *top = &open[depth - 1], next;
		bool opens;

		if (top->is_map ? top->map.left == 0 : top->left == 0) {
			if (top->is_map)
				TRY(map_end(&top->map));
			depth--;
			continue;
		}
		if (top->is_map)
			TRY(read_key(&top->map, w));
		else
			top->left--;
		TRY(read_item(c, w, &next, &opens));
		if (opens && depth == DEPTH)
			return R_FORMAT_RANGE;
		if (opens)
			open[depth++] = next;
	}
	return cursor_end(c);
}

/* {1: version, 2: uint}: the shape of a message, for the refusals of keys. */
static enum reason message(struct cursor *c)
{
	struct cbor_map m;
	uint64_t v;

	TRY(cbor_map_begin(c, &m));
	TRY(cbor_key_version(&m, 1));
	TRY(cbor_key(&m, 2));
	TRY(cbor_uint(c, 0, 9, &v));
	TRY(cbor_map_end(&m));
	return cursor_end(c);
}

/* What the writer refuses leaves no byte behind. */
static void refused(struct bytes in)
{
	_cleanup_(blob_free) struct blob out = BLOB(1u << 20);
	struct cbor_writer w = cbor_write_begin(&out);

	cbor_put_array(&w, 0, SIZE_MAX, in.n);
	cbor_put_text(&w, 0, SIZE_MAX, CHARSET_LABEL, in);
	must(cbor_write_end(&w, SIZE_MAX) == (charset_has(CHARSET_LABEL, in) ? R_OK : R_FORMAT_TEXT));
	blob_reset(&out);
	w = cbor_write_begin(&out);
	cbor_put_bytes(&w, 0, 8, in);
	must(cbor_write_end(&w, SIZE_MAX) == (in.n <= 8 ? R_OK : R_FORMAT_RANGE));
	must(in.n <= 8 || out.n == 0);
}

/* Names in the order of keys, found with the reader's own rule. */
static void order(struct bytes in)
{
	char text[8][4];
	const char *name[8];
	size_t n = in.n / 3 < 8 ? in.n / 3 : 8, at[8];

	for (size_t i = 0; i < n; i++) {
		memcpy(text[i], in.p + 3 * i, 3);
		text[i][3] = '\0';
		name[i] = text[i];
	}
	if (!cbor_key_order(name, n, at))
		return;
	for (size_t i = 1; i < n; i++) {
		size_t a = strlen(name[at[i - 1]]), b = strlen(name[at[i]]);

		must(a < b || (a == b && memcmp(name[at[i - 1]], name[at[i]], a) < 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(blob_free) struct blob out = BLOB(1u << 20);
	struct cbor_writer w = cbor_write_begin(&out);
	struct bytes in = { data, size };
	struct cursor c = cursor_of(in);

	if (walk(&c, &w) == R_OK) {
		must(cbor_write_end(&w, size) == R_OK);
		must(bytes_equal(blob_bytes(&out), in));
		must(cbor_write_end(&w, size - 1) == R_FORMAT_TOO_LARGE && out.n == 0);
	}
	c = cursor_of(in);
	if (message(&c) == R_OK) {
		w = cbor_write_begin(&out);
		cbor_put_map(&w, 2);
		cbor_put_version(&w, 1);
		cbor_put_int(&w, 2);
		cbor_put_uint(&w, 0, 9, data[size - 1]);
		must(cbor_write_end(&w, size) == R_OK);
		must(bytes_equal(blob_bytes(&out), in));
	}
	refused(in);
	order(in);
	return 0;
}
