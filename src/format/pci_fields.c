/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the header and of the capabilities in its list (PCI 3.0, PCI Express 6). */
#include "base/cleanup.h"
#include "format/pci.h"

static uint64_t bits(uint64_t v, unsigned low, unsigned count)
{
	return v >> low & ((UINT64_C(1) << count) - 1);
}

static void bars(struct bytes space, unsigned count, struct fields *f)
{
	uint64_t low, high;

	for (unsigned i = 0; i < count; i++) {
		unsigned number = i;

		if (!le_at(space, 0x10 + 4u * i, 4, &low) || low == 0)
			continue;
		if (low & 1) {
			fields_hex(f, "io_bar", low & ~UINT64_C(3), 4);
		} else {
			/* two bits tell the width, one whether it may be prefetched */
			if (bits(low, 1, 2) == 2 && i + 1 < count &&
			    le_at(space, 0x14 + 4u * i, 4, &high)) {
				low |= high << 32;
				i++;
			}
			fields_hex(f, low & 8 ? "prefetchable_bar" : "memory_bar", low & ~UINT64_C(15), 8);
		}
		fields_index(f, (int)number);
	}
}

static void bridge(struct bytes space, struct fields *f)
{
	static const char *const name[] = { "primary_bus", "secondary_bus", "subordinate_bus" };
	uint64_t v;

	for (unsigned i = 0; i < ARRAY_LEN(name); i++)
		if (le_at(space, 0x18 + i, 1, &v))
			fields_hex(f, name[i], v, 2);
	if (le_at(space, 0x3e, 2, &v)) {
		fields_flag(f, "secondary_reset", bits(v, 6, 1));
		fields_flag(f, "serr_forwarding", bits(v, 1, 1));
	}
}

void pci_header_fields(struct bytes space, const struct pci_header *h, struct fields *ret)
{
	static const char *const kind[] = { "device", "bridge", "cardbus-bridge" };
	uint64_t v;

	ret->count = 0;
	fields_hex(ret, "vendor", h->vendor, 4);
	fields_hex(ret, "device", h->device, 4);
	fields_hex(ret, "class", h->class_code, 6);
	fields_hex(ret, "revision", h->revision, 2);
	fields_enum(ret, "header", h->type, kind, ARRAY_LEN(kind));
	if (le_at(space, 0x0e, 1, &v))
		fields_flag(ret, "multi_function", bits(v, 7, 1));
	if (h->type == 0) {
		fields_hex(ret, "subsystem_vendor", h->subsystem_vendor, 4);
		fields_hex(ret, "subsystem_device", h->subsystem_device, 4);
	}
	if (le_at(space, 0x04, 2, &v)) {
		fields_flag(ret, "io", bits(v, 0, 1));
		fields_flag(ret, "memory", bits(v, 1, 1));
		fields_flag(ret, "bus_master", bits(v, 2, 1));
		fields_flag(ret, "interrupt_disabled", bits(v, 10, 1));
	}
	if (le_at(space, 0x06, 2, &v)) {
		fields_hex(ret, "status", v, 4);
		fields_flag(ret, "parity_error", bits(v, 15, 1));
		fields_flag(ret, "system_error", bits(v, 14, 1));
		fields_flag(ret, "master_abort", bits(v, 13, 1));
		fields_flag(ret, "target_abort", bits(v, 12, 1));
	}
	if (h->type <= 1)
		bars(space, h->type == 0 ? 6 : 2, ret);
	if (h->type == 1)
		bridge(space, ret);
	if (h->type <= 1 && le_at(space, h->type == 0 ? 0x30 : 0x38, 4, &v) && v != 0) {
		fields_hex(ret, "rom_bar", v & 0xfffff800, 8);
		fields_flag(ret, "rom_enabled", bits(v, 0, 1));
	}
	if (le_at(space, 0x3c, 1, &v))
		fields_number(ret, "interrupt_line", v);
	if (le_at(space, 0x3d, 1, &v))
		fields_number(ret, "interrupt_pin", v);
}

