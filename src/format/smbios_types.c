/* SPDX-License-Identifier: Apache-2.0 */
/* The types of DSP0134 3.7, section 7, that are decoded; words are its own, shorter. */
#include "format/smbios_types.h"

#include "base/cleanup.h"

#define T(name, offset) { name, offset, 1, SMBIOS_TEXT, 0, NULL, 0 }
#define N(name, offset, size) { name, offset, size, SMBIOS_NUMBER, 0, NULL, 0 }
#define X(name, offset, size) { name, offset, size, SMBIOS_HEX, 0, NULL, 0 }
#define W(name, offset, words) { name, offset, 1, SMBIOS_WORD, 0, words, ARRAY_LEN(words) }
#define W_BITS(name, offset, bits, words) \
	{ name, offset, 1, SMBIOS_WORD, bits, words, ARRAY_LEN(words) }
#define F(name, offset, bit) { name, offset, 1, SMBIOS_FLAG, bit, NULL, 0 }

static const struct smbios_rule bios[] = {
	T("vendor", 0x04), T("version", 0x05), T("date", 0x08), X("segment", 0x06, 2),
	X("characteristics", 0x0a, 8), F("uefi", 0x13, 3), F("virtual_machine", 0x13, 4),
};

static const char *const wake_up[] = {
	"reserved", "other", "unknown", "apm-timer", "modem-ring", "lan", "power-switch", "pci-pme",
	"ac-restored",
};
static const struct smbios_rule machine[] = {
	T("manufacturer", 0x04), T("product", 0x05), T("version", 0x06), T("serial", 0x07),
	W("wake_up", 0x18, wake_up), T("sku", 0x19), T("family", 0x1a),
};

static const char *const board_type[] = {
	[1] = "unknown", "other", "server-blade", "connectivity-switch", "system-management",
	"processor", "io", "memory", "daughter", "motherboard", "processor-memory", "processor-io",
	"interconnect",
};
static const struct smbios_rule board[] = {
	T("manufacturer", 0x04), T("product", 0x05), T("version", 0x06), T("serial", 0x07),
	T("asset_tag", 0x08), F("hosting", 0x09, 0), F("removable", 0x09, 2),
	F("replaceable", 0x09, 3), F("hot_swappable", 0x09, 4), T("location", 0x0a),
	X("chassis_handle", 0x0b, 2), W("board_type", 0x0d, board_type),
};

static const char *const chassis_type[] = {
	[1] = "other", "unknown", "desktop", "low-profile-desktop", "pizza-box", "mini-tower",
	"tower", "portable", "laptop", "notebook", "hand-held", "docking-station", "all-in-one",
	"sub-notebook", "space-saving", "lunch-box", "main-server", "expansion", "sub-chassis",
	"bus-expansion", "peripheral", "raid", "rack-mount", "sealed-case-pc", "multi-system",
	"compact-pci", "advanced-tca", "blade", "blade-enclosure", "tablet", "convertible",
	"detachable", "iot-gateway", "embedded-pc", "mini-pc", "stick-pc",
};
static const char *const state[] = {
	[1] = "other", "unknown", "safe", "warning", "critical", "non-recoverable",
};
static const char *const chassis_security[] = {
	[1] = "other", "unknown", "none", "interface-locked-out", "interface-enabled",
};
static const struct smbios_rule chassis[] = {
	T("manufacturer", 0x04), W_BITS("chassis_type", 0x05, 0x7f, chassis_type),
	F("lock", 0x05, 7), T("version", 0x06), T("serial", 0x07), T("asset_tag", 0x08),
	W("boot_state", 0x09, state), W("power_state", 0x0a, state), W("thermal_state", 0x0b, state),
	W("security", 0x0c, chassis_security), X("oem", 0x0d, 4), N("height", 0x11, 1),
	N("power_cords", 0x12, 1),
};

