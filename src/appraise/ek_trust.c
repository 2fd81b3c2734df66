/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/ek_trust.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* The link that gave the path its reason. */
static void tell_path(const struct cert_path *p, enum reason r, char *ret, size_t n)
{
	for (size_t i = 0; i < CERT_PATH_MAX; i++) {
		const struct cert_link *l = &p->link[i];

		if (l->reason != r)
			continue;
		(void)snprintf(ret, n, "%s: %.110s", i == 0 ? "EK certificate" : l->info.subject,
			       l->fault);
		return;
	}
}

static void judge_firmware(const struct ek_trust_basis *basis, struct ek_judgement *ret)
{
	const struct cert_info *leaf = &ret->path.link[0].info;
	uint64_t version = basis->firmware;
	char text[16];
	enum reason r;

	if (!leaf->has_tpm ||
	    (!basis->firmware_known && !ek_firmware_version(leaf->version, &version)))
		return;
	r = ek_firmware_judge(leaf->manufacturer, version, &basis->exceptions, basis->now,
			      &ret->firmware);
	/* Goes before a missing CA: a list of EKs makes up for that, not for this. */
	if (!basis->firmware_known || r == R_OK || ret->reason == R_EK_REVOKED)
		return;
	ek_firmware_text(version, text, sizeof(text));
	ret->reason = r;
	(void)snprintf(ret->detail, sizeof(ret->detail), "firmware %s: %s, see %s", text,
		       ret->firmware.name, ret->firmware.source);
}

enum reason ek_trust_judge(const struct cert *c, const struct ek_trust_basis *basis,
			   struct ek_judgement *ret)
{
	enum reason r;

	memset(ret, 0, sizeof(*ret));
	r = cert_judge(basis->cas, basis->sent, c, basis->now, &ret->path);
	if (reason_class(r) == REASON_BROKEN)
		return r;
	ret->reason = r;
	if (r != R_OK)
		tell_path(&ret->path, r, ret->detail, sizeof(ret->detail));
	judge_firmware(basis, ret);
	return R_OK;
}

/* No text has a NUL in it: what ends where cannot be mistaken. */
enum reason ek_origin(const uint8_t anchor[SHA256_LEN], const char *manufacturer, const char *model,
		      uint8_t ret[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob b = BLOB(256);

	TRY(blob_append(&b, anchor, SHA256_LEN));
	TRY(blob_append(&b, manufacturer, strlen(manufacturer) + 1));
	TRY(blob_append(&b, model, strlen(model) + 1));
	return sha256(blob_bytes(&b), ret);
}

enum reason ek_origin_of(const struct cert_path *p, uint8_t ret[SHA256_LEN], bool *ret_has)
{
	const struct cert_info *leaf = &p->link[0].info;
	char manufacturer[EK_MANUFACTURER_MAX];

	*ret_has = p->count > 1 && leaf->has_tpm;
	if (!*ret_has)
		return R_OK;
	ek_manufacturer_text(leaf->manufacturer, manufacturer);
	return ek_origin(p->link[p->count - 1].info.digest, manufacturer, leaf->model, ret);
}
