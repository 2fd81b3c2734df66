/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCG event logs (PC Client Platform Firmware Profile 1.06, section 10): the
 * crypto-agile form, the old SHA-1 form, logs of confidential VMs (CCEL), and
 * the gate's own log, which has the crypto-agile form too.
 *
 * Reading is two layers: an iterator over events, which knows bytes only, and
 * a replay, which knows what a TPM does with them. What an event means is not
 * judged here; a type that nobody knows is replayed like any other.
 *
 * Byte order is little-endian throughout. A log may be followed by padding:
 * once only 0x00 bytes or only 0xFF bytes are left, the log has ended.
 */
#ifndef BOOTGATE_FORMAT_EVENTLOG_H
#define BOOTGATE_FORMAT_EVENTLOG_H

#include "base/bytes.h"
#include "base/limits.h"
#include "crypto/digest.h"
#include "format/pcr.h"

#define EV_PREBOOT_CERT 0x00000000u
#define EV_POST_CODE 0x00000001u
#define EV_UNUSED 0x00000002u
#define EV_NO_ACTION 0x00000003u
#define EV_SEPARATOR 0x00000004u
#define EV_ACTION 0x00000005u
#define EV_EVENT_TAG 0x00000006u
#define EV_S_CRTM_CONTENTS 0x00000007u
#define EV_S_CRTM_VERSION 0x00000008u
#define EV_CPU_MICROCODE 0x00000009u
#define EV_PLATFORM_CONFIG_FLAGS 0x0000000au
#define EV_TABLE_OF_DEVICES 0x0000000bu
#define EV_COMPACT_HASH 0x0000000cu
#define EV_IPL 0x0000000du
#define EV_IPL_PARTITION_DATA 0x0000000eu
#define EV_NONHOST_CODE 0x0000000fu
#define EV_NONHOST_CONFIG 0x00000010u
#define EV_NONHOST_INFO 0x00000011u
#define EV_OMIT_BOOT_DEVICE_EVENTS 0x00000012u
#define EV_POST_CODE2 0x00000013u
#define EV_EFI_VARIABLE_DRIVER_CONFIG 0x80000001u
#define EV_EFI_VARIABLE_BOOT 0x80000002u
#define EV_EFI_BOOT_SERVICES_APPLICATION 0x80000003u
#define EV_EFI_BOOT_SERVICES_DRIVER 0x80000004u
#define EV_EFI_RUNTIME_SERVICES_DRIVER 0x80000005u
#define EV_EFI_GPT_EVENT 0x80000006u
#define EV_EFI_ACTION 0x80000007u
#define EV_EFI_PLATFORM_FIRMWARE_BLOB 0x80000008u
#define EV_EFI_HANDOFF_TABLES 0x80000009u
#define EV_EFI_PLATFORM_FIRMWARE_BLOB2 0x8000000au
#define EV_EFI_HANDOFF_TABLES2 0x8000000bu
#define EV_EFI_VARIABLE_BOOT2 0x8000000cu
#define EV_EFI_GPT_EVENT2 0x8000000du
#define EV_EFI_HCRTM_EVENT 0x80000010u
#define EV_EFI_VARIABLE_AUTHORITY 0x800000e0u
#define EV_EFI_SPDM_FIRMWARE_BLOB 0x800000e1u
#define EV_EFI_SPDM_FIRMWARE_CONFIG 0x800000e2u
#define EV_EFI_SPDM_DEVICE_POLICY 0x800000e3u
#define EV_EFI_SPDM_DEVICE_AUTHORITY 0x800000e4u

/* The TCG's name of a type ("EV_SEPARATOR"); NULL for one not known. */
const char *eventlog_type_name(uint32_t type);

#define EVENTLOG_TEXT_MAX 1024u		/* a text of eventlog_text */
#define EVENTLOG_DETAILS_MAX (1u << 20)

/* Where a log was refused. Events count from 0; the Spec ID event is 0. */
struct eventlog_fault {
	uint32_t event;
	size_t offset;			/* of the event's first byte */
};

struct event {
	uint32_t number;
	size_t offset;			/* of its first byte in the log */
	uint32_t pcr;
	uint32_t type;
	/*
	 * digest[i] is of the log's bank[i], n = 0 where the event has none for
	 * it. digest_count counts those that are there. The Spec ID event of a
	 * crypto-agile log has none at all.
	 */
	size_t digest_count;
	struct bytes digest[LIMIT_BANKS];
	struct bytes data;
};

/* An open log: its header, and the place of the next event. */
struct eventlog {
	bool legacy;			/* old SHA-1 form: shown, never trusted */
	size_t bank_count;		/* in the order of the header */
	uint16_t bank[LIMIT_BANKS];
	/* Spec ID event; all zero in a legacy log without one */
	uint32_t platform_class;
	uint8_t spec_minor, spec_major, spec_errata;
	uint8_t uintn_size;
	struct bytes vendor;
	/* iteration */
	struct cursor rest;
	uint32_t next_number;
	size_t padding_at;		/* from here on all bytes are 0x00, or all 0xFF */
	struct eventlog_fault fault;	/* of the last refusal */
};

/*
 * Opens a log over bytes that outlive it. R_LOG_EMPTY (no bytes, or nothing
 * but padding), R_FORMAT_TOO_LARGE (LIMIT_FIRMWARE_LOG), R_LOG_HEADER,
 * R_LOG_ALGORITHM, R_LOG_TRUNCATED, R_LOG_EVENT_SIZE; ret->fault is set on
 * refusal as well.
 */
