/* SPDX-License-Identifier: Apache-2.0 */
#include "check/models.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "check/find.h"

static const struct model models[] = {
	{ VENDOR_AMD, 0x17, 0x00, 0xff, "Naples or Rome", false },
	{ VENDOR_AMD, 0x19, 0x00, 0x0f, "Milan", true },
	{ VENDOR_AMD, 0x19, 0x10, 0x1f, "Genoa", true },
	{ VENDOR_AMD, 0x19, 0xa0, 0xaf, "Bergamo or Siena", true },
	{ VENDOR_AMD, 0x1a, 0x00, 0x11, "Turin", true },
	{ VENDOR_INTEL, 6, 0x55, 0x55, "Skylake or Cascade Lake", false },
	{ VENDOR_INTEL, 6, 0x6a, 0x6a, "Ice Lake", false },
	{ VENDOR_INTEL, 6, 0x6c, 0x6c, "Ice Lake D", false },
	{ VENDOR_INTEL, 6, 0x8f, 0x8f, "Sapphire Rapids", true },
	{ VENDOR_INTEL, 6, 0xcf, 0xcf, "Emerald Rapids", true },
	{ VENDOR_INTEL, 6, 0xad, 0xae, "Granite Rapids", true },
	{ VENDOR_INTEL, 6, 0xaf, 0xaf, "Sierra Forest", true },
	{ VENDOR_INTEL, 6, 0xdd, 0xdd, "Clearwater Forest", true },
};

const struct model *model_of(const struct machine *m)
{
	for (size_t i = 0; m->known && i < ARRAY_LEN(models); i++)
		if (models[i].vendor == m->vendor && models[i].family == m->family &&
		    models[i].first <= m->model && m->model <= models[i].last)
			return &models[i];
	return NULL;
}

static bool one_microcode(const struct machine *m, unsigned cpu, uint32_t *ret,
			  struct finding *f)
{
	char path[SOURCE_PATH_MAX], line[32], *end;
	unsigned long v;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/microcode/version", cpu);
	if (!line_read(m, path, line, sizeof(line), f))
		return false;
	v = strtoul(line, &end, 16);
	if (end == line || *end != 0 || v > UINT32_MAX) {
		found_unread(f, path, R_FORMAT_TEXT);
		return false;
	}
	*ret = (uint32_t)v;
	return true;
}

bool microcode_everywhere(const struct machine *m, uint32_t *ret, struct finding *f)
{
	uint32_t first = 0;

	if (m->cpus == 0) {
		found_unread(f, "list of processors", R_FILE);
		return false;
	}
	for (unsigned i = 0; i < m->cpus; i++) {
		uint32_t v;

		if (!one_microcode(m, m->cpu[i], &v, f))
			return false;
		if (i == 0)
			first = v;
		if (v != first) {
			found(f, CHECK_FAIL, "0x%x on cpu%u, 0x%x on cpu%u", (unsigned)first,
			      (unsigned)m->cpu[0], (unsigned)v, (unsigned)m->cpu[i]);
			return false;
		}
	}
	*ret = first;
	return true;
}
