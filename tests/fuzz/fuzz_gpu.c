/* SPDX-License-Identifier: Apache-2.0 */
/* First byte: 0 a report, 1 and 2 the value of a certificate's extension. */
#include "fuzz.h"

#include "format/gpu.h"

static struct gpu_report r;

static void report(struct bytes in)
{
	char text[GPU_VBIOS_TEXT];

	if (gpu_report_read(in, &r) != R_OK)
		return;
	must(r.blocks > 0 && r.blocks <= GPU_BLOCKS_MAX && r.fields <= GPU_OPAQUE_MAX);
	must(r.signed_part.n + GPU_SIGNATURE_LEN == in.n);
	for (size_t i = 0; i < r.fields; i++) {
		must(gpu_field(&r, r.field[i].type).p == r.field[i].value.p);
		must(gpu_field_name(r.field[i].type) == gpu_field_name(r.field[i].type));
	}
	gpu_vbios_text(gpu_field(&r, GPU_OPAQUE_VBIOS), text);
	must(strlen(text) < sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(bytes_of(data, size));
	struct bytes fwid;
	uint8_t kind;

	if (cursor_u8(&c, &kind) != R_OK)
		return 0;
	if (kind == 0)
		report(bytes_of(c.p, c.n));
	else if (gpu_fwid_read(bytes_of(c.p, c.n), kind == 2, &fwid) == R_OK)
		must(fwid.n == GPU_FWID_LEN);
	return 0;
}
