/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short text for people about what an event says of itself. Decoding is
 * best effort and separate from replay: data that is not what its type says
 * is shown as bytes. Printable ASCII only.
 */
#include "format/eventlog.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/efipath.h"
#include "format/efivar.h"
#include "format/facts.h"

#define HEX_SHOWN 16u			/* bytes */

static enum reason put(struct blob *b, const char *text)
{
	return blob_append(b, text, strlen(text));
}

static bool is_printable(uint32_t c)
{
	return c >= 0x20 && c <= 0x7e;
}

static enum reason put_char(struct blob *b, uint32_t c)
{
	return blob_u8(b, is_printable(c) ? (uint8_t)c : (uint8_t)'?');
}

static enum reason put_hex(struct blob *b, struct bytes data)
{
	char text[2 * HEX_SHOWN + 1];

	if (data.n == 0)
		return R_OK;
	hex_encode(bytes_of(data.p, data.n < HEX_SHOWN ? data.n : HEX_SHOWN), text);
	TRY(put(b, text));
	return data.n > HEX_SHOWN ? put(b, "...") : R_OK;
}

/* Without the NULs that some firmware counts in. */
static struct bytes strip(struct bytes text)
{
	while (text.n > 0 && text.p[text.n - 1] == 0)
		text.n--;
	return text;
}

static bool is_ascii(struct bytes data)
{
	return data.n > 0 && text_printable(data);
}

static enum reason put_quoted(struct blob *b, struct bytes text)
{
	size_t shown = text.n > EVENTLOG_TEXT_MAX / 2 ? EVENTLOG_TEXT_MAX / 2 : text.n;

	TRY(put(b, "\""));
	TRY(blob_append(b, text.p, shown));
	return put(b, shown < text.n ? "\"..." : "\"");
}

/* UTF-16LE, up to a NUL or the end. */
static enum reason put_utf16(struct blob *b, struct bytes text)
{
	struct cursor c = cursor_of(text);
	uint16_t unit;

	while (cursor_le16(&c, &unit) == R_OK && unit != 0 && b->n < EVENTLOG_TEXT_MAX / 2)
		TRY(put_char(b, unit));
	return R_OK;
}

static bool is_utf16(struct bytes data)
{
	if (data.n < 4 || data.n % 2)
		return false;
	for (size_t i = 0; i < data.n; i += 2)
		if (data.p[i + 1] != 0 || !(is_printable(data.p[i]) || data.p[i] == 0))
			return false;
	return data.p[0] != 0;
}

/* The name of a boot entry and where it leads. */
static enum reason put_option(struct blob *b, struct bytes content)
{
	struct efi_load_option o;

	TRY(efi_load_option_read(content, &o));
	TRY(put(b, " = "));
	TRY(put_utf16(b, o.description));
	TRY(put(b, ", "));
	return efi_path_text(o.paths, b);
}

/* UEFI_VARIABLE_DATA: its name and its value, or the length of that. */
static enum reason put_variable(struct blob *b, struct bytes data)
{
	struct efi_variable v;
	uint16_t number;
	size_t n;
	char text[32];

	TRY(efi_variable_read(data, &v));
	TRY(put_utf16(b, v.name));
	n = b->n;
	if (efi_boot_number(v.name, &number) && put_option(b, v.content) == R_OK)
		return R_OK;
	b->n = n;
	if (v.content.n == 1)
		snprintf(text, sizeof(text), " = %02x", v.content.p[0]);
	else
		snprintf(text, sizeof(text), ", %zu bytes", v.content.n);
	return put(b, text);
}

static enum reason put_image(struct blob *b, struct bytes data)
{
	struct eventlog_image image;

	TRY(eventlog_image_read(data, &image));
	return image.path.n > 0 ? efi_path_text(image.path, b) : R_FORMAT_TYPE;
}

static enum reason put_tag(struct blob *b, struct bytes data)
{
	struct eventlog_tag t;
	enum fact f;
	char text[16];

	TRY(eventlog_tag_read(data, &t));
	if (fact_find(t.tag, &f)) {
		TRY(put(b, fact_name(f)));
	} else {
		snprintf(text, sizeof(text), "tag %08x", t.tag);
		TRY(put(b, text));
	}
	TRY(put(b, " "));
	if (is_ascii(strip(t.value)))
		return put_quoted(b, strip(t.value));
	if (is_utf16(t.value))
		return put_utf16(b, t.value);
	return put_hex(b, t.value);
}

static enum reason put_locality(struct blob *b, struct bytes data)
{
	static const char signature[16] = "StartupLocality";
	char text[32];

	if (data.n != sizeof(signature) + 1 || memcmp(data.p, signature, sizeof(signature)) != 0)
		return R_FORMAT_TYPE;
	snprintf(text, sizeof(text), "StartupLocality %u", data.p[sizeof(signature)]);
	return put(b, text);
}

/* The first words of the structures that begin with a signature. */
static enum reason put_signature(struct blob *b, struct bytes data)
{
	size_t n = 0;

	while (n < data.n && n < 16 && is_printable(data.p[n]))
		n++;
	if (n < 4)
		return R_FORMAT_TYPE;
	TRY(blob_append(b, data.p, n));
	return n < data.n ? put(b, "...") : R_OK;
}

static enum reason put_typed(struct blob *b, const struct event *e)
{
	switch (e->type) {
	case EV_NO_ACTION:
		if (put_locality(b, e->data) == R_OK)
			return R_OK;
		return put_signature(b, e->data);
	case EV_EVENT_TAG:
		return put_tag(b, e->data);
	case EV_EFI_VARIABLE_DRIVER_CONFIG:
	case EV_EFI_VARIABLE_BOOT:
	case EV_EFI_VARIABLE_BOOT2:
	case EV_EFI_VARIABLE_AUTHORITY:
		return put_variable(b, e->data);
	case EV_EFI_BOOT_SERVICES_APPLICATION:
	case EV_EFI_BOOT_SERVICES_DRIVER:
	case EV_EFI_RUNTIME_SERVICES_DRIVER:
		return put_image(b, e->data);
	default:
		return R_FORMAT_TYPE;
	}
}

enum reason eventlog_text(const struct event *e, struct blob *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(EVENTLOG_TEXT_MAX);
	enum reason r = put_typed(&b, e);

	if (r != R_OK) {
		blob_reset(&b);
		if (is_ascii(strip(e->data)))
			r = put_quoted(&b, strip(e->data));
		else if (is_utf16(e->data))
			r = put_utf16(&b, e->data);
		else
			r = put_hex(&b, e->data);
	}
	if (r != R_OK || b.n == 0)
		return r;
	return blob_append(ret, b.p, b.n);
}
