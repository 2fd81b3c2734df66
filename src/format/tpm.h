/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPM 2.0 structures as they stand on the wire (TPM 2.0 Part 2), without a
 * TPM and without tpm2-tss: what the server judges and the gate sends.
 * All views (struct bytes) point into the bytes that were read.
 */
#ifndef BOOTGATE_FORMAT_TPM_H
#define BOOTGATE_FORMAT_TPM_H

#include "base/bytes.h"
#include "base/limits.h"
#include "crypto/digest.h"
#include "format/pcr.h"

#define TPM_MAGIC 0xff544347u		/* TPM_GENERATED_VALUE */
#define TPM_ST_QUOTE 0x8018u
#define TPM_ST_SESSION_AUDIT 0x8016u

#define TPM_ALG_RSA 0x0001u
#define TPM_ALG_AES 0x0006u
#define TPM_ALG_NULL 0x0010u
#define TPM_ALG_RSASSA 0x0014u
#define TPM_ALG_RSAPSS 0x0016u
#define TPM_ALG_ECDSA 0x0018u
#define TPM_ALG_ECC 0x0023u
#define TPM_ALG_CFB 0x0043u

#define TPM_ECC_P256 0x0003u
#define TPM_ECC_P384 0x0004u
#define TPM_ECC_P521 0x0005u

/* TPMA_OBJECT */
#define TPMA_FIXED_TPM 0x00000002u
#define TPMA_FIXED_PARENT 0x00000010u
#define TPMA_SENSITIVE_DATA_ORIGIN 0x00000020u
#define TPMA_USER_WITH_AUTH 0x00000040u
#define TPMA_ADMIN_WITH_POLICY 0x00000080u
#define TPMA_NO_DA 0x00000400u
#define TPMA_RESTRICTED 0x00010000u
#define TPMA_DECRYPT 0x00020000u
#define TPMA_SIGN 0x00040000u

#define TPM_RH_ENDORSEMENT 0x4000000bu
#define TPM_CAP_PCRS 5u

#define TPM_COORD_MAX 66u		/* one coordinate on P-521 */
#define TPM_SECRET_MAX 512u		/* TPM2B_ENCRYPTED_SECRET: RSA 4096 */

/* ---- attestation structures ------------------------------------------- */

struct tpm_attest {
	uint16_t type;			/* TPM_ST_QUOTE or TPM_ST_SESSION_AUDIT */
	struct bytes signer;		/* qualified name of the key */
	struct bytes extra;		/* qualifying data: the nonce */
	uint64_t clock;			/* milliseconds */
	uint32_t reset_count;
	uint32_t restart_count;
	bool safe;
	uint64_t firmware;
	/* quote */
	struct pcr_selection selection;
	struct bytes pcr_digest;
	/* session audit */
	bool exclusive;
	struct bytes session_digest;
};

/*
 * TPMS_ATTEST, consumed exactly. R_QUOTE_MAGIC, R_QUOTE_TYPE for any type
 * other than the one that is wanted, else R_QUOTE_FORMAT.
 */
enum reason tpm_quote_read(struct bytes in, struct tpm_attest *ret) must_check;
enum reason tpm_session_audit_read(struct bytes in, struct tpm_attest *ret) must_check;
enum reason tpm_attest_write(const struct tpm_attest *a, struct blob *ret) must_check;

/* ---- public areas and names ------------------------------------------- */

struct tpm_scheme {
	uint16_t alg;			/* TPM_ALG_NULL: none */
	uint16_t hash;			/* 0 where the scheme has none */
	uint16_t count;			/* ECDAA only */
};

struct tpm_public {
	uint16_t type;			/* TPM_ALG_RSA or TPM_ALG_ECC */
	uint16_t name_alg;
	uint32_t attributes;
	struct bytes policy;
	struct {
		uint16_t alg;		/* TPM_ALG_NULL: none */
		uint16_t bits;
		uint16_t mode;
	} symmetric;
	struct tpm_scheme scheme;
	/* RSA */
	uint16_t rsa_bits;
	uint32_t exponent;		/* 65537 where the TPM says 0 */
	struct bytes modulus;
	/* ECC */
	uint16_t curve;
	struct tpm_scheme kdf;
	struct bytes x, y;
	/* the TPMT_PUBLIC itself, and what of it precedes `unique` */
	struct bytes whole;
	struct bytes before_unique;
};

/*
 * TPMT_PUBLIC, consumed exactly: R_FORMAT_TRUNCATED, R_FORMAT_TRAILING,
 * R_FORMAT_RANGE, R_FORMAT_TYPE for another type than RSA and ECC,
 * R_FORMAT_TOO_LARGE above LIMIT_TPM_PUBLIC.
 */
enum reason tpm_public_read(struct bytes in, struct tpm_public *ret) must_check;
/* The same for files of other tools: TPMT_PUBLIC, or TPM2B_PUBLIC around it. */
enum reason tpm_public_read_file(struct bytes in, struct tpm_public *ret) must_check;
/* Writes TPMT_PUBLIC from the fields; `whole` and `before_unique` are ignored. */
enum reason tpm_public_write(const struct tpm_public *p, struct blob *ret) must_check;

