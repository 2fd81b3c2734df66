/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>

#include "message.h"

#include "base/limits.h"
#include "cose_keys.h"
#include "format/cose.h"

#define KEYS COSE_TEST_KEYS

static struct private_key *secret[KEYS];
static struct pinned_keys keys;
static struct cose_signer signer[KEYS];

static enum reason sign_with_key(void *ctx, const uint8_t digest[SHA256_LEN],
				 uint8_t ret[ES256_LEN])
{
	return es256_sign(ctx, digest, ret);
}

static enum reason sign_fails(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	(void)ctx;
	(void)digest;
	(void)ret;
	return R_INTERNAL_CRYPTO;
}

static int make_keys(void **state)
{
	(void)state;
	keys.count = KEYS;
	for (size_t i = 0; i < KEYS; i++) {
		assert_ok(private_key_from_pem(bytes_str(cose_test_key[i]), &secret[i]));
		assert_ok(private_key_public(secret[i], &keys.key[i].key));
		assert_ok(ec_public_id(&keys.key[i].key, keys.key[i].id));
		memcpy(signer[i].id, keys.key[i].id, KEY_ID_LEN);
		signer[i].sign = sign_with_key;
		signer[i].ctx = secret[i];
	}
	return 0;
}

static int free_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		private_key_free(&secret[i]);
	return 0;
}

static const struct bytes payload = { (const uint8_t *)"the payload", 11 };

static struct blob sign1_sample(void)
{
	struct blob b = BLOB(1024);

	assert_ok(cose_sign1_write(payload, COSE_AAD_VERDICT, &signer[1], &b));
	return b;
}

static enum reason verify1(struct bytes in)
{
	struct bytes got = BYTES_NONE;
	size_t key = 99;
	enum reason r = cose_sign1_verify(in, COSE_AAD_VERDICT, &keys, &got, &key);

	/* nothing is given out unless it verified */
	if (r != R_OK)
		assert_true(got.p == NULL && key == 99);
	return r;
}

static enum reason verify(struct bytes in, size_t threshold)
{
	struct bytes got = BYTES_NONE;
	size_t valid = 99;
	enum reason r = cose_sign_verify(in, COSE_AAD_MANIFEST, &keys, threshold, &got, &valid);

	if (r != R_OK)
		assert_true(got.p == NULL && valid == 99);
	return r;
}

static void test_sign1(void **state)
{
	_cleanup_(blob_free) struct blob b = sign1_sample();
	struct pinned_keys others = keys;
	struct bytes got;
	size_t key;

	(void)state;
	assert_ok(cose_sign1_verify(blob_bytes(&b), COSE_AAD_VERDICT, &keys, &got, &key));
	assert_bytes(got, payload.p, payload.n);
	assert_int_equal(key, 1);
	assert_ok(cose_payload(blob_bytes(&b), &got));
	assert_bytes(got, payload.p, payload.n);
	seed("cose", "sign1", blob_bytes(&b));

	/* signed as one thing it is no other */
	assert_reason(R_COSE_SIGNATURE, cose_sign1_verify(blob_bytes(&b), COSE_AAD_MANIFEST,
							  &keys, &got, &key));
	others.count = 1;
	assert_reason(R_COSE_KEY_UNKNOWN, cose_sign1_verify(blob_bytes(&b), COSE_AAD_VERDICT,
							    &others, &got, &key));
	/* kid names a pinned key, the signature is of another */
	others.count = KEYS;
	others.key[1].key = keys.key[0].key;
	assert_reason(R_COSE_SIGNATURE, cose_sign1_verify(blob_bytes(&b), COSE_AAD_VERDICT,
							  &others, &got, &key));
}

/* Cut anywhere, longer, or with any one bit turned, it never verifies. */
static void test_sign1_broken(void **state)
{
	_cleanup_(blob_free) struct blob b = sign1_sample();

	(void)state;
	for (size_t n = 0; n < b.n; n++)
		assert_true(verify1(bytes_of(b.p, n)) != R_OK);
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_true(verify1(blob_bytes(&b)) != R_OK);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_ok(verify1(blob_bytes(&b)));
	assert_ok(blob_u8(&b, 0));
	assert_reason(R_COSE_STRUCTURE, verify1(blob_bytes(&b)));
}

