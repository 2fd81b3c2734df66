/* SPDX-License-Identifier: Apache-2.0 */
#include "pe_kit.h"

#include "format/pe.h"

static void good(struct image *i)
{
	image_begin(i);
	image_text(i, ".text", "code of the program");
	image_text(i, ".data", "0123456789abcdef");
}

static void reads_as(const struct image *i, enum reason want)
{
	struct pe pe;

	assert_reason(want, pe_read(image_bytes(i), &pe));
}

static void test_read(void **state)
{
	struct image i;
	struct bytes content;
	struct pe pe;
	(void)state;

	good(&i);
	seed("pe", "good", image_bytes(&i));
	assert_ok(pe_read(image_bytes(&i), &pe));
	assert_int_equal(pe.section_count, 2);
	assert_int_equal(pe.headers_size, KIT_HEADERS);
	assert_int_equal(pe.checksum_at, KIT_CHECKSUM);
	assert_int_equal(pe.certificates_at, KIT_CERTIFICATES);
	assert_null(pe_find(&pe, ".tex"));
	assert_null(pe_find(&pe, ".text2"));
	assert_ok(pe_content(pe_find(&pe, ".text"), &content));
	assert_bytes(content, "code of the program", 19);
	assert_int_equal(pe_find(&pe, ".text")->raw.n, 32);
}

/* A name of eight has no NUL; a section may have no bytes in the file. */
static void test_edges(void **state)
{
	struct image i;
	struct bytes content;
	struct pe pe;
	size_t row;
	(void)state;

	good(&i);
	image_text(&i, ".sdmagic", "x");
	image_row(&i, ".bss", 4096, 0, 0xffffffff);
	row = image_row(&i, ".none", 0, 0, 0);
	seed("pe", "edges", image_bytes(&i));
	assert_ok(pe_read(image_bytes(&i), &pe));
	assert_non_null(pe_find(&pe, ".sdmagic"));
	assert_reason(R_FORMAT_RANGE, pe_content(pe_find(&pe, ".bss"), &content));
	assert_ok(pe_content(pe_find(&pe, ".none"), &content));
	assert_int_equal(content.n, 0);
	set32(&i, row + 8, 1);
	assert_ok(pe_read(image_bytes(&i), &pe));
	assert_reason(R_FORMAT_RANGE, pe_content(pe_find(&pe, ".none"), &content));
}

static void digest_is(const struct image *i, const struct bytes *pieces, size_t count)
{
	static const uint16_t banks[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384 };
	uint8_t want[DIGEST_MAX], have[DIGEST_MAX];
	struct pe pe;

	assert_ok(pe_read(image_bytes(i), &pe));
	for (size_t k = 0; k < ARRAY_LEN(banks); k++) {
		assert_ok(digest_of(banks[k], pieces, count, want));
		assert_ok(pe_digest(&pe, banks[k], have));
		assert_memory_equal(have, want, digest_len(banks[k]));
	}
}

#define PART(from, to) bytes_of(i.b + (from), (to) - (from))
#define HEADERS                                                              \
	PART(0, KIT_CHECKSUM), PART(KIT_CHECKSUM + 4, KIT_CERTIFICATES),      \
	PART(KIT_CERTIFICATES + 8, KIT_HEADERS)

static void test_digest(void **state)
{
	struct image i;
	size_t end;
	(void)state;

	good(&i);
	digest_is(&i, (struct bytes[]){ HEADERS, PART(KIT_HEADERS, i.n) }, 4);
	image_append(&i, "behind", 6);
	digest_is(&i, (struct bytes[]){ HEADERS, PART(KIT_HEADERS, i.n) }, 4);
	end = i.n;
	image_sign(&i, "signature");
	seed("pe", "signed", image_bytes(&i));
	digest_is(&i, (struct bytes[]){ HEADERS, PART(KIT_HEADERS, end) }, 4);
}

/* In the order of the file, whatever the order of the table. */
static void test_digest_order(void **state)
{
	struct image i;
	(void)state;

	image_begin(&i);
	image_append(&i, "AAAABBBBCC", 10);
	image_row(&i, "b", 4, 4, KIT_HEADERS + 4);
	image_row(&i, "c", 2, 2, KIT_HEADERS + 8);
	image_row(&i, "a", 4, 4, KIT_HEADERS);
	seed("pe", "order", image_bytes(&i));
	digest_is(&i, (struct bytes[]){ HEADERS, bytes_str("AAAABBBBCC") }, 4);
}

/* Firmware takes the bytes hashed so far for the place where the rest begins. */
static void test_digest_gap(void **state)
{
	struct image i;
	(void)state;

	image_begin(&i);
	image_append(&i, "..AAAA..BBtail", 14);
	image_row(&i, "a", 4, 4, KIT_HEADERS + 2);
	image_row(&i, "b", 2, 2, KIT_HEADERS + 8);
	digest_is(&i, (struct bytes[]){ HEADERS, bytes_str("AAAABB..BBtail") }, 4);
}

