/* SPDX-License-Identifier: Apache-2.0 */
/* Separators: firmware says with one in each register that it is done with it. */
#include "appraise/semantics.h"

#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"

static const uint8_t separator_zero[4] = { 0x00, 0x00, 0x00, 0x00 };
static const uint8_t separator_ones[4] = { 0xff, 0xff, 0xff, 0xff };
/* "Measuring failed"; what stands in the data may say more and is not hashed. */
static const uint8_t separator_error[4] = { 0x01, 0x00, 0x00, 0x00 };
#define VALUES 3u
#define VALUE_ERROR 2u

/*
 * Digests of the separators in the shown bank, so that one which hides
 * under another type is found as well: in the registers that are about what
 * was booted and by whose leave. In others firmware measures settings, or
 * empty tables, that are four zero bytes.
 */
struct separators {
	size_t column;
	size_t len;
	uint8_t digest[VALUES][DIGEST_MAX];
};
#define PCR_BOOT 4u
#define PCR_SECURE_BOOT 7u

static enum reason separators_make(const struct logs *l, struct separators *ret)
{
	const struct active_bank *b = logs_shown_bank(l);
	const struct bytes value[VALUES] = { BYTES(separator_zero), BYTES(separator_ones),
					     BYTES(separator_error) };

	ret->column = b->column;
	ret->len = digest_len(b->alg);
	for (size_t i = 0; i < VALUES; i++)
		TRY(digest_of(b->alg, &value[i], 1, ret->digest[i]));
	return R_OK;
}

static bool digest_is(const struct separators *s, const struct event *event, size_t value)
{
	return s->column < LIMIT_BANKS && event->digest[s->column].n == s->len &&
	       memcmp(event->digest[s->column].p, s->digest[value], s->len) == 0;
}

static bool is_separator(const struct separators *s, const struct event *event)
{
	if (event->type == EV_SEPARATOR)
		return true;
	if (event->pcr != PCR_BOOT && event->pcr != PCR_SECURE_BOOT)
		return false;
	for (size_t i = 0; i < VALUES; i++)
		if (digest_is(s, event, i))
			return true;
	return false;
}

static void separator_value(const struct logs *l, const struct separators *s,
			    const struct logged *one, struct explanation *e)
{
	const struct event *event = &one->event;

	if (digest_is(s, event, VALUE_ERROR))
		semantics_refuse(l, R_LOG_SEPARATOR_ERROR, event, "00000000 or ffffffff", e);
	else if (event->type != EV_SEPARATOR)
		semantics_refuse(l, R_LOG_SEPARATOR_VALUE, event,
				 "a separator says that it is one; this has the digest of one", e);
	else if (!one->proved || (!bytes_equal(event->data, BYTES(separator_zero)) &&
				  !bytes_equal(event->data, BYTES(separator_ones))))
		semantics_refuse(l, R_LOG_SEPARATOR_VALUE, event,
				 "00000000 or ffffffff, hashed as such", e);
}

enum reason semantics_separators(const struct logs *l, struct explanation *e)
{
	struct separators s;
	size_t seen[PCR_FIRMWARE_COUNT] = { 0 };

	TRY(separators_make(l, &s));
	for (size_t i = 0; i < l->count; i++) {
		const struct logged *one = &l->event[i];
		uint32_t pcr = one->event.pcr;

		if (pcr >= PCR_FIRMWARE_COUNT || !is_separator(&s, &one->event))
			continue;
		if (++seen[pcr] > 1)
			semantics_refuse(l, R_LOG_SEPARATOR_TWICE, &one->event,
					 "one separator in this register", e);
		separator_value(l, &s, one, e);
	}
	for (uint32_t pcr = 0; pcr < PCR_FIRMWARE_COUNT; pcr++) {
		struct finding f = finding_make(R_LOG_SEPARATOR_MISSING, SEVERITY_REFUSE, "");

		if (seen[pcr] > 0)
			continue;
		f.pcr = pcr;
		finding_text(f.observed, "register %u has no separator", pcr);
		explain(e, &f);
	}
	return R_OK;
}
