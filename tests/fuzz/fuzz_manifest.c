/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/manifest.h"

REWRITE(manifest)

/* Text behind the manifest: values, one to a line, in the order of asking. */
struct values {
	char *text, *next;
};

static const char *value_next(void *ctx, const char *name)
{
	struct values *v = ctx;
	char *line = v->next, *end;

	(void)name;
	if (line == NULL)
		return NULL;
	end = strchr(line, '\n');
	v->next = end != NULL ? end + 1 : NULL;
	if (end != NULL)
		*end = '\0';
	return line;
}

/* Blanks are the template's: a value can add none, so it adds no parameter. */
static size_t blanks(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++) {
		must(*s >= ' ' && *s <= '~');
		n += *s == ' ';
	}
	return n;
}

static void try_template(const struct manifest *m, const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = string_of(data, size);
	struct values v = { text, text };
	char line[LIMIT_CMDLINE];

	if (manifest_cmdline(m, value_next, &v, line) == R_OK)
		must(blanks(line) == blanks(m->cmdline));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct manifest m;
	size_t at = 0;

	/* a manifest, or one with 0xff and values behind it */
	same_again(manifest_again, bytes_of(data, size));
	for (size_t i = 0; i < size; i++)
		if (data[i] == 0xff)
			at = i;
	if (manifest_read(bytes_of(data, at), &m) == R_OK)
		try_template(&m, data + at + 1, size - at - 1);
	return 0;
}
