/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register 7: a closed list in a fixed order (PC Client Platform Firmware
 * Profile, "PCR[7] - Secure Boot Policy Measurements"). In front of the
 * separator stand the variables of Secure Boot, each once; behind it only by
 * whose leave an image was run or a device let in. What is not on the list has
 * no meaning here, so it is refused and not skipped.
 */
#include "appraise/semantics.h"

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "format/efivar.h"

#define PCR_SECURE_BOOT 7u
#define REQUIRED 5u

/* In this order. The first five must be there; the rest newer firmware adds. */
static const struct variable {
	const char *name;
	const struct bytes *guid;
} variables[] = {
	{ "SecureBoot", &efi_global_variable }, { "PK", &efi_global_variable },
	{ "KEK", &efi_global_variable },	{ "db", &efi_image_security },
	{ "dbx", &efi_image_security },		{ "dbt", &efi_image_security },
	{ "dbr", &efi_image_security },
};

/* These have no fixed place among them. */
static const char *const modes[] = { "AuditMode", "DeployedMode" };

struct state {
	size_t next;			/* of variables */
	bool mode[ARRAY_LEN(modes)];	/* seen */
	bool separated;
};

static const char not_here[] =
	"SecureBoot, PK, KEK, db and dbx in this order, then the separator, then authorities";

/* A variable may be left out only where it need not be there. */
static void variable_missing(const struct logs *l, const struct event *event, size_t to,
			     struct state *s, struct explanation *e)
{
	for (; s->next < to; s->next++)
		if (s->next < REQUIRED)
			semantics_refuse(l, R_LOG_SECURE_BOOT_MISSING, event,
					 variables[s->next].name, e);
}

static bool take_mode(const struct efi_variable *v, struct state *s)
{
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		if (s->mode[i] || !utf16_is(v->name, modes[i]) ||
		    !bytes_equal(v->guid, efi_global_variable))
			continue;
		s->mode[i] = true;
		return true;
	}
	return false;
}

static void judge_variable(const struct logs *l, const struct event *event, struct state *s,
			   struct explanation *e)
{
	struct efi_variable v;
	size_t i = s->next;

	if (!s->separated && efi_variable_read(event->data, &v) == R_OK) {
		if (take_mode(&v, s))
			return;
		while (i < ARRAY_LEN(variables) && !(utf16_is(v.name, variables[i].name) &&
						     bytes_equal(v.guid, *variables[i].guid)))
			i++;
		if (i < ARRAY_LEN(variables) && (i > 0 || v.content.n <= 1)) {
			variable_missing(l, event, i, s, e);
			s->next = i + 1;
			return;
		}
	}
	semantics_refuse(l, R_LOG_SECURE_BOOT_EVENT, event, not_here, e);
}

/*
 * No specification says where the event about DMA stands, and firmware made
 * from EDK II writes it behind the separator.
 */
static void judge_action(const struct logs *l, const struct event *event, struct explanation *e)
{
	if (semantics_is_action(event, "UEFI Debug Mode"))
		semantics_refuse(l, R_LOG_DEBUG_MODE, event, "firmware without debug mode", e);
	else if (semantics_is_action(event, "DMA Protection Disabled"))
		semantics_add(l, R_LOG_DMA_PROTECTION, SEVERITY_WARN, event,
			      "protection against DMA before the operating system runs", e);
	else
		semantics_refuse(l, R_LOG_SECURE_BOOT_EVENT, event, not_here, e);
}

static void judge_event(const struct logs *l, const struct event *event, struct state *s,
			struct explanation *e)
{
	struct efi_variable v;

	switch (event->type) {
	case EV_SEPARATOR:
		if (!s->separated)
			variable_missing(l, event, REQUIRED, s, e);
		s->separated = true;
		return;
	case EV_ACTION:
	case EV_EFI_ACTION:
		judge_action(l, event, e);
		return;
	case EV_EFI_VARIABLE_DRIVER_CONFIG:
		judge_variable(l, event, s, e);
		return;
	case EV_EFI_VARIABLE_AUTHORITY:
	case EV_EFI_SPDM_DEVICE_AUTHORITY:
		/* In front of the separator: of an option ROM, of a device found early. */
		if (efi_variable_read(event->data, &v) == R_OK)
			return;
		break;
	case EV_EFI_SPDM_DEVICE_POLICY:
		if (!s->separated && efi_variable_read(event->data, &v) == R_OK)
			return;
		break;
	default:
		break;
	}
	semantics_refuse(l, R_LOG_SECURE_BOOT_EVENT, event, not_here, e);
}

void semantics_secure_boot(const struct logs *l, struct explanation *e)
{
	struct state s = { 0 };

	for (size_t i = 0; i < l->count; i++)
		if (l->event[i].event.pcr == PCR_SECURE_BOOT)
			judge_event(l, &l->event[i].event, &s, e);
}
