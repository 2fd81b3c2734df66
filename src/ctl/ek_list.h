/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of endorsement keys, as vendors and operators write them. */
#ifndef BOOTGATE_CTL_EK_LIST_H
#define BOOTGATE_CTL_EK_LIST_H

#include <jansson.h>

#include "base/bytes.h"

/*
 * CSV with a header line, or a JSON array of objects (told by its `[`), with
 * the columns ek_cert_sha256, ek_spki_sha256, ek_name, label, group in any
 * order. `text` ends with a NUL, n counts it, and is written over.
 *
 * ret_good: what the server takes, `line` of each is that of the file, or the
 * number of the element. ret_bad: {line, result, reason, detail} each. A file
 * whose head or structure is not one of a list is refused as a whole.
 */
enum reason ek_list_read(char *text, size_t n, json_t *ret_good, json_t *ret_bad) must_check;

#endif
