/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TPM as gate and host image use it. The only user of tpm2-tss.
 * One owner process, one open device, one thread at a time; all transient
 * handles and sessions are flushed by tpm_close and by each function that
 * makes them. Nothing is ever written into the TPM's NV, no hierarchy
 * authorisation is changed.
 */
#ifndef BOOTGATE_NODE_TPM_H
#define BOOTGATE_NODE_TPM_H

#include "base/bytes.h"
#include "format/challenge.h"
#include "format/pcr.h"

struct tpm;

/*
 * `where`: NULL for the device (/dev/tpmrm0, else /dev/tpm0), waiting up to
 * `wait_ms` for it to appear; the test build also takes
 * "swtpm:host=127.0.0.1,port=N" and "devices:FOLDER". R_TPM_ABSENT, R_TPM_BUSY, R_TPM_FAILURE.
 */
enum reason tpm_open(const char *where, unsigned wait_ms, struct tpm **ret) must_check;
void tpm_close(struct tpm **t);

/* Milliseconds spent inside the TCTI so far, for `bench`. */
uint64_t tpm_time_ms(const struct tpm *t);
/* Last response code as the specification prints it, for the log. */
uint32_t tpm_last_rc(const struct tpm *t);

struct tpm_facts {
	char manufacturer[5];		/* TPM_PT_MANUFACTURER, "IBM" */
	uint64_t firmware_version;
	uint32_t spec_revision;
};
enum reason tpm_facts(struct tpm *t, struct tpm_facts *ret) must_check;

/*
 * Active banks (whole bitmap), and all that the TPM implements.
 * R_TPM_BANK_PARTIAL, R_TPM_BANK_UNSUPPORTED, R_TPM_NO_BANK as design
 * section 3 says.
 */
struct tpm_banks {
	size_t active_count;
	uint16_t active[LIMIT_BANKS];
	size_t implemented_count;
	uint16_t implemented[LIMIT_BANKS];
};
enum reason tpm_banks(struct tpm *t, struct tpm_banks *ret) must_check;

/* Values of the selected registers; inactive banks come back without any. */
enum reason tpm_pcr_read(struct tpm *t, const struct pcr_selection *sel,
			 struct pcr_values *ret) must_check;
/*
 * One TPM2_PCR_Extend with a digest for each active bank. Never blindly sent
 * again: when the outcome is not known the register is read and compared.
 * `digest[i]` belongs to banks->active[i].
 */
enum reason tpm_pcr_extend(struct tpm *t, unsigned pcr, const struct tpm_banks *banks,
			   const uint8_t digest[][DIGEST_MAX]) must_check;

/* The attestation key of this boot: made from the fleet's template. */
struct tpm_ak {
	uint32_t handle;		/* ESYS handle, owned by struct tpm */
	uint8_t public_area[LIMIT_TPM_PUBLIC];	/* TPMT_PUBLIC */
	size_t public_len;
	uint8_t name[AK_NAME_LEN];
};
enum reason tpm_ak(struct tpm *t, struct tpm_ak *ret) must_check;

/* TPMS_ATTEST and TPMT_SIGNATURE, as bytes of the TPM. */
enum reason tpm_quote(struct tpm *t, const struct tpm_ak *ak,
		      const struct pcr_selection *sel, struct bytes qualifying,
		      struct blob *ret_attest, struct blob *ret_signature) must_check;
/*
 * Same with a key at a persistent handle: R_TPM_KEY_HANDLE,
 * R_TPM_KEY_CANNOT_SIGN, R_TPM_KEY_AUTH.
 */
enum reason tpm_quote_handle(struct tpm *t, uint32_t persistent,
			     const struct pcr_selection *sel, struct bytes qualifying,
			     struct blob *ret_attest, struct blob *ret_signature,
			     struct blob *ret_public) must_check;
/*
 * R_QUOTE_DIGEST when a quote is not about these values, because a register
 * moved between reading and quoting: then do both again. `hash` is that of
 * its signature.
 */
#define TPM_QUOTE_TRIES 3u
enum reason tpm_quote_covers(struct bytes attest, uint16_t hash,
			     const struct pcr_values *values) must_check;
/* The values that a quote over `sel` is about, read after it. R_QUOTE_DIGEST. */
enum reason tpm_quoted_values(struct tpm *t, const struct pcr_selection *sel,
			      struct bytes attest, uint16_t hash,
			      struct pcr_values *ret) must_check;

/* SHA-256 of each EK certificate in NV; reads no keys, makes none. */
enum reason tpm_ek_digests(struct tpm *t, uint8_t ret[LIMIT_EKS][SHA256_LEN],
			   size_t *ret_count) must_check;

/*
 * All EKs: certificates out of NV, each with the key that belongs to it; L-1
 * and L-2 without one where there is no certificate at all. A certificate or
 * key that cannot be used is named in the log and passed over; it is the
 * result when no other is left (R_EK_FORMAT, R_EK_PADDING, R_EK_MISMATCH).
 */
struct tpm_ek {
	uint32_t template_index;	/* which template made it */
	uint8_t public_area[LIMIT_TPM_PUBLIC];
	size_t public_len;
	uint8_t *certificate;		/* owned by the list, NULL for none */
	size_t certificate_len;
};
struct tpm_eks {
	size_t count;
	struct tpm_ek ek[LIMIT_EKS];
	struct blob chain;
};
enum reason tpm_eks(struct tpm *t, struct tpm_eks *ret) must_check;
void tpm_eks_free(struct tpm_eks *eks);

/*
 * TPM2_ActivateCredential in a salted, encrypted session; the EK is made from
 * its template again. R_TPM_ACTIVATE. The secret is wiped by blob_free.
 */
enum reason tpm_activate(struct tpm *t, const struct tpm_ak *ak, const struct tpm_ek *ek,
			 struct bytes id_object, struct bytes encrypted_secret,
			 struct blob *ret_secret) must_check;

/* TPM_CAP_PCRS inside an audit session, signed by the AK over `qualifying`. */
enum reason tpm_banks_proof(struct tpm *t, const struct tpm_ak *ak,
			    enum reason (*qualifying)(void *ctx, struct bytes capability,
						      uint8_t ret[SHA256_LEN]),
			    void *ctx, struct blob *ret_capability,
			    struct blob *ret_attest, struct blob *ret_signature) must_check;

/* Disables the platform hierarchy if it was left open; says whether it was. */
enum reason tpm_close_platform(struct tpm *t, bool *ret_was_open) must_check;

#endif