enum reason eventlog_open(struct bytes log, struct eventlog *ret) must_check;
/*
 * The next event, the Spec ID event first. R_LOG_END after the last, once
 * padding was looked at; else R_LOG_TRUNCATED, R_LOG_EVENT_SIZE,
 * R_LOG_PCR_RANGE, R_LOG_DIGEST_COUNT (no digest, or more than banks),
 * R_LOG_DIGEST_ALG, R_LOG_TOO_MANY. After a refusal there is no way to go on.
 *
 * An event that lacks the digest of a bank is let through here, because the
 * logs of Windows have such events and are worth showing. Who trusts a log
 * uses eventlog_replay, which refuses it.
 */
enum reason eventlog_next(struct eventlog *log, struct event *ret) must_check;

/*
 * Replay: what the registers must hold if the log is true.
 *
 * Start values are those of a TPM after power-on: zero, registers 17 to 22
 * all ones (zero as soon as one of them has an event, as only a dynamic
 * launch extends them), and the last byte of register 0 as a StartupLocality
 * event says (0, 3, 4). An H-CRTM event implies 4 (see eventlog_replay.c).
 * EV_NO_ACTION is never extended.
 */
struct eventlog_replay {
	bool legacy;
	/*
	 * Every bank of the log, in its order. All registers are present but
	 * those of which an event lacks the digest of this bank: what they
	 * hold then is not known, and value[] is what the others lead to.
	 */
	struct pcr_values values;
	uint32_t extended[LIMIT_BANKS];	/* by bank: registers with an extend */
	bool partial;			/* some event lacked some digest: */
	struct eventlog_fault partial_at;	/* the first such */
	bool locality_known;		/* a StartupLocality event was there */
	uint8_t locality;
	bool hcrtm;			/* an H-CRTM event was there */
	bool drtm;			/* an event for one of 17 to 22 was there */
	uint32_t events;
	struct eventlog_fault fault;
};
/* Starts a replay of this open log; events follow one by one. */
enum reason eventlog_replay_begin(const struct eventlog *log,
				  struct eventlog_replay *ret) must_check;
/* R_LOG_LOCALITY, or what hashing says. */
enum reason eventlog_replay_event(struct eventlog_replay *r, const struct event *e) must_check;
/*
 * All of it, strictly: R_LOG_DIGEST_COUNT when an event lacks a digest.
 * ret->fault is set on refusal as well; nothing else is then.
 */
enum reason eventlog_replay(struct bytes log, struct eventlog_replay *ret) must_check;

/* True when the event has a digest in every bank and each is the hash of its data. */
enum reason eventlog_digest_is_data(const struct eventlog *log, const struct event *e,
				    bool *ret) must_check;

/* TCG_PCClientTaggedEvent, the data of EV_EVENT_TAG, consumed exactly. */
struct eventlog_tag {
	uint32_t tag;
	struct bytes value;
};
enum reason eventlog_tag_read(struct bytes data, struct eventlog_tag *ret) must_check;
enum reason eventlog_tag_write(const struct eventlog_tag *t, struct blob *ret) must_check;

/*
 * A short text about what the event says of itself: printable ASCII, one
 * line, at most EVENTLOG_TEXT_MAX. A hint, unless eventlog_digest_is_data.
 */
enum reason eventlog_text(const struct event *e, struct blob *ret) must_check;

/*
 * Appends lines `name: value` with all that the event says of itself, more
 * than fits one line: variables, signatures, device paths, partitions, blobs,
 * tags, devices. Printable ASCII, EVENTLOG_DETAILS_MAX; none for types that
 * have no more. Trusted like eventlog_text.
 */
enum reason eventlog_details(const struct event *e, struct blob *ret) must_check;

/* UEFI_IMAGE_LOAD_EVENT; its addresses differ from boot to boot and are left out. */
struct eventlog_image {
	uint64_t size;			/* in memory */
	struct bytes path;		/* device path; see efipath.h */
};
enum reason eventlog_image_read(struct bytes data, struct eventlog_image *ret) must_check;

/*
 * Writer: the gate's own log. `log` is complete after each call, and
 * unchanged by one that fails.
 */
struct eventlog_writer {
	size_t bank_count;
	uint16_t bank[LIMIT_BANKS];
	struct blob log;
};
/*
 * Begins with a Spec ID Event03 for these banks, in this order. R_FORMAT_RANGE
 * (no bank, or too many), R_FORMAT_TYPE (unknown algorithm),
 * R_FORMAT_DUPLICATE. `max` is the ceiling: LIMIT_GATE_LOG for the gate.
 */
enum reason eventlog_writer_begin(const uint16_t *bank, size_t count, size_t max,
				  struct eventlog_writer *ret) must_check;
/* Appends an event with the given digests (same banks, same order). */
enum reason eventlog_writer_event(struct eventlog_writer *w, uint32_t pcr, uint32_t type,
				  const struct pcr_digests *digests, struct bytes data) must_check;
/*
 * Appends EV_EVENT_TAG with this tag and value; its digest in each bank is
 * the hash of the whole event data. ret is what to extend.
 */
enum reason eventlog_writer_tag(struct eventlog_writer *w, uint32_t pcr, uint32_t tag,
				struct bytes value, struct pcr_digests *ret) must_check;
void eventlog_writer_free(struct eventlog_writer *w);

#endif
