/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of certificates to pinned keys. */
#include "cvm_kit.h"

static EVP_PKEY *root_key, *ca_key, *leaf_key, *other_key;
static uint8_t pins[2][SHA256_LEN];
static struct kit_cert root, ca, leaf;
static struct chain_path path;

static int setup(void **state)
{
	(void)state;
	assert_ok(chain_pool_make(&pool));
	root = (struct kit_cert){ .name = "Root", .issuer = "Root", .key = root_key, .signer = root_key,
				  .ca = true, .no_pathlen_zero = true, .serial = 1 };
	ca = (struct kit_cert){ .name = "CA", .issuer = "Root", .key = ca_key, .signer = root_key,
				.ca = true, .serial = 2 };
	leaf = (struct kit_cert){ .name = "Leaf", .issuer = "CA", .key = leaf_key, .signer = ca_key,
				  .serial = 0x1234 };
	return 0;
}

/* Adds all three; the leaf is the first. */
static void add_all(void)
{
	kit_add_cert(pool, &leaf);
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
}

static enum reason find(void)
{
	return chain_find(pool, chain_pool_cert(pool, 0), pins, 2, KIT_NOW, &path);
}

static void test_good(void **state)
{
	const struct chain_cert *c;

	(void)state;
	add_all();
	assert_ok(find());
	assert_int_equal(path.count, 3);
	assert_int_equal(path.pin, 1);
	c = path.cert[0];
	assert_string_equal(c->name, "Leaf");
	assert_string_equal(c->subject, "CN=Leaf");
	assert_string_equal(c->issuer, "CN=CA");
	assert_string_equal(c->serial, "1234");
	assert_int_equal(c->curve, CHAIN_CURVE_P384);
	assert_false(c->ca);
	assert_true(path.cert[1]->ca);
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_UNKNOWN);
	/* twice is once */
	kit_add(pool, c->der);
	assert_int_equal(chain_pool_certs(pool), 3);
}

static void test_incomplete(void **state)
{
	(void)state;
	kit_add_cert(pool, &leaf);
	kit_add_cert(pool, &root);
	assert_reason(R_CHAIN_INCOMPLETE, find());
	assert_int_equal(path.count, 1);
}

static void test_root(void **state)
{
	(void)state;
	/* a root of the same name with a key of its own */
	root.key = root.signer = ca.signer = other_key;
	add_all();
	assert_reason(R_CHAIN_ROOT, find());
}

static void test_signature(void **state)
{
	(void)state;
	ca.signer = other_key;
	add_all();
	assert_reason(R_CHAIN_SIGNATURE, find());
	assert_int_equal(path.count, 2);
}

static void test_root_signature(void **state)
{
	(void)state;
	/* the pinned key in a certificate that somebody else made */
	root.signer = other_key;
	add_all();
	assert_reason(R_CHAIN_SIGNATURE, find());
}

static void test_weak(void **state)
{
	(void)state;
	leaf.md = EVP_sha1();
	add_all();
	assert_reason(R_CHAIN_SIGNATURE, find());
}

static void test_not_a_ca(void **state)
{
	(void)state;
	ca.ca = false;
	add_all();
	assert_reason(R_CHAIN_ISSUER, find());
}

static void test_path_length(void **state)
{
	static struct kit_cert below;

	(void)state;
	/* CA allows no other CA below it */
	below = (struct kit_cert){ .name = "Below", .issuer = "CA", .key = other_key, .signer = ca_key,
				   .ca = true };
	leaf.issuer = "Below";
	leaf.signer = other_key;
	add_all();
	kit_add_cert(pool, &below);
	assert_reason(R_CHAIN_ISSUER, find());
}

