/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of node/tpm share. Nobody else sees tpm2-tss.
 *
 *	tpm_link	one command and its answer over a descriptor
 *	tpm_send	the retry policy; what ESYS talks to; codes to reasons
 *	tpm_open	finding, opening, cleaning up
 *	tpm_caps tpm_pcr tpm_key tpm_ek tpm_audit	the commands
 */
#ifndef BOOTGATE_NODE_TPM_INTERNAL_H
#define BOOTGATE_NODE_TPM_INTERNAL_H

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tcti.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/tpm.h"
#include "node/tpm.h"

#define TPM_MESSAGE_MAX 4096u		/* of a command or an answer */
#define TPM_HEADER_LEN 10u

/* What ESYS hands out is malloc'ed; `_cleanup_(cleanup_esys) TPML_DIGEST *d = NULL;` */
static inline void cleanup_esys(void *p)
{
	Esys_Free(*(void **)p);
}

/* ---- link: bytes out, bytes in ---------------------------------------- */

#define LINK_PATH_MAX 64u

struct tpm_link {
	int fd;				/* -1: closed, opened by the next exchange */
	char path[LINK_PATH_MAX];	/* device; empty: a socket */
	char host[LINK_PATH_MAX];	/* test build: numeric address */
	uint16_t port;
	int answer_ms;			/* longest wait for one answer */
	unsigned lost;			/* how often it broke, and handles with it */
};

/* R_TPM_ABSENT, R_TPM_BUSY, R_TPM_IO; errno says more. */
enum reason tpm_link_open(struct tpm_link *l) must_check;
void tpm_link_close(struct tpm_link *l);
/*
 * R_TPM_IO when there was no whole answer: whether the command ran is then
 * not known.
 */
enum reason tpm_link_exchange(struct tpm_link *l, struct bytes command,
			      uint8_t answer[TPM_MESSAGE_MAX], size_t *ret_n) must_check;

/* ---- the open TPM -------------------------------------------------------- */

struct tpm;
struct tpm_tcti {
	TSS2_TCTI_CONTEXT_COMMON_V1 v1;	/* first: ESYS sees only this */
	struct tpm *t;
};

struct tpm {
	struct tpm_tcti tcti;
	ESYS_CONTEXT *esys;
	struct tpm_link link;
	unsigned retry_ms;		/* longest time for one command that is put off */
	bool managed;			/* a resource manager cleans up behind us */
	unsigned renewed;		/* how often ESYS was started anew */
	/* last command */
	uint8_t command[TPM_MESSAGE_MAX];
	size_t command_n;
	uint8_t answer[TPM_MESSAGE_MAX];
	size_t answer_n;
	enum reason fault;		/* what went wrong below the TPM's own codes */
	uint32_t rc;			/* its response code */
	uint64_t spent_us;
	/* attestation key of this boot */
	ESYS_TR ak;
	unsigned ak_epoch;
	/* what registers hold after our own extends */
	uint32_t known;
	struct pcr_values held;
};

/* Changes whenever transient handles may have been lost. */
static inline unsigned tpm_epoch(const struct tpm *t)
{
	return t->link.lost + t->renewed;
}

void tpm_tcti_init(struct tpm *t);
/* A command as bytes, with the same policy; the answer stays in t->answer. */
enum reason tpm_send_raw(struct tpm *t, struct bytes command) must_check;
/*
 * What an ESYS call ended with, as a reason. R_TPM_RESPONSE for a code that
 * the TPM gave and that has no name of its own: t->rc has it. ESYS is started
 * anew when it lost its place, which loses its handles.
 */
enum reason tpm_reason(struct tpm *t, TSS2_RC rc) must_check;
/* The last command was refused with this code (parameter number stripped). */
bool tpm_refused_with(const struct tpm *t, uint32_t code);
/* Ignores errors: for clean-up. `h` becomes ESYS_TR_NONE. */
void tpm_flush(struct tpm *t, ESYS_TR *h);
/*
 * Flushes every transient object and session in the TPM: only for one that
 * nobody else uses and that has no resource manager in front.
 */
enum reason tpm_clean(struct tpm *t) must_check;

/* ---- capabilities -------------------------------------------------------- */

/* Value of one TPM_PT; 0 where the TPM does not have it. */
enum reason tpm_property(struct tpm *t, uint32_t property, uint32_t *ret) must_check;
/* The headers of tpm2-tss shift these out of an int. */
#define HANDLE_LOADED_SESSION 0x02000000u
#define HANDLE_SAVED_SESSION 0x03000000u
#define HANDLE_TRANSIENT 0x80000000u
#define HANDLE_PERSISTENT 0x81000000u
#define HANDLE_PERSISTENT_LAST 0x81ffffffu
/* Handles in use from `first` on within its type, at most TPM_HANDLES_MAX. */
#define TPM_HANDLES_MAX 254u
struct tpm_handles {
	size_t count;
	uint32_t handle[TPM_HANDLES_MAX];
};
enum reason tpm_handles(struct tpm *t, uint32_t first, struct tpm_handles *ret) must_check;
enum reason tpm_selection_to_tss(const struct pcr_selection *sel,
				 TPML_PCR_SELECTION *ret) must_check;
enum reason tpm_selection_of_tss(const TPML_PCR_SELECTION *sel,
				 struct pcr_selection *ret) must_check;

/* ---- keys ------------------------------------------------------------------ */

/* A TPMT_PUBLIC as bytes, with room. */
struct tpm_area {
	uint8_t b[LIMIT_TPM_PUBLIC];
	size_t n;
};
static inline struct bytes tpm_area_bytes(const struct tpm_area *a)
{
	return (struct bytes){ a->b, a->n };
}
enum reason tpm_area_of_tss(const TPM2B_PUBLIC *in, struct tpm_area *ret) must_check;
/*
 * A primary key in the endorsement hierarchy. R_TPM_ENDORSEMENT_AUTH,
 * R_TPM_ENDORSEMENT_OFF, R_TPM_AK_TEMPLATE when the TPM cannot make such a key.
 */
enum reason tpm_primary(struct tpm *t, struct bytes template, ESYS_TR *ret,
			struct tpm_area *ret_public) must_check;
/* A key that is in the TPM already: R_TPM_KEY_HANDLE where there is none. */
enum reason tpm_key_at(struct tpm *t, uint32_t handle, ESYS_TR *ret,
		       struct tpm_area *ret_public) must_check;
/* The AK's ESYS handle, made again when it was lost. */
enum reason tpm_ak_handle(struct tpm *t, const struct tpm_ak *ak, ESYS_TR *ret) must_check;
enum reason tpm_signed_out(const TPM2B_ATTEST *attest, const TPMT_SIGNATURE *signature,
			   struct blob *ret_attest, struct blob *ret_signature) must_check;

/* ---- certificates in NV ---------------------------------------------------- */

/*
 * Content of an NV index. `ret` stays empty where it was never written, or
 * may not be read with an empty authorisation.
 */
enum reason tpm_nv_read(struct tpm *t, uint32_t index, size_t max, struct blob *ret) must_check;
/*
 * Cuts a certificate by its DER length. None (n = 0) when there is only
 * padding; R_EK_FORMAT, R_EK_PADDING.
 */
enum reason tpm_certificate_cut(struct bytes nv, struct bytes *ret) must_check;

#endif
