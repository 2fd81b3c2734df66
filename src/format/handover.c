/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newc cpio. Reader and writer make the same headers from the same table; the
 * reader takes only the size of a file out of the archive and compares all
 * the rest, so there is exactly one archive for given members.
 */
#include "format/handover.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define HEADER_LEN 110u
#define SIZE_AT 54u		/* of c_filesize in the header */
#define ALIGN 4u
#define BLOCK 512u
#define MODE_FOLDER 0040500u
#define MODE_FILE 0100400u
#define ENTRY_MAX (HEADER_LEN + 64u)

/* Folders come before what is in them, or the kernel drops the files. */
static const char *const folders[] = { ".extra", ".extra/bootgate" };
static const char *const files[] = {
	".extra/bootgate/firmware.log", ".extra/bootgate/gate.log",
	".extra/bootgate/evidence.cbor", ".extra/bootgate/verdict.cose",
	".extra/bootgate/manifest.cose", ".extra/bootgate/report.cbor",
};
#define TRAILER "TRAILER!!!"

static const struct bytes *member(const struct handover *h, size_t i)
{
	const struct bytes *const members[ARRAY_LEN(files)] = {
		&h->firmware_log, &h->gate_log, &h->evidence,
		&h->verdict, &h->manifest, &h->report,
	};
	return members[i];
}

static size_t pad_to(size_t n, size_t align)
{
	return (align - n % align) % align;
}

/* Header, name and the NULs that align the data. */
static size_t entry(const char *name, unsigned inode, unsigned mode, size_t size,
		    char ret[ENTRY_MAX])
{
	size_t len = strlen(name) + 1;
	int n;

	memset(ret, 0, ENTRY_MAX);
	n = snprintf(ret, ENTRY_MAX,
		     "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s",
		     inode, mode, 0u, 0u, 1u, 0u, (unsigned)size, 0u, 0u, 0u, 0u,
		     (unsigned)len, 0u, name);
	return (size_t)n + 1 + pad_to((size_t)n + 1, ALIGN);
}

size_t handover_size(const struct handover *h)
{
	char e[ENTRY_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		n += entry(folders[i], 0, 0, 0, e);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		size_t size = member(h, i)->n;
		n += entry(files[i], 0, 0, 0, e) + size + pad_to(size, ALIGN);
	}
	n += entry(TRAILER, 0, 0, 0, e);
	return n + pad_to(n, BLOCK);
}

static enum reason append_zeros(struct blob *b, size_t n)
{
	static const uint8_t zeros[BLOCK];

	return blob_append(b, zeros, n);
}

static enum reason members_append(const struct handover *h, struct blob *b)
{
	unsigned inode = 1;
	char e[ENTRY_MAX];
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		n = entry(folders[i], inode++, MODE_FOLDER, 0, e);
		TRY(blob_append(b, e, n));
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct bytes *data = member(h, i);

		n = entry(files[i], inode++, MODE_FILE, data->n, e);
		TRY(blob_append(b, e, n));
		TRY(blob_append(b, data->p, data->n));
		TRY(append_zeros(b, pad_to(data->n, ALIGN)));
	}
	n = entry(TRAILER, 0, 0, 0, e);
	return blob_append(b, e, n);
}

enum reason handover_write(const struct handover *h, struct blob *ret)
{
	size_t start = ret->n;
	enum reason r;

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (member(h, i)->n > LIMIT_HANDOVER)
			return R_FORMAT_TOO_LARGE;
	if (handover_size(h) > LIMIT_HANDOVER)
		return R_FORMAT_TOO_LARGE;
	r = members_append(h, ret);
	if (r == R_OK)
		r = append_zeros(ret, pad_to(ret->n - start, BLOCK));
	if (r != R_OK)
		ret->n = start;
	return r;
}

static enum reason expect(struct cursor *c, const void *p, size_t n)
{
	struct bytes found;

	TRY(cursor_take(c, n, &found));
	return bytes_equal(found, bytes_of(p, n)) ? R_OK : R_FORMAT_CANONICAL;
}

static enum reason expect_zeros(struct cursor *c, size_t n)
{
	static const uint8_t zeros[BLOCK];

	return expect(c, zeros, n);
}

/* Size of the file whose header comes next; its digits are checked with the rest. */
static enum reason size_peek(const struct cursor *c, size_t *ret)
{
	struct cursor at = *c;
	struct bytes digits, skipped;
	size_t v = 0;

	TRY(cursor_take(&at, SIZE_AT, &skipped));
	TRY(cursor_take(&at, 8, &digits));
	for (size_t i = 0; i < digits.n; i++) {
		uint8_t d = digits.p[i];

		if (d >= '0' && d <= '9')
			v = v << 4 | (size_t)(d - '0');
		else if (d >= 'A' && d <= 'F')
			v = v << 4 | (size_t)(d - 'A' + 10);
		else
			return R_FORMAT_CANONICAL;
	}
	*ret = v;
	return R_OK;
}

enum reason handover_read(struct bytes in, struct handover *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes data[ARRAY_LEN(files)];
	unsigned inode = 1;
	char e[ENTRY_MAX];
	size_t n, size;

	if (in.n > LIMIT_HANDOVER)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		n = entry(folders[i], inode++, MODE_FOLDER, 0, e);
		TRY(expect(&c, e, n));
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		TRY(size_peek(&c, &size));
		n = entry(files[i], inode++, MODE_FILE, size, e);
		TRY(expect(&c, e, n));
		TRY(cursor_take(&c, size, &data[i]));
		TRY(expect_zeros(&c, pad_to(size, ALIGN)));
	}
	n = entry(TRAILER, 0, 0, 0, e);
	TRY(expect(&c, e, n));
	TRY(expect_zeros(&c, pad_to(c.offset, BLOCK)));
	TRY(cursor_end(&c));
	*ret = (struct handover){ data[0], data[1], data[2], data[3], data[4], data[5] };
	return R_OK;
}
