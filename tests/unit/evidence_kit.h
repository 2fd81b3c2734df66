/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in memory: a firmware log, a gate, a TPM with its AK, and the
 * evidence that they make. Every part is consistent by itself; a test changes
 * one thing (kit_event_*, the fields of struct kit) and makes it again.
 */
#ifndef BOOTGATE_TESTS_EVIDENCE_KIT_H
#define BOOTGATE_TESTS_EVIDENCE_KIT_H

#include <stdio.h>

#include "firmware_kit.h"
#include "format/report.h"

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

static inline void kit_measure(struct kit *k, struct eventlog_writer *w, const struct kit_event *e)
{
	struct pcr_digests d;

	assert_ok(pcr_digests_of(k->log_bank, k->log_bank_count, bytes_of(e->hashed, e->hashed_n),
				 &d));
	if (!e->not_logged)
		assert_ok(eventlog_writer_event(w, e->pcr, e->type, &d,
						bytes_of(e->data, e->data_n)));
	if (!e->not_extended)
		kit_extend(k, e->pcr, &d);
}

static inline void kit_boot_firmware(struct kit *k)
{
	static const char *const leave[] = { LEAVING, LEFT };
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
	for (size_t i = 0; i < k->count; i++)
		kit_measure(k, &w, &k->event[i]);
	for (size_t i = 0; i < ARRAY_LEN(leave) && !k->stays; i++) {
		struct kit_event e = { .pcr = 5, .type = EV_EFI_ACTION };

		e.data_n = e.hashed_n = strlen(leave[i]);
		memcpy(e.data, leave[i], e.data_n);
		memcpy(e.hashed, leave[i], e.data_n);
		kit_measure(k, &w, &e);
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
	if (k->board)
		r->fact[r->fact_count++] = (struct report_fact){ bytes_str("board.serial"), bytes_str(k->board) };
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

#endif
