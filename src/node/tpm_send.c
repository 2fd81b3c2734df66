/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One policy for every command, below ESYS: ESYS gives the whole command to
 * tcti_transmit and takes the answer from tcti_receive; in between the same
 * bytes may go to the TPM more than once. ESYS itself would send again at
 * once, five times, and only for three codes.
 *
 * - A warning that says the command did not run: sent again, with growing
 *   pauses, for 30 seconds at most. Also TPM2_PCR_Extend: it did not run.
 * - No answer: what changes nothing is sent once more; anything else is left
 *   to the caller, who does not know whether it ran.
 *
 * ESYS gives up its context when a TCTI fails. So it never does: what went
 * wrong is kept in t->fault, and ESYS sees an answer with TPM_RC_FAILURE.
 */
#include "node/tpm_internal.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

#define RETRY_FIRST_MS 5u
#define RETRY_LAST_MS 1000u
#define TCTI_MAGIC 0x424f4f5447415445ull	/* "BOOTGATE" */
#define TPM12_TAG 0x00c4u

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t now_us(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void pause_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* Warnings of a command that did not run, or not to its end, and may be sent again. */
static bool says_again(uint32_t rc)
{
	switch (rc) {
	case TPM2_RC_RETRY:
	case TPM2_RC_YIELDED:
	case TPM2_RC_TESTING:
	case TPM2_RC_NV_RATE:
	case TPM2_RC_NV_UNAVAILABLE:
		return true;
	default:
		return false;
	}
}

static bool changes_nothing(uint32_t command_code)
{
	switch (command_code) {
	case TPM2_CC_GetCapability:
	case TPM2_CC_PCR_Read:
	case TPM2_CC_NV_ReadPublic:
	case TPM2_CC_ReadPublic:
		return true;
	default:
		return false;
	}
}

static enum reason exchange_once(struct tpm *t)
{
	TRY(tpm_link_exchange(&t->link, bytes_of(t->command, t->command_n), t->answer,
			      &t->answer_n));
	if (t->answer[0] == 0 && t->answer[1] == TPM12_TAG)
		return R_TPM_ABSENT;	/* a TPM 1.2 */
	t->rc = be32(t->answer + 6);
	return R_OK;
}

static enum reason exchange(struct tpm *t)
{
	uint64_t deadline = clock_boot_ms() + t->retry_ms;
	unsigned pause = RETRY_FIRST_MS;
	bool lost_once = false;

	for (;;) {
		enum reason r = exchange_once(t);

		if (r == R_TPM_IO && !lost_once && changes_nothing(be32(t->command + 6))) {
			lost_once = true;
			continue;
		}
		if (r != R_OK || !says_again(t->rc))
			return r;
		if (clock_left_ms(deadline) <= (int)pause)
			return R_TPM_RETRY;
		pause_ms(pause);
		pause = pause * 2 < RETRY_LAST_MS ? pause * 2 : RETRY_LAST_MS;
	}
}

static const uint8_t answer_failure[TPM_HEADER_LEN] = { 0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x01, 0x01 };

static void send_command(struct tpm *t)
{
	uint64_t start = now_us();

	t->rc = 0;
	t->fault = exchange(t);
	if (t->fault != R_OK) {
		memcpy(t->answer, answer_failure, sizeof(answer_failure));
		t->answer_n = sizeof(answer_failure);
	}
	t->spent_us += now_us() - start;
}

/* ---- what ESYS sees ------------------------------------------------------ */

static struct tpm *of_tcti(TSS2_TCTI_CONTEXT *c)
{
	return ((struct tpm_tcti *)c)->t;
}

static TSS2_RC tcti_transmit(TSS2_TCTI_CONTEXT *c, size_t n, const uint8_t *command)
{
	struct tpm *t = of_tcti(c);

	if (n < TPM_HEADER_LEN || n > sizeof(t->command))
		return TSS2_TCTI_RC_BAD_VALUE;
	memcpy(t->command, command, n);
	t->command_n = n;
	send_command(t);
	return TSS2_RC_SUCCESS;
}

/* ESYS asks for the size first, with no place for the bytes. */
static TSS2_RC tcti_receive(TSS2_TCTI_CONTEXT *c, size_t *n, uint8_t *answer, int32_t timeout)
{
	const struct tpm *t = of_tcti(c);

	(void)timeout;
	if (answer != NULL) {
		if (*n < t->answer_n)
			return TSS2_TCTI_RC_INSUFFICIENT_BUFFER;
		memcpy(answer, t->answer, t->answer_n);
	}
	*n = t->answer_n;
	return TSS2_RC_SUCCESS;
}

void tpm_tcti_init(struct tpm *t)
{
	t->tcti.v1.magic = TCTI_MAGIC;
	t->tcti.v1.version = 1;
	t->tcti.v1.transmit = tcti_transmit;
	t->tcti.v1.receive = tcti_receive;
	t->tcti.t = t;
}

/* ---- codes to reasons ---------------------------------------------------- */

static enum reason named(uint32_t rc)
{
	switch (rc) {
	case TPM2_RC_FAILURE:
		return R_TPM_FAILURE;
	case TPM2_RC_LOCKOUT:
		return R_TPM_LOCKOUT;
	default:
		return R_TPM_RESPONSE;
	}
}

/* ESYS is in a state that only a new context leads out of; handles are lost. */
static enum reason renew(struct tpm *t)
{
	Esys_Finalize(&t->esys);
	t->renewed++;
	if (Esys_Initialize(&t->esys, (TSS2_TCTI_CONTEXT *)&t->tcti, NULL) != TSS2_RC_SUCCESS)
		return R_INTERNAL_MEMORY;
	return t->managed ? R_OK : tpm_clean(t);
}

enum reason tpm_reason(struct tpm *t, TSS2_RC rc)
{
	TSS2_RC layer = rc & TSS2_RC_LAYER_MASK;

	if (rc == TSS2_RC_SUCCESS)
		return R_OK;
	if (t->fault != R_OK)
		return t->fault;
	if (layer == TSS2_TPM_RC_LAYER || layer == TSS2_RESMGR_TPM_RC_LAYER ||
	    layer == TSS2_RESMGR_RC_LAYER) {
		log_info("tpm: command %#05x refused with %#05x", be32(t->command + 6), rc);
		return named(rc);
	}
	/* not the TPM's word: its answer made no sense, or ESYS was misused */
	log_debug("tpm: ESYS returned %#x", rc);
	TRY(renew(t));
	return (rc & ~TSS2_RC_LAYER_MASK) == TSS2_BASE_RC_MEMORY ? R_INTERNAL_MEMORY : R_TPM_IO;
}

enum reason tpm_send_raw(struct tpm *t, struct bytes command)
{
	if (command.n < TPM_HEADER_LEN || command.n > sizeof(t->command))
		return R_INTERNAL;
	memcpy(t->command, command.p, command.n);
	t->command_n = command.n;
	send_command(t);
	if (t->fault != R_OK)
		return t->fault;
	return t->rc == 0 ? R_OK : named(t->rc);
}

/* Format-one codes carry the number of parameter, handle or session. */
bool tpm_refused_with(const struct tpm *t, uint32_t code)
{
	uint32_t rc = t->rc;

	if (t->fault != R_OK)
		return false;
	if ((rc & TPM2_RC_FMT1) != 0)
		rc &= ~(uint32_t)(TPM2_RC_N_MASK | TPM2_RC_P);
	return rc == code;
}

/* What is remembered of the last command is not that of a clean-up. */
void tpm_flush(struct tpm *t, ESYS_TR *h)
{
	enum reason fault = t->fault;
	uint32_t rc = t->rc;

	if (*h == ESYS_TR_NONE)
		return;
	if (Esys_FlushContext(t->esys, *h) != TSS2_RC_SUCCESS)
		(void)Esys_TR_Close(t->esys, h);
	*h = ESYS_TR_NONE;
	t->fault = fault;
	t->rc = rc;
}

uint64_t tpm_time_ms(const struct tpm *t)
{
	return t->spent_us / 1000;
}

uint32_t tpm_last_rc(const struct tpm *t)
{
	return t->rc;
}
