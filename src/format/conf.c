/* SPDX-License-Identifier: Apache-2.0 */
#include "format/conf.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/charset.h"

#define KEY_MAX sizeof(((struct conf_error *)0)->key)

/* One line that says something. */
struct setting {
	unsigned line;
	struct bytes key;
	struct bytes value;
};

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static struct bytes trim(struct bytes b)
{
	while (b.n > 0 && is_blank(b.p[b.n - 1]))
		b.n--;
	while (b.n > 0 && is_blank(b.p[0])) {
		b.p++;
		b.n--;
	}
	return b;
}

/* What can be a key of any file, and be shown in a message. */
static bool key_text(struct bytes key)
{
	return key.n > 0 && key.n < KEY_MAX && charset_has(CHARSET_NAME, key);
}

/* area.name, or with more parts; none of them empty. */
static bool key_valid(struct bytes key)
{
	bool dot = true, dots = false;

	if (!key_text(key))
		return false;
	for (size_t i = 0; i < key.n; i++) {
		if (dot && key.p[i] == '.')
			return false;
		dot = key.p[i] == '.';
		dots = dots || dot;
	}
	return dots && !dot;
}

static bool value_valid(struct bytes value)
{
	return value.n < CONF_VALUE_MAX && text_printable(value);
}

/* Takes one line off the cursor, its end too. */
static struct bytes line_take(struct cursor *c)
{
	const uint8_t *end = memchr(c->p, '\n', c->n);
	size_t n = end != NULL ? (size_t)(end - c->p) : c->n;
	struct bytes line = { c->p, n };

	n += end != NULL;
	c->p += n;
	c->n -= n;
	c->offset += n;
	return line;
}

/*
 * The next setting; *ret_found is false at the end. `ret->line` counts on
 * from what it was, and is right after a refusal too.
 */
static enum reason setting_next(struct cursor *c, struct setting *ret, bool *ret_found)
{
	*ret_found = false;
	while (c->n > 0) {
		struct bytes line = trim(line_take(c));
		const uint8_t *equals;

		ret->line++;
		ret->key = BYTES_NONE;
		if (line.n == 0 || line.p[0] == '#')
			continue;
		equals = memchr(line.p, '=', line.n);
		if (equals == NULL)
			return R_CONF_SYNTAX;
		ret->key = trim(bytes_of(line.p, (size_t)(equals - line.p)));
		ret->value = trim(bytes_of(equals + 1,
					   line.n - (size_t)(equals - line.p) - 1));
		if (!key_text(ret->key)) {
			ret->key = BYTES_NONE;
			return R_CONF_SYNTAX;
		}
		if (!key_valid(ret->key))
			return R_CONF_UNKNOWN;
		*ret_found = true;
		return R_OK;
	}
	return R_OK;
}

/* Whether `key` is set in front of line `before` of a file that was read. */
static bool is_set(struct bytes in, struct bytes key, unsigned before)
{
	struct cursor c = cursor_of(in);
	struct setting s = { .line = 0 };
	bool found;

	while (setting_next(&c, &s, &found) == R_OK && found && s.line < before)
		if (bytes_equal(s.key, key))
			return true;
	return false;
}

static bool key_fits(const char *name, struct bytes key)
{
	size_t n = strlen(name);

	if (n > 2 && strcmp(name + n - 2, ".*") == 0)
		return key.n > n - 1 && memcmp(name, key.p, n - 1) == 0;
	return bytes_equal(bytes_str(name), key);
}

static const struct conf_key *key_find(const struct conf_key *keys, size_t count,
				       struct bytes key)
{
	for (size_t i = 0; i < count; i++)
		if (key_fits(keys[i].name, key))
			return &keys[i];
	return NULL;
}

static void to_string(struct bytes b, char *ret)
{
	if (b.n > 0)
		memcpy(ret, b.p, b.n);
	ret[b.n] = '\0';
}

static enum reason setting_apply(struct bytes in, const struct setting *s,
				 const struct conf_key *keys, size_t count, void *ctx)
{
	const struct conf_key *k = key_find(keys, count, s->key);
	char key[KEY_MAX], value[CONF_VALUE_MAX];

	if (k == NULL)
		return R_CONF_UNKNOWN;
	if (is_set(in, s->key, s->line))
		return R_CONF_REPEATED;
	if (!value_valid(s->value))
		return R_CONF_VALUE;
	to_string(s->key, key);
	to_string(s->value, value);
	return k->set(ctx, key, value);
}

static enum reason settings_apply(struct bytes in, const struct conf_key *keys, size_t count,
				  void *ctx, struct setting *s)
{
	struct cursor c = cursor_of(in);
	bool found;

	for (;;) {
		TRY(setting_next(&c, s, &found));
		if (!found)
			return R_OK;
		TRY(setting_apply(in, s, keys, count, ctx));
	}
}

enum reason conf_read(struct bytes in, const struct conf_key *keys, size_t count, void *ctx,
		      struct conf_error *err)
{
	struct setting s = { .line = 0 };
	enum reason r;

	memset(err, 0, sizeof *err);
	if (in.n > LIMIT_CONF)
		return R_FORMAT_TOO_LARGE;
	r = settings_apply(in, keys, count, ctx, &s);
	if (r != R_OK) {
		err->line = s.line;
		to_string(s.key, err->key);
		return r;
	}
	for (size_t i = 0; i < count; i++) {
		struct bytes name = bytes_of(keys[i].name, strnlen(keys[i].name, KEY_MAX - 1));

		if (keys[i].required && !is_set(in, name, s.line + 1)) {
			to_string(name, err->key);
			return R_CONF_MISSING;
		}
	}
	return R_OK;
}

void conf_where(const struct conf_error *err, char ret[CONF_WHERE_MAX])
{
	const char *key = err->key[0] != '\0' ? err->key : "the file as a whole";

	if (err->line == 0)
		snprintf(ret, CONF_WHERE_MAX, "%s", key);
	else if (err->key[0] == '\0')
		snprintf(ret, CONF_WHERE_MAX, "line %u", err->line);
	else
		snprintf(ret, CONF_WHERE_MAX, "line %u: %s", err->line, key);
}

enum reason conf_write(struct blob *ret, const char *key, const char *value)
{
	struct bytes v = bytes_str(value);
	size_t start = ret->n;
	enum reason r = R_OK;

	if (!key_valid(bytes_str(key)) || !value_valid(v) || trim(v).n != v.n)
		return R_CONF_VALUE;
	const char *const parts[] = { key, " = ", value, "\n" };
	for (size_t i = 0; i < ARRAY_LEN(parts) && r == R_OK; i++)
		r = blob_append(ret, parts[i], strlen(parts[i]));
	if (r != R_OK)
		ret->n = start;
	return r;
}
