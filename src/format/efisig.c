/* SPDX-License-Identifier: Apache-2.0 */
#include "format/efisig.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/efivar.h"

#define LIST_HEAD (EFI_GUID_LEN + 12u)

/* c1c41626-504c-4092-aca9-41f936934328, a5c059a1-94e4-4aa7-87b5-ab155c2bf072 */
static const uint8_t type_sha256[EFI_GUID_LEN] = {
	0x26, 0x16, 0xc4, 0xc1, 0x4c, 0x50, 0x92, 0x40,
	0xac, 0xa9, 0x41, 0xf9, 0x36, 0x93, 0x43, 0x28,
};
static const uint8_t type_x509[EFI_GUID_LEN] = {
	0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a,
	0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72,
};

void efi_signatures_open(struct bytes content, struct efi_signatures *ret)
{
	*ret = (struct efi_signatures){ .lists = cursor_of(content) };
}

/*
 * The header in front of the signatures is skipped by its size: who takes it
 * for a signature trusts what nobody signed.
 */
static enum reason open_list(struct efi_signatures *s)
{
	struct bytes header;
	struct bytes body;
	uint32_t list_size;
	uint32_t header_size;

	TRY(cursor_take(&s->lists, EFI_GUID_LEN, &s->type));
	TRY(cursor_le32(&s->lists, &list_size));
	TRY(cursor_le32(&s->lists, &header_size));
	TRY(cursor_le32(&s->lists, &s->size));
	if (list_size < LIST_HEAD || s->size <= EFI_GUID_LEN)
		return R_FORMAT_RANGE;
	TRY(cursor_take(&s->lists, list_size - LIST_HEAD, &body));
	s->list = cursor_of(body);
	if (header_size > body.n || (body.n - header_size) % s->size != 0)
		return R_FORMAT_RANGE;
	return cursor_take(&s->list, header_size, &header);
}

enum reason efi_signatures_next(struct efi_signatures *s, struct efi_signature *ret)
{
	while (s->list.n == 0) {
		if (s->lists.n == 0)
			return R_LOG_END;
		TRY(open_list(s));
	}
	*ret = (struct efi_signature){ .kind = EFI_SIGNATURE_OTHER, .type = s->type };
	if (bytes_equal(s->type, BYTES(type_sha256)) && s->size == EFI_GUID_LEN + 32)
		ret->kind = EFI_SIGNATURE_SHA256;
	else if (bytes_equal(s->type, BYTES(type_x509)))
		ret->kind = EFI_SIGNATURE_X509;
	TRY(cursor_take(&s->list, EFI_GUID_LEN, &ret->owner));
	return cursor_take(&s->list, s->size - EFI_GUID_LEN, &ret->data);
}
