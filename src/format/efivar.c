/* SPDX-License-Identifier: Apache-2.0 */
#include "format/efivar.h"

#include <string.h>

#include "base/cleanup.h"

static const uint8_t global_variable[EFI_GUID_LEN] = {
	0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11,
	0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03, 0x2b, 0x8c,
};
const struct bytes efi_global_variable = { global_variable, sizeof global_variable };
static const uint8_t image_security[EFI_GUID_LEN] = {
	0xcb, 0xb2, 0x19, 0xd7, 0x3a, 0x3d, 0x96, 0x45,
	0xa3, 0xbc, 0xda, 0xd0, 0x0e, 0x67, 0x65, 0x6f,
};
const struct bytes efi_image_security = { image_security, sizeof image_security };

enum reason efi_variable_read(struct bytes data, struct efi_variable *ret)
{
	struct cursor c = cursor_of(data);
	struct efi_variable v;
	uint64_t name_units;
	uint64_t content_len;

	TRY(cursor_take(&c, EFI_GUID_LEN, &v.guid));
	TRY(cursor_le64(&c, &name_units));
	TRY(cursor_le64(&c, &content_len));
	/* Both are checked before they are multiplied or narrowed. */
	if (name_units > c.n / 2 || content_len > c.n)
		return R_FORMAT_TRUNCATED;
	TRY(cursor_take(&c, (size_t)name_units * 2, &v.name));
	TRY(cursor_take(&c, (size_t)content_len, &v.content));
	TRY(cursor_end(&c));
	*ret = v;
	return R_OK;
}

enum reason efi_variable_write(const struct efi_variable *v, struct blob *ret)
{
	if (v->guid.n != EFI_GUID_LEN || v->name.n % 2)
		return R_FORMAT_RANGE;
	TRY(blob_append(ret, v->guid.p, v->guid.n));
	TRY(blob_le64(ret, v->name.n / 2));
	TRY(blob_le64(ret, v->content.n));
	TRY(blob_append(ret, v->name.p, v->name.n));
	return blob_append(ret, v->content.p, v->content.n);
}

bool utf16_is(struct bytes text, const char *ascii)
{
	size_t n = strlen(ascii);

	if (text.n != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (text.p[2 * i] != (uint8_t)ascii[i] || text.p[2 * i + 1] != 0)
			return false;
	return true;
}

bool efi_boot_number(struct bytes name, uint16_t *ret)
{
	unsigned number = 0;

	if (name.n != 16 || !utf16_is(bytes_of(name.p, 8), "Boot"))
		return false;
	for (size_t i = 4; i < 8; i++) {
		uint8_t c = name.p[2 * i];
		unsigned digit;

		if (name.p[2 * i + 1] != 0)
			return false;
		if (c >= '0' && c <= '9')
			digit = (unsigned)c - '0';
		else if (c >= 'A' && c <= 'F')
			digit = (unsigned)c - 'A' + 10;
		else
			return false;
		number = number << 4 | digit;
	}
	*ret = (uint16_t)number;
	return true;
}

/* Types and sub-types of device path nodes. */
#define NODE_MESSAGING 3u
#define NODE_MEDIA 4u
#define NODE_END 0x7fu
#define END_WHOLE 0xffu

#define MESSAGING_ATAPI 1u
#define MESSAGING_SCSI 2u
#define MESSAGING_USB 5u
#define MESSAGING_MAC 11u
#define MESSAGING_USB_WWID 16u
#define MESSAGING_SATA 18u
#define MESSAGING_SAS_EX 22u
#define MESSAGING_NVME 23u
#define MEDIA_HARD_DRIVE 1u
#define MEDIA_CDROM 2u
#define MEDIA_FV_FILE 6u
#define MEDIA_FV 7u

static void note_node(uint8_t type, uint8_t sub, struct efi_path *path)
{
	path->nodes++;
	if (type == NODE_MEDIA) {
		path->unit |= sub == MEDIA_HARD_DRIVE || sub == MEDIA_CDROM;
		path->firmware |= sub == MEDIA_FV_FILE || sub == MEDIA_FV;
		return;
	}
	if (type != NODE_MESSAGING)
		return;
	switch (sub) {
	case MESSAGING_MAC:
		path->mac = true;
		break;
	case MESSAGING_ATAPI:
	case MESSAGING_SCSI:
	case MESSAGING_USB:
	case MESSAGING_USB_WWID:
	case MESSAGING_SATA:
	case MESSAGING_SAS_EX:
	case MESSAGING_NVME:
		path->unit = true;
		break;
	default:
		break;
	}
}

/* One whole device path: its nodes, up to the end node. */
static enum reason path_read(struct cursor *c, struct efi_path *ret)
{
	*ret = (struct efi_path){ 0 };
	for (;;) {
		uint8_t type;
		uint8_t sub;
		uint16_t len;
		struct bytes rest;

		TRY(cursor_u8(c, &type));
		TRY(cursor_u8(c, &sub));
		TRY(cursor_le16(c, &len));
		if (len < 4)
			return R_FORMAT_RANGE;
		TRY(cursor_take(c, len - 4u, &rest));
		if (type == NODE_END && sub == END_WHOLE)
			return rest.n == 0 ? R_OK : R_FORMAT_RANGE;
		note_node(type, sub, ret);
	}
}

static enum reason description_read(struct cursor *c, struct bytes *ret)
{
	struct bytes text = { c->p, 0 };
	uint16_t unit;

	for (;;) {
		TRY(cursor_le16(c, &unit));
		if (unit == 0)
			break;
		text.n += 2;
	}
	*ret = text;
	return R_OK;
}

enum reason efi_load_option_read(struct bytes content, struct efi_load_option *ret)
{
	struct cursor c = cursor_of(content);
	struct cursor paths;
	struct efi_load_option o;
	struct efi_path further;
	struct bytes list;
	uint16_t list_len;

	TRY(cursor_le32(&c, &o.attributes));
	TRY(cursor_le16(&c, &list_len));
	TRY(description_read(&c, &o.description));
	TRY(cursor_take(&c, list_len, &list));
	o.optional = bytes_of(c.p, c.n);
	o.paths = list;
	paths = cursor_of(list);
	TRY(path_read(&paths, &o.path));
	while (paths.n > 0)
		TRY(path_read(&paths, &further));
	*ret = o;
	return R_OK;
}
