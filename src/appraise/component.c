/* SPDX-License-Identifier: Apache-2.0 */
/* The default split of a server's firmware log, as a table. */
#include "appraise/component.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *name;
	const char *submod;
	enum ar4si claim;
} table[COMPONENT_COUNT] = {
#define COMPONENT(symbol, name, submod, claim) [symbol] = { name, submod, claim },
#include "appraise/component.def"
#undef COMPONENT
};

const char *component_name(enum component c)
{
	return c < COMPONENT_COUNT ? table[c].name : "";
}

enum component component_find(const char *name)
{
	for (unsigned i = 0; i < COMPONENT_COUNT; i++)
		if (strcmp(table[i].name, name) == 0)
			return (enum component)i;
	return COMPONENT_NONE;
}

const char *component_submod(enum component c)
{
	return c < COMPONENT_COUNT ? table[c].submod : "";
}

enum ar4si component_claim(enum component c)
{
	return c < COMPONENT_COUNT ? table[c].claim : AR4SI_CONFIGURATION;
}

#define ANY 0xffffffffu
#define TAG_LINUX_INITRD 0x8f3b22ecu
#define TAG_LINUX_LOAD_OPTIONS 0x8f3b22edu

/*
 * Where in its register an event stands. Two components that share a register
 * are compared apart, so the rules say which comes first.
 */
enum when {
	ALWAYS,
	BEFORE_SEPARATOR,
	BEHIND_SEPARATOR,
	BEFORE_GATE,			/* no event of the gate yet */
};

/*
 * First rule that fits. A register is closed by its last rule: what fits none
 * belongs to no component. One lie is open to who writes the log, a wrong
 * type or tag; it moves an event to another component, and both then differ.
 */
static const struct rule {
	uint32_t pcr;
	uint32_t type;
	uint32_t tag;
	enum when when;
	enum component component;
} rules[] = {
	{ 0, ANY, ANY, ALWAYS, COMPONENT_FIRMWARE },
	{ 1, ANY, ANY, ALWAYS, COMPONENT_FIRMWARE_CONFIG },
	{ 2, ANY, ANY, ALWAYS, COMPONENT_OPTION_ROMS },
	{ 3, ANY, ANY, ALWAYS, COMPONENT_OPTION_ROM_CONFIG },
	/* how firmware went about booting, and what it ran of its own */
	{ 4, EV_SEPARATOR, ANY, ALWAYS, COMPONENT_BOOT_PATH },
	{ 4, EV_ACTION, ANY, ALWAYS, COMPONENT_BOOT_PATH },
	{ 4, EV_EFI_ACTION, ANY, ALWAYS, COMPONENT_BOOT_PATH },
	{ 4, EV_OMIT_BOOT_DEVICE_EVENTS, ANY, ALWAYS, COMPONENT_BOOT_PATH },
	{ 4, EV_EFI_BOOT_SERVICES_APPLICATION, ANY, BEFORE_SEPARATOR, COMPONENT_BOOT_PATH },
	/* what it booted: the gate, and the kernel inside it */
	{ 4, EV_EFI_BOOT_SERVICES_APPLICATION, ANY, BEHIND_SEPARATOR, COMPONENT_GATE },
	{ 5, ANY, ANY, ALWAYS, COMPONENT_BOOT_DATA },
	{ 6, ANY, ANY, ALWAYS, COMPONENT_PLATFORM },
	{ 7, ANY, ANY, ALWAYS, COMPONENT_SECURE_BOOT },
	/* EFI stub of Linux: options first, then the initrd */
	{ 9, EV_EVENT_TAG, TAG_LINUX_LOAD_OPTIONS, BEFORE_GATE, COMPONENT_COMMAND_LINE },
	{ 9, EV_EVENT_TAG, TAG_LINUX_INITRD, ALWAYS, COMPONENT_GATE },
	/* stub of systemd: sections of the image; options from outside */
	{ 11, EV_IPL, ANY, ALWAYS, COMPONENT_GATE },
	{ 12, EV_IPL, ANY, ALWAYS, COMPONENT_COMMAND_LINE },
};

static bool place_fits(const struct rule *r, const struct component_place *place)
{
	switch (r->when) {
	case ALWAYS:
		return true;
	case BEFORE_SEPARATOR:
		return !(place->separated & PCR_MASK(r->pcr));
	case BEHIND_SEPARATOR:
		return place->separated & PCR_MASK(r->pcr);
	case BEFORE_GATE:
		return !(place->gate & PCR_MASK(r->pcr));
	}
	return false;
}

static bool rule_fits(const struct rule *r, const struct event *e,
		      const struct component_place *place)
{
	struct eventlog_tag t;

	if (r->pcr != e->pcr || (r->type != ANY && r->type != e->type) || !place_fits(r, place))
		return false;
	if (r->tag == ANY)
		return true;
	return eventlog_tag_read(e->data, &t) == R_OK && t.tag == r->tag;
}

enum component component_next(const struct event *e, struct component_place *place)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (!rule_fits(&rules[i], e, place))
			continue;
		if (e->type == EV_SEPARATOR)
			place->separated |= PCR_MASK(e->pcr);
		if (rules[i].component == COMPONENT_GATE)
			place->gate |= PCR_MASK(e->pcr);
		return rules[i].component;
	}
	return COMPONENT_NONE;
}

enum reason components_split(struct logs *l, struct components *ret)
{
	struct component_place place = { 0 };
	uint32_t *next;

	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < l->count; i++)
		l->event[i].component =
			(uint8_t)component_next(&l->event[i].event, &place);
	TRY(components_ignore(l));

	ret->index = calloc(l->count + 1, sizeof *ret->index);
	if (!ret->index)
		return R_INTERNAL_MEMORY;
	next = ret->index;
	for (unsigned c = 0; c <= COMPONENT_COUNT; c++) {
		ret->of[c].index = next;
		for (size_t i = 0; i < l->count; i++)
			if (l->event[i].component == c && !l->event[i].ignored)
				*next++ = (uint32_t)i;
		ret->of[c].count = (size_t)(next - ret->of[c].index);
	}
	ret->ignored = l->count - (size_t)(next - ret->index);
	return R_OK;
}

void components_free(struct components *c)
{
	free(c->index);
	c->index = NULL;
}
