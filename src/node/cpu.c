/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "node/hardware.h"
#include "node/sysfs.h"

#define CPUS_MAX 4096u
/* The first processor's paragraph of /proc/cpuinfo is much shorter. */
#define CPUINFO_HEAD 8192u

/* The value of `key<blanks>: value` in one line; false for another key. */
static bool line_value(const char *line, const char *key, const char **ret)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return false;
	line += n;
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line != ':')
		return false;
	line++;
	if (*line == ' ')
		line++;
	*ret = line;
	return true;
}

static bool number(const char *text, int base, uint32_t *ret)
{
	char *end;
	unsigned long v = strtoul(text, &end, base);

	if (end == text || *end != 0 || v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static void microcode_add(struct cpu *cpu, uint32_t revision)
{
	size_t at = 0;

	while (at < cpu->microcode_count && cpu->microcode[at] < revision)
		at++;
	if (at < cpu->microcode_count && cpu->microcode[at] == revision)
		return;
	if (cpu->microcode_count == CPU_MICROCODES_MAX) {
		cpu->microcode_more = true;
		return;
	}
	memmove(&cpu->microcode[at + 1], &cpu->microcode[at],
		(cpu->microcode_count - at) * sizeof(cpu->microcode[0]));
	cpu->microcode[at] = revision;
	cpu->microcode_count++;
}

static enum reason read_head(const char *root, char ret[CPUINFO_HEAD])
{
	_cleanup_fd_ int fd = -1;
	char path[SYSFS_PATH_MAX];
	size_t n = 0;

	TRY(sysfs_path(path, root, "/proc/cpuinfo"));
	TRY(fd_open(path, O_RDONLY, &fd));
	/* The whole file is long on a large machine: the head is enough. */
	while (n < CPUINFO_HEAD - 1) {
		ssize_t got = read(fd, ret + n, CPUINFO_HEAD - 1 - n);

		if (got < 0)
			return R_INTERNAL_IO;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	ret[n] = 0;
	return R_OK;
}

static enum reason read_cpuinfo(const char *root, struct cpu *cpu)
{
	char head[CPUINFO_HEAD], *line, *rest = head;
	bool family = false, model = false, stepping = false;

	TRY(read_head(root, head));
	while ((line = strsep(&rest, "\n"))) {
		const char *v;
		uint32_t revision;

		if (*line == 0)
			break;	/* the next processor follows */
		if (line_value(line, "vendor_id", &v))
			snprintf(cpu->vendor, sizeof(cpu->vendor), "%s", v);
		else if (line_value(line, "model name", &v))
			snprintf(cpu->name, sizeof(cpu->name), "%s", v);
		else if (line_value(line, "cpu family", &v))
			family = number(v, 10, &cpu->family);
		else if (line_value(line, "model", &v))
			model = number(v, 10, &cpu->model);
		else if (line_value(line, "stepping", &v))
			stepping = number(v, 10, &cpu->stepping);
		else if (line_value(line, "microcode", &v) && number(v, 16, &revision))
			microcode_add(cpu, revision);
	}
	cpu->known = family && model && stepping;
	return R_OK;
}

/* Every processor's own revision: one that missed the update shows here. */
static void read_microcode(const char *root, struct cpu *cpu)
{
	for (unsigned i = 0; i < CPUS_MAX; i++) {
		char path[SYSFS_PATH_MAX], line[32];
		uint32_t revision;

		if (sysfs_path(path, "", "/sys/devices/system/cpu/cpu%u/microcode/version", i))
			break;
		if (sysfs_line(root, path, line, sizeof(line)))
			break;
		if (number(line, 16, &revision))
			microcode_add(cpu, revision);
	}
}

enum reason cpu_read(const char *root, struct cpu *ret)
{
	struct cpu cpu = { 0 };

	TRY(read_cpuinfo(root, &cpu));
	read_microcode(root, &cpu);
	*ret = cpu;
	return R_OK;
}

bool cpu_microcode_text(const struct cpu *cpu, char ret[CPU_MICROCODE_TEXT])
{
	size_t n = 0;

	if (cpu->microcode_count == 0)
		return false;
	if (cpu->microcode_count > 1)
		n = (size_t)snprintf(ret, CPU_MICROCODE_TEXT, "mixed ");
	for (size_t i = 0; i < cpu->microcode_count; i++)
		n += (size_t)snprintf(ret + n, CPU_MICROCODE_TEXT - n, "%s0x%x",
				      i ? " " : "", (unsigned)cpu->microcode[i]);
	if (cpu->microcode_more)
		snprintf(ret + n, CPU_MICROCODE_TEXT - n, " more");
	return true;
}
