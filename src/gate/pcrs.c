/* SPDX-License-Identifier: Apache-2.0 */
/* bootgate pcrs [SELECTION] [--out FILE] [--json]: what the registers hold. */
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "crypto/digest.h"
#include "gate/by_hand.h"
#include "gate/commands.h"

#define RAW_MAX (16u << 10)		/* values of every register of eight banks */

const char command_pcrs_help[] =
	"usage: bootgate pcrs [SELECTION] [--out FILE] [--json]\n"
	"\n"
	"Shows registers, as tpm2_pcrread does. SELECTION is like\n"
	"sha256:0,1,2,7+sha1:all; without one, every active bank.\n"
	"\n"
	"  -o, --out FILE   also writes the values, one after the other, as bytes\n"
	"      --json       {\"sha256\":{\"0\":\"HEX\",...},...}\n";

struct pcrs {
	const char *selection;		/* NULL: every register of every active bank */
	const char *out;
	const char *json;
	const char *tpm;
};

static enum reason options(int argc, char **argv, struct pcrs *p)
{
	const struct by_hand_option list[] = {
		{ "out", 'o', false, &p->out },
		{ "json", 0, true, &p->json },
#ifdef BOOTGATE_TEST
		{ "tpm", 0, false, &p->tpm },
#endif
		{ NULL, 0, false, NULL },
	};

	return by_hand_options(argc, argv, list, &p->selection);
}

static enum reason all_active(struct tpm *t, struct pcr_selection *ret)
{
	struct tpm_banks banks;

	TRY(tpm_banks(t, &banks));
	*ret = (struct pcr_selection){ 0 };
	for (size_t i = 0; i < banks.active_count; i++)
		TRY(pcr_selection_add(ret, banks.active[i], PCR_ALL));
	return R_OK;
}

/* {"sha256":{"0":"00...","7":"..."}} */
static void print_json(const struct pcr_selection *sel, const struct pcr_values *v)
{
	char hex[2 * DIGEST_MAX + 1];

	printf("{");
	for (size_t i = 0; i < sel->count; i++) {
		const char *comma = "";

		printf("%s\"%s\":{", i > 0 ? "," : "", digest_name(sel->bank[i].alg));
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			if ((sel->bank[i].mask & PCR_MASK(pcr)) == 0)
				continue;
			hex_encode(pcr_value(v, sel->bank[i].alg, pcr), hex);
			printf("%s\"%u\":\"%s\"", comma, pcr, hex);
			comma = ",";
		}
		printf("}");
	}
	printf("}\n");
}

static enum reason show(struct tpm *t, void *ctx)
{
	const struct pcrs *p = ctx;
	_cleanup_(blob_free) struct blob raw = BLOB(RAW_MAX);
	struct pcr_selection sel;
	struct pcr_values v;

	if (p->selection != NULL)
		TRY(by_hand_selection(p->selection, &sel));
	else
		TRY(all_active(t, &sel));
	TRY(tpm_pcr_read(t, &sel, &v));
	TRY(by_hand_complete(t, &sel, &v));
	if (p->out != NULL) {
		TRY(by_hand_raw(&sel, &v, &raw));
		TRY(fd_write_file(p->out, blob_bytes(&raw), 0644));
	}
	if (p->json != NULL)
		print_json(&sel, &v);
	else
		by_hand_print(stdout, &sel, &v);
	return R_OK;
}

int command_pcrs(int argc, char **argv)
{
	struct pcrs p = { 0 };
	struct pcr_selection ignored;
	enum reason r;

	r = options(argc, argv, &p);
	/* a mistake is told before the TPM is looked for */
	if (r == R_OK && p.selection != NULL)
		r = by_hand_selection(p.selection, &ignored);
	if (r == R_OK)
		r = by_hand_tpm(p.tpm, show, &p);
	return by_hand_end(r);
}
