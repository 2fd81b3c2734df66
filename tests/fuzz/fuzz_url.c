/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/network.h"
#include "format/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = string_of(data, size);

	/* nothing that a shell, a header or a console would take for more */
	if (url_valid(URL_SERVER, text) || url_valid(URL_MIRROR, text) || address_valid(text) ||
	    address_prefix_valid(text) || host_valid(bytes_str(text)))
		must(strpbrk(text, " \t\r\n\"'\\@?#%&;|$`<>(){}*!") == NULL);
	struct network n, again;
	char shown[NETWORK_TEXT_MAX];

	if (network_read(text, &n) == R_OK) {
		must(address_prefix_valid(text));
		network_text(&n, shown);
		must(network_read(shown, &again) == R_OK && memcmp(&n, &again, sizeof(n)) == 0);
		must(!network_has(&n, "127.0.0.1") && !network_has(&n, "::1"));
	}
	if (url_valid(URL_SERVER, text))
		must(url_valid(URL_MIRROR, text));
	return 0;
}
