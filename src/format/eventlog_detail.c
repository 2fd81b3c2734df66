/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that an event says of itself, for people: lines `name: value`. Best
 * effort and separate from replay; what cannot be decoded ends the lines with
 * one that says so.
 */
#include "format/eventlog.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/efipath.h"
#include "format/efisig.h"
#include "format/efivar.h"

#define LINE_MAX_LEN 1200u
#define HEX_SHOWN 64u			/* bytes */

__attribute__((format(printf, 3, 4)))
static enum reason line(struct blob *b, const char *name, const char *format, ...)
{
	char text[LINE_MAX_LEN];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (n < 0)
		return R_INTERNAL_MEMORY;
	for (char *p = text; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
	TRY(blob_append(b, name, strlen(name)));
	TRY(blob_append(b, ": ", 2));
	TRY(blob_append(b, text, strlen(text)));
	return blob_append(b, "\n", 1);
}

static enum reason hex_line(struct blob *b, const char *name, struct bytes data)
{
	char hex[2 * HEX_SHOWN + 1] = "";

	hex_encode(bytes_of(data.p, data.n < HEX_SHOWN ? data.n : HEX_SHOWN), hex);
	return line(b, name, "%s%s", data.n ? hex : "none", data.n > HEX_SHOWN ? "..." : "");
}

static enum reason guid_line(struct blob *b, const char *name, struct bytes guid)
{
	char text[EFI_GUID_TEXT_MAX];

	efi_guid_text(guid, text);
	return line(b, name, "%s", text);
}

static enum reason wide_line(struct blob *b, const char *name, struct bytes wide)
{
	char text[256];
	size_t n = 0;

	for (size_t i = 0; i + 1 < wide.n && n < sizeof text - 1; i += 2) {
		if (wide.p[i] == 0 && wide.p[i + 1] == 0)
			break;
		text[n] = '?';
		if (wide.p[i + 1] == 0)
			text[n] = (char)wide.p[i];
		n++;
	}
	text[n] = '\0';
	return line(b, name, "%s", text);
}

static enum reason path_line(struct blob *b, struct bytes path)
{
	_cleanup_(blob_free) struct blob text = BLOB(EFI_PATH_TEXT_MAX + 8);
	enum reason r = efi_path_text(path, &text);

	TRY(line(b, "path", "%.*s", (int)text.n, text.n ? (const char *)text.p : ""));
	return r;
}

/* ---- variables ------------------------------------------------------------------ */

static enum reason signature_line(struct blob *b, const struct efi_signature *s)
{
	uint8_t digest[DIGEST_MAX];
	char hex[2 * SHA256_LEN + 1];
	char kind[EFI_GUID_TEXT_MAX] = "certificate";

	if (s->kind == EFI_SIGNATURE_SHA256) {
		hex_encode(s->data, hex);
		return line(b, "sha256", "%s", hex);
	}
	TRY(sha256(s->data, digest));
	hex_encode(bytes_of(digest, SHA256_LEN), hex);
	if (s->kind == EFI_SIGNATURE_OTHER)
		efi_guid_text(s->type, kind);
	return line(b, kind, "%zu bytes, sha256 %s", s->data.n, hex);
}

static enum reason signature_lines(struct blob *b, struct bytes content)
{
	struct efi_signatures list;
	struct efi_signature s;
	enum reason r;

	efi_signatures_open(content, &list);
	while ((r = efi_signatures_next(&list, &s)) == R_OK)
		TRY(signature_line(b, &s));
	return r == R_LOG_END ? R_OK : r;
}

static enum reason option_lines(struct blob *b, struct bytes content)
{
	struct efi_load_option o;

	TRY(efi_load_option_read(content, &o));
	TRY(line(b, "attributes", "%08x", o.attributes));
	TRY(wide_line(b, "description", o.description));
	TRY(path_line(b, o.paths));
	return hex_line(b, "optional data", o.optional);
}

static enum reason order_line(struct blob *b, struct bytes content)
{
	char text[6 * 64 + 1] = "";

	for (size_t i = 0; i + 1 < content.n && i < 128; i += 2)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%04X", i ? " " : "",
			 (unsigned)(content.p[i] | content.p[i + 1] << 8));
	return line(b, "order", "%s%s", text, content.n > 128 ? " ..." : "");
}