/* An envelope of these parts, signed as it stands. */
static enum reason crafted(const char *protected, const char *unprotected, const char *aad)
{
	_cleanup_(blob_free) struct blob header = unhex(protected), loose = unhex(unprotected);
	_cleanup_(blob_free) struct blob tbs = BLOB(1024), b = BLOB(1024);
	struct cbor_writer w = cbor_write_begin(&tbs);
	uint8_t digest[SHA256_LEN], value[ES256_LEN];

	/* KID stands for the id of key 0 */
	for (size_t i = 0; i + KEY_ID_LEN <= header.n; i++)
		if (memcmp(header.p + i, "\xee\xee\xee\xee\xee\xee\xee\xee", KEY_ID_LEN) == 0)
			memcpy(header.p + i, keys.key[0].id, KEY_ID_LEN);
	cbor_put_array(&w, 4, 4, 4);
	cbor_put_string(&w, 1, 99, CHARSET_PRINTABLE, "Signature1");
	cbor_put_bytes(&w, 0, 999, blob_bytes(&header));
	cbor_put_bytes(&w, 0, 99, bytes_str(aad));
	cbor_put_bytes(&w, 0, 99, payload);
	assert_ok(cbor_write_end(&w, 1024));
	assert_ok(sha256(blob_bytes(&tbs), digest));
	assert_ok(es256_sign(secret[0], digest, value));
	w = cbor_write_begin(&b);
	cbor_put_tag(&w, 18);
	cbor_put_array(&w, 4, 4, 4);
	cbor_put_bytes(&w, 0, 999, blob_bytes(&header));
	assert_ok(cbor_write_end(&w, 1024));
	assert_ok(blob_append(&b, loose.p, loose.n));
	w = cbor_write_begin(&b);
	cbor_put_bytes(&w, 0, 99, payload);
	cbor_put_copy(&w, value, ES256_LEN);
	assert_ok(cbor_write_end(&w, 1024));
	return verify1(blob_bytes(&b));
}

#define KID "0448eeeeeeeeeeeeeeee"

