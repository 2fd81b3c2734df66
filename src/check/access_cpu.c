/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of processors. A recorded machine has them as lines of text:
 *
 *	dev/cpu/N/msr.txt	0xc0010010 0x0000000000f40000
 *				0x00001401 -
 *	dev/cpu/cpuid.txt	0x00000007 0x00000000 0xEAX 0xEBX 0xECX 0xEDX
 *
 * Numbers have all their digits. `-` is a register that the processor does
 * not have; one without a line is one that was not read.
 */
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/access_priv.h"
#include "check/record.h"

#define TEXT_MAX (64u << 10)

/* `0x` and exactly this many digits, from the front. */
static enum reason take_hex(struct cursor *c, size_t digits, uint64_t *ret)
{
	uint8_t raw[8];
	struct bytes prefix, text;
	uint64_t v = 0;

	TRY(cursor_take(c, 2, &prefix));
	TRY(cursor_take(c, digits, &text));
	if (!bytes_equal(prefix, bytes_str("0x")))
		return R_FORMAT_TEXT;
	TRY(hex_decode(text, raw, digits / 2));
	for (size_t i = 0; i < digits / 2; i++)
		v = v << 8 | raw[i];
	*ret = v;
	return R_OK;
}

static enum reason take_blank(struct cursor *c)
{
	uint8_t blank;

	TRY(cursor_u8(c, &blank));
	return blank == ' ' ? R_OK : R_FORMAT_TEXT;
}

/* What stands in the line that begins with `key`. R_FILE: there is no such line. */
static enum reason find_line(const struct source *s, const char *path, const char *key,
			     struct blob *text, struct cursor *ret)
{
	struct bytes rest, want = bytes_str(key);

	TRY(source_read_quietly(s, path, text));
	rest = blob_bytes(text);
	while (rest.n > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		if (n >= want.n && memcmp(rest.p, want.p, want.n) == 0) {
			*ret = cursor_of(bytes_of(rest.p + want.n, n - want.n));
			return R_OK;
		}
		n += end ? 1 : 0;
		rest = bytes_of(rest.p + n, rest.n - n);
	}
	return R_FILE;
}

static enum reason recorded_msr(const struct source *s, unsigned cpu, uint32_t msr, uint64_t *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(TEXT_MAX);
	char path[SOURCE_PATH_MAX], key[16];
	struct cursor c;
	uint64_t v;

	snprintf(path, sizeof(path), MSR_TEXT, cpu);
	snprintf(key, sizeof(key), "0x%08x ", (unsigned)msr);
	TRY(find_line(s, path, key, &text, &c));
	if (c.n == 1 && c.p[0] == '-')
		return R_CHECK_NOT_IMPLEMENTED;
	TRY(take_hex(&c, 16, &v));
	TRY(cursor_end(&c));
	*ret = v;
	return R_OK;
}

static enum reason real_msr(const struct source *s, unsigned cpu, uint32_t msr, uint64_t *ret)
{
	_cleanup_fd_ int fd = -1;
	char path[SOURCE_PATH_MAX];
	uint64_t v;
	ssize_t n;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	TRY(source_fd(s, path, O_RDONLY, &fd));
	n = pread(fd, &v, sizeof(v), (off_t)msr);
	if (n < 0 && errno == EIO)
		return R_CHECK_NOT_IMPLEMENTED;
	if (n != (ssize_t)sizeof(v))
		return R_FILE;
	*ret = v;	/* the driver gives it in the order of this machine */
	return R_OK;
}

enum reason source_msr(const struct source *s, unsigned cpu, uint32_t msr, uint64_t *ret)
{
	char line[REGISTER_LINE_MAX];
	enum reason r;
	uint64_t v;

	r = s->recorded ? recorded_msr(s, cpu, msr, &v) : real_msr(s, cpu, msr, &v);
	if (s->record && (r == R_OK || r == R_CHECK_NOT_IMPLEMENTED)) {
		char path[SOURCE_PATH_MAX];

		snprintf(path, sizeof(path), MSR_TEXT, cpu);
		msr_line(msr, r == R_OK ? &v : NULL, line);
		record_register(s->record, path, line);
	}
	if (r == R_OK)
		*ret = v;
	return r;
}

static enum reason recorded_cpuid(const struct source *s, uint32_t leaf, uint32_t subleaf,
				  struct cpuid *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(TEXT_MAX);
	char key[32];
	struct cursor c;
	uint64_t v[4];

	snprintf(key, sizeof(key), "0x%08x 0x%08x ", (unsigned)leaf, (unsigned)subleaf);
	TRY(find_line(s, CPUID_TEXT, key, &text, &c));
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		if (i > 0)
			TRY(take_blank(&c));
		TRY(take_hex(&c, 8, &v[i]));
	}
	TRY(cursor_end(&c));
	*ret = (struct cpuid){ (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], (uint32_t)v[3] };
	return R_OK;
}

/* The leaves that checks read are the same on every processor of a machine. */
enum reason source_cpuid(const struct source *s, uint32_t leaf, uint32_t subleaf,
			 struct cpuid *ret)
{
	char line[REGISTER_LINE_MAX];
	struct cpuid v;

	if (s->recorded)
		TRY(recorded_cpuid(s, leaf, subleaf, &v));
	else
		__cpuid_count(leaf, subleaf, v.a, v.b, v.c, v.d);
	if (s->record) {
		cpuid_line(leaf, subleaf, &v, line);
		record_register(s->record, CPUID_TEXT, line);
	}
	*ret = v;
	return R_OK;
}

void msr_line(uint32_t msr, const uint64_t *value, char ret[REGISTER_LINE_MAX])
{
	if (value)
		snprintf(ret, REGISTER_LINE_MAX, "0x%08x 0x%016llx\n", (unsigned)msr,
			 (unsigned long long)*value);
	else
		snprintf(ret, REGISTER_LINE_MAX, "0x%08x -\n", (unsigned)msr);
}

void cpuid_line(uint32_t leaf, uint32_t subleaf, const struct cpuid *v,
		char ret[REGISTER_LINE_MAX])
{
	snprintf(ret, REGISTER_LINE_MAX, "0x%08x 0x%08x 0x%08x 0x%08x 0x%08x 0x%08x\n",
		 (unsigned)leaf, (unsigned)subleaf, (unsigned)v->a, (unsigned)v->b,
		 (unsigned)v->c, (unsigned)v->d);
}