static const char *const cpu_type[] = {
	[1] = "other", "unknown", "central", "math", "dsp", "video",
};
static const char *const cpu_status[] = {
	[0] = "unknown", "enabled", "disabled-by-user", "disabled-by-bios", "idle", [7] = "other",
};
static const struct smbios_rule cpu[] = {
	T("socket", 0x04), W("processor_type", 0x05, cpu_type), T("manufacturer", 0x07),
	X("id", 0x08, 8), T("version", 0x10), X("voltage", 0x11, 1), N("clock_mhz", 0x12, 2),
	N("max_mhz", 0x14, 2), N("current_mhz", 0x16, 2), F("populated", 0x18, 6),
	W_BITS("status", 0x18, 7, cpu_status), X("upgrade", 0x19, 1), X("l1_handle", 0x1a, 2),
	X("l2_handle", 0x1c, 2), X("l3_handle", 0x1e, 2), T("serial", 0x20), T("asset_tag", 0x21),
	T("part", 0x22), X("characteristics", 0x26, 2),
};

static const char *const cache_ecc[] = {
	[1] = "other", "unknown", "none", "parity", "single-bit", "multi-bit",
};
static const char *const cache_type[] = {
	[1] = "other", "unknown", "instruction", "data", "unified",
};
static const struct smbios_rule cache[] = {
	T("socket", 0x04), N("speed_ns", 0x0f, 1), W("error_correction", 0x10, cache_ecc),
	W("cache_type", 0x11, cache_type), X("associativity", 0x12, 1),
};

static const char *const slot_width[] = {
	[1] = "other", "unknown", "8-bit", "16-bit", "32-bit", "64-bit", "128-bit", "x1", "x2",
	"x4", "x8", "x12", "x16", "x32",
};
static const char *const slot_usage[] = {
	[1] = "other", "unknown", "available", "in-use", "unavailable",
};
static const char *const slot_length[] = {
	[1] = "other", "unknown", "short", "long", "2.5-inch", "3.5-inch",
};
static const struct smbios_rule slot[] = {
	T("designation", 0x04), X("slot_type", 0x05, 1), W("width", 0x06, slot_width),
	W("usage", 0x07, slot_usage), W("slot_length", 0x08, slot_length), N("id", 0x09, 2),
};

static const struct smbios_rule strings[] = {
	N("count", 0x04, 1),
};

static const char *const array_location[] = {
	[1] = "other", "unknown", "board", "isa-card", "eisa-card", "pci-card", "mca-card",
	"pcmcia-card", "proprietary-card", "nubus",
};
static const char *const array_use[] = {
	[1] = "other", "unknown", "system", "video", "flash", "non-volatile", "cache",
};
static const char *const array_ecc[] = {
	[1] = "other", "unknown", "none", "parity", "single-bit", "multi-bit", "crc",
};
static const struct smbios_rule array[] = {
	W("location", 0x04, array_location), W("use", 0x05, array_use),
	W("error_correction", 0x06, array_ecc), X("error_handle", 0x0b, 2), N("devices", 0x0d, 2),
};

static const char *const form_factor[] = {
	[1] = "other", "unknown", "simm", "sip", "chip", "dip", "zip", "proprietary-card", "dimm",
	"tsop", "row-of-chips", "rimm", "sodimm", "srimm", "fb-dimm", "die", "camm",
};
static const char *const memory_type[] = {
	[1] = "other", "unknown", "dram", "edram", "vram", "sram", "ram", "rom", "flash", "eeprom",
	"feprom", "eprom", "cdram", "3dram", "sdram", "sgram", "rdram", "ddr", "ddr2",
	"ddr2-fb-dimm", [0x18] = "ddr3", "fbd2", "ddr4", "lpddr", "lpddr2", "lpddr3", "lpddr4",
	"logical-non-volatile", "hbm", "hbm2", "ddr5", "lpddr5", "hbm3",
};
static const char *const memory_technology[] = {
	[1] = "other", "unknown", "dram", "nvdimm-n", "nvdimm-f", "nvdimm-p", "intel-optane", "mrdimm",
};
static const struct smbios_rule memory[] = {
	X("array_handle", 0x04, 2), X("error_handle", 0x06, 2), N("total_width", 0x08, 2),
	N("data_width", 0x0a, 2), W("form_factor", 0x0e, form_factor), T("locator", 0x10),
	T("bank", 0x11), W("memory_type", 0x12, memory_type), X("type_detail", 0x13, 2),
	T("manufacturer", 0x17), T("serial", 0x18), T("asset_tag", 0x19), T("part", 0x1a),
	N("min_mv", 0x22, 2), N("max_mv", 0x24, 2), N("configured_mv", 0x26, 2),
	W("technology", 0x28, memory_technology), X("operating_modes", 0x29, 2),
	T("firmware", 0x2b),
};

