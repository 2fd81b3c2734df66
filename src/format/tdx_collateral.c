/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/jview.h"
#include "format/tdx.h"

static const struct {
	const char *name;
	enum tdx_status status;
} statuses[] = {
	{ "unknown", TDX_STATUS_UNKNOWN },
	{ "UpToDate", TDX_UP_TO_DATE },
	{ "SWHardeningNeeded", TDX_SW_HARDENING },
	{ "ConfigurationNeeded", TDX_CONFIGURATION },
	{ "ConfigurationAndSWHardeningNeeded", TDX_CONFIGURATION_SW_HARDENING },
	{ "OutOfDate", TDX_OUT_OF_DATE },
	{ "OutOfDateConfigurationNeeded", TDX_OUT_OF_DATE_CONFIGURATION },
	{ "Revoked", TDX_REVOKED },
};

const char *tdx_status_name(enum tdx_status s)
{
	return statuses[s].name;
}

/* Of Intel's service; of what is saved with a quote. */
enum { FORMS = 2 };
static const struct {
	const char *text, *signature;
} names[][FORMS] = {
	[TDX_TCB_INFO] = { { "tcbInfo", "signature" }, { "tcb_info", "tcb_info_signature" } },
	[TDX_IDENTITY] = { { "enclaveIdentity", "signature" }, { "qe_identity", "qe_identity_signature" } },
};

bool tdx_is_collateral(struct bytes object)
{
	struct bytes value;

	for (size_t kind = 0; kind < ARRAY_LEN(names); kind++)
		for (size_t i = 0; i < FORMS; i++)
			if (jview_member(object, names[kind][i].text, &value) == R_OK &&
			    jview_member(object, names[kind][i].signature, &value) == R_OK)
				return true;
	return false;
}

enum reason tdx_collateral_find(struct bytes object, enum tdx_collateral kind, struct blob *ret_text,
				uint8_t ret_signature[TDX_SIGNATURE_LEN])
{
	for (size_t i = 0; i < FORMS; i++) {
		struct bytes text, signature;

		if (jview_member(object, names[kind][i].text, &text) != R_OK)
			continue;
		if (jview_member(object, names[kind][i].signature, &signature) != R_OK ||
		    jview_hex(signature, ret_signature, TDX_SIGNATURE_LEN) != R_OK)
			return R_TDX_COLLATERAL;
		if (!jview_is_string(text))
			return blob_append(ret_text, text.p, text.n);
		return jview_string(text, ret_text) == R_OK ? R_OK : R_TDX_COLLATERAL;
	}
	return R_FORMAT_MISSING_KEY;
}

static enum reason number_at(struct bytes text, size_t at, size_t n, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = at; i < at + n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return R_TDX_COLLATERAL;
		*ret = *ret * 10 + (uint64_t)(text.p[i] - '0');
	}
	return *ret <= max ? R_OK : R_TDX_COLLATERAL;
}

/* "2026-01-12T15:46:45Z" */
static enum reason time_read(struct bytes object, const char *name, int64_t *ret)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	uint64_t year, month, day, hour, minute, second, era_day;
	struct bytes value, t;

	TRY(jview_member(object, name, &value));
	TRY(jview_plain(value, &t));
	if (t.n != strlen(form))
		return R_TDX_COLLATERAL;
	for (size_t i = 0; i < t.n; i++)
		if (form[i] != '0' && t.p[i] != (uint8_t)form[i])
			return R_TDX_COLLATERAL;
	TRY(number_at(t, 0, 4, 9999, &year));
	TRY(number_at(t, 5, 2, 12, &month));
	TRY(number_at(t, 8, 2, 31, &day));
	TRY(number_at(t, 11, 2, 23, &hour));
	TRY(number_at(t, 14, 2, 59, &minute));
	TRY(number_at(t, 17, 2, 60, &second));
	if (month == 0 || day == 0 || year < 1970)
		return R_TDX_COLLATERAL;
	/* days in the proleptic calendar, years beginning with March */
	if (month <= 2) {
		year--;
		month += 12;
	}
	era_day = 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day - 1;
	*ret = ((int64_t)era_day - 719468) * 86400 + (int64_t)(hour * 3600 + minute * 60 + second);
	return R_OK;
}

