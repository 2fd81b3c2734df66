/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/ek_firmware.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *manufacturer;
	uint16_t from_major, from_minor, to_major, to_minor;
	const char *name, *source;
} known_bad[] = {
#define FIRMWARE(m, a, b, c, d, name, source) { m, a, b, c, d, name, source },
#include "appraise/tpm_firmware.def"
#undef FIRMWARE
};

static const struct {
	const char *id, *name;
} vendors[] = {
#define VENDOR(id, name) { id, name },
#include "appraise/tpm_vendor.def"
#undef VENDOR
};

/* Four characters, filled up with NUL (or, by one vendor, with blanks). */
static uint32_t manufacturer_number(const char *id, char fill)
{
	uint32_t v = 0;
	size_t n = strlen(id);

	for (size_t i = 0; i < 4; i++)
		v = v << 8 | (uint8_t)(i < n ? id[i] : fill);
	return v;
}

static bool is_manufacturer(uint32_t number, const char *id)
{
	return number == manufacturer_number(id, '\0') || number == manufacturer_number(id, ' ');
}

static uint32_t version_number(uint16_t major, uint16_t minor)
{
	return (uint32_t)major << 16 | minor;
}

static bool excepted(uint32_t manufacturer, uint64_t version,
		     const struct ek_firmware_exceptions *exceptions, int64_t now)
{
	for (size_t i = 0; i < exceptions->n; i++) {
		const struct ek_firmware_exception *e = &exceptions->v[i];

		if (e->manufacturer == manufacturer && version >= e->from && version <= e->to &&
		    now < e->until)
			return true;
	}
	return false;
}

enum reason ek_firmware_judge(uint32_t manufacturer, uint64_t version,
			      const struct ek_firmware_exceptions *exceptions, int64_t now,
			      struct ek_firmware *ret)
{
	uint32_t v = (uint32_t)(version >> 32);

	*ret = (struct ek_firmware){ NULL, NULL, false };
	for (size_t i = 0; i < ARRAY_LEN(known_bad); i++) {
		if (!is_manufacturer(manufacturer, known_bad[i].manufacturer) ||
		    v < version_number(known_bad[i].from_major, known_bad[i].from_minor) ||
		    v > version_number(known_bad[i].to_major, known_bad[i].to_minor))
			continue;
		ret->name = known_bad[i].name;
		ret->source = known_bad[i].source;
		ret->excepted = excepted(manufacturer, version, exceptions, now);
		return ret->excepted ? R_OK : R_EK_FIRMWARE;
	}
	return R_OK;
}

static bool digits(const char *text, uint32_t *ret)
{
	uint32_t v = 0;

	for (; *text != '\0'; text++) {
		char c = *text;
		uint32_t d;

		if (c >= '0' && c <= '9')
			d = (uint32_t)(c - '0');
		else if (c >= 'A' && c <= 'F')
			d = (uint32_t)(c - 'A') + 10;
		else if (c >= 'a' && c <= 'f')
			d = (uint32_t)(c - 'a') + 10;
		else
			return false;
		v = v << 4 | d;
	}
	*ret = v;
	return true;
}

bool ek_firmware_version(const char *text, uint64_t *ret)
{
	uint32_t v;

	if (strncmp(text, "id:", 3) != 0 || (strlen(text) != 7 && strlen(text) != 11) ||
	    !digits(text + 3, &v))
		return false;
	if (strlen(text) == 7)
		v = version_number((uint16_t)(v >> 8), (uint16_t)(v & 0xff));
	*ret = (uint64_t)v << 32;
	return true;
}

void ek_firmware_text(uint64_t version, char *ret, size_t n)
{
	(void)snprintf(ret, n, "%u.%u", (unsigned)(version >> 48), (unsigned)(version >> 32 & 0xffff));
}

const char *ek_vendor_name(uint32_t manufacturer)
{
	for (size_t i = 0; i < ARRAY_LEN(vendors); i++)
		if (is_manufacturer(manufacturer, vendors[i].id))
			return vendors[i].name;
	return NULL;
}

void ek_manufacturer_text(uint32_t manufacturer, char ret[EK_MANUFACTURER_MAX])
{
	size_t n = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		char c = (char)(manufacturer >> shift & 0xff);

		if (c > ' ' && c <= '~')
			ret[n++] = c;
	}
	ret[n] = '\0';
	if (n < 2)
		(void)snprintf(ret, EK_MANUFACTURER_MAX, "%08x", (unsigned)manufacturer);
}
