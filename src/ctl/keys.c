/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

enum reason ctl_keys(const char *folder, struct pinned_keys *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };

	memset(ret, 0, sizeof(*ret));
	enum reason r = fd_list(folder, 256, &names);
	if (r != R_OK)
		return r == R_FILE ? ctl_file_error(folder) : r;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(blob_free) struct blob pem = BLOB(CTL_KEY_FILE_MAX);
		size_t n = strlen(names.v[i]);
		char path[1024], shown[CTL_SHOWN_MAX];

		/* Whatever is here gets into the image, whatever it is called. */
		if (n < 4 || strcmp(names.v[i] + n - 4, ".pem") != 0 ||
		    strspn(names.v[i], NAME_CHARACTERS) != n) {
			fprintf(stderr, "bootgatectl: %s/%s: only public keys, *.pem, belong here\n", folder,
				ctl_shown(names.v[i], shown));
			return R_SITE_KEYS;
		}
		if (ret->count == COSE_KEYS_MAX) {
			fprintf(stderr, "bootgatectl: %s: more than %u keys\n", folder, COSE_KEYS_MAX);
			return R_SITE_KEYS;
		}
		struct pinned_key *k = &ret->key[ret->count];
		snprintf(k->name, sizeof(k->name), "%.63s", names.v[i]);
		TRY(ctl_path(folder, names.v[i], path, sizeof(path)));
		r = ctl_read_file(path, CTL_KEY_FILE_MAX, &pem);
		if (r != R_OK && r != R_FORMAT_TOO_LARGE)
			return r;
		if (r != R_OK || ec_public_from_pem(blob_bytes(&pem), &k->key) != R_OK ||
		    ec_public_id(&k->key, k->id) != R_OK) {
			fprintf(stderr, "bootgatectl: %s: not a P-256 public key in PEM\n", path);
			return R_SITE_KEYS;
		}
		ret->count++;
	}
	if (ret->count > 0)
		return R_OK;
	fprintf(stderr, "bootgatectl: %s: no key in it\n", folder);
	return R_SITE_KEYS;
}

static enum reason sign_digest(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	return es256_sign(ctx, digest, ret);
}

enum reason ctl_signer(const char *path, struct cose_signer *ret)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(CTL_KEY_FILE_MAX);
	struct ec_public public_key;

	TRY(ctl_read_file(path, CTL_KEY_FILE_MAX, &pem));
	if (private_key_from_pem(blob_bytes(&pem), &key) != R_OK) {
		fprintf(stderr, "bootgatectl: %s: not a P-256 private key in PEM\n", path);
		return R_SITE_KEYS;
	}
	TRY(private_key_public(key, &public_key));
	TRY(ec_public_id(&public_key, ret->id));
	ret->sign = sign_digest;
	ret->ctx = take_ptr(key);
	return R_OK;
}

void ctl_signer_free(struct cose_signer *s)
{
	struct private_key *key = s->ctx;

	private_key_free(&key);
}
