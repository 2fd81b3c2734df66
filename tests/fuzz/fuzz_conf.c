/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/conf.h"

static enum reason write_again(void *ctx, const char *key, const char *value)
{
	return conf_write(ctx, key, value);
}

static enum reason nothing(void *ctx, const char *key, const char *value)
{
	(void)ctx;
	(void)key;
	return value[0] == '!' ? R_CONF_VALUE : R_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct conf_key copy[] = {
		{ "a.b", true, write_again }, { "a.c", false, write_again },
		{ "list.*", false, write_again },
	};
	static const struct conf_key check[] = {
		{ "a.b", true, nothing }, { "a.c", false, nothing }, { "list.*", false, nothing },
	};
	_cleanup_(blob_free) struct blob once = BLOB(4 * LIMIT_CONF), twice = BLOB(4 * LIMIT_CONF);
	char where[CONF_WHERE_MAX];
	struct conf_error err;
	enum reason r;

	/* the search for repeated keys is quadratic; no file has so many lines */
	if (size > 4096 && size <= LIMIT_CONF)
		return 0;
	r = conf_read(bytes_of(data, size), copy, ARRAY_LEN(copy), &once, &err);
	must(strnlen(err.key, sizeof err.key) < sizeof err.key);
	if (r == R_OK) {
		/* what was read and written reads as the same, and is written as the same */
		must(conf_read(blob_bytes(&once), copy, ARRAY_LEN(copy), &twice, &err) == R_OK);
		must(bytes_equal(blob_bytes(&once), blob_bytes(&twice)));
	}
	r = conf_read(bytes_of(data, size), check, ARRAY_LEN(check), NULL, &err);
	must(r != R_OK || err.line == 0);
	conf_where(&err, where);
	must(where[0] != '\0' && strstr(where, err.key) != NULL);
	return 0;
}
