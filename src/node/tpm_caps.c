/* SPDX-License-Identifier: Apache-2.0 */
/* What the TPM says of itself. */
#include "node/tpm_internal.h"

#include <string.h>

#include "base/log.h"
#include "crypto/digest.h"

enum reason tpm_property(struct tpm *t, uint32_t property, uint32_t *ret)
{
	_cleanup_(cleanup_esys) TPMS_CAPABILITY_DATA *data = NULL;
	const TPML_TAGGED_TPM_PROPERTY *list;
	TPMI_YES_NO more;

	TRY(tpm_reason(t, Esys_GetCapability(t->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
					     TPM2_CAP_TPM_PROPERTIES, property, 1, &more, &data)));
	list = &data->data.tpmProperties;
	/* one that it does not have is answered with the next that it has */
	*ret = list->count == 1 && list->tpmProperty[0].property == property
		       ? list->tpmProperty[0].value
		       : 0;
	return R_OK;
}

/* Without ESYS: this also serves when ESYS is started anew. */
enum reason tpm_handles(struct tpm *t, uint32_t first, struct tpm_handles *ret)
{
	const uint8_t get_capability[] = {
		0x80, 0x01, 0, 0, 0, 22, 0, 0, 0x01, 0x7a, 0, 0, 0, TPM2_CAP_HANDLES,
		(uint8_t)(first >> 24), (uint8_t)(first >> 16), (uint8_t)(first >> 8),
		(uint8_t)first, 0, 0, 0, TPM_HANDLES_MAX,
	};
	struct tpm_handles h = { 0 };
	struct bytes skipped;
	struct cursor c;
	uint32_t count;

	TRY(tpm_send_raw(t, BYTES(get_capability)));
	c = cursor_of(bytes_of(t->answer, t->answer_n));
	if (cursor_take(&c, TPM_HEADER_LEN + 1 + 4, &skipped) != R_OK ||
	    cursor_be32(&c, &count) != R_OK || count > TPM_HANDLES_MAX || c.n != (size_t)count * 4)
		return R_TPM_IO;
	for (; h.count < count; h.count++)
		if (cursor_be32(&c, &h.handle[h.count]) != R_OK)
			return R_TPM_IO;
	*ret = h;
	return R_OK;
}

enum reason tpm_facts(struct tpm *t, struct tpm_facts *ret)
{
	uint32_t manufacturer, high, low;
	struct tpm_facts f = { 0 };

	TRY(tpm_property(t, TPM2_PT_MANUFACTURER, &manufacturer));
	TRY(tpm_property(t, TPM2_PT_FIRMWARE_VERSION_1, &high));
	TRY(tpm_property(t, TPM2_PT_FIRMWARE_VERSION_2, &low));
	TRY(tpm_property(t, TPM2_PT_REVISION, &f.spec_revision));
	for (size_t i = 0; i < 4; i++)
		f.manufacturer[i] = (char)(manufacturer >> (24 - 8 * i));
	/* "IBM" comes as "IBM\0", others pad with a blank */
	for (size_t n = strlen(f.manufacturer); n > 0 && f.manufacturer[n - 1] == ' '; n--)
		f.manufacturer[n - 1] = '\0';
	f.firmware_version = (uint64_t)high << 32 | low;
	*ret = f;
	return R_OK;
}

enum reason tpm_selection_to_tss(const struct pcr_selection *sel, TPML_PCR_SELECTION *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(256);
	size_t offset = 0;

	TRY(pcr_selection_write(sel, &b));
	*ret = (TPML_PCR_SELECTION){ 0 };
	if (Tss2_MU_TPML_PCR_SELECTION_Unmarshal(b.p, b.n, &offset, ret) != TSS2_RC_SUCCESS)
		return R_INTERNAL;
	return R_OK;
}

enum reason tpm_selection_of_tss(const TPML_PCR_SELECTION *sel, struct pcr_selection *ret)
{
	uint8_t b[256];
	size_t n = 0;
	struct cursor c;

	if (Tss2_MU_TPML_PCR_SELECTION_Marshal(sel, b, sizeof(b), &n) != TSS2_RC_SUCCESS)
		return R_TPM_IO;
	c = cursor_of(bytes_of(b, n));
	return pcr_selection_read(&c, ret);
}

static enum reason bank_judge(const struct pcr_select *s, bool *ret_active)
{
	const char *name = digest_name(s->alg);

	*ret_active = s->mask != 0;
	if (s->mask == 0)
		return R_OK;
	if (name == NULL)
		return log_reason(R_TPM_BANK_UNSUPPORTED, "algorithm %#06x", s->alg);
	if (s->mask != PCR_ALL)
		return log_reason(R_TPM_BANK_PARTIAL, "%s has registers %#08x", name, s->mask);
	return R_OK;
}

enum reason tpm_banks(struct tpm *t, struct tpm_banks *ret)
{
	_cleanup_(cleanup_esys) TPMS_CAPABILITY_DATA *data = NULL;
	struct pcr_selection all;
	struct tpm_banks b = { 0 };
	TPMI_YES_NO more;
	bool strong = false;

	TRY(tpm_reason(t, Esys_GetCapability(t->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
					     TPM2_CAP_PCRS, TPM_BANKS_PROPERTY, TPM_BANKS_COUNT,
					     &more, &data)));
	TRY(tpm_selection_of_tss(&data->data.assignedPCR, &all));
	for (size_t i = 0; i < all.count; i++) {
		bool active;

		b.implemented[b.implemented_count++] = all.bank[i].alg;
		TRY(bank_judge(&all.bank[i], &active));
		if (!active)
			continue;
		b.active[b.active_count++] = all.bank[i].alg;
		strong = strong || digest_len(all.bank[i].alg) >= SHA256_LEN;
	}
	if (!strong)
		return R_TPM_NO_BANK;
	*ret = b;
	return R_OK;
}

/* For the jump: the host must not find a platform hierarchy that firmware forgot. */
enum reason tpm_close_platform(struct tpm *t, bool *ret_was_open)
{
	uint32_t startup_clear;
	enum reason r;

	TRY(tpm_property(t, TPM2_PT_STARTUP_CLEAR, &startup_clear));
	if ((startup_clear & TPMA_STARTUP_CLEAR_PHENABLE) == 0) {
		*ret_was_open = false;
		return R_OK;
	}
	r = tpm_reason(t, Esys_HierarchyControl(t->esys, ESYS_TR_RH_PLATFORM, ESYS_TR_PASSWORD,
						ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_RH_PLATFORM,
						TPM2_NO));
	if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_BAD_AUTH)) {
		*ret_was_open = false;	/* firmware locked it with an authorisation */
		return R_OK;
	}
	TRY(r);
	*ret_was_open = true;
	return R_OK;
}
