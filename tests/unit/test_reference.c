/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/reference.h"

static enum reason variant_again(struct bytes in, struct blob *out)
{
	struct reference_variant v;
	enum reason r;

	TRY(reference_variant_read(in, &v));
	r = reference_variant_write(&v, out);
	reference_variant_free(&v);
	return r;
}

static enum reason set_again(struct bytes in, struct blob *out)
{
	struct reference_set s;
	enum reason r;

	TRY(reference_set_read(in, &s));
	r = reference_set_write(&s, out);
	reference_set_free(&s);
	return r;
}

static const uint8_t digest[DIGEST_MAX] = { 0xd1 };
static struct reference_event events[2];
static struct reference_variant sample;

static int setup(void **state)
{
	(void)state;
	memset(events, 0, sizeof events);
	events[0] = (struct reference_event){ .pcr = 4, .type = 0x80000003, .digest_count = 2 };
	events[0].digest[0].alg = ALG_SHA256;
	events[0].digest[0].digest = bytes_of(digest, 32);
	events[0].digest[1].alg = ALG_SHA384;
	events[0].digest[1].digest = bytes_of(digest, 48);
	events[0].text = bytes_str("gate.efi");
	events[1] = (struct reference_event){ .pcr = 23, .type = UINT32_MAX, .digest_count = 1 };
	events[1].digest[0].alg = ALG_SHA1;
	events[1].digest[0].digest = bytes_of(digest, 20);
	sample = (struct reference_variant){ .id = UINT64_MAX, .component = "gate",
					     .name = "gate-1", .version = "1.2",
					     .security_version = 3, .source = "learned",
					     .state = VARIANT_RETIRING, .event_count = 2,
					     .event = events };
	return 0;
}

static void test_variant(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE);
	struct reference_variant v;

	(void)state;
	assert_ok(reference_variant_write(&sample, &b));
	assert_ok(reference_variant_read(blob_bytes(&b), &v));
	assert_int_equal(v.id, UINT64_MAX);
	assert_string_equal(v.component, "gate");
	assert_string_equal(v.version, "1.2");
	assert_int_equal(v.security_version, 3);
	assert_int_equal(v.state, VARIANT_RETIRING);
	assert_int_equal(v.event_count, 2);
	assert_int_equal(v.event[0].digest[1].alg, ALG_SHA384);
	assert_bytes(v.event[0].digest[1].digest, digest, 48);
	assert_bytes(v.event[0].text, "gate.efi", 8);
	reference_variant_free(&v);
	reference_variant_free(&v);
	message_check(variant_again, blob_bytes(&b));
	message_map_check(variant_again, blob_bytes(&b), 0);
	seed("reference", "variant", blob_bytes(&b));
	assert_string_equal(variant_state_name(VARIANT_STAGED), "staged");
	assert_string_equal(variant_state_name(VARIANT_STATE_MAX), "invalid");
}

/* What must not be written is not written, and not read (T22, T26). */
static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE);

	(void)state;
	sample.event_count = 0;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	sample.event_count = 2;
	events[0].digest[0].digest.n = 31;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	events[0].digest[0].digest.n = 0;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	events[0].digest[0].digest.n = 32;
	events[0].digest[0].alg = 0x27;
	assert_reason(R_FORMAT_RANGE, reference_variant_write(&sample, &b));
	events[0].digest[0].alg = ALG_SHA256;
	events[0].digest_count = 0;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	events[0].digest_count = 2;
	events[0].digest[1] = events[0].digest[0];
	assert_reason(R_FORMAT_DUPLICATE, reference_variant_write(&sample, &b));
	events[0].digest_count = 1;
	events[0].pcr = 24;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	events[0].pcr = 0;
	sample.component[0] = 'G';
	assert_reason(R_FORMAT_TEXT, reference_variant_write(&sample, &b));
	sample.component[0] = 'g';
	sample.name[0] = '\n';
	assert_reason(R_FORMAT_TEXT, reference_variant_write(&sample, &b));
	sample.name[0] = 'g';
	sample.state = VARIANT_STATE_MAX;
	assert_true(reference_variant_write(&sample, &b) != R_OK);
	assert_int_equal(b.n, 0);
}

static void test_read_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE);
	static const uint8_t pair[] = { 0x82, 0x0b, 0x58, 0x20 };	/* [SHA-256, 32 bytes] */
	uint8_t *at;

	(void)state;
	assert_ok(reference_variant_write(&sample, &b));
	at = find(&b, pair, sizeof pair);
	at[1] = 0x0a;
	assert_reason(R_FORMAT_RANGE, message_read(variant_again, blob_bytes(&b)));
	at[1] = 0x0b;
	/* the second digest says it is of the first algorithm, and has its length */
	{
		static const uint8_t twice[] = { 0x82, 0x0c, 0x58, 0x30 };
		_cleanup_(blob_free) struct blob cut = BLOB(LIMIT_REFERENCE);
		uint8_t *other = find(&b, twice, sizeof twice);

		assert_ok(blob_append(&cut, b.p, (size_t)(other - b.p)));
		assert_ok(blob_append(&cut, pair, sizeof pair));
		assert_ok(blob_append(&cut, other + 4, 32));
		assert_ok(blob_append(&cut, other + 4 + 48, b.n - (size_t)(other + 52 - b.p)));
		assert_reason(R_FORMAT_DUPLICATE, message_read(variant_again, blob_bytes(&cut)));
	}
	{
		/* no events: it would equal what is not there */
		uint8_t *list = find(&b, "\x09\x82\x84", 3);
		struct reference_variant v;

		list[1] = 0x80;
		assert_reason(R_FORMAT_RANGE,
			      reference_variant_read(bytes_of(b.p, (size_t)(list + 2 - b.p)), &v));
	}
	{
		_cleanup_free_ uint8_t *big = calloc(1, LIMIT_REFERENCE_SET + 1);

		assert_non_null(big);
		assert_reason(R_FORMAT_TOO_LARGE,
			      message_read(variant_again, bytes_of(big, LIMIT_REFERENCE + 1)));
		assert_reason(R_FORMAT_TOO_LARGE,
			      message_read(set_again, bytes_of(big, LIMIT_REFERENCE_SET + 1)));
	}
}

static void test_set(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE_SET);
	struct reference_variant two[2] = { sample, sample };
	struct reference_set s = { 2, two };
	struct reference_set none = { 0 };

	(void)state;
	two[1].state = VARIANT_STAGED;
	assert_ok(reference_set_write(&s, &b));
	assert_ok(reference_set_read(blob_bytes(&b), &s));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.variant[1].state, VARIANT_STAGED);
	reference_set_free(&s);
	message_check(set_again, blob_bytes(&b));
	seed("reference", "set", blob_bytes(&b));
	blob_reset(&b);
	assert_ok(reference_set_write(&none, &b));
	assert_ok(reference_set_read(blob_bytes(&b), &s));
	assert_int_equal(s.count, 0);
	seed("reference", "empty", blob_bytes(&b));
}

static void test_memory(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE_SET);
	struct reference_set s = { 1, &sample };
	struct reference_set again;

	(void)state;
	assert_ok(reference_set_write(&s, &b));
	for (long n = 0; n < 2; n++) {
		unit_fail_allocation(n);
		assert_reason(R_INTERNAL_MEMORY, reference_set_read(blob_bytes(&b), &again));
	}
	unit_fail_allocation(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_variant, setup),
		cmocka_unit_test_setup(test_bounds, setup),
		cmocka_unit_test_setup(test_read_bounds, setup),
		cmocka_unit_test_setup(test_set, setup),
		cmocka_unit_test_setup(test_memory, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
