/* SPDX-License-Identifier: Apache-2.0 */
/* A machine in memory, and the log that its firmware makes: see evidence_kit.h. */
#ifndef BOOTGATE_TESTS_FIRMWARE_KIT_H
#define BOOTGATE_TESTS_FIRMWARE_KIT_H

#include "appraise/appraise.h"
#include "crypto/sign.h"
#include "format/efivar.h"
#include "format/eventlog.h"
#include "format/facts.h"
#include "unit.h"

#define KIT_EVENTS 128u
#define KIT_DATA 512u
#define KIT_SELECTED 0x0000fbffu	/* 0-9 and 11-15 */

/* One event of the firmware log. */
struct kit_event {
	uint32_t pcr;
	uint32_t type;
	uint8_t data[KIT_DATA];
	size_t data_n;
	uint8_t hashed[KIT_DATA];	/* what its digests are of */
	size_t hashed_n;
	bool not_logged;		/* only extended */
	bool not_extended;		/* only logged */
};

struct kit {
	/* the machine: what a test may change before kit_make */
	size_t bank_count;		/* active banks, all implemented but SHA-512 */
	uint16_t bank[LIMIT_BANKS];
	size_t log_bank_count;		/* banks that firmware measures into */
	uint16_t log_bank[LIMIT_BANKS];
	size_t count;
	struct kit_event event[KIT_EVENTS];
	bool stays;			/* the pair of leaving boot services is not implied */
	uint8_t locality;		/* of the start-up; 0 writes no event */
	const char *fact[FACT_MAX];	/* text of those that stand once */
	const char *check;		/* one check result, NULL for none */
	bool debug;			/* the fact of a debug build */
	unsigned facts_left_out;	/* 1: `end` is missing */
	bool cap_facts;
	bool decision;			/* the six events of PCR 14 */
	bool cap_decision;
	const char *decision_hex[6];
	uint32_t foreign_pcr;		/* one more event of the gate log, 0: none */
	const char *command_line;	/* fact of the report, NULL for none */
	const char *board;		/* its serial number, NULL for none */
	struct session session;
	struct tpm_attest a;		/* clock and counters */
	enum quote_domain domain;
	bool receipt;			/* make a receipt instead of evidence */
	uint8_t verdict_digest[SHA256_LEN];
	bool has_cnf;
	struct private_key *ak;
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
	size_t ak_public_n;
	/* the results of kit_make, which a test may spoil before kit_seal */
	struct blob firmware_log, gate_log, report, claims_bytes, quote, signature, evidence;
	struct claims claims;
	struct receipt receipt_claims;
	struct pcr_values pcr;		/* registers of the TPM */
};

static inline struct kit_event *kit_event_at(struct kit *k, size_t at, uint32_t pcr, uint32_t type,
					     struct bytes data, struct bytes hashed)
{
	struct kit_event *e;

	assert_true(k->count < KIT_EVENTS && at <= k->count);
	assert_true(data.n <= KIT_DATA && hashed.n <= KIT_DATA);
	memmove(&k->event[at + 1], &k->event[at], (k->count - at) * sizeof *k->event);
	k->count++;
	e = &k->event[at];
	*e = (struct kit_event){ .pcr = pcr, .type = type, .data_n = data.n,
				 .hashed_n = hashed.n };
	if (data.n > 0)
		memcpy(e->data, data.p, data.n);
	if (hashed.n > 0)
		memcpy(e->hashed, hashed.p, hashed.n);
	return e;
}

/* Digest of its data. */
static inline struct kit_event *kit_event(struct kit *k, uint32_t pcr, uint32_t type,
					  struct bytes data)
{
	return kit_event_at(k, k->count, pcr, type, data, data);
}

/* Digest of something that the log does not have. */
static inline struct kit_event *kit_opaque(struct kit *k, uint32_t pcr, uint32_t type,
					   const char *hint, const char *code)
{
	return kit_event_at(k, k->count, pcr, type, bytes_str(hint), bytes_str(code));
}

static inline void kit_drop(struct kit *k, size_t at)
{
	assert_true(at < k->count);
	memmove(&k->event[at], &k->event[at + 1], (k->count - at - 1) * sizeof *k->event);
	k->count--;
}

/* The n-th event (from 0) of this register and type. */
static inline size_t kit_find(const struct kit *k, uint32_t pcr, uint32_t type, size_t n)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->event[i].pcr == pcr && k->event[i].type == type && n-- == 0)
			return i;
	fail_msg("no such event");
	return 0;
}

static inline size_t kit_wide(const char *text, bool nul, uint8_t *ret)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n + nul; i++) {
		ret[2 * i] = (uint8_t)text[i];
		ret[2 * i + 1] = 0;
	}
	return 2 * (n + nul);
}

