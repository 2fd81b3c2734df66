/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts, in the order of facts.def: what is equal on equal machines goes
 * into the list (and into PCR 8), what differs from machine to machine into
 * the report.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "format/report.h"
#include "gate/gate.h"
#include "node/hardware.h"
#include "node/sysfs.h"

#define REPORT_TEXTS_MAX (256u << 10)
#define COMMAND_LINE "/proc/cmdline"
#define COMMAND_LINE_MAX 4096u	/* more than x86 takes */

/* Everything that was read, for the table below. */
struct found {
	const struct config *config;
	const struct tpm_facts *tpm;
	const struct watchdog *watchdog;
	char command_line[COMMAND_LINE_MAX];
	struct dmi dmi;
	struct cpu cpu;
	struct pci_devices pci;
	struct nics nics;
	enum secure_boot secure_boot;
};

static void found_free(struct found **f)
{
	if (*f)
		dmi_free(&(*f)->dmi);
	free(*f);
	*f = NULL;
}

/* ---- the facts, one function a kind ----------------------------------------- */

static bool text_fact(struct bytes b, char *ret)
{
	size_t n = b.n < LIMIT_FACT_VALUE ? b.n : LIMIT_FACT_VALUE;

	if (n == 0)
		return false;
	memcpy(ret, b.p, n);
	ret[n] = 0;
	return true;
}

static bool number_fact(bool known, uint32_t v, char *ret)
{
	if (known)
		sprintf(ret, "%u", (unsigned)v);
	return known;
}

static bool fact_build(const struct found *f, char *ret)
{
	return text_fact(bytes_str(f->config->build), ret);
}

static bool fact_config(const struct found *f, char *ret)
{
	hex_encode(BYTES(f->config->digest), ret);
	return f->config->verdict_keys.count > 0;	/* it was read */
}

#define DMI_FACT(name, member)                                              \
	static bool fact_##name(const struct found *f, char *ret)           \
	{                                                                   \
		return text_fact(f->dmi.info.member, ret);                  \
	}
DMI_FACT(bios_vendor, bios_vendor)
DMI_FACT(bios_version, bios_version)
DMI_FACT(bios_date, bios_date)
DMI_FACT(system_vendor, system_vendor)
DMI_FACT(system_product, system_product)
DMI_FACT(board_vendor, board_vendor)
DMI_FACT(board_product, board_product)
DMI_FACT(board_version, board_version)

static bool fact_cpu_vendor(const struct found *f, char *ret)
{
	return text_fact(bytes_str(f->cpu.vendor), ret);
}

/* Family and model belong together: neither says anything alone. */
static bool fact_cpu_model(const struct found *f, char *ret)
{
	if (f->cpu.known)
		sprintf(ret, "%u %u", (unsigned)f->cpu.family, (unsigned)f->cpu.model);
	return f->cpu.known;
}

static bool fact_cpu_stepping(const struct found *f, char *ret)
{
	return number_fact(f->cpu.known, f->cpu.stepping, ret);
}

static bool fact_cpu_microcode(const struct found *f, char *ret)
{
	return cpu_microcode_text(&f->cpu, ret);
}

static bool fact_tpm_manufacturer(const struct found *f, char *ret)
{
	return f->tpm && text_fact(bytes_str(f->tpm->manufacturer), ret);
}

static bool fact_tpm_firmware(const struct found *f, char *ret)
{
	if (f->tpm)
		sprintf(ret, "%016llx", (unsigned long long)f->tpm->firmware_version);
	return f->tpm != NULL;
}

static bool fact_secure_boot(const struct found *f, char *ret)
{
	const char *name = secure_boot_name(f->secure_boot);

	return name && text_fact(bytes_str(name), ret);
}

