/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in memory: a firmware log, a gate, a TPM with its AK, and the
 * evidence that they make. Every part is consistent by itself; a test changes
 * one thing (kit_event_*, the fields of struct kit) and makes it again.
 */
#ifndef BOOTGATE_TESTS_EVIDENCE_KIT_H
#define BOOTGATE_TESTS_EVIDENCE_KIT_H

#include <stdio.h>

#include "appraise/appraise.h"
#include "crypto/sign.h"
#include "format/efivar.h"
#include "format/eventlog.h"
#include "format/facts.h"
#include "format/report.h"
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

/* ---- events -------------------------------------------------------------- */

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
	kit_event(k, 5, EV_EFI_ACTION, bytes_str("Exit Boot Services Invocation"));
	kit_event(k, 5, EV_EFI_ACTION, bytes_str("Exit Boot Services Returned with Success"));
}

/* ---- the machine ----------------------------------------------------------- */

static inline void kit_ak(struct kit *k)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_PUBLIC);
	struct ec_public point;
	struct tpm_public p;
	struct tpm_name name;

	assert_ok(private_key_make(&k->ak));
	assert_ok(private_key_public(k->ak, &point));
	assert_ok(tpm_public_read(tpm_ak_template, &p));
	p.x = BYTES(point.x);
	p.y = BYTES(point.y);
	assert_ok(tpm_public_write(&p, &b));
	memcpy(k->ak_public, b.p, b.n);
	k->ak_public_n = b.n;
	assert_ok(tpm_public_read(blob_bytes(&b), &p));
	assert_ok(tpm_name_of(&p, &name));
	assert_int_equal(name.n, AK_NAME_LEN);
	memcpy(k->session.ak_name, name.b, AK_NAME_LEN);
}

static inline struct kit *kit_new(void)
{
	static const char *const decision[6] = {
		"1111111111111111111111111111111111111111111111111111111111111111",
		"2222222222222222222222222222222222222222222222222222222222222222",
		"3333333333333333333333333333333333333333333333333333333333333333",
		"4444444444444444444444444444444444444444444444444444444444444444",
		"5555555555555555555555555555555555555555555555555555555555555555",
		"6666666666666666666666666666666666666666666666666666666666666666",
	};
	static const uint16_t implemented[] = { ALG_SHA256, ALG_SHA1, ALG_SHA384, ALG_SHA512 };
	struct kit *k = calloc(1, sizeof *k);

	assert_non_null(k);
	k->bank[k->bank_count++] = ALG_SHA256;
	k->log_bank[k->log_bank_count++] = ALG_SHA256;
	for (size_t i = 0; i < ARRAY_LEN(implemented); i++)
		assert_ok(pcr_selection_add(&k->session.selection, implemented[i], KIT_SELECTED));
	memset(k->session.nonce, 0xa5, NONCE_LEN);
	k->session.stage = STAGE_GATE;
	k->domain = QUOTE_EVIDENCE;
	k->a = (struct tpm_attest){ .type = TPM_ST_QUOTE, .clock = 100000, .reset_count = 7,
				    .safe = true, .firmware = 0x2024010200120000 };
	for (unsigned f = 0; f < FACT_MAX; f++)
		k->fact[f] = fact_name((enum fact)f);
	k->fact[FACT_CPU_MICROCODE] = "0x2b000590";
	k->fact[FACT_BIOS_VERSION] = "2.19.1";
	k->fact[FACT_BOARD_VERSION] = FACT_UNAVAILABLE;
	k->fact[FACT_TPM_FIRMWARE] = "0007005500012340";
	k->check = "cpu.sgx pass";
	memcpy(k->decision_hex, decision, sizeof decision);
	k->firmware_log = BLOB(LIMIT_FIRMWARE_LOG);
	k->gate_log = BLOB(LIMIT_GATE_LOG);
	k->report = BLOB(LIMIT_REPORT);
	k->claims_bytes = BLOB(LIMIT_CLAIMS);
	k->quote = BLOB(LIMIT_TPM_ATTEST);
	k->signature = BLOB(LIMIT_TPM_SIGNATURE);
	k->evidence = BLOB(LIMIT_EVIDENCE);
	kit_ak(k);
	kit_firmware(k);
	return k;
}

