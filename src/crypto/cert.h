/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of endorsement keys (TCG EK Credential Profile 2.5) and the
 * making of credentials (TPM 2.0 Part 1 section 24). OpenSSL body only.
 */
#ifndef BOOTGATE_CRYPTO_CERT_H
#define BOOTGATE_CRYPTO_CERT_H

#include "base/bytes.h"
#include "crypto/digest.h"

/*
 * A set of CA certificates: the self-signed ones are trusted roots, the others
 * may stand between a root and a leaf. Revocation lists beside them.
 */
struct cert_store;
enum reason cert_store_make(struct cert_store **ret) must_check;
/*
 * Adds what stands in a file's bytes: one certificate or revocation list in
 * DER, or PEM with many. All of it or, with R_EK_FORMAT, nothing.
 */
enum reason cert_store_add(struct cert_store *s, struct bytes file, size_t *ret_count) must_check;
void cert_store_free(struct cert_store **s);

/* What a folder with its sub-folders gave. */
struct cert_folder {
	size_t files, certificates, unusable;
};
/* Told of each file: its path below the folder, and R_OK with how many, or why not. */
typedef void cert_folder_fn(void *context, const char *path, enum reason r, size_t count);
/*
 * Adds what every file of the folder holds, whatever its name; links to
 * folders are not followed. Other files are counted and passed over. `each`
 * may be NULL. R_FILE, R_FORMAT_TOO_LARGE.
 */
enum reason cert_store_add_folder(struct cert_store *s, const char *folder, cert_folder_fn *each,
				  void *context, struct cert_folder *ret) must_check;

struct cert;
/*
 * One DER certificate that ends exactly at the end: R_EK_FORMAT. A serial number
 * that is filled up is read; its signature is still one over the bytes as
 * they are.
 */
enum reason cert_read(struct bytes der, struct cert **ret) must_check;
/* Same for a file's bytes: DER (padding of NV behind it is cut), or the first one of a PEM. */
enum reason cert_read_file(struct bytes file, struct cert **ret) must_check;
void cert_free(struct cert **c);
/* All that a file holds, as cert_store_add has it. */
struct cert_list {
	struct cert **v;
	size_t n;
	size_t revocation_lists;
};
enum reason cert_read_all(struct bytes file, struct cert_list *ret) must_check;
void cert_list_free(struct cert_list *l);
/* The certificate's bytes, as received. */
enum reason cert_der(const struct cert *c, struct blob *ret) must_check;

/* What it says of itself; every text printable. */
struct cert_info {
	char subject[200], issuer[200];	/* "" for an empty one */
	char serial[68];
	char not_before[24], not_after[24];
	char key[40], signature[32];
	char usage[96], extended[160];
	bool authority, self_signed, repaired;
	bool has_tpm;			/* names of the TPM, in the alternative name */
	uint32_t manufacturer;		/* TPM_PT_MANUFACTURER: four characters, or a number */
	char model[40], version[40];	/* version as it stands there: id:00070002 */
	uint8_t digest[SHA256_LEN];
};
enum reason cert_describe(const struct cert *c, struct cert_info *ret) must_check;

enum cert_origin { CERT_GIVEN, CERT_SENT, CERT_FOLDER };
#define CERT_PATH_MAX 8u
/* One certificate of a path and why it does or does not hold. */
struct cert_link {
	enum cert_origin origin;
	enum reason reason;		/* R_OK, or its first fault */
	char fault[120];		/* in words */
	char note[240];			/* what was tolerated or could not be checked */
	struct cert_info info;
};
struct cert_path {
	size_t count;			/* from the leaf up */
	struct cert_link link[CERT_PATH_MAX];
	size_t sent, sent_unusable;	/* certificates that came with the leaf */
};
/*
 * Path from the leaf to a trusted root of `s`, over those in `sent` (DER
 * certificates one after the other, in any order) and of `s`; and whether the
 * leaf is that of an endorsement key. `now` is seconds since 1970. R_OK, or the worst
 * reason of a link: R_EK_REVOKED, R_EK_PROFILE, R_EK_UNTRUSTED, R_EK_EXPIRED. `ret` is
 * written in each of these cases. docs/ek.md states the policy. Large: allocate it.
 */
enum reason cert_judge(const struct cert_store *s, struct bytes sent, const struct cert *c,
		       int64_t now, struct cert_path *ret) must_check;
/* Same for a CA of a folder, its own signature included where it is a root. */
enum reason cert_judge_ca(const struct cert_store *s, const struct cert *c, int64_t now,
			  struct cert_path *ret) must_check;

/* Public key as the TPM shows it: type 0x0001 RSA or 0x0023 ECC. */
struct cert_key {
	uint16_t type;
	uint16_t curve;			/* TPM_ECC_CURVE, ECC only */
	uint8_t modulus[512];		/* RSA: big-endian, modulus_len bytes */
	size_t modulus_len;
	uint32_t exponent;
	uint8_t x[66], y[66];		/* ECC: left-padded to coord_len */
	size_t coord_len;
};
enum reason cert_key(const struct cert *c, struct cert_key *ret) must_check;
/* The same out of a PEM public key, as other tools write them: R_FORMAT_TYPE. */
enum reason cert_key_from_pem(struct bytes pem, struct cert_key *ret) must_check;

/* RSA-OAEP encryption with hash alg for both, label with its NUL. */
enum reason rsa_oaep(struct bytes modulus, uint32_t exponent, uint16_t alg,
		     struct bytes label, struct bytes plain, struct blob *ret) must_check;
/*
 * Ephemeral ECDH on a TPM curve: the x coordinate of the shared point and
 * the ephemeral public point, all left-padded to the field size.
 */
enum reason ecdh_ephemeral(uint16_t tpm_curve, struct bytes x, struct bytes y,
			   struct blob *ret_z, struct blob *ret_ex,
			   struct blob *ret_ey) must_check;
/* AES-128/256-CFB with zero IV, in place of nothing: ret gets plain's length. */
enum reason aes_cfb_zero_iv(struct bytes key, struct bytes plain, struct blob *ret) must_check;

#endif