static const struct {
	enum fact fact;
	bool (*get)(const struct found *f, char *ret);	/* false: unavailable */
} table[] = {
	{ FACT_BUILD, fact_build },
	{ FACT_CONFIG, fact_config },
	{ FACT_BIOS_VENDOR, fact_bios_vendor },
	{ FACT_BIOS_VERSION, fact_bios_version },
	{ FACT_BIOS_DATE, fact_bios_date },
	{ FACT_SYSTEM_VENDOR, fact_system_vendor },
	{ FACT_SYSTEM_PRODUCT, fact_system_product },
	{ FACT_BOARD_VENDOR, fact_board_vendor },
	{ FACT_BOARD_PRODUCT, fact_board_product },
	{ FACT_BOARD_VERSION, fact_board_version },
	{ FACT_CPU_VENDOR, fact_cpu_vendor },
	{ FACT_CPU_MODEL, fact_cpu_model },
	{ FACT_CPU_STEPPING, fact_cpu_stepping },
	{ FACT_CPU_MICROCODE, fact_cpu_microcode },
	{ FACT_TPM_MANUFACTURER, fact_tpm_manufacturer },
	{ FACT_TPM_FIRMWARE, fact_tpm_firmware },
	{ FACT_SECURE_BOOT, fact_secure_boot },
};

static struct fact_text *add_fact(struct fact_list *list, enum fact fact)
{
	struct fact_text *item;

	if (list->count == FACTS_MAX)
		return NULL;
	item = &list->item[list->count++];
	*item = (struct fact_text){ .fact = fact };
	return item;
}

/* Displays first, then network cards, each in slot order. */
static enum reason add_pci(const struct found *f, struct fact_list *list)
{
	static const struct {
		uint32_t class;
		enum fact fact;
	} classes[] = {
		{ PCI_CLASS_DISPLAY, FACT_PCI_DISPLAY },
		{ PCI_CLASS_NETWORK, FACT_PCI_NETWORK },
	};

	for (size_t c = 0; c < ARRAY_LEN(classes); c++) {
		for (size_t i = 0; i < f->pci.count; i++) {
			const struct pci_device *d = &f->pci.device[i];
			struct fact_text *item;

			if (d->header.class_code >> 16 != classes[c].class)
				continue;
			item = add_fact(list, classes[c].fact);
			if (!item)
				return R_FORMAT_TOO_LARGE;
			pci_fact_text(&d->header, d->rom, d->rom_digest, item->text);
			item->known = true;
		}
	}
	return R_OK;
}

static enum reason fill_facts(const struct found *f, struct fact_list *ret)
{
	struct fact_text *end;

	ret->count = 0;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fact_text *item = add_fact(ret, table[i].fact);

		if (item)
			item->known = table[i].get(f, item->text);
	}
	TRY(add_pci(f, ret));
	end = add_fact(ret, FACT_END);
	if (!end)
		return R_FORMAT_TOO_LARGE;
	strcpy(end->text, FACT_END_TEXT);
	end->known = true;
	return R_OK;
}

/* ---- the report ---------------------------------------------------------------- */

/* Names and values as text in one blob: "name\0value\0" each. */
static enum reason note(struct blob *texts, const char *name, struct bytes raw)
{
	char value[LIMIT_FACT_VALUE + 1];

	if (raw.n == 0)
		return R_OK;
	text_escape(raw, value, sizeof(value));
	TRY(blob_append(texts, name, strlen(name) + 1));
	return blob_append(texts, value, strlen(value) + 1);
}

