/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in files, as a site folder has them. */
#ifndef BOOTGATE_CTL_KEYS_H
#define BOOTGATE_CTL_KEYS_H

#include "format/cose.h"

/* Every NAME.pem of the folder: R_SITE_KEYS for none, too many, or one that is no P-256 key. */
enum reason ctl_keys(const char *folder, struct pinned_keys *ret) must_check;

#endif