static enum reason member_u32(struct bytes object, const char *name, uint32_t max, uint32_t *ret)
{
	struct bytes value;

	TRY(jview_member(object, name, &value));
	return jview_u32(value, max, ret);
}

static enum reason member_hex(struct bytes object, const char *name, uint8_t *ret, size_t n)
{
	struct bytes value;

	TRY(jview_member(object, name, &value));
	return jview_hex(value, ret, n);
}

static enum reason member_array(struct bytes object, const char *name, struct bytes *ret)
{
	TRY(jview_member(object, name, ret));
	return jview_is_array(*ret) ? R_OK : R_TDX_COLLATERAL;
}

static enum reason head_read(struct bytes o, struct tdx_head *ret)
{
	struct bytes id;

	TRY(member_u32(o, "version", UINT32_MAX, &ret->version));
	if (jview_member(o, "id", &id) == R_OK)
		TRY(jview_plain(id, &ret->id));
	TRY(member_u32(o, "tcbEvaluationDataNumber", UINT32_MAX, &ret->evaluation));
	TRY(time_read(o, "issueDate", &ret->issued));
	TRY(time_read(o, "nextUpdate", &ret->next_update));
	return member_array(o, "tcbLevels", &ret->levels);
}

static enum reason signer_read(struct bytes o, uint8_t signer[48], uint8_t attributes[8],
			       uint8_t mask[8])
{
	TRY(member_hex(o, "mrsigner", signer, 48));
	TRY(member_hex(o, "attributes", attributes, 8));
	return member_hex(o, "attributesMask", mask, 8);
}

static enum reason tcb_info_read(struct bytes text, struct tdx_tcb_info *ret)
{
	struct bytes o, module;

	TRY(jview_read(text, &o));
	TRY(head_read(o, &ret->head));
	TRY(member_hex(o, "fmspc", ret->fmspc, sizeof(ret->fmspc)));
	TRY(member_hex(o, "pceId", ret->pce_id, sizeof(ret->pce_id)));
	if (jview_member(o, "tdxModule", &module) == R_OK) {
		TRY(signer_read(module, ret->module_signer, ret->module_attributes, ret->module_mask));
		ret->has_module = true;
	}
	if (jview_member(o, "tdxModuleIdentities", &module) == R_OK)
		return member_array(o, "tdxModuleIdentities", &ret->modules);
	return R_OK;
}

static enum reason identity_read(struct bytes text, struct tdx_identity *ret)
{
	struct bytes o;

	TRY(jview_read(text, &o));
	TRY(head_read(o, &ret->head));
	TRY(member_hex(o, "miscselect", ret->misc_select, sizeof(ret->misc_select)));
	TRY(member_hex(o, "miscselectMask", ret->misc_mask, sizeof(ret->misc_mask)));
	TRY(member_hex(o, "attributes", ret->attributes, sizeof(ret->attributes)));
	TRY(member_hex(o, "attributesMask", ret->attributes_mask, sizeof(ret->attributes_mask)));
	TRY(member_hex(o, "mrsigner", ret->mr_signer, sizeof(ret->mr_signer)));
	return member_u32(o, "isvprodid", UINT16_MAX, &ret->isv_prod_id);
}

enum reason tdx_tcb_info_read(struct bytes text, struct tdx_tcb_info *ret)
{
	struct tdx_tcb_info info = { 0 };

	if (tcb_info_read(text, &info) != R_OK)
		return R_TDX_COLLATERAL;
	*ret = info;
	return R_OK;
}

enum reason tdx_identity_read(struct bytes text, struct tdx_identity *ret)
{
	struct tdx_identity identity = { 0 };

	if (identity_read(text, &identity) != R_OK)
		return R_TDX_COLLATERAL;
	*ret = identity;
	return R_OK;
}

