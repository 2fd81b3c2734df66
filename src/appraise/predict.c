/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/predict.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/eventlog.h"
#include "format/pe.h"

#define STUB "#### LoaderInfo: systemd-stub 252."	/* Debian 12; content of .sdmagic */
#define COMMAND_LINE_MAX 4096u

const uint16_t predict_bank[PREDICT_BANKS] = { ALG_SHA1, ALG_SHA256, ALG_SHA384 };

/* What this stub measures, in its order. */
static const char *const measured[] = { ".linux", ".osrel", ".cmdline", ".initrd" };
/* What it would measure too, or hand to the kernel inside another initrd. */
static const char *const not_known[] = { ".splash", ".dtb", ".pcrsig", ".pcrpkey" };

static struct predicted_event *next(struct prediction *p, enum component component, uint8_t pcr,
				    uint32_t type, const char *text)
{
	struct predicted_event *e = &p->event[p->count++];

	*e = (struct predicted_event){ .component = component, .pcr = pcr, .type = type, .text = text };
	return e;
}

static enum reason add(struct prediction *p, enum component component, uint8_t pcr, uint32_t type,
		       const char *text, struct bytes content)
{
	struct predicted_event *e = next(p, component, pcr, type, text);

	for (size_t i = 0; i < PREDICT_BANKS; i++)
		TRY(digest_of(predict_bank[i], &content, 1, e->digest[i]));
	return R_OK;
}

static enum reason add_application(struct prediction *p, const char *text, const struct pe *pe)
{
	struct predicted_event *e = next(p, COMPONENT_GATE, 4, EV_EFI_BOOT_SERVICES_APPLICATION, text);

	for (size_t i = 0; i < PREDICT_BANKS; i++)
		TRY(pe_digest(pe, predict_bank[i], e->digest[i]));
	return R_OK;
}

static enum reason content_of(const struct pe *pe, const char *name, struct bytes *ret)
{
	const struct pe_section *s = pe_find(pe, name);

	return s ? pe_content(s, ret) : R_FORMAT_MISSING_KEY;
}

static enum reason stub_check(const struct pe *pe)
{
	struct bytes magic;
	size_t n = strlen(STUB);

	TRY(content_of(pe, ".sdmagic", &magic));
	if (magic.n < n || memcmp(magic.p, STUB, n) != 0)
		return R_FORMAT_VERSION;
	for (size_t i = 0; i < ARRAY_LEN(not_known); i++) {
		if (pe_find(pe, not_known[i]))
			return R_FORMAT_UNKNOWN_KEY;
	}
	return R_OK;
}

/* Each section is measured twice: its name with the NUL, then its content. */
static enum reason add_sections(struct prediction *p, const struct pe *pe)
{
	for (size_t i = 0; i < ARRAY_LEN(measured); i++) {
		struct bytes content;

		TRY(content_of(pe, measured[i], &content));
		TRY(add(p, COMPONENT_GATE, 11, EV_IPL, measured[i],
			bytes_of(measured[i], strlen(measured[i]) + 1)));
		TRY(add(p, COMPONENT_GATE, 11, EV_IPL, measured[i], content));
	}
	return R_OK;
}

/* Load options are UTF-16 with a NUL. The stub would alter what is not plain text. */
static enum reason options_write(struct bytes text, struct blob *ret)
{
	if (text.n == 0)
		return R_FORMAT_TEXT;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < 0x20 || text.p[i] > 0x7e)
			return R_FORMAT_TEXT;
		TRY(blob_le16(ret, text.p[i]));
	}
	if (text.p[0] == ' ' || text.p[text.n - 1] == ' ')
		return R_FORMAT_TEXT;
	return blob_le16(ret, 0);
}

static enum reason predict(struct bytes image, const char *ipxe, struct prediction *p)
{
	_cleanup_(blob_free) struct blob options = BLOB(2ul * (COMMAND_LINE_MAX + 1));
	struct bytes linux_image, cmdline, initrd;
	struct pe whole, kernel;

	TRY(pe_read(image, &whole));
	TRY(stub_check(&whole));
	TRY(content_of(&whole, ".linux", &linux_image));
	TRY(content_of(&whole, ".cmdline", &cmdline));
	TRY(content_of(&whole, ".initrd", &initrd));
	TRY(pe_read(linux_image, &kernel));
	TRY(options_write(ipxe ? bytes_str(ipxe) : cmdline, &options));
	/* iPXE lets firmware load the image once to see what it is, and again to start it. */
	if (ipxe)
		TRY(add_application(p, "gate image, tried", &whole));
	TRY(add_application(p, "gate image", &whole));
	TRY(add_sections(p, &whole));
	if (ipxe)
		TRY(add(p, COMPONENT_COMMAND_LINE, 12, EV_IPL, "file name from iPXE", blob_bytes(&options)));
	TRY(add_application(p, "kernel in the gate image", &kernel));
	TRY(add(p, COMPONENT_COMMAND_LINE, 9, EV_EVENT_TAG, "LOADED_IMAGE::LoadOptions", blob_bytes(&options)));
	return add(p, COMPONENT_GATE, 9, EV_EVENT_TAG, "Linux initrd", initrd);
}

enum reason predict_image(struct bytes image, const char *ipxe, struct prediction *ret)
{
	struct prediction p = { 0 };

	TRY(predict(image, ipxe, &p));
	*ret = p;
	return R_OK;
}