static void power(struct bytes b, struct fields *f)
{
	uint64_t capabilities, status;

	if (!le_at(b, 2, 2, &capabilities) || !le_at(b, 4, 2, &status))
		return;
	fields_number(f, "version", bits(capabilities, 0, 3));
	fields_flag(f, "d1", bits(capabilities, 9, 1));
	fields_flag(f, "d2", bits(capabilities, 10, 1));
	fields_number(f, "state", bits(status, 0, 2));
	fields_flag(f, "no_soft_reset", bits(status, 3, 1));
	fields_flag(f, "pme_enabled", bits(status, 8, 1));
}

static void msi(struct bytes b, struct fields *f)
{
	uint64_t control, v;

	if (!le_at(b, 2, 2, &control))
		return;
	fields_flag(f, "enabled", bits(control, 0, 1));
	fields_number(f, "capable", UINT64_C(1) << bits(control, 1, 3));
	fields_number(f, "count", UINT64_C(1) << bits(control, 4, 3));
	fields_flag(f, "address_64", bits(control, 7, 1));
	fields_flag(f, "maskable", bits(control, 8, 1));
	if (le_at(b, 4, control & 0x80 ? 8 : 4, &v))
		fields_hex(f, "address", v, 8);
	if (le_at(b, control & 0x80 ? 12 : 8, 2, &v))
		fields_hex(f, "data", v, 4);
}

static void msi_x(struct bytes b, struct fields *f)
{
	uint64_t control, v;

	if (!le_at(b, 2, 2, &control))
		return;
	fields_flag(f, "enabled", bits(control, 15, 1));
	fields_flag(f, "masked", bits(control, 14, 1));
	fields_number(f, "count", bits(control, 0, 11) + 1);
	if (le_at(b, 4, 4, &v)) {
		fields_number(f, "table_bar", bits(v, 0, 3));
		fields_hex(f, "table_offset", v & ~UINT64_C(7), 8);
	}
	if (le_at(b, 8, 4, &v)) {
		fields_number(f, "pba_bar", bits(v, 0, 3));
		fields_hex(f, "pba_offset", v & ~UINT64_C(7), 8);
	}
}

static const char *const link_speed[] = {
	[1] = "2.5GT/s", "5GT/s", "8GT/s", "16GT/s", "32GT/s", "64GT/s",
};

static void express_link(struct bytes b, uint64_t version, struct fields *f)
{
	static const char *const aspm[] = { "none", "l0s", "l1", "l0s-l1" };
	uint64_t v;

	if (le_at(b, 0x0c, 4, &v)) {
		fields_enum(f, "link_max_speed", bits(v, 0, 4), link_speed, ARRAY_LEN(link_speed));
		fields_number(f, "link_max_width", bits(v, 4, 6));
		fields_word(f, "aspm", aspm[bits(v, 10, 2)]);
		fields_number(f, "port", bits(v, 24, 8));
	}
	if (le_at(b, 0x10, 2, &v)) {
		fields_word(f, "aspm_enabled", aspm[bits(v, 0, 2)]);
		fields_flag(f, "link_disabled", bits(v, 4, 1));
	}
	if (le_at(b, 0x12, 2, &v)) {
		fields_enum(f, "link_speed", bits(v, 0, 4), link_speed, ARRAY_LEN(link_speed));
		fields_number(f, "link_width", bits(v, 4, 6));
		fields_flag(f, "link_training", bits(v, 11, 1));
		fields_flag(f, "link_active", bits(v, 13, 1));
	}
	if (version >= 2 && le_at(b, 0x2c, 4, &v))
		fields_hex(f, "link_speeds", bits(v, 1, 7), 2);
	if (version >= 2 && le_at(b, 0x30, 2, &v))
		fields_enum(f, "link_target_speed", bits(v, 0, 4), link_speed, ARRAY_LEN(link_speed));
}

