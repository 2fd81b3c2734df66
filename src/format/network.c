/* SPDX-License-Identifier: Apache-2.0 */
#include "format/network.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define MAPPED_BITS 96u
#define MAPPED_LEN (MAPPED_BITS / 8)

static const uint8_t mapped[16] = { [10] = 0xff, 0xff };
static const struct network loopback[] = {
	{ { [10] = 0xff, 0xff, 127 }, MAPPED_BITS + 8 },
	{ { [15] = 1 }, 128 },
};

static bool address_read(const char *text, uint8_t ret[16], bool *ret_v4)
{
	struct in6_addr v6;
	struct in_addr v4;

	*ret_v4 = inet_pton(AF_INET, text, &v4) == 1;
	if (*ret_v4) {
		memcpy(ret, mapped, MAPPED_LEN);
		memcpy(ret + MAPPED_LEN, &v4, 4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return false;
	memcpy(ret, &v6, 16);
	return true;
}

/* Whether the first `bits` are the same. */
static bool same_prefix(const uint8_t a[16], const uint8_t b[16], size_t bits)
{
	unsigned rest = bits % 8;

	return memcmp(a, b, bits / 8) == 0 && (rest == 0 || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0);
}

static bool overlaps(const struct network *a, const struct network *b)
{
	return same_prefix(a->address, b->address, a->bits < b->bits ? a->bits : b->bits);
}

enum reason network_check(const struct network *n)
{
	if (n->bits < 1 || n->bits > 128)
		return R_RULE_CIDR;
	for (size_t bit = n->bits; bit < 128; bit++)
		if (n->address[bit / 8] & (0x80u >> bit % 8))
			return R_RULE_CIDR;
	/* All of IPv4 would be 96 bits: it is refused with the loopback that is in it. */
	for (size_t i = 0; i < ARRAY_LEN(loopback); i++)
		if (overlaps(n, &loopback[i]))
			return R_RULE_LOOPBACK;
	return R_OK;
}

enum reason network_read(const char *text, struct network *ret)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN];
	struct network n;
	uint64_t bits;
	bool v4;

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return R_RULE_CIDR;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (!address_read(address, n.address, &v4) ||
	    text_u64(bytes_str(slash + 1), v4 ? 32 : 128, &bits) != R_OK || bits == 0)
		return R_RULE_CIDR;
	n.bits = (uint8_t)(bits + (v4 ? MAPPED_BITS : 0));
	TRY(network_check(&n));
	*ret = n;
	return R_OK;
}

void network_text(const struct network *n, char ret[NETWORK_TEXT_MAX])
{
	bool v4 = n->bits > MAPPED_BITS && same_prefix(n->address, mapped, MAPPED_BITS);
	char address[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(v4 ? AF_INET : AF_INET6, n->address + (v4 ? MAPPED_LEN : 0), address, sizeof(address));
	(void)snprintf(ret, NETWORK_TEXT_MAX, "%s/%u", address, (unsigned)(n->bits - (v4 ? MAPPED_BITS : 0)));
}

bool network_has(const struct network *n, const char *peer)
{
	struct network from = { .bits = 128 };
	bool v4;

	if (!address_read(peer, from.address, &v4) || network_check(&from) != R_OK)
		return false;
	return n->bits <= 128 && same_prefix(n->address, from.address, n->bits);
}
