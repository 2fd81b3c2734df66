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

void semantics_add(const struct logs *l, enum reason r, enum severity severity,
		   const struct event *event, const char *expected, struct explanation *e)
{
	const struct active_bank *b = logs_shown_bank(l);
	struct finding f = finding_make(r, severity, "");
	const char *name = eventlog_type_name(event->type);

	finding_event(&f, event, b->alg, b->column);
	finding_text(f.observed, "%s in register %u, %zu bytes of data",
		     name ? name : "event of unknown type", event->pcr, event->data.n);
	finding_text(f.expected, "%s", expected);
	explain(e, &f);
}

void semantics_refuse(const struct logs *l, enum reason r, const struct event *event,
		      const char *expected, struct explanation *e)
{
	semantics_add(l, r, SEVERITY_REFUSE, event, expected, e);
}

bool semantics_is_action(const struct event *event, const char *text)
{
	struct bytes data = event->data;

	if (event->type != EV_EFI_ACTION && event->type != EV_ACTION)
		return false;
	if (data.n > 0 && data.p[data.n - 1] == 0)
		data.n--;
	return bytes_equal(data, bytes_str(text));
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
			semantics_refuse(l, R_LOG_GATE_REGISTER, event,
					 "no event of firmware in this register", e);
	}
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

static enum reason digest_of_data(const struct logs *l, const struct logged *one,
				  struct explanation *e)
{
	bool proved = one->proved;

	if (!must_be_hashed(one->event.type))
		return R_OK;
	if (!proved)
		TRY(semantics_content_proved(l, one, &proved));
	if (!proved)
		semantics_refuse(l, R_LOG_DIGEST_DATA, &one->event,
				 "the digest is the hash of the data", e);
	return R_OK;
}

/*
 * Whoever extends by hand may give each bank another digest. Banks that prove
 * nothing are left out: they say nothing, so they cannot contradict.
 */
static enum reason banks_agree(const struct logs *l, const struct logged *one,
			       struct explanation *e)
{
	size_t yes = 0;
	size_t no = 0;

	if (one->proved)
		return R_OK;
	for (size_t i = 0; i < l->active_count; i++) {
		const struct active_bank *b = &l->active[i];
		uint8_t digest[DIGEST_MAX];

		if (!b->usable)
			continue;
		TRY(digest_of(b->alg, &one->event.data, 1, digest));
		if (bytes_equal(one->event.digest[b->column],
				bytes_of(digest, digest_len(b->alg))))
			yes++;
		else
			no++;
	}
	if (yes > 0 && no > 0)
		semantics_refuse(l, R_LOG_BANKS_DISAGREE, &one->event,
				 "the hash of the same bytes in every bank", e);
	return R_OK;
}

enum reason semantics_events(const struct logs *l, struct explanation *e)
{
	TRY(semantics_separators(l, e));
	for (size_t i = 0; i < l->count; i++) {
		TRY(digest_of_data(l, &l->event[i], e));
		TRY(banks_agree(l, &l->event[i], e));
	}
	semantics_order(l, e);
	semantics_secure_boot(l, e);
	return R_OK;
}
