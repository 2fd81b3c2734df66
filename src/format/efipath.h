/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device paths as text (UEFI specification, section 10): the nodes that
 * machines boot by have names, others are shown as type, sub-type and bytes.
 * One element a node, joined by `/`, printable ASCII.
 */
#ifndef BOOTGATE_FORMAT_EFIPATH_H
#define BOOTGATE_FORMAT_EFIPATH_H

#include "base/bytes.h"

#define EFI_PATH_TEXT_MAX 1024u		/* more is cut, and ends in "..." */
#define EFI_GUID_TEXT_MAX 37u

/*
 * Appends the text of the path. R_FORMAT_TRUNCATED and R_FORMAT_RANGE where
 * it does not end as it should; the nodes in front of that are there.
 */
enum reason efi_path_text(struct bytes path, struct blob *ret) must_check;
/* 16 bytes of a GUID in the order of a log, as people write it. */
void efi_guid_text(struct bytes guid, char ret[EFI_GUID_TEXT_MAX]);

#endif