static enum reason note_text(struct blob *texts, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static enum reason note_text(struct blob *texts, const char *name, const char *format, ...)
{
	char text[LIMIT_FACT_VALUE + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return note(texts, name, bytes_str(text));
}

static enum reason note_smbios(struct blob *texts, const struct smbios *s)
{
	char uuid[SMBIOS_UUID_TEXT];

	TRY(note(texts, "system.serial", s->system_serial));
	if (s->system_uuid.n == 16) {
		smbios_uuid_text(&s->entry, s->system_uuid.p, uuid);
		TRY(note(texts, "system.uuid", bytes_str(uuid)));
	}
	TRY(note(texts, REPORT_BOARD_SERIAL, s->board_serial));
	TRY(note(texts, "chassis.serial", s->chassis_serial));
	if (s->cpu_sockets > 0)
		TRY(note_text(texts, "cpu.sockets", "%u", (unsigned)s->cpu_sockets));
	return R_OK;
}

static enum reason note_all(const struct found *f, struct blob *texts)
{
	const struct watchdog *w = f->watchdog;

	TRY(note(texts, REPORT_COMMAND_LINE, bytes_str(f->command_line)));
	TRY(note_smbios(texts, &f->dmi.info));
	TRY(note(texts, "cpu.name", bytes_str(f->cpu.name)));
	for (size_t i = 0; i < f->nics.count; i++) {
		const struct nic *n = &f->nics.nic[i];

		TRY(note_text(texts, "nic", "%s %s %s", n->name, n->address,
			      n->slot[0] ? n->slot : "-"));
	}
	for (size_t i = 0; i < f->pci.count; i++) {
		const struct pci_device *d = &f->pci.device[i];

		TRY(note_text(texts, "pci.slot", "%s %04x:%04x", d->name, d->header.vendor,
			      d->header.device));
	}
	if (w->fd < 0)
		return note_text(texts, "watchdog", "none");
	return note_text(texts, "watchdog", "%s, %u s", w->name[0] ? w->name : "unnamed",
			 w->timeout);
}

static enum reason write_report(struct bytes texts, struct blob *ret)
{
	_cleanup_free_ struct report *report = calloc(1, sizeof(*report));
	const char *p = (const char *)texts.p, *end = p + texts.n;

	if (!report)
		return R_INTERNAL_MEMORY;
	while (texts.n > 0 && p < end) {
		struct report_fact *fact;

		if (report->fact_count == REPORT_FACTS_MAX)
			return R_FORMAT_TOO_LARGE;
		fact = &report->fact[report->fact_count++];
		fact->name = bytes_str(p);
		p += fact->name.n + 1;
		fact->value = bytes_str(p);
		p += fact->value.n + 1;
	}
	return report_write(report, ret);
}

/* ---- both ---------------------------------------------------------------------- */

/* What cannot be read leaves its facts unavailable; the server judges that. */
static void look(const char *root, struct found *f)
{
	enum reason r = dmi_read(root, &f->dmi);

	if (r != R_OK)
		log_warn("SMBIOS: %s", reason_name(r));
	r = cpu_read(root, &f->cpu);
	if (r != R_OK)
		log_warn("processor: %s", reason_name(r));
	r = sysfs_line(root, COMMAND_LINE, f->command_line, sizeof(f->command_line));
	if (r != R_OK)
		log_warn("command line: %s", reason_name(r));
	r = nics_read(root, &f->nics);
	if (r != R_OK)
		log_warn("network ports: %s", reason_name(r));
	f->secure_boot = secure_boot_read(root);
}

enum reason collect(const struct options *o, const struct config *c,
		    const struct tpm_facts *tpm, const struct watchdog *watchdog,
		    struct fact_list *ret, struct blob *ret_report)
{
	_cleanup_(found_free) struct found *f = calloc(1, sizeof(*f));
	_cleanup_(blob_free) struct blob texts = BLOB(REPORT_TEXTS_MAX);
	enum reason r;

	if (!f)
		return R_INTERNAL_MEMORY;
	f->config = c;
	f->tpm = tpm;
	f->watchdog = watchdog;
	look(o->root, f);
	/* a device that is left out would be a gap that nobody sees */
	r = pci_devices_read(o->root, &f->pci);
	if (r == R_FORMAT_TOO_LARGE)
		return log_reason(r, "more than %u displays and network cards",
				  PCI_DEVICES_MAX);
	if (r != R_OK)
		log_warn("PCI: %s", reason_name(r));
	TRY(fill_facts(f, ret));
	TRY(note_all(f, &texts));
	return write_report(blob_bytes(&texts), ret_report);
}