static void test_headers(void **state)
{
	(void)state;
	assert_ok(crafted("a20126" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_SIGNATURE, crafted("a20126" KID, "a0", ""));
	/* other algorithms: ES384, HMAC, none */
	assert_reason(R_COSE_ALGORITHM, crafted("a2013822" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_ALGORITHM, crafted("a20105" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_ALGORITHM, crafted("a20100" KID, "a0", COSE_AAD_VERDICT));
	/* as text, missing, twice, unsorted */
	assert_reason(R_COSE_HEADER, crafted("a201654553323536" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a1" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a10126", "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a301260126" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a2" KID "0126", "a0", COSE_AAD_VERDICT));
	/* crit, content type, x5chain, trailing bytes, no map, kid of 7 bytes, nothing */
	assert_reason(R_COSE_HEADER, crafted("a30126028104" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a301260300" KID, "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a30126" KID "182140", "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a20126" KID "00", "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("80", "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("a201260447eeeeeeeeeeeeee", "a0", COSE_AAD_VERDICT));
	assert_reason(R_COSE_HEADER, crafted("", "a0", COSE_AAD_VERDICT));
	/* whatever is not signed */
	assert_reason(R_COSE_HEADER, crafted("a20126" KID, "a10441ee", COSE_AAD_VERDICT));
	assert_reason(R_COSE_STRUCTURE, crafted("a20126" KID, "80", COSE_AAD_VERDICT));
}

static void test_structure(void **state)
{
	static const char *const bad[] = {
		"", "00", "d2", "d280", "d28440a0f640", "8440a04100584000", "d8628440a0410080",
		"d38440a0410040", "d28340a04100", "d2a0",
	};
	struct bytes got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(blob_free) struct blob b = unhex(bad[i]);
		enum reason r = verify1(blob_bytes(&b));

		assert_true(r == R_COSE_STRUCTURE || r == R_COSE_HEADER);
		r = verify(blob_bytes(&b), 1);
		assert_true(r == R_COSE_STRUCTURE || r == R_COSE_HEADER);
		assert_true(cose_payload(blob_bytes(&b), &got) != R_OK);
	}
	assert_reason(R_COSE_STRUCTURE, verify1(bytes_of("\x00", 1)));
	assert_reason(R_COSE_STRUCTURE, verify(bytes_of("\x00", 1), 1));
}

static void test_detached(void **state)
{
	_cleanup_(blob_free) struct blob b = sign1_sample();
	uint8_t *p = find(&b, "\x4bthe payload", 12);

	(void)state;
	/* nil instead of a payload */
	*p = 0xf6;
	memmove(p + 1, p + 12, b.n - (size_t)(p - b.p) - 12);
	b.n -= 11;
	assert_reason(R_COSE_STRUCTURE, verify1(blob_bytes(&b)));
}

static void sign_sample(size_t count, struct blob *ret)
{
	assert_ok(cose_sign_write(payload, COSE_AAD_MANIFEST, signer, count, ret));
}

static void test_sign(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	struct bytes got;
	size_t valid;

	(void)state;
	sign_sample(3, &b);
	assert_ok(cose_sign_verify(blob_bytes(&b), COSE_AAD_MANIFEST, &keys, 2, &got, &valid));
	assert_bytes(got, payload.p, payload.n);
	assert_int_equal(valid, 3);
	assert_ok(verify(blob_bytes(&b), 3));
	assert_reason(R_MANIFEST_THRESHOLD, verify(blob_bytes(&b), 4));
	assert_reason(R_COSE_SIGNATURE, cose_sign_verify(blob_bytes(&b), COSE_AAD_VERDICT, &keys,
							 1, &got, &valid));
	assert_ok(cose_payload(blob_bytes(&b), &got));
	assert_bytes(got, payload.p, payload.n);
	seed("cose", "sign", blob_bytes(&b));
}

/* By signer 0 once, and the same signature once more. */
static void signed_twice(struct blob *ret)
{
	enum { SIGNERS = 17 };	/* d8 62 84 40 a0, 4b and the payload: then the array */
	_cleanup_(blob_free) struct blob once = BLOB(4096);

	sign_sample(1, &once);
	assert_int_equal(once.p[SIGNERS], 0x81);
	once.p[SIGNERS] = 0x82;
	assert_ok(blob_append(ret, once.p, once.n));
	assert_ok(blob_append(ret, once.p + SIGNERS + 1, once.n - SIGNERS - 1));
}

static void test_threshold(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096), twice = BLOB(4096);
	struct cose_signer same[2] = { signer[0], signer[0] };
	struct pinned_keys some = keys;
	struct bytes got;
	size_t valid;

	(void)state;
	/* one by an unknown key does not count, and does not harm */
	sign_sample(3, &b);
	some.count = 1;
	assert_ok(cose_sign_verify(blob_bytes(&b), COSE_AAD_MANIFEST, &some, 1, &got, &valid));
	assert_int_equal(valid, 1);
	assert_reason(R_MANIFEST_THRESHOLD, cose_sign_verify(blob_bytes(&b), COSE_AAD_MANIFEST,
							     &some, 2, &got, &valid));
	/* none that is known: not even for a threshold of 0 */
	some.count = 0;
	assert_reason(R_MANIFEST_THRESHOLD, cose_sign_verify(blob_bytes(&b), COSE_AAD_MANIFEST,
							     &some, 1, &got, &valid));
	assert_reason(R_MANIFEST_THRESHOLD, cose_sign_verify(blob_bytes(&b), COSE_AAD_MANIFEST,
							     &some, 0, &got, &valid));
	/* one key twice is one key */
	assert_reason(R_COSE_KEY_TWICE, cose_sign_write(payload, COSE_AAD_MANIFEST, same, 2, &twice));
	signed_twice(&twice);
	assert_ok(verify(blob_bytes(&twice), 1));
	seed("cose", "sign-twice", blob_bytes(&twice));
	assert_reason(R_MANIFEST_THRESHOLD, verify(blob_bytes(&twice), 2));
	/* also when it is pinned under two ids */
	some = keys;
	some.key[1].key = keys.key[0].key;
	memcpy(same[1].id, keys.key[1].id, KEY_ID_LEN);
	blob_reset(&twice);
	assert_ok(cose_sign_write(payload, COSE_AAD_MANIFEST, same, 2, &twice));
	assert_reason(R_MANIFEST_THRESHOLD, cose_sign_verify(blob_bytes(&twice), COSE_AAD_MANIFEST,
							     &some, 2, &got, &valid));
}

/* Signers come one after the other, and what is there stays as it is. */
static void test_add(void **state)
{
	_cleanup_(blob_free) struct blob one = BLOB(4096), two = BLOB(4096), three = BLOB(4096), full = BLOB(8192);
	struct cose_signer many[COSE_KEYS_MAX], bad = signer[2];

	(void)state;
	sign_sample(1, &one);
	assert_ok(cose_sign_add(blob_bytes(&one), COSE_AAD_MANIFEST, &signer[1], &two));
	assert_reason(R_MANIFEST_THRESHOLD, verify(blob_bytes(&one), 2));
	assert_ok(verify(blob_bytes(&two), 2));
	assert_ok(cose_sign_add(blob_bytes(&two), COSE_AAD_MANIFEST, &signer[2], &three));
	assert_ok(verify(blob_bytes(&three), 3));
	seed("cose", "sign-added", blob_bytes(&three));
	/* but for the number of signers the one before is its beginning */
	assert_int_equal(one.p[17], 0x81);
	assert_int_equal(two.p[17], 0x82);
	assert_memory_equal(one.p, two.p, 17);
	assert_memory_equal(one.p + 18, two.p + 18, one.n - 18);
	assert_memory_equal(two.p + 18, three.p + 18, two.n - 18);

	for (size_t i = 0; i < 3; i++)
		assert_reason(R_COSE_KEY_TWICE,
			      cose_sign_add(blob_bytes(&three), COSE_AAD_MANIFEST, &signer[i], &full));
	for (size_t n = 0; n < two.n; n++)
		assert_true(cose_sign_add(bytes_of(two.p, n), COSE_AAD_MANIFEST, &signer[2], &full) != R_OK);
	assert_ok(blob_u8(&two, 0));
	assert_reason(R_COSE_STRUCTURE, cose_sign_add(blob_bytes(&two), COSE_AAD_MANIFEST, &signer[2], &full));
	bad.sign = sign_fails;
	assert_reason(R_INTERNAL_CRYPTO, cose_sign_add(blob_bytes(&one), COSE_AAD_MANIFEST, &bad, &full));
	static const uint8_t large[LIMIT_MANIFEST + 1];
	assert_reason(R_FORMAT_TOO_LARGE, cose_sign_add(BYTES(large), COSE_AAD_MANIFEST, &bad, &full));
	assert_int_equal(full.n, 0);
	/* there is room for so many */
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = signer[0];
		many[i].id[0] = (uint8_t)i;
	}
	assert_ok(cose_sign_write(payload, COSE_AAD_MANIFEST, many, ARRAY_LEN(many), &full));
	blob_reset(&one);
	bad = signer[1];
	bad.id[0] = 99;
	assert_reason(R_FORMAT_RANGE, cose_sign_add(blob_bytes(&full), COSE_AAD_MANIFEST, &bad, &one));
}

/* A signature by a pinned key that does not hold spoils the others. */
static void test_sign_broken(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);

	(void)state;
	sign_sample(2, &b);
	for (size_t n = 0; n < b.n; n++)
		assert_true(verify(bytes_of(b.p, n), 1) != R_OK);
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		/* with a turned bit in a key id one signature may be left */
		assert_true(verify(blob_bytes(&b), 2) != R_OK);
		b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	b.p[b.n - 1] ^= 1;
	assert_reason(R_COSE_SIGNATURE, verify(blob_bytes(&b), 1));
	b.p[b.n - 1] ^= 1;
	assert_ok(verify(blob_bytes(&b), 2));
	assert_ok(blob_u8(&b, 0));
	assert_reason(R_COSE_STRUCTURE, verify(blob_bytes(&b), 1));
}

static void test_sign_body(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);

	(void)state;
	sign_sample(1, &b);
	/* d8 62 84 40 a0 4b: a protected or unprotected header of the body */
	b.p[3] = 0x41;
	assert_reason(R_COSE_HEADER, verify(blob_bytes(&b), 1));
	b.p[3] = 0x40;
	b.p[4] = 0xa1;
	assert_reason(R_COSE_HEADER, verify(blob_bytes(&b), 1));
	b.p[4] = 0xa0;
	assert_ok(verify(blob_bytes(&b), 1));
}

static void test_writer_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(2 * LIMIT_MANIFEST), small = BLOB(90);
	static uint8_t large[LIMIT_MANIFEST + 1];
	struct cose_signer many[COSE_KEYS_MAX + 1], bad = signer[0];
	struct bytes got;
	size_t n;

	(void)state;
	bad.sign = sign_fails;
	assert_reason(R_INTERNAL_CRYPTO, cose_sign1_write(payload, COSE_AAD_VERDICT, &bad, &b));
	assert_reason(R_INTERNAL_CRYPTO, cose_sign_write(payload, COSE_AAD_MANIFEST, &bad, 1, &b));
	assert_reason(R_FORMAT_RANGE, cose_sign1_write(BYTES(large), COSE_AAD_VERDICT, signer, &b));
	assert_reason(R_FORMAT_RANGE, cose_sign1_write(BYTES_NONE, COSE_AAD_VERDICT, signer, &b));
	assert_reason(R_FORMAT_TOO_LARGE, cose_sign1_write(bytes_of(large, LIMIT_VERDICT - 9),
							   COSE_AAD_VERDICT, signer, &b));
	assert_reason(R_FORMAT_RANGE, cose_sign_write(payload, COSE_AAD_MANIFEST, signer, 0, &b));
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = signer[0];
		many[i].id[0] = (uint8_t)i;
	}
	assert_reason(R_FORMAT_RANGE, cose_sign_write(payload, COSE_AAD_MANIFEST, many,
						      ARRAY_LEN(many), &b));
	assert_int_equal(b.n, 0);
	assert_reason(R_INTERNAL_TOO_LARGE, cose_sign1_write(payload, COSE_AAD_VERDICT, signer,
							     &small));
	assert_reason(R_FORMAT_TOO_LARGE, cose_sign1_verify(BYTES(large), COSE_AAD_VERDICT, &keys,
							    &got, &n));
	assert_reason(R_FORMAT_TOO_LARGE, verify(BYTES(large), 1));
	assert_reason(R_FORMAT_TOO_LARGE, cose_payload(BYTES(large), &got));
}

static void read_file(const char *folder, const char *name, struct blob *ret)
{
	char path[600];
	FILE *f;
	int c;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		assert_ok(blob_u8(ret, (uint8_t)c));
	fclose(f);
}

/*
 * Envelopes that another implementation made (tests/interop/cose.py):
 * REASON_WHAT.sign1 and REASON_WHAT.sign, the latter with a threshold of 2.
 */
static void test_foreign(void **state)
{
	const char *folder = getenv("BOOTGATE_COSE");
	size_t files = 0;
	struct dirent *e;
	DIR *d;

	(void)state;
	if (folder == NULL)
		return;
	d = opendir(folder);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);
		size_t reason = strcspn(e->d_name, "_");
		enum reason r;

		if (e->d_name[0] == '.')
			continue;
		read_file(folder, e->d_name, &b);
		r = strstr(e->d_name, ".sign1") != NULL ? verify1(blob_bytes(&b))
							: verify(blob_bytes(&b), 2);
		if (strlen(reason_name(r)) != reason ||
		    strncmp(reason_name(r), e->d_name, reason) != 0)
			fail_msg("%s: %s", e->d_name, reason_name(r));
		files++;
	}
	closedir(d);
	assert_true(files > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sign1),
		cmocka_unit_test(test_sign1_broken),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_sign_broken),
		cmocka_unit_test(test_sign_body),
		cmocka_unit_test(test_writer_refusals),
		cmocka_unit_test(test_foreign),
	};
	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
