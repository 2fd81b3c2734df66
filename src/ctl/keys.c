/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"

#define KEY_FILE_MAX 8192u

enum reason ctl_keys(const char *folder, struct pinned_keys *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (fd_list(folder, 256, &names) != R_OK) {
		fprintf(stderr, "bootgatectl: %s: not a folder that can be read\n", folder);
		return R_SITE_KEYS;
	}
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(blob_free) struct blob pem = BLOB(KEY_FILE_MAX);
		size_t n = strlen(names.v[i]);
		char path[1024];

		/* Whatever is here gets into the image, whatever it is called. */
		if (n < 4 || strcmp(names.v[i] + n - 4, ".pem") != 0) {
			fprintf(stderr, "bootgatectl: %s/%s: only public keys, *.pem, belong here\n", folder,
				names.v[i]);
			return R_SITE_KEYS;
		}
		if (ret->count == COSE_KEYS_MAX)
			return R_SITE_KEYS;
		struct pinned_key *k = &ret->key[ret->count];
		snprintf(k->name, sizeof(k->name), "%.63s", names.v[i]);
		if (snprintf(path, sizeof(path), "%s/%s", folder, names.v[i]) >= (int)sizeof(path) ||
		    fd_read_named(path, &pem) != R_OK || ec_public_from_pem(blob_bytes(&pem), &k->key) != R_OK ||
		    ec_public_id(&k->key, k->id) != R_OK) {
			fprintf(stderr, "bootgatectl: %s/%s: not a P-256 public key in PEM\n", folder, names.v[i]);
			return R_SITE_KEYS;
		}
		ret->count++;
	}
	return ret->count > 0 ? R_OK : R_SITE_KEYS;
}