static void express_slot(struct bytes b, struct fields *f)
{
	uint64_t v;

	if (le_at(b, 0x14, 4, &v)) {
		fields_number(f, "slot", bits(v, 19, 13));
		fields_flag(f, "hot_plug", bits(v, 6, 1));
	}
	if (le_at(b, 0x1a, 2, &v)) {
		fields_flag(f, "power_fault", bits(v, 1, 1));
		fields_flag(f, "present", bits(v, 6, 1));
	}
}

static void express(struct bytes b, struct fields *f)
{
	static const char *const kind[] = {
		"endpoint", "legacy-endpoint", [4] = "root-port", "upstream-port", "downstream-port",
		"pci-bridge", "pcie-bridge", "rc-endpoint", "rc-event-collector",
	};
	uint64_t flags, v;

	if (!le_at(b, 2, 2, &flags))
		return;
	fields_number(f, "version", bits(flags, 0, 4));
	fields_enum(f, "port_type", bits(flags, 4, 4), kind, ARRAY_LEN(kind));
	if (le_at(b, 4, 4, &v)) {
		fields_number(f, "payload_max", UINT64_C(128) << bits(v, 0, 3));
		fields_flag(f, "function_reset", bits(v, 28, 1));
	}
	if (le_at(b, 8, 2, &v)) {
		fields_number(f, "payload", UINT64_C(128) << bits(v, 5, 3));
		fields_number(f, "read_request", UINT64_C(128) << bits(v, 12, 3));
	}
	if (le_at(b, 0x0a, 2, &v)) {
		fields_flag(f, "correctable_error", bits(v, 0, 1));
		fields_flag(f, "non_fatal_error", bits(v, 1, 1));
		fields_flag(f, "fatal_error", bits(v, 2, 1));
		fields_flag(f, "unsupported_request", bits(v, 3, 1));
		fields_flag(f, "transactions_pending", bits(v, 5, 1));
	}
	/* what is integrated into the root complex has no link */
	if (bits(flags, 4, 4) < 9)
		express_link(b, bits(flags, 0, 4), f);
	if (bits(flags, 8, 1))
		express_slot(b, f);
	if (bits(flags, 0, 4) >= 2 && le_at(b, 0x24, 4, &v))
		fields_flag(f, "ari_forwarding", bits(v, 5, 1));
}

static void vendor(struct bytes b, struct fields *f)
{
	uint64_t n;

	if (!le_at(b, 2, 1, &n))
		return;
	fields_number(f, "length", n);
	if (n > 3 && n <= b.n)
		fields_bytes(f, "data", bytes_of(b.p + 3, (size_t)n - 3));
}

static void subsystem(struct bytes b, struct fields *f)
{
	uint64_t v;

	if (le_at(b, 4, 2, &v))
		fields_hex(f, "subsystem_vendor", v, 4);
	if (le_at(b, 6, 2, &v))
		fields_hex(f, "subsystem_device", v, 4);
}

static void advanced_features(struct bytes b, struct fields *f)
{
	uint64_t v;

	if (!le_at(b, 3, 1, &v))
		return;
	fields_flag(f, "transactions_pending_known", bits(v, 0, 1));
	fields_flag(f, "function_reset", bits(v, 1, 1));
}

void pci_capability_fields(const struct pci_capability *c, struct fields *ret)
{
	ret->count = 0;
	if (c->extended) {
		pci_extended_fields(c, ret);
		return;
	}
	switch (c->id) {
	case 0x01:
		power(c->body, ret);
		break;
	case 0x05:
		msi(c->body, ret);
		break;
	case 0x09:
		vendor(c->body, ret);
		break;
	case 0x0d:
		subsystem(c->body, ret);
		break;
	case 0x10:
		express(c->body, ret);
		break;
	case 0x11:
		msi_x(c->body, ret);
		break;
	case 0x13:
		advanced_features(c->body, ret);
		break;
	default:
		break;
	}
}
