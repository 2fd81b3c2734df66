/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl log show: events in words, one a line, or as JSON (docs/log-show.md). */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/log.h"

/* What is shown of one event. */
struct view {
	struct event event;
	char type[16];			/* of a type without name */
	const char *type_name;
	bool proven;			/* the digests are the hash of the data */
	struct blob text;
	struct blob details;		/* lines `name: value` */
};

static void view_free(struct view *v)
{
	blob_free(&v->text);
	blob_free(&v->details);
}

static enum reason view_make(const struct eventlog *log, const struct event *e, struct view *ret)
{
	ret->event = *e;
	ret->text = BLOB(EVENTLOG_TEXT_MAX);
	ret->details = BLOB(EVENTLOG_DETAILS_MAX + 64);
	ret->proven = false;
	ret->type_name = eventlog_type_name(e->type);
	if (!ret->type_name) {
		snprintf(ret->type, sizeof(ret->type), "0x%08x", e->type);
		ret->type_name = ret->type;
	}
	if (e->digest_count == log->bank_count)
		TRY(eventlog_digest_is_data(log, e, &ret->proven));
	TRY(eventlog_text(e, &ret->text));
	return eventlog_details(e, &ret->details);
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

/* The lines of the details, one after the other; false after the last. */
static bool next_detail(struct bytes *rest, struct bytes *name, struct bytes *value)
{
	const uint8_t *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
	const uint8_t *colon = end ? memchr(rest->p, ':', (size_t)(end - rest->p)) : NULL;

	if (!colon)
		return false;
	*name = bytes_of(rest->p, (size_t)(colon - rest->p));
	*value = bytes_of(colon + 2, (size_t)(end - colon) - 2);
	*rest = bytes_of(end + 1, rest->n - (size_t)(end - rest->p) - 1);
	return true;
}

static void print_details(const struct view *v)
{
	struct bytes rest = blob_bytes(&v->details);
	struct bytes name;
	struct bytes value;

	while (next_detail(&rest, &name, &value))
		printf("%*s%.*s: %.*s\n", 11, "", (int)name.n, (const char *)name.p,
		       (int)value.n, (const char *)value.p);
}

static void print_json_details(const struct view *v)
{
	struct bytes rest = blob_bytes(&v->details);
	struct bytes name;
	struct bytes value;
	const char *comma = "";

	while (next_detail(&rest, &name, &value)) {
		printf("%s{\"name\": ", comma);
		text_print_json(name);
		printf(", \"value\": ");
		text_print_json(value);
		printf("}");
		comma = ", ";
	}
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
		log_print_hex(e->digest[i]);
		printf("\"");
		comma = ", ";
	}
	printf("}, \"proven\": %s, \"text\": ", v->proven ? "true" : "false");
	text_print_json(blob_bytes(&v->text));
	printf(", \"details\": [");
	print_json_details(v);
	printf("], \"data\": \"");
	log_print_hex(e->data);
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
			log_print_hex(bytes_of(bank->value[pcr], digest_len(bank->alg)));
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
static enum reason show(struct bytes bytes, bool json, bool details, struct eventlog *log)
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
		if (details && !json)
			print_details(&v);
	}
	return r == R_LOG_END ? R_OK : r;
}

int ctl_log_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "json", true, false },
						    { "details", true, false } };
	_cleanup_(blob_free) struct blob log = BLOB(0);
	struct eventlog in = { 0 };
	struct eventlog_replay result;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	const char *path = o.argument[0];
	bool json = option_flag(&o, "json");
	bool details = option_flag(&o, "details");

	if (json && details)
		return CTL_USAGE;
	enum reason r = ctl_read_file(path, LIMIT_FIRMWARE_LOG, &log);
	if (r != R_OK)
		return ctl_refused(r, path);
	if (json) {
		r = log_replay(blob_bytes(&log), &in, &result);
		if (r != R_OK)
			return log_fail_at(path, r, in.fault);
		print_json_head(&in, &result);
	}
	r = show(blob_bytes(&log), json, details, &in);
	if (json && r == R_OK)
		print_json_registers(&result);
	return r == R_OK ? 0 : log_fail_at(path, r, in.fault);
}
