/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components: the parts that a firmware log is split into, each judged as a
 * whole. docs/references.md.
 */
#ifndef BOOTGATE_APPRAISE_COMPONENT_H
#define BOOTGATE_APPRAISE_COMPONENT_H

#include "appraise/logs.h"
#include "format/report.h"

enum component {
#define COMPONENT(symbol, name, submod, claim) symbol,
#include "appraise/component.def"
#undef COMPONENT
	COMPONENT_COUNT,
	COMPONENT_NONE = COMPONENT_COUNT,	/* unclaimed */
};

const char *component_name(enum component c);
/* COMPONENT_NONE where there is none. */
enum component component_find(const char *name);
/* Submod of the verdict that it is part of, and its claim there. */
const char *component_submod(enum component c);
enum ar4si component_claim(enum component c);

/* What stood in front of an event; all zero at the start of a log. */
struct component_place {
	uint32_t separated;		/* registers that have their separator */
	uint32_t gate;			/* registers with an event of the gate */
};
/*
 * The component that the next event belongs to: the first rule that fits.
 * Events are given in the order of the log.
 */
enum component component_next(const struct event *e, struct component_place *place);

/* Events of one component that are compared, as indices into logs.event. */
struct component_events {
	size_t count;
	const uint32_t *index;
};
struct components {
	struct component_events of[COMPONENT_COUNT + 1];	/* the last: unclaimed */
	size_t ignored;
	uint32_t *index;		/* owned, behind all of them */
};

/* Says of each event what it belongs to and whether it is ignored. */
enum reason components_split(struct logs *l, struct components *ret) must_check;
void components_free(struct components *c);

/*
 * ignore.c: sets `ignored` of the events that a shipped rule leaves out.
 * Wants `component` to be set.
 */
enum reason components_ignore(struct logs *l) must_check;

/* variant.c: one whole variant per component, no event unclaimed. */
enum reason components_match(const struct logs *l, const struct components *c,
			     const struct reference_set *refs, const struct policy *policy,
			     const struct report *report, struct explanation *e) must_check;

/*
 * cmdline.c: events of `command-line` that equal no variant, judged by what
 * the options say. `report` may be NULL.
 */
enum reason cmdline_check(const struct logs *l, const struct component_events *events,
			  const struct policy *policy, const struct report *report,
			  struct explanation *e) must_check;

/* Decoded content of an event for messages: type, text, hint or not. */
void event_describe(const struct logged *one, char *ret, size_t n);

#endif
