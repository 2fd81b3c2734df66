/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in files, as a site folder has them. */
#ifndef BOOTGATE_CTL_KEYS_H
#define BOOTGATE_CTL_KEYS_H

#include "format/cose.h"

#define CTL_KEY_FILE_MAX 8192u

/* Every NAME.pem of the folder: R_SITE_KEYS for none, too many, or one that is no P-256 key. */
enum reason ctl_keys(const char *folder, struct pinned_keys *ret) must_check;

/* A private key in a file; R_SITE_KEYS when it is none, or has a password. */
enum reason ctl_signer(const char *path, struct cose_signer *ret) must_check;
void ctl_signer_free(struct cose_signer *s);

#endif
