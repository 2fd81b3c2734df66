/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = string_of(data, size);

	/* nothing that a shell, a header or a console would take for more */
	if (url_valid(URL_SERVER, text) || url_valid(URL_MIRROR, text) || address_valid(text) ||
	    address_prefix_valid(text) || host_valid(bytes_str(text)))
		must(strpbrk(text, " \t\r\n\"'\\@?#%&;|$`<>(){}*!") == NULL);
	if (url_valid(URL_SERVER, text))
		must(url_valid(URL_MIRROR, text));
	return 0;
}