static const struct smbios_rule mapped[] = {
	X("array_handle", 0x0c, 2), N("partition_width", 0x0e, 1),
};

static const char *const boot_status[] = {
	"no-error", "no-bootable-media", "os-failed-to-load", "firmware-detected-failure",
	"os-detected-failure", "user-requested", "security-violation", "previously-requested-image",
	"watchdog",
};
static const struct smbios_rule boot[] = {
	W("status", 0x0a, boot_status),
};

static const char *const ipmi_interface[] = {
	"unknown", "kcs", "smic", "bt", "ssif",
};
static const struct smbios_rule ipmi[] = {
	W("interface", 0x04, ipmi_interface), X("i2c_address", 0x06, 1),
	X("nv_storage", 0x07, 1), N("interrupt", 0x11, 1),
};

static const char *const onboard_type[] = {
	[1] = "other", "unknown", "video", "scsi", "ethernet", "token-ring", "sound", "pata", "sata",
	"sas", "wireless-lan", "bluetooth", "wwan", "emmc", "nvme", "ufs",
};
static const struct smbios_rule onboard[] = {
	T("designation", 0x04), W_BITS("device_type", 0x05, 0x7f, onboard_type),
	F("enabled", 0x05, 7), N("instance", 0x06, 1),
};

static const struct smbios_rule tpm[] = {
	X("firmware_1", 0x0a, 4), X("firmware_2", 0x0e, 4), T("description", 0x12),
	X("characteristics", 0x13, 8), X("oem", 0x1b, 4),
};

static const char *const host_interface[] = {
	[2] = "kcs", "8250-uart", "16450-uart", "16550-uart", [0x40] = "network",
};
static const struct smbios_rule management[] = {
	W("interface", 0x04, host_interface),
};

static const char *const processor_architecture[] = {
	"reserved", "ia32", "x64", "itanium", "arm32", "arm64", "riscv32", "riscv64", "riscv128",
	"loongarch32", "loongarch64",
};
static const struct smbios_rule processor[] = {
	X("processor_handle", 0x04, 2), W("architecture", 0x07, processor_architecture),
};

#define TYPE(number, name, rules, more) { number, name, rules, ARRAY_LEN(rules), more }
static const struct smbios_type types[] = {
	TYPE(SMBIOS_BIOS, "bios", bios, smbios_more_bios),
	TYPE(SMBIOS_SYSTEM, "system", machine, NULL),
	TYPE(SMBIOS_BOARD, "board", board, NULL),
	TYPE(SMBIOS_CHASSIS, "chassis", chassis, smbios_more_chassis),
	TYPE(SMBIOS_CPU, "processor", cpu, smbios_more_cpu),
	TYPE(7, "cache", cache, smbios_more_cache),
	TYPE(9, "slot", slot, smbios_more_slot),
	TYPE(SMBIOS_OEM_STRINGS, "oem-strings", strings, NULL),
	TYPE(SMBIOS_OPTIONS, "configuration-options", strings, NULL),
	TYPE(16, "memory-array", array, smbios_more_array),
	TYPE(17, "memory-device", memory, smbios_more_memory),
	TYPE(19, "memory-range", mapped, smbios_more_mapped),
	TYPE(32, "boot", boot, NULL),
	TYPE(38, "ipmi", ipmi, smbios_more_ipmi),
	TYPE(41, "onboard-device", onboard, smbios_more_onboard),
	TYPE(42, "management-interface", management, NULL),
	TYPE(43, "tpm", tpm, smbios_more_tpm),
	TYPE(44, "processor-additional", processor, NULL),
};

const struct smbios_type *smbios_type_find(uint8_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}
