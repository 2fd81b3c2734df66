/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of the TCG PC Client Platform Firmware Profile, and our own about the
 * gate's registers. Type and data of an event are not covered by the quote:
 * they mean something only where the digest proves them.
 */
#include "appraise/semantics.h"

#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "format/efivar.h"

#define PCR_HOST_IDENTITY 15u

static void add_event(const struct logs *l, enum reason r, const struct event *event,
		      const char *expected, struct explanation *e)
{
	const struct active_bank *b = logs_shown_bank(l);
	struct finding f = finding_make(r, SEVERITY_REFUSE, "");
	const char *name = eventlog_type_name(event->type);

	finding_event(&f, event, b->alg, b->column);
	finding_text(f.observed, "%s in register %u, %zu bytes of data",
		     name ? name : "event of unknown type", event->pcr, event->data.n);
	finding_text(f.expected, "%s", expected);
	explain(e, &f);
}

static const char *state_text(enum fact_state s)
{
	switch (s) {
	case FACT_STATE_RESET:
		return "no event";
	case FACT_STATE_OPEN:
		return "some of its events";
	case FACT_STATE_COMPLETE:
		return "all of its events";
	case FACT_STATE_CAPPED:
		return "a cap";
	case FACT_STATE_FAILED:
		return "the cap of a failure";
	}
	return "?";
}

static void add_state(uint32_t pcr, const char *observed, const char *expected,
		      struct explanation *e)
{
	struct finding f = finding_make(R_QUOTE_GATE_STATE, SEVERITY_REFUSE, "gate");

	f.gate_log = true;
	f.pcr = pcr;
	finding_text(f.observed, "register %u: %s", pcr, observed);
	finding_text(f.expected, "%s", expected);
	explain(e, &f);
}

void semantics_gate_state(const struct logs *l, struct explanation *e)
{
	static const uint32_t at_reset[] = { PCR_DECISION, PCR_HOST_IDENTITY };

	if (l->facts.facts != FACT_STATE_COMPLETE)
		add_state(PCR_FACTS, state_text(l->facts.facts), "all facts and no cap", e);
	if (l->facts.decision != FACT_STATE_RESET)
		add_state(PCR_DECISION, state_text(l->facts.decision), "no event", e);
	for (size_t i = 0; i < l->active_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(at_reset); k++)
			if (!pcr_is_reset(l->values, l->active[i].alg, at_reset[k]))
				add_state(at_reset[k], "not at its reset value",
					  "the reset value", e);
}

void semantics_gate_registers(const struct logs *l, struct explanation *e)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct event *event = &l->event[i].event;

		if (event->pcr == PCR_FACTS || event->pcr == PCR_DECISION)
			add_event(l, R_LOG_GATE_REGISTER, event,
				  "no event of firmware in this register", e);
	}
}

static const uint8_t separator_zero[4] = { 0x00, 0x00, 0x00, 0x00 };
static const uint8_t separator_ones[4] = { 0xff, 0xff, 0xff, 0xff };

/*
 * Digests of the two separators in the shown bank, so that one which hides
 * under another type is found as well: in the registers that are about what
 * was booted and by whose leave. In others firmware measures settings, or
 * empty tables, that are four zero bytes.
 */
struct separators {
	size_t column;
	size_t len;
	uint8_t digest[2][DIGEST_MAX];
};
#define PCR_BOOT 4u
#define PCR_SECURE_BOOT 7u

static enum reason separators_make(const struct logs *l, struct separators *ret)
{
	const struct active_bank *b = logs_shown_bank(l);
	const struct bytes value[] = { BYTES(separator_zero), BYTES(separator_ones) };

	ret->column = b->column;
	ret->len = digest_len(b->alg);
	for (size_t i = 0; i < ARRAY_LEN(value); i++)
		TRY(digest_of(b->alg, &value[i], 1, ret->digest[i]));
	return R_OK;
}

static bool is_separator(const struct separators *s, const struct event *event)
{
	if (event->type == EV_SEPARATOR)
		return true;
	if (event->pcr != PCR_BOOT && event->pcr != PCR_SECURE_BOOT)
		return false;
	if (s->column >= LIMIT_BANKS || event->digest[s->column].n != s->len)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(s->digest); i++)
		if (memcmp(event->digest[s->column].p, s->digest[i], s->len) == 0)
			return true;
	return false;
}

static void separator_value(const struct logs *l, const struct logged *one,
			    struct explanation *e)
{
	const struct event *event = &one->event;

	if (event->type != EV_SEPARATOR)
		add_event(l, R_LOG_SEPARATOR_VALUE, event,
			  "a separator says that it is one; this has the digest of one", e);
	else if (!one->proved || (!bytes_equal(event->data, BYTES(separator_zero)) &&
				  !bytes_equal(event->data, BYTES(separator_ones))))
		add_event(l, R_LOG_SEPARATOR_VALUE, event, "00000000 or ffffffff, hashed as such",
			  e);
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
			add_event(l, R_LOG_SEPARATOR_TWICE, &one->event,
				  "one separator in this register", e);
		separator_value(l, one, e);
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

/* What the log says of these types must be what was hashed. */
static bool must_be_hashed(uint32_t type)
{
	switch (type) {
	case EV_ACTION:
	case EV_EFI_ACTION:
	case EV_OMIT_BOOT_DEVICE_EVENTS:
	case EV_EFI_VARIABLE_DRIVER_CONFIG:
	case EV_EFI_VARIABLE_BOOT:
	case EV_EFI_VARIABLE_BOOT2:
	case EV_EFI_VARIABLE_AUTHORITY:
	case EV_EFI_GPT_EVENT:
	case EV_EFI_HCRTM_EVENT:
	case EV_EFI_SPDM_FIRMWARE_BLOB:
	case EV_EFI_SPDM_FIRMWARE_CONFIG:
	case EV_EFI_SPDM_DEVICE_POLICY:
	case EV_EFI_SPDM_DEVICE_AUTHORITY:
		return true;
	default:
		/*
		 * EV_SEPARATOR has its own rule. EV_S_CRTM_VERSION should be
		 * hashed, and is not on much real firmware: its text is then
		 * a hint, and its digest is compared like any other.
		 */
		return false;
	}
}

enum reason semantics_content_proved(const struct logs *l, const struct logged *one, bool *ret)
{
	struct efi_variable v;

	*ret = false;
	if (one->event.type != EV_EFI_VARIABLE_BOOT ||
	    efi_variable_read(one->event.data, &v) != R_OK)
		return R_OK;
	return logs_digest_is(l, &one->event, v.content, ret);
}

enum reason semantics_digests(const struct logs *l, struct explanation *e)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct logged *one = &l->event[i];
		bool proved = one->proved;

		if (!must_be_hashed(one->event.type))
			continue;
		if (!proved)
			TRY(semantics_content_proved(l, one, &proved));
		if (!proved)
			add_event(l, R_LOG_DIGEST_DATA, &one->event,
				  "the digest is the hash of the data", e);
	}
	return R_OK;
}