static void test_too_long(void **state)
{
	char names[CHAIN_DEPTH_MAX][8];

	(void)state;
	leaf.issuer = "N0";
	leaf.signer = other_key;
	kit_add_cert(pool, &leaf);
	for (size_t i = 0; i < CHAIN_DEPTH_MAX; i++) {
		char next[8];
		struct kit_cert c = { .name = names[i], .issuer = next, .key = other_key,
				      .signer = other_key, .ca = true, .no_pathlen_zero = true };

		snprintf(names[i], sizeof(names[i]), "N%zu", i);
		snprintf(next, sizeof(next), "N%zu", i + 1);
		kit_add_cert(pool, &c);
	}
	assert_reason(R_CHAIN_INCOMPLETE, find());
	assert_int_equal(path.count, CHAIN_DEPTH_MAX);
}

/* A key usage that cannot be read allows nothing, critical or not. */
static void test_malformed_extension(void **state)
{
	const struct kit_extension e = { "2.5.29.15", "\x05\x00", 2, false };

	(void)state;
	leaf.extension = &e;
	leaf.extensions = 1;
	add_all();
	assert_reason(R_CHAIN_EXTENSION, find());
}

static void test_critical(void **state)
{
	const struct kit_extension e = { "1.2.3.4", "\x05\x00", 2, true };

	(void)state;
	leaf.extension = &e;
	leaf.extensions = 1;
	add_all();
	assert_reason(R_CHAIN_EXTENSION, find());
}

static void test_dates(void **state)
{
	(void)state;
	ca.not_after = KIT_NOW - 1;
	add_all();
	assert_reason(R_CHAIN_DATES, find());
	/* a newer certificate of the same key is taken instead */
	ca.not_after = 0;
	kit_add_cert(pool, &ca);
	assert_ok(find());
	assert_int_equal(path.cert[1]->not_after, KIT_NOW + 15000000);
}

/* Anybody can put a certificate of the CA's key and name beside the right one. */
static void test_reissued_ca(void **state)
{
	struct kit_cert stranger = root, other = ca, late = ca;

	(void)state;
	stranger.name = stranger.issuer = other.issuer = "Stranger";
	stranger.key = stranger.signer = other.signer = other_key;
	late.not_after = KIT_NOW - 1;
	kit_add_cert(pool, &leaf);
	kit_add_cert(pool, &other);
	assert_reason(R_CHAIN_INCOMPLETE, find());
	kit_add_cert(pool, &stranger);
	assert_reason(R_CHAIN_ROOT, find());
	/* a late one says more than a foreign one */
	kit_add_cert(pool, &late);
	kit_add_cert(pool, &root);
	assert_reason(R_CHAIN_DATES, find());
	assert_int_equal(path.count, 3);
	assert_string_equal(path.cert[2]->name, "Root");
	kit_add_list(pool, &(struct kit_crl){ .issuer = "Root", .signer = root_key });
	kit_add_cert(pool, &ca);
	assert_ok(find());
	assert_int_equal(path.count, 3);
	assert_string_equal(path.cert[1]->issuer, "CN=Root");
	assert_int_equal(path.cert[1]->not_after, KIT_NOW + 15000000);
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_UNKNOWN);
	assert_int_equal(path.revocation[1], CHAIN_REVOCATION_GOOD);
}

/* Two CAs that certify each other lead nowhere, and not for ever. */
static void test_circle(void **state)
{
	struct kit_cert there = ca, back = ca;

	(void)state;
	there.issuer = back.name = "Back";
	there.signer = back.key = other_key;
	back.issuer = "CA";
	back.signer = ca_key;
	there.no_pathlen_zero = back.no_pathlen_zero = true;
	kit_add_cert(pool, &leaf);
	kit_add_cert(pool, &there);
	kit_add_cert(pool, &back);
	assert_reason(R_CHAIN_INCOMPLETE, find());
	assert_int_equal(path.count, CHAIN_DEPTH_MAX);
	ca.no_pathlen_zero = true;
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
	assert_ok(find());
	assert_int_equal(path.count, 3);
}

/* How many are looked at has an end; the right one behind it is not found. */
static void test_crowd(void **state)
{
	struct kit_cert other = ca;

	(void)state;
	kit_add_cert(pool, &leaf);
	other.issuer = "Nobody";
	for (other.serial = 100; other.serial < 100 + (long)CHAIN_TRIES_MAX - 1; other.serial++)
		kit_add_cert(pool, &other);
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
	assert_reason(R_CHAIN_INCOMPLETE, find());
}

