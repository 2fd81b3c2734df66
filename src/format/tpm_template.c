/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tpm.h"

#include "base/cleanup.h"

#define U16(v) (uint8_t)((v) >> 8), (uint8_t)(v)
#define U32(v) U16((v) >> 16), U16((v) & 0xffffu)

#define ZERO8 0, 0, 0, 0, 0, 0, 0, 0
#define ZERO32 ZERO8, ZERO8, ZERO8, ZERO8
#define ZERO256 ZERO32, ZERO32, ZERO32, ZERO32, ZERO32, ZERO32, ZERO32, ZERO32

#define NO_SYMMETRIC U16(TPM_ALG_NULL)
#define AES_128_CFB U16(TPM_ALG_AES), U16(128), U16(TPM_ALG_CFB)
#define AES_256_CFB U16(TPM_ALG_AES), U16(256), U16(TPM_ALG_CFB)
#define NO_SCHEME U16(TPM_ALG_NULL)
#define NO_KDF U16(TPM_ALG_NULL)
#define NO_POLICY U16(0)

/*
 * The fleet's AK. It is derived anew at each boot, so nothing here may ever
 * change: another template is another key, and each node would enrol again.
 */
#define AK_ATTRIBUTES                                                         \
	(TPMA_FIXED_TPM | TPMA_FIXED_PARENT | TPMA_SENSITIVE_DATA_ORIGIN |    \
	 TPMA_USER_WITH_AUTH | TPMA_NO_DA | TPMA_RESTRICTED | TPMA_SIGN)

static const uint8_t ak[] = {
	U16(TPM_ALG_ECC), U16(ALG_SHA256), U32(AK_ATTRIBUTES), NO_POLICY,
	NO_SYMMETRIC, U16(TPM_ALG_ECDSA), U16(ALG_SHA256), U16(TPM_ECC_P256), NO_KDF,
	U16(32), ZERO32, U16(32), ZERO32,
};

const struct bytes tpm_ak_template = { ak, sizeof(ak) };

/* EK Credential Profile 2.5, annex B; attributes are those of its tables. */
#define LOW_ATTRIBUTES                                                        \
	(TPMA_FIXED_TPM | TPMA_FIXED_PARENT | TPMA_SENSITIVE_DATA_ORIGIN |    \
	 TPMA_ADMIN_WITH_POLICY | TPMA_RESTRICTED | TPMA_DECRYPT)
#define HIGH_ATTRIBUTES (LOW_ATTRIBUTES | TPMA_USER_WITH_AUTH)

/* PolicySecret(TPM_RH_ENDORSEMENT), SHA-256 */
#define POLICY_A                                                              \
	U16(32),                                                              \
	0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8,                       \
	0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24,                       \
	0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64,                       \
	0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa

/* PolicyOR(PolicyA, PolicyAuthorizeNV) for each name algorithm */
#define POLICY_B_256                                                          \
	U16(32),                                                              \
	0xca, 0x3d, 0x0a, 0x99, 0xa2, 0xb9, 0x39, 0x06,                       \
	0xf7, 0xa3, 0x34, 0x24, 0x14, 0xef, 0xcf, 0xb3,                       \
	0xa3, 0x85, 0xd4, 0x4c, 0xd1, 0xfd, 0x45, 0x90,                       \
	0x89, 0xd1, 0x9b, 0x50, 0x71, 0xc0, 0xb7, 0xa0
#define POLICY_B_384                                                          \
	U16(48),                                                              \
	0xb2, 0x6e, 0x7d, 0x28, 0xd1, 0x1a, 0x50, 0xbc,                       \
	0x53, 0xd8, 0x82, 0xbc, 0xf5, 0xfd, 0x3a, 0x1a,                       \
	0x07, 0x41, 0x48, 0xbb, 0x35, 0xd3, 0xb4, 0xe4,                       \
	0xcb, 0x1c, 0x0a, 0xd9, 0xbd, 0xe4, 0x19, 0xca,                       \
	0xcb, 0x47, 0xba, 0x09, 0x69, 0x96, 0x46, 0x15,                       \
	0x0f, 0x9f, 0xc0, 0x00, 0xf3, 0xf8, 0x0e, 0x12

#define POLICY_B_512                                                          \
	U16(64),                                                              \
	0xb8, 0x22, 0x1c, 0xa6, 0x9e, 0x85, 0x50, 0xa4,                       \
	0x91, 0x4d, 0xe3, 0xfa, 0xa6, 0xa1, 0x8c, 0x07,                       \
	0x2c, 0xc0, 0x12, 0x08, 0x07, 0x3a, 0x92, 0x8d,                       \
	0x5d, 0x66, 0xd5, 0x9e, 0xf7, 0x9e, 0x49, 0xa4,                       \
	0x29, 0xc4, 0x1a, 0x6b, 0x26, 0x95, 0x71, 0xd5,                       \
	0x7e, 0xdb, 0x25, 0xfb, 0xdb, 0x18, 0x38, 0x42,                       \
	0x56, 0x08, 0xb4, 0x13, 0xcd, 0x61, 0x6a, 0x5f,                       \
	0x6d, 0xb5, 0xb6, 0x07, 0x1a, 0xf9, 0x9b, 0xea

