/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signature lists of UEFI (EFI_SIGNATURE_LIST, specification section 32.4.1):
 * the content of PK, KEK, db, dbx and their kind.
 */
#ifndef BOOTGATE_FORMAT_EFISIG_H
#define BOOTGATE_FORMAT_EFISIG_H

#include "base/bytes.h"

enum efi_signature_kind { EFI_SIGNATURE_SHA256, EFI_SIGNATURE_X509, EFI_SIGNATURE_OTHER };

struct efi_signature {
	enum efi_signature_kind kind;
	struct bytes type;		/* GUID of the list that it stands in */
	struct bytes owner;		/* GUID */
	struct bytes data;
};

/* Lists one behind the other, signature by signature. */
struct efi_signatures {
	struct cursor lists;
	struct cursor list;		/* rest of the list that is open */
	struct bytes type;
	uint32_t size;			/* of one signature of it, with its owner */
};
void efi_signatures_open(struct bytes content, struct efi_signatures *ret);
/*
 * The next signature. R_LOG_END after the last; R_FORMAT_TRUNCATED,
 * R_FORMAT_RANGE (sizes that do not fit each other).
 */
enum reason efi_signatures_next(struct efi_signatures *s, struct efi_signature *ret) must_check;

#endif