static void test_leaf_not_yet(void **state)
{
	(void)state;
	leaf.not_before = KIT_NOW + 1;
	add_all();
	assert_reason(R_CHAIN_DATES, find());
}

static void test_revocation(void **state)
{
	struct kit_crl list = { .issuer = "CA", .signer = ca_key, .next_update = KIT_NOW - 1 };

	(void)state;
	add_all();
	/* by another key: as if it were not there */
	kit_add_list(pool, &(struct kit_crl){ .issuer = "CA", .signer = other_key, .revoked = 0x1234 });
	assert_ok(find());
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_UNKNOWN);
	kit_add_list(pool, &list);
	assert_ok(find());
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_STALE);
	list = (struct kit_crl){ .issuer = "CA", .signer = ca_key, .partial = true };
	kit_add_list(pool, &list);
	assert_ok(find());
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_STALE);
	list = (struct kit_crl){ .issuer = "CA", .signer = ca_key, .revoked = 0x99 };
	kit_add_list(pool, &list);
	kit_add_list(pool, &list);
	assert_ok(find());
	assert_int_equal(path.revocation[0], CHAIN_REVOCATION_GOOD);
	assert_int_equal(path.revocation[1], CHAIN_REVOCATION_UNKNOWN);
	assert_int_equal(chain_pool_crls(pool) >= 4, 1);
	/* an old list that names it is enough */
	list = (struct kit_crl){ .issuer = "CA", .signer = ca_key, .revoked = 0x1234,
				 .next_update = KIT_NOW - 1 };
	kit_add_list(pool, &list);
	assert_reason(R_CHAIN_REVOKED, find());
}

/* A signature that would not do for a certificate does not for a list either. */
static void test_weak_list(void **state)
{
	EVP_PKEY *rsa = EVP_RSA_gen(2048);
	const struct {
		EVP_PKEY *key;
		const EVP_MD *md;
		bool pss, strong;
	} cases[] = {
		{ ca_key, EVP_sha1(), false, false }, { ca_key, EVP_sha384(), false, true },
		{ rsa, EVP_sha1(), false, false },    { rsa, EVP_sha256(), false, true },
		{ rsa, EVP_sha1(), true, false },     { rsa, EVP_sha384(), true, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kit_crl list = { .issuer = "CA", .signer = cases[i].key, .md = cases[i].md,
					.pss = cases[i].pss };

		free_pool(state);
		assert_ok(chain_pool_make(&pool));
		ca.key = leaf.signer = cases[i].key;
		add_all();
		kit_add_list(pool, &list);
		assert_ok(find());
		assert_int_equal(path.revocation[0], cases[i].strong ? CHAIN_REVOCATION_GOOD :
								       CHAIN_REVOCATION_UNKNOWN);
		list.revoked = 0x1234;
		kit_add_list(pool, &list);
		assert_reason(cases[i].strong ? R_CHAIN_REVOKED : R_OK, find());
	}
	EVP_PKEY_free(rsa);
}

static void test_revoked_ca(void **state)
{
	(void)state;
	add_all();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "Root", .signer = root_key, .revoked = 2 });
	assert_reason(R_CHAIN_REVOKED, find());
}

