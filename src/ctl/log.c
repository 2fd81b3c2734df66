/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl log replay: the registers that an event log leads to, offline. */
#include "ctl/log.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

int log_fail_at(const char *path, enum reason r, struct eventlog_fault at)
{
	char about[CTL_SHOWN_MAX];

	snprintf(about, sizeof(about), "%s: event %u at byte %zu", path, at.event, at.offset);
	return ctl_refused(r, about);
}

void log_print_hex(struct bytes b)
{
	for (size_t i = 0; i < b.n; i++)
		printf("%02x", b.p[i]);
}

enum reason log_replay(struct bytes log, struct eventlog *in, struct eventlog_replay *ret)
{
	struct event e;
	enum reason r;

	TRY(eventlog_open(log, in));
	TRY(eventlog_replay_begin(in, ret));
	while ((r = eventlog_next(in, &e)) == R_OK) {
		r = eventlog_replay_event(ret, &e);
		if (r != R_OK) {
			in->fault = ret->fault;
			return r;
		}
	}
	return r == R_LOG_END ? R_OK : r;
}

static void print_notes(const char *path, const struct eventlog_replay *r)
{
	if (r->legacy)
		fprintf(stderr, "note: %s: old SHA-1 form: shown, but it proves nothing\n", path);
	if (r->hcrtm && !r->locality_known && r->locality != 0)
		fprintf(stderr, "note: %s: an H-CRTM event and no StartupLocality event: "
			"register 0 starts at %u\n", path, r->locality);
	if (r->partial)
		fprintf(stderr, "note: %s: event %u at byte %zu lacks digests of the header's "
			"algorithms: registers are as far as the digests go\n", path,
			r->partial_at.event, r->partial_at.offset);
}

static void print_bank(const struct eventlog_replay *r, size_t i)
{
	const struct pcr_bank *bank = &r->values.bank[i];

	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		if (!(r->extended[i] & PCR_MASK(pcr)))
			continue;
		printf("%s %u ", digest_name(bank->alg), pcr);
		log_print_hex(bytes_of(bank->value[pcr], digest_len(bank->alg)));
		printf("\n");
	}
}

int ctl_log_replay(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "bank", false, false } };
	_cleanup_(blob_free) struct blob log = BLOB(0);
	struct eventlog in = { 0 };
	struct eventlog_replay result;
	struct options o;
	uint16_t bank = 0;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	if (option(&o, "bank") && (bank = digest_find(option(&o, "bank"))) == 0) {
		fprintf(stderr, "bootgatectl: there is no bank %s\n", option(&o, "bank"));
		return CTL_USAGE;
	}
	const char *path = o.argument[0];
	enum reason r = ctl_read_file(path, LIMIT_FIRMWARE_LOG, &log);
	if (r != R_OK)
		return ctl_refused(r, path);
	r = log_replay(blob_bytes(&log), &in, &result);
	if (r != R_OK)
		return log_fail_at(path, r, in.fault);
	if (bank && !pcr_values_bank(&result.values, bank))
		return ctl_refused(R_LOG_BANK_MISSING, path);
	print_notes(path, &result);
	for (size_t i = 0; i < result.values.count; i++)
		if (bank == 0 || result.values.bank[i].alg == bank)
			print_bank(&result, i);
	return 0;
}