static inline void kit_free(struct kit **k)
{
	if (!*k)
		return;
	private_key_free(&(*k)->ak);
	blob_free(&(*k)->firmware_log);
	blob_free(&(*k)->gate_log);
	blob_free(&(*k)->report);
	blob_free(&(*k)->claims_bytes);
	blob_free(&(*k)->quote);
	blob_free(&(*k)->signature);
	blob_free(&(*k)->evidence);
	free(*k);
	*k = NULL;
}

static inline void kit_banks(struct kit *k, size_t count, const uint16_t *bank)
{
	k->bank_count = k->log_bank_count = count;
	memcpy(k->bank, bank, count * sizeof *bank);
	memcpy(k->log_bank, bank, count * sizeof *bank);
}

/* ---- boot -------------------------------------------------------------------- */

static inline void kit_reset(struct kit *k)
{
	uint8_t value[DIGEST_MAX];

	memset(&k->pcr, 0, sizeof k->pcr);
	for (size_t i = 0; i < k->bank_count; i++) {
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			pcr_reset_value(pcr, value);
			if (pcr == 0)
				value[digest_len(k->bank[i]) - 1] = k->locality;
			if (KIT_SELECTED & PCR_MASK(pcr))
				assert_ok(pcr_values_set(&k->pcr, k->bank[i], pcr, value));
		}
	}
}

/* Extends the banks that are both active and given a digest. */
static inline void kit_extend(struct kit *k, uint32_t pcr, const struct pcr_digests *d)
{
	for (size_t i = 0; i < k->pcr.count; i++)
		for (size_t j = 0; j < d->count; j++)
			if (d->bank[j].alg == k->pcr.bank[i].alg)
				assert_ok(pcr_extend(d->bank[j].alg, k->pcr.bank[i].value[pcr],
						     bytes_of(d->bank[j].value,
							      digest_len(d->bank[j].alg))));
}

static inline void kit_boot_firmware(struct kit *k)
{
	struct eventlog_writer w;
	struct pcr_digests d;

	assert_ok(eventlog_writer_begin(k->log_bank, k->log_bank_count, LIMIT_FIRMWARE_LOG, &w));
	if (k->locality) {
		uint8_t data[17] = "StartupLocality";

		memset(&d, 0, sizeof d);
		d.count = k->log_bank_count;
		for (size_t i = 0; i < d.count; i++)
			d.bank[i].alg = k->log_bank[i];
		data[16] = k->locality;
		assert_ok(eventlog_writer_event(&w, 0, EV_NO_ACTION, &d, BYTES(data)));
	}
	for (size_t i = 0; i < k->count; i++) {
		struct kit_event *e = &k->event[i];

		assert_ok(pcr_digests_of(k->log_bank, k->log_bank_count,
					 bytes_of(e->hashed, e->hashed_n), &d));
		if (!e->not_logged)
			assert_ok(eventlog_writer_event(&w, e->pcr, e->type, &d,
							bytes_of(e->data, e->data_n)));
		if (!e->not_extended)
			kit_extend(k, e->pcr, &d);
	}
	blob_reset(&k->firmware_log);
	assert_ok(blob_append(&k->firmware_log, w.log.p, w.log.n));
	eventlog_writer_free(&w);
}

static inline void kit_fact(struct kit *k, struct eventlog_writer *w, enum fact f, const char *text)
{
	struct pcr_digests d;

	assert_ok(fact_write(w, f, bytes_str(text), &d));
	kit_extend(k, fact_pcr(f), &d);
}

static inline void kit_boot_gate(struct kit *k)
{
	struct eventlog_writer w;
	struct pcr_digests d;

	assert_ok(eventlog_writer_begin(k->bank, k->bank_count, LIMIT_GATE_LOG, &w));
	for (unsigned i = 0; i < FACT_MAX; i++) {
		enum fact f = (enum fact)i;

		if (fact_pcr(f) != PCR_FACTS || (f == FACT_END && k->facts_left_out))
			continue;
		if (f == FACT_CHECK && k->check)
			kit_fact(k, &w, f, k->check);
		else if (f == FACT_DEBUG && k->debug)
			kit_fact(k, &w, f, "shell");
		else if (!fact_many(f))
			kit_fact(k, &w, f, k->fact[f]);
	}
	if (k->cap_facts) {
		assert_ok(fact_write_cap(&w, PCR_FACTS, R_OK, &d));
		kit_extend(k, PCR_FACTS, &d);
	}
	if (k->decision)
		for (unsigned i = 0; i < 6; i++)
			kit_fact(k, &w, (enum fact)(FACT_VERDICT + i), k->decision_hex[i]);
	if (k->cap_decision) {
		assert_ok(fact_write_cap(&w, PCR_DECISION, R_OK, &d));
		kit_extend(k, PCR_DECISION, &d);
	}
	if (k->foreign_pcr) {
		assert_ok(eventlog_writer_tag(&w, k->foreign_pcr, 0x42470801, bytes_str("x"), &d));
		kit_extend(k, k->foreign_pcr, &d);
	}
	blob_reset(&k->gate_log);
	assert_ok(blob_append(&k->gate_log, w.log.p, w.log.n));
	eventlog_writer_free(&w);
}

