/* SPDX-License-Identifier: Apache-2.0 */
/* SMBIOS tables and entry points, made in memory. */
#ifndef BOOTGATE_TESTS_SMBIOS_KIT_H
#define BOOTGATE_TESTS_SMBIOS_KIT_H

#include "format/smbios.h"
#include "message.h"

/* A table under construction. */
struct table {
	uint8_t b[8192];
	size_t n;
};

static inline void put(struct table *t, const void *p, size_t n)
{
	assert_true(n <= sizeof(t->b) - t->n);
	if (n > 0)
		memcpy(t->b + t->n, p, n);
	t->n += n;
}

/* `strings`: each ended by |, as in "Vendor|1.0|". */
static inline void structure(struct table *t, uint8_t type, const uint8_t *body, uint8_t body_n,
		      const char *strings)
{
	uint8_t header[4] = { type, (uint8_t)(4 + body_n), 7, 0 };

	put(t, header, sizeof(header));
	put(t, body, body_n);
	for (const char *p = strings; *p; p++)
		put(t, *p == '|' ? "" : p, 1);
	put(t, "\0", *strings ? 1 : 2);
}

static inline void checksum(uint8_t *p, size_t n, size_t at)
{
	uint8_t sum = 0;

	p[at] = 0;
	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + p[i]);
	p[at] = (uint8_t)-sum;
}

static inline struct bytes entry3(const struct table *t, uint8_t minor)
{
	static uint8_t e[24];

	memcpy(e, "_SM3_\0\x18\3\0\0\1\0", 12);
	e[8] = minor;
	for (int i = 0; i < 4; i++)
		e[12 + i] = (uint8_t)(t->n >> (8 * i));
	checksum(e, sizeof(e), 5);
	return BYTES(e);
}

static inline struct bytes entry2(const struct table *t, uint16_t count, uint8_t minor)
{
	static uint8_t e[31];

	memset(e, 0, sizeof(e));
	memcpy(e, "_SM_\0\x1f\2", 7);
	e[7] = minor;
	memcpy(e + 16, "_DMI_", 5);
	e[22] = (uint8_t)t->n;
	e[23] = (uint8_t)(t->n >> 8);
	e[28] = (uint8_t)count;
	e[29] = (uint8_t)(count >> 8);
	checksum(e, sizeof(e), 4);
	return BYTES(e);
}

#endif
