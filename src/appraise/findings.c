/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_printable(char *s)
{
	for (; *s; s++)
		if (*s < 0x20 || *s > 0x7e)
			*s = '?';
}

struct finding finding_make(enum reason r, enum severity s, const char *component)
{
	struct finding f = { .reason = r, .severity = s };

	snprintf(f.component, sizeof f.component, "%s", component);
	return f;
}

void finding_event(struct finding *f, const struct event *e, uint16_t bank, size_t column)
{
	f->has_event = true;
	f->event = e->number;
	f->offset = (uint32_t)e->offset;
	f->pcr = e->pcr;
	f->type = e->type;
	if (column >= LIMIT_BANKS || e->digest[column].n > DIGEST_MAX)
		return;
	f->bank = bank;
	f->digest_len = (uint8_t)e->digest[column].n;
	memcpy(f->digest, e->digest[column].p, e->digest[column].n);
}

void finding_fault(struct finding *f, const struct eventlog_fault *fault)
{
	f->has_event = true;
	f->event = fault->event;
	f->offset = (uint32_t)fault->offset;
}

void finding_text(char to[FINDING_TEXT_MAX], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(to, FINDING_TEXT_MAX, format, ap);
	va_end(ap);
	make_printable(to);
}

void explain(struct explanation *e, const struct finding *f)
{
	size_t least = 0;

	if (e->count < FINDINGS_MAX) {
		e->finding[e->count++] = *f;
		return;
	}
	e->dropped++;
	for (size_t i = 1; i < e->count; i++)
		if (e->finding[i].severity < e->finding[least].severity)
			least = i;
	if (e->finding[least].severity < f->severity)
		e->finding[least] = *f;
}

enum severity explanation_worst(const struct explanation *e)
{
	enum severity worst = SEVERITY_INFO;

	for (size_t i = 0; i < e->count; i++)
		if (e->finding[i].severity > worst)
			worst = e->finding[i].severity;
	return worst;
}

enum reason explanation_refusal(const struct explanation *e)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->finding[i].severity == SEVERITY_REFUSE)
			return e->finding[i].reason;
	return R_OK;
}
