/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "format/efivar.h"

static const uint8_t name[] = { 'B', 0, 'o', 0, 'o', 0, 't', 0, '0', 0, '0', 0, 'A', 0, '1', 0 };

static enum reason variable_again(struct bytes in)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	struct efi_variable v;

	TRY(efi_variable_read(in, &v));
	TRY(efi_variable_write(&v, &b));
	assert_bytes(blob_bytes(&b), in.p, in.n);
	return R_OK;
}

static void test_variable(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	struct efi_variable v = { efi_global_variable, BYTES(name), bytes_str("content") };
	uint16_t number;

	(void)state;
	assert_ok(efi_variable_write(&v, &b));
	assert_int_equal(b.n, 32 + sizeof name + 7);
	assert_ok(efi_variable_read(blob_bytes(&b), &v));
	assert_bytes(v.content, "content", 7);
	assert_bytes(v.guid, efi_global_variable.p, 16);
	assert_true(efi_boot_number(v.name, &number));
	assert_int_equal(number, 0xa1);
	for (size_t n = 0; n < b.n; n++)
		assert_reason(R_FORMAT_TRUNCATED, variable_again(bytes_of(b.p, n)));
	assert_ok(blob_u8(&b, 0));
	assert_reason(R_FORMAT_TRAILING, variable_again(blob_bytes(&b)));
	/* lengths whose sum or double is small again (T23) */
	for (size_t at = 16; at < 32; at += 8) {
		memset(b.p + at, 0xff, 8);
		assert_reason(R_FORMAT_TRUNCATED, efi_variable_read(blob_bytes(&b), &v));
		memset(b.p + at, 0, 8);
		b.p[at + 7] = 0x80;
		assert_reason(R_FORMAT_TRUNCATED, efi_variable_read(blob_bytes(&b), &v));
		memset(b.p + at, 0, 8);
	}
	v.name.n = 3;
	assert_reason(R_FORMAT_RANGE, efi_variable_write(&v, &b));
	v.name.n = 2;
	v.guid.n = 15;
	assert_reason(R_FORMAT_RANGE, efi_variable_write(&v, &b));
}

static void test_names(void **state)
{
	uint8_t other[sizeof name];
	uint16_t number;

	(void)state;
	for (size_t i = 0; i < sizeof name; i++) {
		memcpy(other, name, sizeof name);
		other[i] ^= 0x80;
		assert_false(efi_boot_number(BYTES(other), &number));
	}
	memcpy(other, name, sizeof name);
	other[12] = 'a';
	assert_false(efi_boot_number(BYTES(other), &number));
	other[12] = '/';
	assert_false(efi_boot_number(BYTES(other), &number));
	other[12] = 'G';
	assert_false(efi_boot_number(BYTES(other), &number));
	assert_false(efi_boot_number(bytes_of(name, 14), &number));
	assert_true(utf16_is(bytes_of(name, 8), "Boot"));
	assert_false(utf16_is(bytes_of(name, 8), "Boo"));
	assert_false(utf16_is(bytes_of(name, 8), "Foot"));
	assert_true(utf16_is(BYTES_NONE, ""));
}

/* One node each, and what the path is then said to name. */
static void test_nodes(void **state)
{
	static const struct {
		uint8_t type, sub;
		bool mac, unit, firmware;
	} nodes[] = {
		{ 3, 11, true, false, false },	{ 3, 5, false, true, false },
		{ 3, 1, false, true, false },	{ 3, 2, false, true, false },
		{ 3, 16, false, true, false },	{ 3, 18, false, true, false },
		{ 3, 22, false, true, false },	{ 3, 23, false, true, false },
		{ 3, 12, false, false, false },	{ 4, 1, false, true, false },
		{ 4, 2, false, true, false },	{ 4, 6, false, false, true },
		{ 4, 7, false, false, true },	{ 4, 4, false, false, false },
		{ 2, 1, false, false, false },	{ 1, 1, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		uint8_t option[] = { 1, 0, 0, 0, 10, 0, 'x', 0, 0, 0,
				     nodes[i].type, nodes[i].sub, 6, 0, 0xaa, 0xbb,
				     0x7f, 0xff, 4, 0, 'o', 'p', 't' };
		struct efi_load_option o;

		assert_ok(efi_load_option_read(BYTES(option), &o));
		assert_int_equal(o.attributes, 1);
		assert_bytes(o.description, "x\0", 2);
		assert_bytes(o.optional, "opt", 3);
		assert_int_equal(o.path.nodes, 1);
		assert_int_equal(o.path.mac, nodes[i].mac);
		assert_int_equal(o.path.unit, nodes[i].unit);
		assert_int_equal(o.path.firmware, nodes[i].firmware);
		for (size_t n = 0; n < sizeof option - 3; n++)
			assert_reason(R_FORMAT_TRUNCATED,
				      efi_load_option_read(bytes_of(option, n), &o));
		/* a node shorter than its own head */
		option[12] = 3;
		assert_reason(R_FORMAT_RANGE, efi_load_option_read(BYTES(option), &o));
		/* a node that reaches over the end of the list */
		option[12] = 9;
		assert_true(efi_load_option_read(BYTES(option), &o) != R_OK);
		option[12] = 6;
		/* an end node with something in it */
		option[18] = 5;
		option[4] = 11;
		assert_reason(R_FORMAT_RANGE, efi_load_option_read(BYTES(option), &o));
	}
}

static void test_two_paths(void **state)
{
	static const uint8_t option[] = { 0, 0, 0, 0, 8, 0, 0, 0, 0x7f, 0xff, 4, 0,
					  0x7f, 0xff, 4, 0 };
	struct efi_load_option o;

	(void)state;
	assert_ok(efi_load_option_read(BYTES(option), &o));
	assert_int_equal(o.path.nodes, 0);
	assert_int_equal(o.optional.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variable),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_two_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
