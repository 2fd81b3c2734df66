/* SPDX-License-Identifier: Apache-2.0 */
/* An SNP report of a Genoa with its chain. */
#ifndef BOOTGATE_TESTS_SNP_KIT_H
#define BOOTGATE_TESTS_SNP_KIT_H

#include "appraise/snp.h"
#include "cvm_kit.h"

#define OID "1.3.6.1.4.1.3704.1."

static EVP_PKEY *ark_key, *ask_key, *vcek_key, *other_key;
static uint8_t pin[1][SHA256_LEN];
static uint8_t report[SNP_REPORT_LEN], chip[64], nonce[64];
static struct snp_result *v;
static struct cvm_evidence e;

/* What varies. */
static enum snp_product product;
static struct snp_roots roots = { pin, &product, 1 };
static struct kit_cert ark, ask, vcek;
static struct kit_extension extension[10];
static uint8_t product_der[16], spl[6][4];
static const char provider_der[] = "\x16\x05" "CN=us";

static inline void put(size_t at, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		report[at + i] = (uint8_t)(value >> 8 * i);
}

static inline void put_tcb(const char *hex)
{
	static const size_t at[] = { 0x38, 0x180, 0x1e0, 0x1f0 };

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		assert_ok(hex_decode(bytes_str(hex), report + at[i], SNP_TCB_LEN));
}

static inline void sign_with(EVP_PKEY *key)
{
	uint8_t rs[96];

	kit_sign_raw(key, EVP_sha384(), bytes_of(report, SNP_SIGNED_LEN), 48, rs);
	memset(report + SNP_SIGNED_LEN, 0, SNP_REPORT_LEN - SNP_SIGNED_LEN);
	for (size_t i = 0; i < 48; i++) {
		report[SNP_SIGNED_LEN + i] = rs[47 - i];
		report[SNP_SIGNED_LEN + 72 + i] = rs[95 - i];
	}
}

/* Numbers of the TCB in the order of the OIDs .3.1 .3.2 .3.3 .3.8 .3.9 */
static inline void set_extensions(const char *name, const uint8_t tcb[5])
{
	static const char *const oids[] = { OID "3.1", OID "3.2", OID "3.3", OID "3.8", OID "3.9" };

	product_der[0] = 0x16;
	product_der[1] = (uint8_t)strlen(name);
	memcpy(product_der + 2, name, strlen(name));
	extension[0] = (struct kit_extension){ OID "2", product_der, 2 + strlen(name), false };
	for (size_t i = 0; i < 5; i++) {
		size_t n = 0;

		spl[i][n++] = 0x02;
		spl[i][n++] = tcb[i] > 0x7f ? 2 : 1;
		if (tcb[i] > 0x7f)
			spl[i][n++] = 0;
		spl[i][n++] = tcb[i];
		extension[1 + i] = (struct kit_extension){ oids[i], spl[i], n, false };
	}
	extension[6] = (struct kit_extension){ OID "4", chip, 64, false };
}

static inline int setup(void **state)
{
	(void)state;
	assert_ok(chain_pool_make(&pool));
	product = SNP_GENOA;
	ark = (struct kit_cert){ .name = "ARK-Genoa", .issuer = "ARK-Genoa", .key = ark_key,
				 .signer = ark_key, .ca = true, .no_pathlen_zero = true };
	ask = (struct kit_cert){ .name = "SEV-Genoa", .issuer = "ARK-Genoa", .key = ask_key,
				 .signer = ark_key, .ca = true, .serial = 0x10 };
	vcek = (struct kit_cert){ .name = "SEV-VCEK", .issuer = "SEV-Genoa", .key = vcek_key,
				  .signer = ask_key, .extension = extension, .extensions = 7 };
	for (size_t i = 0; i < sizeof(chip); i++)
		chip[i] = (uint8_t)(0xc0 + i);
	for (size_t i = 0; i < sizeof(nonce); i++)
		nonce[i] = (uint8_t)(i + 1);
	set_extensions("Genoa", (const uint8_t[]){ 10, 0, 23, 0x8f, 0 });

	memset(report, 0, sizeof(report));
	put(0, 3, 4);
	put(8, 0x30000, 8);
	put(0x34, 1, 4);
	put_tcb("0a0000000000178f");
	memcpy(report + 0x50, nonce, 64);
	put(0x188, 0x1119, 2);
	memcpy(report + 0x1a0, chip, 64);
	sign_with(vcek_key);
	e = (struct cvm_evidence){ BYTES(report), BYTES(nonce), pool, KIT_NOW };
	return 0;
}

static inline void add_all(void)
{
	kit_add_cert(pool, &vcek);
	kit_add_cert(pool, &ask);
	kit_add_cert(pool, &ark);
}

static inline enum reason verify(void)
{
	return snp_verify(&e, &roots, BYTES_NONE, v);
}

static EVP_PKEY **const keys[] = { &ark_key, &ask_key, &vcek_key, &other_key };

static inline int make_keys(void **state)
{
	(void)state;
	v = calloc(1, sizeof(*v));
	kit_keys(keys, ARRAY_LEN(keys), "P-384");
	kit_pin(ark_key, pin[0]);
	return v ? 0 : -1;
}

static inline int free_keys(void **state)
{
	(void)state;
	kit_free_keys(keys, ARRAY_LEN(keys));
	free(v);
	return 0;
}

#endif
