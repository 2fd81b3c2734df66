/* SPDX-License-Identifier: Apache-2.0 */
/* Writing findings into an explanation. */
#ifndef BOOTGATE_APPRAISE_FINDINGS_H
#define BOOTGATE_APPRAISE_FINDINGS_H

#include "format/eventlog.h"
#include "format/explanation.h"

struct finding finding_make(enum reason r, enum severity s, const char *component);
/* The event, with its digest in the bank at this column (none past the last). */
void finding_event(struct finding *f, const struct event *e, uint16_t bank, size_t column);
/* A place in a log that could not be read as an event. */
void finding_fault(struct finding *f, const struct eventlog_fault *fault);
/* snprintf into one of the three texts; what is not printable becomes `?`. */
void finding_text(char to[FINDING_TEXT_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a finding. When there is no room the least severe one goes, so that
 * explanation_worst is right however many there were.
 */
void explain(struct explanation *e, const struct finding *f);
/* SEVERITY_INFO when there is no finding. */
enum severity explanation_worst(const struct explanation *e);
/* The first finding that refuses; R_OK when none does. */
enum reason explanation_refusal(const struct explanation *e);

#endif
