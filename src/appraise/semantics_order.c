/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may follow what, in registers 0 to 6. An event that was extended by
 * hand comes late: behind the separator of a register that is closed by it,
 * or behind the end of firmware.
 */
#include "appraise/semantics.h"

#include "base/cleanup.h"

#define PCR_CRTM 0u
#define PCR_CONFIG 1u
#define PCR_ROMS 2u
#define PCR_BOOT 4u
#define PCR_BOOT_DATA 5u

/* ---- behind the separator ---------------------------------------------------- */

/*
 * Registers 4 and 5 are about booting, which comes behind their separators;
 * 7 has its own rule. Much firmware writes boot entries and tables into
 * register 1 when it is ready to boot, after the separator; some writes an
 * event of its vendor's own type into register 2 then.
 */
static bool may_be_behind(const struct event *event, bool booting)
{
	if (event->pcr == PCR_BOOT || event->pcr == PCR_BOOT_DATA)
		return true;
	if (event->pcr == PCR_ROMS)
		return !booting && !eventlog_type_name(event->type);
	if (event->pcr != PCR_CONFIG)
		return false;
	switch (event->type) {
	case EV_PLATFORM_CONFIG_FLAGS:
	case EV_EFI_VARIABLE_DRIVER_CONFIG:
	case EV_EFI_VARIABLE_BOOT:
	case EV_EFI_VARIABLE_BOOT2:
	case EV_EFI_HANDOFF_TABLES:
	case EV_EFI_HANDOFF_TABLES2:
		return true;
	default:
		return false;
	}
}

static void behind_separators(const struct logs *l, struct explanation *e)
{
	uint32_t separated = 0;
	bool booting = false;		/* a boot option was loaded */

	for (size_t i = 0; i < l->count; i++) {
		const struct event *event = &l->event[i].event;

		if (event->pcr >= PCR_FIRMWARE_COUNT - 1)
			continue;
		if (event->type == EV_SEPARATOR) {
			separated |= PCR_MASK(event->pcr);
			continue;
		}
		if (!(separated & PCR_MASK(event->pcr)))
			continue;
		if (event->pcr == PCR_BOOT && event->type == EV_EFI_BOOT_SERVICES_APPLICATION)
			booting = true;
		else if (!may_be_behind(event, booting))
			semantics_refuse(l, R_LOG_BEHIND_SEPARATOR, event,
					 "no such event behind the separator", e);
	}
}

/* ---- register 0 ---------------------------------------------------------------- */

static void crtm_version(const struct logs *l, struct explanation *e)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct event *event = &l->event[i].event;

		if (event->pcr != PCR_CRTM)
			continue;
		if (event->type == EV_S_CRTM_VERSION)
			return;
		if (event->type != EV_SEPARATOR)
			continue;
		semantics_refuse(l, R_LOG_CRTM_MISSING, event,
				 "EV_S_CRTM_VERSION in front of the separator", e);
		return;
	}
}

/* ---- register 4 ---------------------------------------------------------------- */

/* Where firmware is in trying its boot options. */
struct attempt {
	bool called;			/* an option was, ever */
	bool calling;			/* and has not returned */
	bool omitted;			/* firmware says that it logs no attempts */
};

/* NULL, or what should be there. */
static const char *attempt_step(struct attempt *a, const struct event *event)
{
	if (event->type == EV_OMIT_BOOT_DEVICE_EVENTS) {
		if (a->omitted || a->calling)
			return "at most one such event, and no attempts beside it";
		a->omitted = true;
		return NULL;
	}
	if (semantics_is_action(event, ACTION_CALLING)) {
		if (a->omitted || a->calling)
			return "an attempt begins where none is open, and none was to be omitted";
		a->called = true;
		a->calling = true;
		return NULL;
	}
	if (semantics_is_action(event, ACTION_RETURNING)) {
		/* older firmware tells of the first call only */
		if (!a->called)
			return "an attempt that was begun";
		a->calling = false;
		return NULL;
	}
	if (event->type == EV_EFI_ACTION || event->type == EV_ACTION)
		return "actions about calling boot options only";
	return NULL;
}

static void boot_attempts(const struct logs *l, struct explanation *e)
{
	struct attempt a = { 0 };

	for (size_t i = 0; i < l->count; i++) {
		const struct event *event = &l->event[i].event;
		const char *expected;

		if (event->pcr != PCR_BOOT)
			continue;
		expected = attempt_step(&a, event);
		if (expected)
			semantics_refuse(l, R_LOG_BOOT_ATTEMPT, event, expected, e);
	}
}

/* ---- register 5 ---------------------------------------------------------------- */

/*
 * Leaving boot services is two events, one behind the other. It may fail and
 * be tried again; once it has succeeded firmware measures no more. A loader
 * that read the log too early has neither, and then neither was extended.
 * Much firmware writes the invocation only when it gets through, and so a
 * failure without one (tianocore/edk2 #9925, #10009).
 */
static void boot_services(const struct logs *l, struct explanation *e)
{
	const struct event *open = NULL;
	bool done = false;

	for (size_t i = 0; i < l->count; i++) {
		const struct event *event = &l->event[i].event;
		bool success;

		if (done) {
			semantics_refuse(l, R_LOG_BOOT_SERVICES, event,
					 "no event once boot services were left", e);
			return;
		}
		if (event->pcr != PCR_BOOT_DATA)
			continue;
		success = semantics_is_action(event, ACTION_EXIT_DONE);
		if (success || semantics_is_action(event, ACTION_EXIT_FAILED)) {
			if (success && !open)
				semantics_refuse(l, R_LOG_BOOT_SERVICES, event,
						 ACTION_EXIT " in front of it", e);
			open = NULL;
			done = success;
			continue;
		}
		if (open)
			semantics_refuse(l, R_LOG_BOOT_SERVICES, event,
					 "what became of leaving boot services", e);
		open = semantics_is_action(event, ACTION_EXIT) ? event : NULL;
	}
	if (open)
		semantics_refuse(l, R_LOG_BOOT_SERVICES, open,
				 "what became of leaving boot services behind it", e);
}

void semantics_order(const struct logs *l, struct explanation *e)
{
	behind_separators(l, e);
	crtm_version(l, e);
	boot_attempts(l, e);
	boot_services(l, e);
}