static bool holds_signatures(struct bytes name)
{
	static const char *const names[] = { "PK", "KEK", "db", "dbx", "dbt", "dbr", "devdb" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (utf16_is(name, names[i]))
			return true;
	return false;
}

static enum reason variable_lines(struct blob *b, const struct event *e)
{
	struct efi_variable v;
	uint16_t number;

	TRY(efi_variable_read(e->data, &v));
	TRY(wide_line(b, "variable", v.name));
	TRY(guid_line(b, "vendor", v.guid));
	TRY(line(b, "content", "%zu bytes", v.content.n));
	if (e->type == EV_EFI_VARIABLE_AUTHORITY || e->type == EV_EFI_SPDM_DEVICE_AUTHORITY) {
		struct efi_signature s = { .kind = EFI_SIGNATURE_X509 };

		if (v.content.n <= EFI_GUID_LEN)
			return hex_line(b, "value", v.content);
		s.data = bytes_of(v.content.p + EFI_GUID_LEN, v.content.n - EFI_GUID_LEN);
		TRY(guid_line(b, "owner", bytes_of(v.content.p, EFI_GUID_LEN)));
		return signature_line(b, &s);
	}
	if (holds_signatures(v.name))
		return signature_lines(b, v.content);
	if (utf16_is(v.name, "BootOrder"))
		return order_line(b, v.content);
	if (efi_boot_number(v.name, &number))
		return option_lines(b, v.content);
	return hex_line(b, "value", v.content);
}

/* ---- images, blobs, partitions ------------------------------------------------------- */

enum reason eventlog_image_read(struct bytes data, struct eventlog_image *ret)
{
	struct cursor c = cursor_of(data);
	uint64_t address, link, path_size;
	struct eventlog_image image;

	TRY(cursor_le64(&c, &address));
	TRY(cursor_le64(&c, &image.size));
	TRY(cursor_le64(&c, &link));
	TRY(cursor_le64(&c, &path_size));
	if (path_size > c.n)
		return R_FORMAT_TRUNCATED;
	TRY(cursor_take(&c, (size_t)path_size, &image.path));
	*ret = image;
	return R_OK;
}

static enum reason image_lines(struct blob *b, const struct event *e)
{
	struct eventlog_image image;

	TRY(eventlog_image_read(e->data, &image));
	TRY(line(b, "image", "%llu bytes in memory", (unsigned long long)image.size));
	return image.path.n > 0 ? path_line(b, image.path) : R_OK;
}

static enum reason blob_lines(struct blob *b, const struct event *e)
{
	struct cursor c = cursor_of(e->data);
	uint64_t base, size;

	if (e->type == EV_EFI_PLATFORM_FIRMWARE_BLOB2) {
		struct bytes text;
		uint8_t n;

		TRY(cursor_u8(&c, &n));
		TRY(cursor_take(&c, n, &text));
		TRY(line(b, "description", "%.*s", (int)text.n,
			 text.n ? (const char *)text.p : ""));
	}
	TRY(cursor_le64(&c, &base));
	TRY(cursor_le64(&c, &size));
	return line(b, "memory", "0x%llx, %llu bytes", (unsigned long long)base,
		    (unsigned long long)size);
}

#define GPT_HEADER 92u
#define GPT_ENTRY 128u

/* UEFI_GPT_DATA: the header of the disk, a number, partitions. */
static enum reason gpt_lines(struct blob *b, const struct event *e)
{
	struct cursor c = cursor_of(e->data);
	struct bytes header, entry;
	uint64_t count, first, last;

	TRY(cursor_take(&c, GPT_HEADER, &header));
	TRY(guid_line(b, "disk", bytes_of(header.p + 56, EFI_GUID_LEN)));
	TRY(cursor_le64(&c, &count));
	while (count-- > 0) {
		struct cursor at;

		TRY(cursor_take(&c, GPT_ENTRY, &entry));
		TRY(guid_line(b, "partition", bytes_of(entry.p + EFI_GUID_LEN, EFI_GUID_LEN)));
		TRY(guid_line(b, "partition type", bytes_of(entry.p, EFI_GUID_LEN)));
		at = cursor_of(bytes_of(entry.p + 32, 16));
		TRY(cursor_le64(&at, &first));
		TRY(cursor_le64(&at, &last));
		TRY(line(b, "blocks", "%llu to %llu", (unsigned long long)first,
			 (unsigned long long)last));
		TRY(wide_line(b, "partition name", bytes_of(entry.p + 56, GPT_ENTRY - 56)));
	}
	return R_OK;
}

/* ---- devices, by SPDM -------------------------------------------------------------------- */

/* TCG_DEVICE_SECURITY_EVENT_DATA, with a header of version 1 or 2. */
static enum reason spdm_lines(struct blob *b, const struct event *e)
{
	struct cursor c = cursor_of(e->data);
	struct bytes signature, rest;
	uint16_t version, short_length;
	uint32_t length, device_type;

	TRY(cursor_take(&c, 16, &signature));
	TRY(cursor_le16(&c, &version));
	TRY(line(b, "version", "%u", version));
	if (memcmp(signature.p, "SPDM Device Sec2", 16) == 0) {
		uint8_t auth_state;
		uint8_t reserved;
		struct bytes sub;

		TRY(cursor_u8(&c, &auth_state));
		TRY(cursor_u8(&c, &reserved));
		TRY(cursor_le32(&c, &length));
		TRY(cursor_le32(&c, &device_type));
		TRY(line(b, "authentication", "%s", auth_state == 0 ? "success" : "not done or failed"));
		/* sub-header: type, length, identifier */
		TRY(cursor_take(&c, 16, &sub));
		rest = bytes_of(c.p, c.n);
	} else if (memcmp(signature.p, "SPDM Device Sec", 16) == 0) {
		uint32_t hash;

		TRY(cursor_le16(&c, &short_length));
		length = short_length;
		TRY(cursor_le32(&c, &hash));
		TRY(cursor_le32(&c, &device_type));
		TRY(line(b, "hash", "0x%x", hash));
		rest = bytes_of(c.p, c.n);
	} else {
		return R_FORMAT_TYPE;
	}
	TRY(line(b, "length", "%u", length));
	TRY(line(b, "device", "%s", device_type == 1 ? "PCI" : device_type == 2 ? "USB" : "none"));
	return hex_line(b, "measurement", rest);
}

/* ---- the rest --------------------------------------------------------------------------- */

static enum reason tag_lines(struct blob *b, const struct event *e)
{
	struct eventlog_tag t;

	TRY(eventlog_tag_read(e->data, &t));
	TRY(line(b, "tag", "%08x", t.tag));
	return hex_line(b, "value", t.value);
}

static enum reason lines(struct blob *b, const struct event *e)
{
	switch (e->type) {
	case EV_EVENT_TAG:
		return tag_lines(b, e);
	case EV_EFI_VARIABLE_DRIVER_CONFIG:
	case EV_EFI_VARIABLE_BOOT:
	case EV_EFI_VARIABLE_BOOT2:
	case EV_EFI_VARIABLE_AUTHORITY:
	case EV_EFI_SPDM_DEVICE_POLICY:
	case EV_EFI_SPDM_DEVICE_AUTHORITY:
		return variable_lines(b, e);
	case EV_EFI_BOOT_SERVICES_APPLICATION:
	case EV_EFI_BOOT_SERVICES_DRIVER:
	case EV_EFI_RUNTIME_SERVICES_DRIVER:
		return image_lines(b, e);
	case EV_EFI_PLATFORM_FIRMWARE_BLOB:
	case EV_EFI_PLATFORM_FIRMWARE_BLOB2:
		return blob_lines(b, e);
	case EV_EFI_GPT_EVENT:
		return gpt_lines(b, e);
	case EV_EFI_SPDM_FIRMWARE_BLOB:
	case EV_EFI_SPDM_FIRMWARE_CONFIG:
		return spdm_lines(b, e);
	default:
		return R_OK;
	}
}

enum reason eventlog_details(const struct event *e, struct blob *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(EVENTLOG_DETAILS_MAX);
	enum reason r = lines(&b, e);

	if (r != R_OK && reason_class(r) == REASON_BROKEN && r != R_INTERNAL_TOO_LARGE)
		return r;
	if (b.n > 0)
		TRY(blob_append(ret, b.p, b.n));
	return r == R_OK ? R_OK : line(ret, "not decoded", "%s", reason_name(r));
}