static enum reason module_read(struct bytes o, struct tdx_module *ret)
{
	TRY(signer_read(o, ret->signer, ret->attributes, ret->mask));
	return member_array(o, "tcbLevels", &ret->levels);
}

enum reason tdx_module_find(struct bytes modules, const char *id, struct tdx_module *ret)
{
	struct jview_iterator it;
	struct bytes value, text;
	struct tdx_module m;

	for (bool more = jview_first(modules, &it); more; more = jview_next(&it)) {
		if (jview_member(it.value, "id", &value) != R_OK || jview_plain(value, &text) != R_OK)
			return R_TDX_COLLATERAL;
		if (!bytes_equal(text, bytes_str(id)))
			continue;
		m = (struct tdx_module){ .id = text };
		if (module_read(it.value, &m) != R_OK)
			return R_TDX_COLLATERAL;
		*ret = m;
		return R_OK;
	}
	return R_FORMAT_MISSING_KEY;
}

/* [{"svn":3,...}, ...], 16 of them */
static enum reason components_read(struct bytes array, uint32_t ret[TDX_COMPONENTS])
{
	struct jview_iterator it;
	size_t n = 0;

	for (bool more = jview_first(array, &it); more; more = jview_next(&it)) {
		if (n == TDX_COMPONENTS)
			return R_TDX_COLLATERAL;
		TRY(member_u32(it.value, "svn", UINT16_MAX, &ret[n++]));
	}
	return n == TDX_COMPONENTS ? R_OK : R_TDX_COLLATERAL;
}

/* Version 2: "sgxtcbcomp01svn" to "sgxtcbcomp16svn" */
static enum reason numbered_read(struct bytes tcb, uint32_t ret[TDX_COMPONENTS])
{
	for (size_t i = 0; i < TDX_COMPONENTS; i++) {
		char name[24];

		snprintf(name, sizeof(name), "sgxtcbcomp%02zusvn", i + 1);
		TRY(member_u32(tcb, name, UINT16_MAX, &ret[i]));
	}
	return R_OK;
}

static enum reason tcb_read(struct bytes tcb, struct tdx_level *ret)
{
	struct bytes value;

	if (jview_member(tcb, "isvsvn", &value) == R_OK) {
		ret->has_isv_svn = true;
		return jview_u32(value, UINT16_MAX, &ret->isv_svn);
	}
	TRY(member_u32(tcb, "pcesvn", UINT16_MAX, &ret->pce_svn));
	if (jview_member(tcb, "sgxtcbcomponents", &value) == R_OK)
		TRY(components_read(value, ret->sgx));
	else
		TRY(numbered_read(tcb, ret->sgx));
	ret->has_sgx = true;
	if (jview_member(tcb, "tdxtcbcomponents", &value) != R_OK)
		return R_OK;
	ret->has_tdx = true;
	return components_read(value, ret->tdx);
}

static enum reason status_read(struct bytes level, enum tdx_status *ret)
{
	struct bytes value, text;

	TRY(jview_member(level, "tcbStatus", &value));
	TRY(jview_plain(value, &text));
	for (size_t i = 1; i < ARRAY_LEN(statuses); i++) {
		if (bytes_equal(text, bytes_str(statuses[i].name))) {
			*ret = statuses[i].status;
			return R_OK;
		}
	}
	return R_TDX_COLLATERAL;
}

static enum reason level_read(struct bytes value, struct tdx_level *ret)
{
	struct bytes part;

	TRY(jview_member(value, "tcb", &part));
	TRY(tcb_read(part, ret));
	TRY(status_read(value, &ret->status));
	TRY(jview_member(value, "tcbDate", &part));
	TRY(jview_plain(part, &ret->date));
	if (jview_member(value, "advisoryIDs", &part) == R_OK)
		return member_array(value, "advisoryIDs", &ret->advisories);
	return R_OK;
}

enum reason tdx_level_read(struct bytes value, struct tdx_level *ret)
{
	struct tdx_level level = { 0 };

	if (level_read(value, &level) != R_OK)
		return R_TDX_COLLATERAL;
	*ret = level;
	return R_OK;
}
