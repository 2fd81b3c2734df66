/* SPDX-License-Identifier: Apache-2.0 */
#include "check/find.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define EFI_VARIABLES "/sys/firmware/efi/efivars"

static void found_list(struct finding *f, enum check_result r, const char *format, va_list args)
{
	char text[CHECK_OBSERVED];

	vsnprintf(text, sizeof(text), format, args);
	f->result = r;
	(void)text_escape(bytes_str(text), f->observed, sizeof(f->observed));
}

void found(struct finding *f, enum check_result r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	found_list(f, r, format, args);
	va_end(args);
}

void found_if(struct finding *f, bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	found_list(f, good ? CHECK_PASS : CHECK_FAIL, format, args);
	va_end(args);
}

void found_unread(struct finding *f, const char *what, enum reason why)
{
	found(f, CHECK_UNKNOWN, "%s: %s", what,
	      why == R_FILE ? "cannot be read" : reason_name(why));
}

bool msr_everywhere(const struct machine *m, uint32_t msr, uint64_t mask, uint64_t *ret,
		    struct finding *f)
{
	uint64_t first = 0;

	if (m->cpus == 0) {
		found_unread(f, "list of processors", R_FILE);
		return false;
	}
	for (unsigned i = 0; i < m->cpus; i++) {
		char what[40];
		uint64_t v;
		enum reason r = source_msr(&m->source, m->cpu[i], msr, &v);

		if (r == R_CHECK_NOT_IMPLEMENTED) {
			found(f, CHECK_FAIL, "MSR 0x%x is not there (cpu%u)", (unsigned)msr,
			      (unsigned)m->cpu[i]);
			return false;
		}
		if (r != R_OK) {
			snprintf(what, sizeof(what), "MSR 0x%x of cpu%u", (unsigned)msr,
				 (unsigned)m->cpu[i]);
			found_unread(f, what, r);
			return false;
		}
		v &= mask;
		if (i == 0)
			first = v;
		if (v != first) {
			found(f, CHECK_FAIL, "MSR 0x%x: 0x%llx on cpu%u, 0x%llx on cpu%u",
			      (unsigned)msr, (unsigned long long)first, (unsigned)m->cpu[0],
			      (unsigned long long)v, (unsigned)m->cpu[i]);
			return false;
		}
	}
	*ret = first;
	return true;
}

void msr_bits(const struct machine *m, uint32_t msr, uint64_t ones, uint64_t zeros,
	      struct finding *f)
{
	uint64_t v;

	if (msr_everywhere(m, msr, ones | zeros, &v, f))
		found_if(f, v == ones, "MSR 0x%x has 0x%llx of 0x%llx", (unsigned)msr,
			 (unsigned long long)v, (unsigned long long)(ones | zeros));
}

bool cpuid_read(const struct machine *m, uint32_t leaf, uint32_t subleaf, struct cpuid *ret,
		struct finding *f)
{
	enum reason r = source_cpuid(&m->source, leaf, subleaf, ret);

	if (r != R_OK)
		found_unread(f, "CPUID", r);
	return r == R_OK;
}

bool line_read(const struct machine *m, const char *path, char *ret, size_t n, struct finding *f)
{
	enum reason r = source_line(&m->source, path, ret, n);

	if (r != R_OK)
		found_unread(f, path, r);
	return r == R_OK;
}

void parameter_on(const struct machine *m, const char *path, struct finding *f)
{
	char line[16];

	if (line_read(m, path, line, sizeof(line), f))
		found_if(f, strcmp(line, "Y") == 0 || strcmp(line, "1") == 0, "%s", line);
}

bool efi_read(const struct machine *m, const char *name_guid, enum check_result absent,
	      struct blob *ret, struct finding *f)
{
	_cleanup_(blob_free) struct blob b = BLOB(ret->max);
	char path[SOURCE_PATH_MAX];
	enum reason r;

	snprintf(path, sizeof(path), EFI_VARIABLES "/%s", name_guid);
	r = source_read(&m->source, path, &b);
	if (r == R_OK && b.n < 4)
		r = R_FORMAT_TRUNCATED;
	if (r == R_OK)
		r = blob_append(ret, b.p + 4, b.n - 4);
	if (r == R_OK)
		return true;
	/* The folder alone says nothing: SecureBoot is there wherever variables are. */
	if (r == R_FILE && absent != CHECK_UNKNOWN &&
	    source_exists(&m->source, EFI_VARIABLES "/SecureBoot-" EFI_GLOBAL_GUID))
		found(f, absent, "there is no such variable");
	else
		found_unread(f, name_guid, r);
	return false;
}
