/* SPDX-License-Identifier: Apache-2.0 */
#include "format/url.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/text.h"

#define HOST_MAX 253u
#define LABEL_MAX 63u

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

/* Into a C string of `size`; false when it does not fit. */
static bool to_string(struct bytes text, char *ret, size_t size)
{
	if (text.n >= size)
		return false;
	if (text.n > 0)
		memcpy(ret, text.p, text.n);
	ret[text.n] = '\0';
	return true;
}

/* Splits at the first `at`; the rest begins behind it. False: there is none. */
static bool split(struct bytes text, char at, struct bytes *ret_first, struct bytes *ret_rest)
{
	const uint8_t *p = text.n > 0 ? memchr(text.p, at, text.n) : NULL;

	if (p == NULL)
		return false;
	*ret_first = bytes_of(text.p, (size_t)(p - text.p));
	*ret_rest = bytes_of(p + 1, text.n - ret_first->n - 1);
	return true;
}

static bool family_valid(int family, const char *text)
{
	struct in6_addr address;

	return inet_pton(family, text, &address) == 1;
}

bool address_valid(const char *text)
{
	return family_valid(AF_INET, text) || family_valid(AF_INET6, text);
}

bool address_prefix_valid(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	struct bytes first, rest;
	uint64_t bits;

	if (!split(bytes_str(text), '/', &first, &rest) ||
	    !to_string(first, address, sizeof address))
		return false;
	if (family_valid(AF_INET, address))
		return text_u64(rest, 32, &bits) == R_OK;
	return family_valid(AF_INET6, address) && text_u64(rest, 128, &bits) == R_OK;
}

static bool label_valid(struct bytes l)
{
	if (l.n < 1 || l.n > LABEL_MAX || l.p[0] == '-' || l.p[l.n - 1] == '-')
		return false;
	for (size_t i = 0; i < l.n; i++)
		if (!is_lower(l.p[i]) && !is_digit(l.p[i]) && l.p[i] != '-')
			return false;
	return true;
}

static bool label_is_number(struct bytes l)
{
	for (size_t i = 0; i < l.n; i++)
		if (!is_digit(l.p[i]))
			return false;
	return true;
}

bool host_valid(struct bytes text)
{
	char address[INET_ADDRSTRLEN];
	struct bytes label, rest = text;

	if (text.n > HOST_MAX)
		return false;
	while (split(rest, '.', &label, &rest))
		if (!label_valid(label))
			return false;
	if (!label_valid(rest))
		return false;
	if (!label_is_number(rest))
		return true;
	return to_string(text, address, sizeof address) && family_valid(AF_INET, address);
}

/* Takes a fixed beginning off; false when the text does not begin with it. */
static bool strip(struct bytes *text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (text->n < n || memcmp(text->p, prefix, n) != 0)
		return false;
	*text = bytes_of(text->p + n, text->n - n);
	return true;
}

static bool port_valid(struct bytes text)
{
	uint64_t port;

	return text_u64(text, 65535, &port) == R_OK && port > 0;
}

static bool authority_valid(struct bytes text)
{
	char address[INET6_ADDRSTRLEN];
	struct bytes host, port;

	if (strip(&text, "[")) {
		if (!split(text, ']', &host, &port) || !to_string(host, address, sizeof address) ||
		    !family_valid(AF_INET6, address))
			return false;
		return port.n == 0 || (strip(&port, ":") && port_valid(port));
	}
	if (split(text, ':', &host, &port))
		return host_valid(host) && port_valid(port);
	return host_valid(text);
}

/* The unreserved characters of RFC 3986: those that no escape may stand for. */
static bool is_unreserved(uint8_t c)
{
	return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
	       c == '_' || c == '~';
}

static bool segment_valid(struct bytes s)
{
	if (s.n == 0 || bytes_equal(s, bytes_str(".")) || bytes_equal(s, bytes_str("..")))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_unreserved(s.p[i]))
			return false;
	return true;
}

/* What follows the first slash. */
static bool path_valid(struct bytes path)
{
	struct bytes segment, rest = path;

	while (split(rest, '/', &segment, &rest))
		if (!segment_valid(segment))
			return false;
	return segment_valid(rest);
}

bool url_valid(enum url_kind kind, const char *text)
{
	struct bytes rest = bytes_str(text), authority;

	if (!strip(&rest, "https://") && !(kind == URL_MIRROR && strip(&rest, "http://")))
		return false;
	if (kind == URL_MIRROR && split(rest, '/', &authority, &rest))
		return authority_valid(authority) && path_valid(rest);
	return authority_valid(rest);
}
