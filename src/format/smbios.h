/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMBIOS (DMTF DSP0134) as firmware leaves it and sysfs shows it: the entry
 * point (2.x or 3.x) and the table of structures. Only what is asked for is
 * decoded; all views point into the bytes that were read.
 */
#ifndef BOOTGATE_FORMAT_SMBIOS_H
#define BOOTGATE_FORMAT_SMBIOS_H

#include "base/bytes.h"
#include "format/fields.h"

#define SMBIOS_BIOS 0u
#define SMBIOS_SYSTEM 1u
#define SMBIOS_BOARD 2u
#define SMBIOS_CHASSIS 3u
#define SMBIOS_CPU 4u
#define SMBIOS_OEM_STRINGS 11u
#define SMBIOS_OPTIONS 12u
#define SMBIOS_INACTIVE 126u
#define SMBIOS_END 127u

#define SMBIOS_TABLE_MAX (1u << 20)
#define SMBIOS_STRUCTURES_MAX 16384u

struct smbios_entry {
	uint8_t major, minor;
	uint32_t table_size;		/* 2.x: exact; 3.x: at most */
	uint32_t structures;		/* 3.x: 0, not stated */
	uint64_t address;		/* of the table, physical */
	uint8_t length;			/* of the entry point itself */
};

/*
 * Anchor, length and checksum: R_SMBIOS_ENTRY for another anchor or length,
 * R_SMBIOS_CHECKSUM, R_FORMAT_TRUNCATED. Bytes behind the entry are ignored.
 */
enum reason smbios_entry_read(struct bytes in, struct smbios_entry *ret) must_check;

struct smbios_structure {
	uint8_t type;
	uint16_t handle;
	struct bytes formatted;		/* header included: offsets are the standard's */
	struct bytes strings;		/* without the last two NUL */
};

/* The structures one by one. */
struct smbios_table {
	struct cursor rest;
	uint32_t count;
	uint32_t limit;			/* structures the entry point names, 0: none */
	bool ended;
	bool marker;			/* it ended with type 127 */
};
enum reason smbios_table_open(const struct smbios_entry *entry, struct bytes table,
			      struct smbios_table *ret) must_check;
/*
 * The next one; ret_end is true, and ret unchanged, behind the last (type
 * 127, the stated number, or the end of the table). R_SMBIOS_STRUCTURE,
 * R_SMBIOS_STRINGS: `count` is then the number of the bad one, and `rest`
 * begins with it.
 */
enum reason smbios_next(struct smbios_table *t, struct smbios_structure *ret,
			bool *ret_end) must_check;

/* The text whose number stands at this offset; none (n = 0) when there is none. */
struct bytes smbios_text(const struct smbios_structure *s, size_t offset);
/* The byte at this offset; false when the structure is too short. */
bool smbios_byte(const struct smbios_structure *s, size_t offset, uint8_t *ret);

/* What the gate wants to know; none (n = 0) where firmware does not say. */
struct smbios {
	struct smbios_entry entry;
	struct bytes bios_vendor, bios_version, bios_date;
	struct bytes system_vendor, system_product, system_version, system_serial;
	struct bytes system_uuid;	/* 16 bytes as they stand */
	struct bytes board_vendor, board_product, board_version, board_serial;
	struct bytes chassis_serial;
	struct bytes cpu_version;	/* of the first populated socket */
	uint32_t cpu_sockets;		/* populated ones */
};

/* Of several structures of one type the first counts. */
enum reason smbios_read(struct bytes entry, struct bytes table, struct smbios *ret) must_check;

/*
 * Overwrites serial numbers, asset tags, the UUID, and all that vendors put
 * in as they like; lengths stay. What smbios_next says of the table.
 */
enum reason smbios_hide(uint8_t *table, size_t n) must_check;

/* 8-4-4-4-12 in the byte order that the SMBIOS version asks for; NUL-terminated. */
#define SMBIOS_UUID_TEXT 37u
void smbios_uuid_text(const struct smbios_entry *entry, const uint8_t uuid[16],
		      char ret[SMBIOS_UUID_TEXT]);

/* smbios_fields.c: the fields of one structure; the bytes of a type that is not decoded. */
void smbios_fields(const struct smbios_entry *entry, const struct smbios_structure *s,
		   struct fields *ret);
/* "bios", "memory-device"; "other" and, from 128 on, "oem" for what has no name here. */
const char *smbios_type_name(uint8_t type);

/*
 * smbios_file.c: a table as people save it.
 *
 * SMBIOS_FILE_DUMP: entry point first, and it says where in the file the
 * table is (dmidecode --dump-bin). SMBIOS_FILE_JOINED: the two files of
 * /sys/firmware/dmi/tables, one behind the other. SMBIOS_FILE_RANGE: 64 KiB
 * from F0000h, or 1 MiB from 0, of memory. SMBIOS_FILE_TABLE: no entry point;
 * the entry is then one that states nothing, of version 3.0.
 */
enum smbios_shape {
	SMBIOS_FILE_DUMP,
	SMBIOS_FILE_JOINED,
	SMBIOS_FILE_RANGE,
	SMBIOS_FILE_TABLE,
};

struct smbios_file {
	enum smbios_shape shape;
	struct smbios_entry entry;
	size_t offset;			/* of the table */
	struct bytes table;		/* up to its stated size, or less */
};

/* R_SMBIOS_PLACE beside the reasons of smbios_entry_read. */
enum reason smbios_file_open(struct bytes in, struct smbios_file *ret) must_check;
const char *smbios_shape_name(enum smbios_shape shape);

#endif
