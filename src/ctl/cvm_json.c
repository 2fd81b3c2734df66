/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/cvm.h"

json_t *cvm_hex(struct bytes in)
{
	_cleanup_free_ char *text = malloc(2 * in.n + 1);

	if (!text)
		return NULL;
	hex_encode(in, text);
	return json_string(text);
}

json_t *cvm_text(struct bytes in)
{
	size_t n = 4 * in.n + 1;
	_cleanup_free_ char *text = malloc(n);

	if (!text)
		return NULL;
	(void)text_escape(in, text, n);
	return json_string(text);
}

json_t *cvm_time(int64_t seconds)
{
	char text[32];
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return json_null();
	return json_string(text);
}

json_t *cvm_path(const struct chain_path *path)
{
	static const char *const revocation[] = {
		[CHAIN_REVOCATION_UNKNOWN] = "unknown",
		[CHAIN_REVOCATION_STALE] = "stale",
		[CHAIN_REVOCATION_GOOD] = "good",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < path->count; i++) {
		const struct chain_cert *c = path->cert[i];
		json_t *j = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "subject", c->subject, "issuer",
				      c->issuer, "serial", c->serial, "not_before", cvm_time(c->not_before),
				      "not_after", cvm_time(c->not_after), "sha256", cvm_hex(BYTES(c->digest)),
				      "spki_sha256", cvm_hex(BYTES(c->spki)));

		/* the root has no list above it */
		if (i + 1 < path->count)
			json_object_set_new(j, "revocation", json_string(revocation[path->revocation[i]]));
		json_array_append_new(list, j);
	}
	return list;
}