static inline struct blob kit_variable(const char *name, struct bytes content)
{
	struct blob b = BLOB(KIT_DATA);
	uint8_t wide[128];
	struct efi_variable v = { efi_global_variable, BYTES_NONE, content };

	if (strncmp(name, "db", 2) == 0)
		v.guid = efi_image_security;
	v.name = bytes_of(wide, kit_wide(name, false, wide));
	assert_ok(efi_variable_write(&v, &b));
	return b;
}

static inline void kit_add_variable(struct kit *k, uint32_t pcr, uint32_t type, const char *name,
				    struct bytes content, bool name_hashed)
{
	_cleanup_(blob_free) struct blob b = kit_variable(name, content);

	kit_event_at(k, k->count, pcr, type, blob_bytes(&b),
		     name_hashed ? blob_bytes(&b) : content);
}

/* A load option whose path is one node and an end. */
static inline struct blob kit_option(const char *name, uint8_t type, uint8_t sub, uint8_t fill_with)
{
	struct blob b = BLOB(KIT_DATA);
	uint8_t wide[128];
	uint8_t node[37] = { type, sub, sizeof node, 0 };
	const uint8_t end[4] = { 0x7f, 0xff, 4, 0 };

	memset(node + 4, fill_with, sizeof node - 4);
	assert_ok(blob_le32(&b, 1));
	assert_ok(blob_le16(&b, sizeof node + sizeof end));
	assert_ok(blob_append(&b, wide, kit_wide(name, true, wide)));
	assert_ok(blob_append(&b, node, sizeof node));
	assert_ok(blob_append(&b, end, sizeof end));
	return b;
}

#define KIT_TAG_INITRD 0x8f3b22ecu
#define KIT_TAG_OPTIONS 0x8f3b22edu

static inline struct kit_event *kit_tag(struct kit *k, uint32_t tag, const char *text,
					struct bytes hashed)
{
	_cleanup_(blob_free) struct blob b = BLOB(KIT_DATA);
	struct eventlog_tag t = { tag, bytes_of(text, strlen(text) + 1) };

	assert_ok(eventlog_tag_write(&t, &b));
	return kit_event_at(k, k->count, 9, EV_EVENT_TAG, blob_bytes(&b), hashed);
}

#define CALLING "Calling EFI Application from Boot Option"
#define RETURNING "Returning from EFI Application from Boot Option"
#define LEAVING "Exit Boot Services Invocation"
#define LEFT "Exit Boot Services Returned with Success"

static inline void kit_boot_entries(struct kit *k, uint8_t mac)
{
	static const uint8_t order[] = { 1, 0, 0, 0 };
	_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, mac);
	_cleanup_(blob_free) struct blob setup = kit_option("UiApp", 4, 6, 0x55);

	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "BootOrder", BYTES(order), false);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0001", blob_bytes(&card), false);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0000", blob_bytes(&setup), false);
}

static inline void kit_firmware(struct kit *k)
{
	static const uint8_t zero[4] = { 0 };
	static const char *const section[] = { ".linux", ".osrel", ".cmdline", ".initrd" };
	static const char *const variable[] = { "SecureBoot", "PK", "KEK", "db", "dbx" };
	uint8_t wide[64];

	kit_event(k, 0, EV_S_CRTM_VERSION, bytes_of(wide, kit_wide("2.19", true, wide)));
	kit_opaque(k, 0, EV_EFI_PLATFORM_FIRMWARE_BLOB2, "blob", "firmware volume 1");
	for (size_t i = 0; i < ARRAY_LEN(variable); i++)
		kit_add_variable(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, variable[i],
				 bytes_str(i ? variable[i] : "\1"), true);
	kit_boot_entries(k, 0x52);
	kit_opaque(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, "rom", "option rom 1");
	kit_event(k, 4, EV_EFI_ACTION, bytes_str(CALLING));
	for (uint32_t pcr = 0; pcr < 8; pcr++)
		kit_event(k, pcr, EV_SEPARATOR, BYTES(zero));
	kit_opaque(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, "path", "gate.efi");
	for (size_t i = 0; i < ARRAY_LEN(section); i++) {
		kit_opaque(k, 11, EV_IPL, section[i], section[i]);
		kit_opaque(k, 11, EV_IPL, section[i], "content");
	}
	kit_opaque(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, "path", "vmlinuz");
	kit_tag(k, KIT_TAG_OPTIONS, "LOADED_IMAGE::LoadOptions",
		bytes_of(wide, kit_wide("console=ttyS0", true, wide)));
	kit_tag(k, KIT_TAG_INITRD, "Linux initrd", bytes_str("initrd"));
}

/*
 * Leaving boot services ends each log by itself, so that what a test adds
 * stands in front of it. This makes the two ordinary events of it.
 */
static inline void kit_leave(struct kit *k)
{
	kit_event(k, 5, EV_EFI_ACTION, bytes_str(LEAVING));
	kit_event(k, 5, EV_EFI_ACTION, bytes_str(LEFT));
	k->stays = true;
}

#endif
