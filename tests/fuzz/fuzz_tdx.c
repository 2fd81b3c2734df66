/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First byte: 0 a quote, 1 the extension of a PCK certificate, 2 an object
 * with collateral, 3 the text of collateral.
 */
#include "fuzz.h"

#include "format/jview.h"
#include "format/tdx.h"

static void levels(struct bytes array)
{
	struct jview_iterator it;
	struct tdx_level l;

	for (bool more = jview_first(array, &it); more; more = jview_next(&it)) {
		if (tdx_level_read(it.value, &l) != R_OK)
			continue;
		must(l.has_isv_svn != l.has_sgx);
		must(strcmp(tdx_status_name(l.status), "unknown") != 0);
	}
}

static void text(struct bytes in)
{
	struct tdx_tcb_info info;
	struct tdx_identity identity;
	struct tdx_module module;

	if (tdx_tcb_info_read(in, &info) == R_OK) {
		must(info.head.issued >= 0);
		levels(info.head.levels);
		if (tdx_module_find(info.modules, "TDX_01", &module) == R_OK)
			levels(module.levels);
	}
	if (tdx_identity_read(in, &identity) == R_OK)
		levels(identity.head.levels);
}

static void object(struct bytes in)
{
	uint8_t signature[TDX_SIGNATURE_LEN];
	struct bytes json;
	bool is;

	if (jview_read(in, &json) != R_OK)
		return;
	is = tdx_is_collateral(json);
	for (int kind = TDX_TCB_INFO; kind <= TDX_IDENTITY; kind++) {
		_cleanup_(blob_free) struct blob out = BLOB(1u << 20);

		if (tdx_collateral_find(json, (enum tdx_collateral)kind, &out, signature) != R_OK)
			continue;
		must(is && out.n <= in.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(bytes_of(data, size));
	struct tdx_quote q;
	struct tdx_pck pck;
	struct bytes in;
	uint8_t kind;

	if (cursor_u8(&c, &kind) != R_OK)
		return 0;
	in = bytes_of(c.p, c.n);
	if (kind == 0 && tdx_quote_read(in, &q) == R_OK) {
		must(q.version >= 3 && q.version <= 5 && q.report_data.n == 64);
		must(q.signed_part.p == in.p && q.signature.n == TDX_SIGNATURE_LEN);
		must(q.cert_data.p + q.cert_data.n == q.rest.p && q.rest.p + q.rest.n == in.p + in.n);
	}
	if (kind == 1 && tdx_pck_read(in, &pck) == R_OK)
		must(pck.fmspc.n == 6 && pck.pce_id.n == 2 && pck.cpu_svn.n == 16);
	if (kind == 2)
		object(in);
	if (kind == 3)
		text(in);
	return 0;
}