static inline void kit_report(struct kit *k)
{
	struct report *r = calloc(1, sizeof *r);

	assert_non_null(r);
	if (k->command_line) {
		r->fact[0] = (struct report_fact){ bytes_str("kernel.command-line"),
						   bytes_str(k->command_line) };
		r->fact_count = 1;
	}
	blob_reset(&k->report);
	assert_ok(report_write(r, &k->report));
	free(r);
}

/* ---- evidence ------------------------------------------------------------------ */

static inline void kit_sign(struct kit *k)
{
	uint8_t digest[SHA256_LEN];
	uint8_t pair[ES256_LEN];
	struct tpm_signature s = { .scheme = TPM_ALG_ECDSA, .hash = ALG_SHA256 };

	assert_ok(sha256(blob_bytes(&k->quote), digest));
	assert_ok(es256_sign(k->ak, digest, pair));
	s.r = bytes_of(pair, 32);
	s.s = bytes_of(pair + 32, 32);
	blob_reset(&k->signature);
	assert_ok(tpm_signature_write(&s, &k->signature));
}

static inline void kit_wrap(struct kit *k)
{
	struct evidence ev = { blob_bytes(&k->claims_bytes), blob_bytes(&k->quote),
			       blob_bytes(&k->signature) };

	blob_reset(&k->evidence);
	assert_ok(evidence_write(&ev, &k->evidence));
}

/* What the TPM returns: banks that are not active come back empty. */
static inline void kit_selected(const struct kit *k, struct pcr_selection *ret)
{
	*ret = k->session.selection;
	for (size_t i = 0; i < ret->count; i++)
		if (!pcr_values_bank(&k->pcr, ret->bank[i].alg))
			ret->bank[i].mask = 0;
}

/* Quote over claims_bytes and the registers, signed. */
static inline void kit_quote(struct kit *k)
{
	uint8_t extra[SHA256_LEN];
	uint8_t composite[DIGEST_MAX];
	struct tpm_public ak;
	struct tpm_name name;
	struct tpm_name signer;

	assert_ok(quote_qualifying(k->domain,
				   k->receipt ? k->verdict_digest : k->session.nonce,
				   blob_bytes(&k->claims_bytes), extra));
	assert_ok(tpm_public_read(bytes_of(k->ak_public, k->ak_public_n), &ak));
	assert_ok(tpm_name_of(&ak, &name));
	assert_ok(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &signer));
	kit_selected(k, &k->a.selection);
	assert_ok(pcr_composite(&k->a.selection, &k->pcr, ALG_SHA256, composite));
	k->a.signer = tpm_name_bytes(&signer);
	k->a.extra = BYTES(extra);
	k->a.pcr_digest = bytes_of(composite, SHA256_LEN);
	blob_reset(&k->quote);
	assert_ok(tpm_attest_write(&k->a, &k->quote));
	kit_sign(k);
}

/* Claims out of their fields, then quote and envelope. */
static inline void kit_seal(struct kit *k)
{
	blob_reset(&k->claims_bytes);
	if (k->receipt)
		assert_ok(receipt_write(&k->receipt_claims, &k->claims_bytes));
	else
		assert_ok(claims_write(&k->claims, &k->claims_bytes));
	kit_quote(k);
	kit_wrap(k);
}

