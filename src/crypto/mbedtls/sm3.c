/* SPDX-License-Identifier: Apache-2.0 */
/* Names are those of the standard: W, W', A to H, P0, P1, FF, GG, T. */
#include "crypto/mbedtls/sm3.h"

#include <string.h>

static uint32_t rotate(uint32_t x, unsigned int n)
{
	n &= 31;
	return n == 0 ? x : x << n | x >> (32 - n);
}

static uint32_t p0(uint32_t x)
{
	return x ^ rotate(x, 9) ^ rotate(x, 17);
}

static uint32_t p1(uint32_t x)
{
	return x ^ rotate(x, 15) ^ rotate(x, 23);
}

static void compress(uint32_t state[8], const uint8_t block[SM3_BLOCK])
{
	uint32_t w[68];
	uint32_t v[8];

	for (size_t j = 0; j < 16; j++) {
		w[j] = (uint32_t)block[4 * j] << 24 | (uint32_t)block[4 * j + 1] << 16 |
		       (uint32_t)block[4 * j + 2] << 8 | block[4 * j + 3];
	}
	for (unsigned int j = 16; j < 68; j++) {
		w[j] = p1(w[j - 16] ^ w[j - 9] ^ rotate(w[j - 3], 15)) ^
		       rotate(w[j - 13], 7) ^ w[j - 6];
	}
	memcpy(v, state, sizeof(v));
	for (unsigned int j = 0; j < 64; j++) {
		uint32_t t = j < 16 ? 0x79cc4519 : 0x7a879d8a;
		uint32_t a = v[0], b = v[1], c = v[2], e = v[4], f = v[5], g = v[6];
		uint32_t ss1 = rotate(rotate(a, 12) + e + rotate(t, j), 7);
		uint32_t ss2 = ss1 ^ rotate(a, 12);
		uint32_t ff = j < 16 ? a ^ b ^ c : (a & b) | (a & c) | (b & c);
		uint32_t gg = j < 16 ? e ^ f ^ g : (e & f) | (~e & g);
		uint32_t tt1 = ff + v[3] + ss2 + (w[j] ^ w[j + 4]);
		uint32_t tt2 = gg + v[7] + ss1 + w[j];

		v[3] = c;
		v[2] = rotate(b, 9);
		v[1] = a;
		v[0] = tt1;
		v[7] = g;
		v[6] = rotate(f, 19);
		v[5] = e;
		v[4] = p0(tt2);
	}
	for (unsigned int i = 0; i < 8; i++)
		state[i] ^= v[i];
}

void sm3_begin(struct sm3 *s)
{
	*s = (struct sm3){
		.state = { 0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600,
			   0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e },
	};
}

void sm3_update(struct sm3 *s, struct bytes in)
{
	while (in.n > 0) {
		size_t have = s->length % SM3_BLOCK;
		size_t take = SM3_BLOCK - have;

		if (take > in.n)
			take = in.n;
		memcpy(s->block + have, in.p, take);
		s->length += take;
		in.p += take;
		in.n -= take;
		if (have + take == SM3_BLOCK)
			compress(s->state, s->block);
	}
}

void sm3_end(struct sm3 *s, uint8_t ret[SM3_LEN])
{
	static const uint8_t padding[SM3_BLOCK] = { 0x80 };
	uint64_t bits = s->length * 8;
	size_t have = s->length % SM3_BLOCK;
	uint8_t length[8];

	for (unsigned int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sm3_update(s, bytes_of(padding, (have < 56 ? 56u : 120u) - have));
	sm3_update(s, BYTES(length));
	for (unsigned int i = 0; i < SM3_LEN; i++)
		ret[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