static void test_no_image(void **state)
{
	struct image i;
	(void)state;

	good(&i);
	i.b[0] = 'm';
	seed("pe", "no-mz", image_bytes(&i));
	reads_as(&i, R_FORMAT_TYPE);
	good(&i);
	i.b[KIT_PE + 2] = 1;
	seed("pe", "no-pe", image_bytes(&i));
	reads_as(&i, R_FORMAT_TYPE);
	good(&i);
	set16(&i, KIT_OPTIONAL, 0x10b);
	seed("pe", "pe32", image_bytes(&i));
	reads_as(&i, R_FORMAT_TYPE);
	good(&i);
	set32(&i, 0x3c, KIT_PE - 1);
	seed("pe", "pe-early", image_bytes(&i));
	reads_as(&i, R_FORMAT_RANGE);
	set32(&i, 0x3c, 0xfffffff0);
	reads_as(&i, R_FORMAT_TRUNCATED);
}

static void test_headers(void **state)
{
	struct image i;
	(void)state;

	good(&i);
	set32(&i, KIT_DIRECTORIES, 4);
	seed("pe", "directories", image_bytes(&i));
	reads_as(&i, R_FORMAT_RANGE);
	set32(&i, KIT_DIRECTORIES, 5);
	reads_as(&i, R_OK);
	good(&i);
	set16(&i, KIT_PE + 20, 151);
	reads_as(&i, R_FORMAT_RANGE);
	/* the table of sections belongs to the headers */
	good(&i);
	set32(&i, KIT_OPTIONAL + 60, KIT_SECTIONS + 79);
	seed("pe", "headers-short", image_bytes(&i));
	reads_as(&i, R_FORMAT_TRUNCATED);
	set32(&i, KIT_OPTIONAL + 60, KIT_SECTIONS + 80);
	reads_as(&i, R_OK);
	set32(&i, KIT_OPTIONAL + 60, 0xffffffff);
	reads_as(&i, R_FORMAT_TRUNCATED);
}

static void test_signatures(void **state)
{
	struct image i;
	(void)state;

	good(&i);
	image_sign(&i, "signature");
	image_append(&i, "x", 1);
	seed("pe", "behind-signature", image_bytes(&i));
	reads_as(&i, R_FORMAT_RANGE);
	good(&i);
	set32(&i, KIT_CERTIFICATES, (uint32_t)i.n);
	reads_as(&i, R_FORMAT_RANGE);
	/* what is signed does not overlap the signature */
	good(&i);
	set32(&i, KIT_CERTIFICATES, (uint32_t)i.n - 1);
	set32(&i, KIT_CERTIFICATES + 4, 1);
	seed("pe", "signature-inside", image_bytes(&i));
	reads_as(&i, R_FORMAT_TRUNCATED);
	image_begin(&i);
	set32(&i, KIT_CERTIFICATES, KIT_HEADERS - 1);
	set32(&i, KIT_CERTIFICATES + 4, 1);
	reads_as(&i, R_FORMAT_RANGE);
}

static void test_sections(void **state)
{
	struct image i;
	(void)state;

	good(&i);
	image_text(&i, ".text", "again");
	seed("pe", "twice", image_bytes(&i));
	reads_as(&i, R_FORMAT_DUPLICATE);
	good(&i);
	image_row(&i, "over", 4, 4, KIT_HEADERS + 30);
	seed("pe", "overlap", image_bytes(&i));
	reads_as(&i, R_FORMAT_RANGE);
	good(&i);
	image_row(&i, "head", 4, 4, KIT_HEADERS - 1);
	seed("pe", "in-headers", image_bytes(&i));
	reads_as(&i, R_FORMAT_RANGE);
	good(&i);
	image_row(&i, "far", 4, 4, (uint32_t)i.n - 3);
	reads_as(&i, R_FORMAT_TRUNCATED);
	good(&i);
	image_row(&i, "farther", 4, 0xffffffff, 0xffffffff);
	reads_as(&i, R_FORMAT_TRUNCATED);
	good(&i);
	set16(&i, KIT_PE + 6, PE_SECTIONS_MAX + 1);
	seed("pe", "many", image_bytes(&i));
	reads_as(&i, R_FORMAT_TOO_LARGE);
}

static void test_truncated(void **state)
{
	struct image i;
	struct pe pe;
	(void)state;

	good(&i);
	for (size_t n = 0; n < i.n; n++)
		assert_reason(R_FORMAT_TRUNCATED, pe_read(bytes_of(i.b, n), &pe));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	   cmocka_unit_test(test_edges),
		cmocka_unit_test(test_digest),	   cmocka_unit_test(test_digest_order),
		cmocka_unit_test(test_digest_gap), cmocka_unit_test(test_no_image),
		cmocka_unit_test(test_headers),	   cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_sections),   cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
