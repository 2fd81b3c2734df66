/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl log: shows and replays event logs, offline on files. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "format/eventlog.h"

static int fail_at(const char *path, enum reason r, struct eventlog_fault at)
{
	char about[4200];

	snprintf(about, sizeof(about), "%s: event %u at byte %zu", path, at.event, at.offset);
	return ctl_refused(r, about);
}

static void print_hex(struct bytes b)
{
	for (size_t i = 0; i < b.n; i++)
		printf("%02x", b.p[i]);
}

/* ---- replay --------------------------------------------------------------- */

/* Leniently, so that logs with missing digests are shown as far as they go. */
static enum reason replay(struct bytes log, struct eventlog *in, struct eventlog_replay *ret)
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
		print_hex(bytes_of(bank->value[pcr], digest_len(bank->alg)));
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
	r = replay(blob_bytes(&log), &in, &result);
	if (r != R_OK)
		return fail_at(path, r, in.fault);
	if (bank && !pcr_values_bank(&result.values, bank))
		return ctl_refused(R_LOG_BANK_MISSING, path);
	print_notes(path, &result);
	for (size_t i = 0; i < result.values.count; i++)
		if (bank == 0 || result.values.bank[i].alg == bank)
			print_bank(&result, i);
	return 0;
}

/* ---- show ------------------------------------------------------------------ */

/* What is shown of one event. */
struct view {
	struct event event;
	char type[16];			/* of a type without name */
	const char *type_name;
	bool proven;			/* the digests are the hash of the data */
	struct blob text;
};

static void view_free(struct view *v)
{
	blob_free(&v->text);
}

static enum reason view_make(const struct eventlog *log, const struct event *e, struct view *ret)
{
	ret->event = *e;
	ret->text = BLOB(EVENTLOG_TEXT_MAX);
	ret->proven = false;
	ret->type_name = eventlog_type_name(e->type);
	if (!ret->type_name) {
		snprintf(ret->type, sizeof(ret->type), "0x%08x", e->type);
		ret->type_name = ret->type;
	}
	if (e->digest_count == log->bank_count)
		TRY(eventlog_digest_is_data(log, e, &ret->proven));
	return eventlog_text(e, &ret->text);
}

/*
 * number, register, type, size, `=` where the digests prove the data or `~`
 * where it is a mere hint, the data in words
 */
static void print_line(const struct view *v)
{
	const struct event *e = &v->event;
	char pcr[12] = "-";

	if (e->pcr < PCR_COUNT)
		snprintf(pcr, sizeof(pcr), "%u", e->pcr);
	printf("%5u  %2s  %-32s %7zu %s %.*s\n", e->number, pcr, v->type_name, e->data.n,
	       v->proven ? "=" : "~", (int)v->text.n, (const char *)v->text.p);
}

static void print_json_event(const struct eventlog *log, const struct view *v)
{
	const struct event *e = &v->event;
	const char *comma = "";

	printf("%s\n    {\"number\": %u, \"offset\": %zu, \"register\": ",
	       e->number ? "," : "", e->number, e->offset);
	if (e->pcr < PCR_COUNT)
		printf("%u", e->pcr);
	else
		printf("null");
	printf(", \"type\": %u, \"type_name\": ", e->type);
	text_print_json(bytes_str(v->type_name));
	printf(", \"digests\": {");
	for (size_t i = 0; i < log->bank_count; i++) {
		if (e->digest[i].n == 0)
			continue;
		printf("%s\"%s\": \"", comma, digest_name(log->bank[i]));
		print_hex(e->digest[i]);
		printf("\"");
		comma = ", ";
	}
	printf("}, \"proven\": %s, \"text\": ", v->proven ? "true" : "false");
	text_print_json(blob_bytes(&v->text));
	printf(", \"data\": \"");
	print_hex(e->data);
	printf("\"}");
}

static void print_json_registers(const struct eventlog_replay *r)
{
	printf("\n  ],\n  \"registers\": {");
	for (size_t i = 0; i < r->values.count; i++) {
		const struct pcr_bank *bank = &r->values.bank[i];
		const char *comma = "";

		printf("%s\n    \"%s\": {", i ? "," : "", digest_name(bank->alg));
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			if (!(r->extended[i] & PCR_MASK(pcr)))
				continue;
			printf("%s\n      \"%u\": \"", comma, pcr);
			print_hex(bytes_of(bank->value[pcr], digest_len(bank->alg)));
			printf("\"");
			comma = ",";
		}
		printf("}");
	}
	printf("\n  }\n}\n");
}

static void print_json_head(const struct eventlog *log, const struct eventlog_replay *r)
{
	printf("{\n  \"legacy\": %s,\n  \"locality\": %u,\n  \"complete\": %s,\n  \"banks\": [",
	       log->legacy ? "true" : "false", r->locality, r->partial ? "false" : "true");
	for (size_t i = 0; i < log->bank_count; i++)
		printf("%s\"%s\"", i ? ", " : "", digest_name(log->bank[i]));
	printf("],\n  \"events\": [");
}

/* Prints event by event; the text form prints what stands before a fault. */
static enum reason show(struct bytes bytes, bool json, struct eventlog *log)
{
	struct event e;
	enum reason r;

	TRY(eventlog_open(bytes, log));
	while ((r = eventlog_next(log, &e)) == R_OK) {
		_cleanup_(view_free) struct view v;

		TRY(view_make(log, &e, &v));
		if (json)
			print_json_event(log, &v);
		else
			print_line(&v);
	}
	return r == R_LOG_END ? R_OK : r;
}

int ctl_log_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "json", true, false } };
	_cleanup_(blob_free) struct blob log = BLOB(0);
	struct eventlog in = { 0 };
	struct eventlog_replay result;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	const char *path = o.argument[0];
	bool json = option_flag(&o, "json");
	enum reason r = ctl_read_file(path, LIMIT_FIRMWARE_LOG, &log);
	if (r != R_OK)
		return ctl_refused(r, path);
	if (json) {
		r = replay(blob_bytes(&log), &in, &result);
		if (r != R_OK)
			return fail_at(path, r, in.fault);
		print_json_head(&in, &result);
	}
	r = show(blob_bytes(&log), json, &in);
	if (json && r == R_OK)
		print_json_registers(&result);
	return r == R_OK ? 0 : fail_at(path, r, in.fault);
}