static void test_raw_signature(void **state)
{
	uint8_t rs[96], digest[DIGEST_MAX];
	struct bytes in = bytes_str("signed"), found;
	const struct chain_cert *c;
	const struct kit_extension e = { "1.2.3.4", "\x05\x00", 2, false };

	(void)state;
	leaf.extension = &e;
	leaf.extensions = 1;
	kit_add_cert(pool, &leaf);
	c = chain_pool_cert(pool, 0);
	assert_ok(digest_of(ALG_SHA384, &in, 1, digest));
	kit_sign_raw(leaf_key, EVP_sha384(), in, 48, rs);
	assert_ok(chain_ecdsa_verify(c, bytes_of(digest, 48), BYTES(rs)));
	assert_reason(R_COSE_SIGNATURE, chain_ecdsa_verify(c, bytes_of(digest, 48), bytes_of(rs, 95)));
	rs[95] ^= 1;
	assert_reason(R_COSE_SIGNATURE, chain_ecdsa_verify(c, bytes_of(digest, 48), BYTES(rs)));
	assert_ok(chain_extension(c, "1.2.3.4", &found));
	assert_bytes(found, "\x05\x00", 2);
	assert_ok(chain_extension(c, "1.2.3.5", &found));
	assert_int_equal(found.n, 0);
	assert_reason(R_INTERNAL_CRYPTO, chain_extension(c, "not an oid", &found));
}

static void test_other_key(void **state)
{
	EVP_PKEY *rsa = EVP_RSA_gen(2048);

	(void)state;
	leaf.key = rsa;
	add_all();
	assert_ok(find());
	assert_int_equal(path.cert[0]->curve, 0);
	assert_reason(R_COSE_SIGNATURE, chain_ecdsa_verify(path.cert[0], BYTES_NONE, BYTES_NONE));
	EVP_PKEY_free(rsa);
}

static void test_no_der(void **state)
{
	static const uint8_t empty[] = { 0x30, 0x00 };
	size_t n;

	(void)state;
	assert_reason(R_FORMAT_TYPE, chain_pool_add(pool, BYTES_NONE, &n));
	assert_reason(R_FORMAT_TYPE, chain_pool_add(pool, bytes_str("text"), &n));
	assert_reason(R_FORMAT_TYPE, chain_pool_add(pool, BYTES(empty), &n));
}

/* No byte of a certificate of the path can be changed. */
static void test_bits(void **state)
{
	struct blob der[3] = { BLOB(4096), BLOB(4096), BLOB(4096) };
	const struct kit_cert *certs[3] = { &leaf, &ca, &root };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		kit_issue(certs[i], &der[i]);
	for (size_t which = 0; which < 3; which++) {
		for (size_t at = 0; at < der[which].n; at++) {
			_cleanup_(chain_pool_free) struct chain_pool *p = NULL;
			bool all = true;
			size_t n;

			assert_ok(chain_pool_make(&p));
			der[which].p[at] ^= (uint8_t)(1u << at % 8);
			for (size_t i = 0; i < 3; i++)
				all = all && chain_pool_add(p, blob_bytes(&der[i]), &n) == R_OK &&
				      n == der[i].n;
			der[which].p[at] ^= (uint8_t)(1u << at % 8);
			if (all && chain_find(p, chain_pool_cert(p, 0), pins, 2, KIT_NOW, &path) == R_OK)
				fail_msg("byte %zu of certificate %zu may be changed", at, which);
		}
	}
	for (size_t i = 0; i < 3; i++)
		blob_free(&der[i]);
}

static EVP_PKEY **const keys[] = { &root_key, &ca_key, &leaf_key, &other_key };

static int make_keys(void **state)
{
	(void)state;
	kit_keys(keys, ARRAY_LEN(keys), "P-384");
	memset(pins[0], 1, SHA256_LEN);
	kit_pin(root_key, pins[1]);
	return 0;
}

static int free_keys(void **state)
{
	(void)state;
	kit_free_keys(keys, ARRAY_LEN(keys));
	return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, free_pool)
	const struct CMUnitTest tests[] = {
		TEST(test_good), TEST(test_incomplete), TEST(test_root), TEST(test_signature),
		TEST(test_root_signature), TEST(test_weak), TEST(test_not_a_ca),
		TEST(test_path_length), TEST(test_too_long), TEST(test_critical),
		TEST(test_malformed_extension), TEST(test_dates), TEST(test_reissued_ca), TEST(test_circle), TEST(test_crowd),
		TEST(test_leaf_not_yet), TEST(test_weak_list),
		TEST(test_revocation), TEST(test_revoked_ca), TEST(test_raw_signature),
		TEST(test_other_key), TEST(test_no_der), TEST(test_bits),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
