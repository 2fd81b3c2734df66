/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ek_text.h"

#include <stdio.h>

#include "appraise/ek_firmware.h"
#include "base/text.h"

void ek_tpm_text(const struct cert_info *i, char *ret, size_t n)
{
	const char *vendor = ek_vendor_name(i->manufacturer);
	char id[EK_MANUFACTURER_MAX], version[16] = "?";
	uint64_t firmware;

	if (!i->has_tpm) {
		snprintf(ret, n, "not named");
		return;
	}
	ek_manufacturer_text(i->manufacturer, id);
	if (ek_firmware_version(i->version, &firmware))
		ek_firmware_text(firmware, version, sizeof(version));
	snprintf(ret, n, "%s (%s) %s, firmware %s (%s)", vendor ? vendor : "unknown vendor", id, i->model,
		 version, i->version);
}

json_t *ek_info_json(const struct cert_info *i)
{
	char digest[2 * SHA256_LEN + 1], id[9] = "";
	const char *vendor = ek_vendor_name(i->manufacturer);

	hex_encode(BYTES(i->digest), digest);
	if (i->has_tpm)
		ek_manufacturer_text(i->manufacturer, id);
	return json_pack("{s:s s:s s:s s:s s:s s:s s:s s:s s:s s:s s:s s:s s:s s:s}",
			 "subject", i->subject, "issuer", i->issuer, "serial", i->serial,
			 "not_before", i->not_before, "not_after", i->not_after, "key", i->key,
			 "signature", i->signature, "usage", i->usage, "extended", i->extended,
			 "manufacturer", id, "vendor", vendor && i->has_tpm ? vendor : "",
			 "model", i->model, "version", i->version, "sha256", digest);
}