#define TPM_NAME_MAX (2u + DIGEST_MAX)
struct tpm_name {
	size_t n;
	uint8_t b[TPM_NAME_MAX];
};
static inline struct bytes tpm_name_bytes(const struct tpm_name *n)
{
	return (struct bytes){ n->b, n->n };
}
/* nameAlg || H(TPMT_PUBLIC). R_FORMAT_TYPE for a nameAlg that is not known. */
enum reason tpm_name_of(const struct tpm_public *p, struct tpm_name *ret) must_check;
/*
 * Qualified name of a primary key: nameAlg || H(hierarchy handle || name).
 * The fleet's AK lives in TPM_RH_ENDORSEMENT.
 */
enum reason tpm_qualified_name(uint32_t hierarchy, const struct tpm_name *name,
			       struct tpm_name *ret) must_check;

/* ---- signatures --------------------------------------------------------- */

struct tpm_signature {
	uint16_t scheme;		/* RSASSA, RSAPSS or ECDSA */
	uint16_t hash;
	struct bytes rsa;		/* RSA: as sent */
	struct bytes r, s;		/* ECDSA: as sent, any padding */
};

/* TPMT_SIGNATURE, consumed exactly: R_QUOTE_SCHEME for others, R_QUOTE_FORMAT. */
enum reason tpm_signature_read(struct bytes in, struct tpm_signature *ret) must_check;
enum reason tpm_signature_write(const struct tpm_signature *s, struct blob *ret) must_check;
/*
 * r || s, each left-padded (or stripped of leading zeros) to `len` bytes: 32
 * for P-256. R_QUOTE_SCHEME when it is no ECDSA signature, R_QUOTE_FORMAT
 * when a value does not fit or is zero. `ret` holds 2 * len bytes.
 */
enum reason tpm_signature_ecdsa(const struct tpm_signature *s, size_t len,
				uint8_t *ret) must_check;

/* ---- capabilities and session audit ------------------------------------- */

/*
 * The gate's one audited command, exactly: TPM2_GetCapability(TPM_CAP_PCRS,
 * TPM_BANKS_PROPERTY, TPM_BANKS_COUNT). The server computes the same digest
 * from the answer.
 */
#define TPM_BANKS_PROPERTY 0u
#define TPM_BANKS_COUNT 1u

/* TPMS_CAPABILITY_DATA of TPM_CAP_PCRS, consumed exactly: the banks. */
enum reason tpm_capability_pcrs_read(struct bytes in, struct pcr_selection *ret) must_check;
enum reason tpm_capability_pcrs_write(const struct pcr_selection *s, struct blob *ret) must_check;
/*
 * Digest of an audit session (hash alg `alg`) in which that command was the
 * first and only one and answered `capability` with moreData = NO:
 * H(zeros || cpHash || rpHash).
 */
enum reason tpm_audit_capability_pcrs(uint16_t alg, struct bytes capability,
				      uint8_t ret[DIGEST_MAX]) must_check;

/* ---- credentials ---------------------------------------------------------- */

/* TPM2B_ID_OBJECT, consumed exactly: TPM2B(TPM2B(hmac) || encrypted identity). */
struct tpm_id_object {
	struct bytes hmac;
	struct bytes identity;
};
enum reason tpm_id_object_read(struct bytes in, struct tpm_id_object *ret) must_check;
enum reason tpm_id_object_write(const struct tpm_id_object *o, struct blob *ret) must_check;

/* TPM2B_ENCRYPTED_SECRET: an RSA block, or for ECC a TPMS_ECC_POINT inside. */
enum reason tpm_secret_read(struct bytes in, struct bytes *ret) must_check;
enum reason tpm_secret_write(struct bytes secret, struct blob *ret) must_check;
struct tpm_point {
	struct bytes x, y;
};
enum reason tpm_point_read(struct bytes in, struct tpm_point *ret) must_check;
enum reason tpm_point_write(const struct tpm_point *p, struct blob *ret) must_check;

/* ---- templates -------------------------------------------------------------- */

/* TPMT_PUBLIC of the fleet's AK: what TPM2_CreatePrimary is given. */
extern const struct bytes tpm_ak_template;
/* Everything but `unique` equals the template byte for byte, and `unique` is a point. */
bool tpm_ak_public_matches_template(const struct tpm_public *p);

/* TCG EK Credential Profile 2.5: template and index of the certificate. */
struct tpm_ek_template {
	const char *name;		/* "L-1" */
	uint32_t cert_index;
	struct bytes pub;		/* TPMT_PUBLIC */
};
#define TPM_EK_TEMPLATES 8u
/* In the order of their indices; not SM2, which no library here has. */
extern const struct tpm_ek_template tpm_ek_template[TPM_EK_TEMPLATES];
/* The template that this public was made from; NULL where there is none. */
const struct tpm_ek_template *tpm_ek_template_of(const struct tpm_public *p);

#endif
