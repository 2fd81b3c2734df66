/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the extended capabilities of PCI Express (base specification 6, 7.7 to 7.9). */
#include "base/cleanup.h"
#include "format/pci.h"

/* One register, or bits of one: where it is and what it is called. */
struct bits_rule {
	const char *name;
	uint8_t offset, size;
	uint8_t low, count;		/* count 0: all of it, as hexadecimal digits */
};

static void apply(struct bytes b, const struct bits_rule *rules, size_t n, struct fields *f)
{
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		const struct bits_rule *r = &rules[i];

		if (!le_at(b, r->offset, r->size, &v))
			continue;
		if (r->count == 0)
			fields_hex(f, r->name, v, 2u * r->size);
		else if (r->count == 1)
			fields_flag(f, r->name, v >> r->low & 1);
		else
			fields_number(f, r->name, v >> r->low & ((UINT64_C(1) << r->count) - 1));
	}
}

static const struct bits_rule aer[] = {
	{ "uncorrectable", 0x04, 4, 0, 0 }, { "uncorrectable_mask", 0x08, 4, 0, 0 },
	{ "uncorrectable_severity", 0x0c, 4, 0, 0 }, { "correctable", 0x10, 4, 0, 0 },
	{ "correctable_mask", 0x14, 4, 0, 0 }, { "first_error", 0x18, 4, 0, 5 },
	{ "poisoned", 0x04, 4, 12, 1 }, { "completion_timeout", 0x04, 4, 14, 1 },
	{ "data_link_error", 0x04, 4, 4, 1 }, { "surprise_down", 0x04, 4, 5, 1 },
};
static const struct bits_rule serial[] = {
	{ "serial", 0x04, 8, 0, 0 },
};
static const struct bits_rule vendor[] = {
	{ "vsec_id", 0x04, 2, 0, 0 }, { "revision", 0x04, 4, 16, 4 }, { "length", 0x04, 4, 20, 12 },
};
static const struct bits_rule acs[] = {
	{ "can_validate_source", 0x04, 2, 0, 1 }, { "can_block_translation", 0x04, 2, 1, 1 },
	{ "can_redirect_requests", 0x04, 2, 2, 1 }, { "can_redirect_completions", 0x04, 2, 3, 1 },
	{ "can_forward_upstream", 0x04, 2, 4, 1 }, { "can_control_egress", 0x04, 2, 5, 1 },
	{ "can_translate_directly", 0x04, 2, 6, 1 }, { "source_validation", 0x06, 2, 0, 1 },
	{ "translation_blocking", 0x06, 2, 1, 1 }, { "request_redirect", 0x06, 2, 2, 1 },
	{ "completion_redirect", 0x06, 2, 3, 1 }, { "upstream_forwarding", 0x06, 2, 4, 1 },
	{ "egress_control", 0x06, 2, 5, 1 }, { "direct_translation", 0x06, 2, 6, 1 },
};
static const struct bits_rule ari[] = {
	{ "next_function", 0x04, 2, 8, 8 },
};
static const struct bits_rule ats[] = {
	{ "queue_depth", 0x04, 2, 0, 5 }, { "page_aligned", 0x04, 2, 5, 1 },
	{ "smallest_unit", 0x06, 2, 0, 5 }, { "enabled", 0x06, 2, 15, 1 },
};
static const struct bits_rule sr_iov[] = {
	{ "enabled", 0x08, 2, 0, 1 }, { "memory", 0x08, 2, 3, 1 }, { "ari", 0x08, 2, 4, 1 },
	{ "initial_vfs", 0x0c, 2, 0, 16 }, { "total_vfs", 0x0e, 2, 0, 16 },
	{ "vfs", 0x10, 2, 0, 16 }, { "dependency", 0x12, 1, 0, 8 },
	{ "first_vf", 0x14, 2, 0, 16 }, { "stride", 0x16, 2, 0, 16 },
	{ "vf_device", 0x1a, 2, 0, 0 }, { "page_sizes", 0x1c, 4, 0, 0 },
	{ "page_size", 0x20, 4, 0, 0 },
};
static const struct bits_rule pasid[] = {
	{ "width", 0x04, 2, 8, 5 }, { "enabled", 0x06, 2, 0, 1 },
};
static const struct bits_rule dvsec[] = {
	{ "vendor", 0x04, 2, 0, 0 }, { "revision", 0x04, 4, 16, 4 }, { "length", 0x04, 4, 20, 12 },
	{ "dvsec_id", 0x08, 2, 0, 0 },
};
static const struct bits_rule doe[] = {
	{ "interrupt", 0x04, 4, 0, 1 }, { "busy", 0x0c, 4, 0, 1 }, { "error", 0x0c, 4, 2, 1 },
	{ "ready", 0x0c, 4, 31, 1 },
};
static const struct bits_rule ltr[] = {
	{ "snoop", 0x04, 2, 0, 0 }, { "no_snoop", 0x06, 2, 0, 0 },
};
static const struct bits_rule ide[] = {
	{ "link_streams", 0x04, 4, 0, 1 }, { "selective_streams", 0x04, 4, 1, 1 },
	{ "tee_limited", 0x04, 4, 24, 1 },
};

#define RULES(id, rules) { id, rules, ARRAY_LEN(rules) }
static const struct {
	uint16_t id;
	const struct bits_rule *rules;
	size_t count;
} registers[] = {
	RULES(0x01, aer), RULES(0x03, serial), RULES(0x0b, vendor), RULES(0x0d, acs),
	RULES(0x0e, ari), RULES(0x0f, ats), RULES(0x10, sr_iov), RULES(0x18, ltr),
	RULES(0x1b, pasid), RULES(0x23, dvsec), RULES(0x2e, doe), RULES(0x30, ide),
};

/* The first control register tells how many there are; sizes are powers of two from 1 MiB on. */
static void resizable(struct bytes b, struct fields *f)
{
	uint64_t count, able, control;

	if (!le_at(b, 8, 4, &count))
		return;
	count = count >> 5 & 7;
	for (unsigned i = 0; i < count; i++) {
		if (!le_at(b, 4 + 8u * i, 4, &able) || !le_at(b, 8 + 8u * i, 4, &control))
			return;
		fields_hex(f, "sizes", able >> 4, 7);
		fields_index(f, (int)(control & 7));
		fields_number(f, "size_mib", UINT64_C(1) << (control >> 8 & 0x3f));
		fields_index(f, (int)(control & 7));
	}
}

void pci_extended_fields(const struct pci_capability *c, struct fields *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(registers); i++)
		if (registers[i].id == c->id)
			apply(c->body, registers[i].rules, registers[i].count, ret);
	if (c->id == 0x15)
		resizable(c->body, ret);
}