#define RSA_EXPONENT_DEFAULT U32(0)

static const uint8_t ek_l1[] = {
	U16(TPM_ALG_RSA), U16(ALG_SHA256), U32(LOW_ATTRIBUTES), POLICY_A,
	AES_128_CFB, NO_SCHEME, U16(2048), RSA_EXPONENT_DEFAULT,
	U16(256), ZERO256,
};
static const uint8_t ek_l2[] = {
	U16(TPM_ALG_ECC), U16(ALG_SHA256), U32(LOW_ATTRIBUTES), POLICY_A,
	AES_128_CFB, NO_SCHEME, U16(TPM_ECC_P256), NO_KDF,
	U16(32), ZERO32, U16(32), ZERO32,
};
static const uint8_t ek_h1[] = {
	U16(TPM_ALG_RSA), U16(ALG_SHA256), U32(HIGH_ATTRIBUTES), POLICY_B_256,
	AES_128_CFB, NO_SCHEME, U16(2048), RSA_EXPONENT_DEFAULT,
	U16(0),
};
static const uint8_t ek_h2[] = {
	U16(TPM_ALG_ECC), U16(ALG_SHA256), U32(HIGH_ATTRIBUTES), POLICY_B_256,
	AES_128_CFB, NO_SCHEME, U16(TPM_ECC_P256), NO_KDF,
	U16(0), U16(0),
};
static const uint8_t ek_h3[] = {
	U16(TPM_ALG_ECC), U16(ALG_SHA384), U32(HIGH_ATTRIBUTES), POLICY_B_384,
	AES_256_CFB, NO_SCHEME, U16(TPM_ECC_P384), NO_KDF,
	U16(0), U16(0),
};
static const uint8_t ek_h4[] = {
	U16(TPM_ALG_ECC), U16(ALG_SHA512), U32(HIGH_ATTRIBUTES), POLICY_B_512,
	AES_256_CFB, NO_SCHEME, U16(TPM_ECC_P521), NO_KDF,
	U16(0), U16(0),
};
static const uint8_t ek_h6[] = {
	U16(TPM_ALG_RSA), U16(ALG_SHA384), U32(HIGH_ATTRIBUTES), POLICY_B_384,
	AES_256_CFB, NO_SCHEME, U16(3072), RSA_EXPONENT_DEFAULT,
	U16(0),
};
static const uint8_t ek_h7[] = {
	U16(TPM_ALG_RSA), U16(ALG_SHA384), U32(HIGH_ATTRIBUTES), POLICY_B_384,
	AES_256_CFB, NO_SCHEME, U16(4096), RSA_EXPONENT_DEFAULT,
	U16(0),
};

const struct tpm_ek_template tpm_ek_template[TPM_EK_TEMPLATES] = {
	{ "L-1", 0x01c00002, { ek_l1, sizeof(ek_l1) } },
	{ "L-2", 0x01c0000a, { ek_l2, sizeof(ek_l2) } },
	{ "H-1", 0x01c00012, { ek_h1, sizeof(ek_h1) } },
	{ "H-2", 0x01c00014, { ek_h2, sizeof(ek_h2) } },
	{ "H-3", 0x01c00016, { ek_h3, sizeof(ek_h3) } },
	{ "H-4", 0x01c00018, { ek_h4, sizeof(ek_h4) } },
	{ "H-6", 0x01c0001c, { ek_h6, sizeof(ek_h6) } },
	{ "H-7", 0x01c0001e, { ek_h7, sizeof(ek_h7) } },
};

/* Same bytes as the template in front of `unique`. */
static bool same_kind(const struct tpm_public *p, struct bytes template)
{
	struct tpm_public t;

	return tpm_public_read(template, &t) == R_OK &&
	       bytes_equal(p->before_unique, t.before_unique);
}

bool tpm_ak_public_matches_template(const struct tpm_public *p)
{
	return same_kind(p, tpm_ak_template) &&
	       p->x.n > 0 && p->x.n <= 32 && p->y.n > 0 && p->y.n <= 32;
}

const struct tpm_ek_template *tpm_ek_template_of(const struct tpm_public *p)
{
	for (size_t i = 0; i < TPM_EK_TEMPLATES; i++)
		if (same_kind(p, tpm_ek_template[i].pub))
			return &tpm_ek_template[i];
	return NULL;
}
