/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First byte: what the rest is. 0: a report; else the values of a key's
 * extensions, each behind its length.
 */
#include "fuzz.h"

#include "format/snp.h"

static void key(struct cursor c)
{
	struct snp_key_extensions e = { 0 };
	struct bytes *const to[] = { &e.product, &e.bootloader, &e.tee, &e.snp,
				     &e.microcode, &e.fmc, &e.chip, &e.provider };
	struct snp_key k;
	uint8_t n;

	for (size_t i = 0; i < ARRAY_LEN(to); i++)
		if (cursor_u8(&c, &n) != R_OK || cursor_take(&c, n, to[i]) != R_OK)
			break;
	if (snp_key_read(&e, &k) == R_OK) {
		must(k.product != SNP_PRODUCT_UNKNOWN);
		must(k.chip.n == 0 || k.chip.n == (k.product == SNP_TURIN ? 8 : 64));
		must(k.tcb.has_fmc == (k.product == SNP_TURIN));
	}
}

static void report(struct bytes in)
{
	struct snp_report r;
	struct snp_tcb reported, launch;
	struct bytes found;
	enum snp_product product;

	if (snp_report_locate(in, &found) != R_OK)
		return;
	must(found.n == SNP_REPORT_LEN);
	if (snp_report_read(found, &r) != R_OK)
		return;
	must(r.version == 2 || r.version == 3 || r.version == 5);
	must(r.chip_id.n == 64 && r.signed_part.n == SNP_SIGNED_LEN);
	product = snp_product_cpuid(r.cpu_family, r.cpu_model);
	must(snp_product_name(product) != NULL);
	must(snp_tcb_read(r.reported_tcb, product, &reported) == R_OK);
	must(snp_tcb_read(r.launch_tcb, product, &launch) == R_OK);
	must(snp_tcb_equal(&reported, &reported));
	if (snp_tcb_at_least(&reported, &launch) && snp_tcb_at_least(&launch, &reported))
		must(snp_tcb_equal(&launch, &reported));
	must(snp_tcb_read(bytes_of(r.launch_tcb.p, 7), product, &launch) == R_SNP_FORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(bytes_of(data, size));
	uint8_t kind;

	if (cursor_u8(&c, &kind) != R_OK)
		return 0;
	if (kind == 0)
		report(bytes_of(c.p, c.n));
	else
		key(c);
	return 0;
}
