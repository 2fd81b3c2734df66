/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "../unit/cose_keys.h"
#include "format/cose.h"

static struct pinned_keys keys;

static void pin_keys(void)
{
	keys.count = COSE_TEST_KEYS;
	for (size_t i = 0; i < COSE_TEST_KEYS; i++) {
		struct private_key *k;

		must(private_key_from_pem(bytes_str(cose_test_key[i]), &k) == R_OK);
		must(private_key_public(k, &keys.key[i].key) == R_OK);
		must(ec_public_id(&keys.key[i].key, keys.key[i].id) == R_OK);
		private_key_free(&k);
	}
}

/* A signature that holds for nothing; what matters is the form. */
static enum reason sign_nothing(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	(void)ctx;
	memcpy(ret, digest, SHA256_LEN);
	memcpy(ret + SHA256_LEN, digest, SHA256_LEN);
	return R_OK;
}

static bool inside(struct bytes part, struct bytes whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

static void read_both(struct bytes in)
{
	static const struct pinned_keys none;
	struct bytes payload;
	size_t n;

	if (cose_sign1_verify(in, COSE_AAD_VERDICT, &keys, &payload, &n) == R_OK) {
		must(inside(payload, in) && n < keys.count);
		must(cose_sign1_verify(in, COSE_AAD_MANIFEST, &keys, &payload, &n) ==
		     R_COSE_SIGNATURE);
	}
	if (cose_sign_verify(in, COSE_AAD_MANIFEST, &keys, 2, &payload, &n) == R_OK) {
		must(inside(payload, in) && n >= 2 && n <= keys.count);
		must(cose_sign_verify(in, COSE_AAD_VERDICT, &keys, 2, &payload, &n) ==
		     R_COSE_SIGNATURE);
	}
	/* without a pinned key nothing verifies, not even for a threshold of 0 */
	must(cose_sign_verify(in, COSE_AAD_MANIFEST, &none, 0, &payload, &n) != R_OK);
	must(cose_sign1_verify(in, COSE_AAD_VERDICT, &none, &payload, &n) != R_OK);
	if (cose_payload(in, &payload) == R_OK)
		must(inside(payload, in));
}

/* What takes one signature more is an envelope before and after, of the same payload. */
static void add_one(struct bytes in)
{
	_cleanup_(blob_free) struct blob more = BLOB(1u << 20), again = BLOB(1u << 20);
	struct cose_signer signer = { .sign = sign_nothing };
	struct bytes before, after;

	if (cose_sign_add(in, COSE_AAD_MANIFEST, &signer, &more) != R_OK)
		return;
	must(cose_payload(in, &before) == R_OK);
	must(cose_payload(blob_bytes(&more), &after) == R_OK && bytes_equal(before, after));
	must(cose_sign_add(blob_bytes(&more), COSE_AAD_MANIFEST, &signer, &again) == R_COSE_KEY_TWICE);
}

/* The same bytes as payload: what is written has the form that is read. */
static void write_both(struct bytes in)
{
	_cleanup_(blob_free) struct blob one = BLOB(1u << 20), many = BLOB(1u << 20);
	struct cose_signer signer[2] = { { .sign = sign_nothing }, { .sign = sign_nothing } };
	struct bytes payload;
	size_t n;

	memcpy(signer[0].id, keys.key[0].id, KEY_ID_LEN);
	if (cose_sign1_write(in, COSE_AAD_VERDICT, &signer[0], &one) == R_OK) {
		must(cose_payload(blob_bytes(&one), &payload) == R_OK && bytes_equal(payload, in));
		must(cose_sign1_verify(blob_bytes(&one), COSE_AAD_VERDICT, &keys, &payload, &n) ==
		     R_COSE_SIGNATURE);
	}
	if (cose_sign_write(in, COSE_AAD_MANIFEST, signer, 2, &many) == R_OK) {
		must(cose_payload(blob_bytes(&many), &payload) == R_OK && bytes_equal(payload, in));
		must(cose_sign_verify(blob_bytes(&many), COSE_AAD_MANIFEST, &keys, 1, &payload,
				      &n) == R_COSE_SIGNATURE);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	if (keys.count == 0)
		pin_keys();
	read_both(in);
	add_one(in);
	write_both(in);
	return 0;
}