static inline void kit_make(struct kit *k)
{
	static const uint8_t token[] = { 1, 2, 3 };

	kit_reset(k);
	kit_boot_firmware(k);
	kit_boot_gate(k);
	kit_report(k);
	memset(&k->claims, 0, sizeof k->claims);
	k->claims.stage = k->session.stage;
	k->claims.token = BYTES(token);
	memset(k->claims.nonce, 0x5a, NONCE_LEN);
	k->claims.ak_public = bytes_of(k->ak_public, k->ak_public_n);
	k->claims.firmware_log = blob_bytes(&k->firmware_log);
	k->claims.gate_log = blob_bytes(&k->gate_log);
	k->claims.values = k->pcr;
	k->claims.report = blob_bytes(&k->report);
	k->claims.has_cnf = k->has_cnf;
	k->receipt_claims.gate_log = blob_bytes(&k->gate_log);
	k->receipt_claims.values = k->pcr;
	memcpy(k->receipt_claims.verdict_digest, k->verdict_digest, SHA256_LEN);
	memcpy(k->receipt_claims.ak_name, k->session.ak_name, AK_NAME_LEN);
	kit_seal(k);
}

static inline enum reason kit_check(const struct kit *k, struct quote_checked *q)
{
	return quote_check(blob_bytes(&k->evidence), k->domain, &k->session, q);
}

/* ---- references and judgement --------------------------------------------------- */

/* References learned from one machine, active. They outlive the machine. */
struct kit_refs {
	struct blob bytes;
	struct reference_set set;
};

static inline void kit_refs_free(struct kit_refs *r)
{
	reference_set_free(&r->set);
	blob_free(&r->bytes);
}

static inline void kit_refs_state(struct kit_refs *r, const char *component,
				  enum variant_state state)
{
	for (size_t i = 0; i < r->set.count; i++)
		if (!component || strcmp(r->set.variant[i].component, component) == 0)
			r->set.variant[i].state = state;
}

static inline struct kit_refs kit_learn(struct kit *k)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct reference_set set;
	struct kit_refs r = { .bytes = BLOB(LIMIT_REFERENCE_SET) };

	assert_non_null(q);
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_ok(component_learn(q, "learned from a test", &set));
	assert_ok(reference_set_write(&set, &r.bytes));
	reference_set_free(&set);
	assert_ok(reference_set_read(blob_bytes(&r.bytes), &r.set));
	for (size_t i = 0; i < r.set.count; i++) {
		assert_int_equal(r.set.variant[i].state, VARIANT_STAGED);
		r.set.variant[i].id = 100 + i;
	}
	kit_refs_state(&r, NULL, VARIANT_ACTIVE);
	free(q);
	return r;
}

static inline void kit_judge(const struct kit *k, const struct kit_refs *r,
			     const struct policy *p, const struct clock_record *clock,
			     struct appraisal *ret)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct clock_record none = { 0 };
	struct policy standard;

	assert_non_null(q);
	policy_default(&standard);
	assert_ok(kit_check(k, q));
	assert_ok(appraise(q, &k->session, clock ? clock : &none, &r->set, p ? p : &standard,
			   ret));
	free(q);
}

static inline const struct finding *find_reason(const struct appraisal *a, enum reason r)
{
	for (size_t i = 0; i < a->explanation.count; i++)
		if (a->explanation.finding[i].reason == r &&
		    a->explanation.finding[i].severity > SEVERITY_INFO)
			return &a->explanation.finding[i];
	return NULL;
}

static inline void print_findings(const struct appraisal *a)
{
	for (size_t i = 0; i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];

		print_message("%s/%d %s event %u pcr %u: %s | %s | %s\n", reason_name(f->reason),
			      f->severity, f->component, f->event, f->pcr, f->observed,
			      f->expected, f->nearest);
	}
}

/* Admitted, and nothing above information was found. */
#define assert_admitted(a)                                                    \
	do {                                                                  \
		if ((a)->directive != DIRECTIVE_ADMIT)                        \
			print_findings(a);                                    \
		assert_int_equal((a)->directive, DIRECTIVE_ADMIT);            \
		assert_int_equal((a)->status, EAR_AFFIRMING);                 \
	} while (0)
/* Refused, and this reason is among those told. */
#define assert_refused(a, r)                                                  \
	do {                                                                  \
		if (!find_reason(a, r) || (a)->directive != DIRECTIVE_REFUSE) \
			print_findings(a);                                    \
		assert_int_equal((a)->directive, DIRECTIVE_REFUSE);           \
		assert_int_equal((a)->status, EAR_CONTRAINDICATED);           \
		assert_non_null(find_reason(a, r));                           \
	} while (0)

#endif
