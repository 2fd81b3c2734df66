/* SPDX-License-Identifier: Apache-2.0 */
#include "format/eventlog.h"

#include <string.h>

#include "base/cleanup.h"

/* The first event of a crypto-agile log has the old form and this data. */
static const char spec_id[16] = "Spec ID Event03";

/* Index that some firmware and Windows give to events of no register. */
#define PCR_NONE 0xffffffffu

static enum reason refuse(struct eventlog *log, size_t offset, enum reason r)
{
	log->fault = (struct eventlog_fault){ log->next_number, offset };
	return r == R_FORMAT_TRUNCATED ? R_LOG_TRUNCATED : r;
}

/* Where the run of 0x00 or of 0xFF bytes that ends the log begins. */
static size_t find_padding(struct bytes log)
{
	size_t at = log.n;
	uint8_t last = at > 0 ? log.p[at - 1] : 1;

	if (last != 0x00 && last != 0xff)
		return at;
	while (at > 0 && log.p[at - 1] == last)
		at--;
	return at;
}

static enum reason read_index(struct cursor *c, struct event *e)
{
	TRY(cursor_le32(c, &e->pcr));
	TRY(cursor_le32(c, &e->type));
	if (e->pcr >= PCR_COUNT && !(e->pcr == PCR_NONE && e->type == EV_NO_ACTION))
		return R_LOG_PCR_RANGE;
	return R_OK;
}

static enum reason read_data(struct cursor *c, struct event *e)
{
	uint32_t size;

	TRY(cursor_le32(c, &size));
	if (size > c->n)
		return R_LOG_EVENT_SIZE;
	return cursor_take(c, size, &e->data);
}

/* TCG_PCR_EVENT: one SHA-1 digest. */
static enum reason read_event1(struct cursor *c, struct event *e)
{
	TRY(read_index(c, e));
	TRY(cursor_take(c, digest_len(ALG_SHA1), &e->digest[0]));
	e->digest_count = 1;
	return read_data(c, e);
}

static enum reason read_digest(const struct eventlog *log, struct cursor *c,
			       struct event *e)
{
	size_t i = 0;
	uint16_t alg;

	TRY(cursor_le16(c, &alg));
	while (i < log->bank_count && log->bank[i] != alg)
		i++;
	if (i == log->bank_count || e->digest[i].n > 0)
		return R_LOG_DIGEST_ALG;
	return cursor_take(c, digest_len(alg), &e->digest[i]);
}

/* TCG_PCR_EVENT2. Digests may stand in another order than in the header. */
static enum reason read_event2(const struct eventlog *log, struct cursor *c,
			       struct event *e)
{
	uint32_t count;

	TRY(read_index(c, e));
	TRY(cursor_le32(c, &count));
	if (count == 0 || count > log->bank_count)
		return R_LOG_DIGEST_COUNT;
	for (uint32_t i = 0; i < count; i++)
		TRY(read_digest(log, c, e));
	e->digest_count = count;
	return read_data(c, e);
}

static enum reason read_bank(struct cursor *c, struct eventlog *log)
{
	uint16_t alg;
	uint16_t len;

	TRY(cursor_le16(c, &alg));
	TRY(cursor_le16(c, &len));
	/*
	 * Length and algorithm must both be known: a bank that cannot be
	 * replayed is no bank to skip.
	 */
	if (digest_len(alg) == 0 || digest_len(alg) != len)
		return R_LOG_ALGORITHM;
	for (size_t i = 0; i < log->bank_count; i++)
		if (log->bank[i] == alg)
			return R_LOG_ALGORITHM;
	log->bank[log->bank_count++] = alg;
	return R_OK;
}

/* TCG_EfiSpecIDEvent behind its signature. */
static enum reason read_spec_id(struct cursor *c, struct eventlog *log)
{
	uint32_t count;
	uint8_t vendor_size;

	TRY(cursor_le32(c, &log->platform_class));
	TRY(cursor_u8(c, &log->spec_minor));
	TRY(cursor_u8(c, &log->spec_major));
	TRY(cursor_u8(c, &log->spec_errata));
	TRY(cursor_u8(c, &log->uintn_size));
	TRY(cursor_le32(c, &count));
	if (count == 0 || count > LIMIT_BANKS)
		return R_LOG_HEADER;
	for (uint32_t i = 0; i < count; i++)
		TRY(read_bank(c, log));
	TRY(cursor_u8(c, &vendor_size));
	TRY(cursor_take(c, vendor_size, &log->vendor));
	return cursor_end(c);
}

static bool is_spec_id(const struct event *e)
{
	return e->type == EV_NO_ACTION && e->data.n >= sizeof(spec_id) &&
	       memcmp(e->data.p, spec_id, sizeof(spec_id)) == 0;
}

static enum reason read_header(struct eventlog *log)
{
	struct cursor c = log->rest;
	struct event first = { 0 };
	struct bytes signature;
	enum reason r;

	TRY(read_event1(&c, &first));
	if (!is_spec_id(&first)) {
		log->legacy = true;
		log->bank_count = 1;
		log->bank[0] = ALG_SHA1;
		return R_OK;
	}
	c = cursor_of(first.data);
	TRY(cursor_take(&c, sizeof(spec_id), &signature));
	r = read_spec_id(&c, log);
	if (r == R_FORMAT_TRUNCATED || r == R_FORMAT_TRAILING)
		return R_LOG_HEADER;
	return r;
}

enum reason eventlog_open(struct bytes log, struct eventlog *ret)
{
	enum reason r;

	*ret = (struct eventlog){ .rest = cursor_of(log) };
	ret->padding_at = find_padding(log);
	if (ret->padding_at == 0)
		return refuse(ret, 0, R_LOG_EMPTY);
	if (log.n > LIMIT_FIRMWARE_LOG)
		return refuse(ret, 0, R_FORMAT_TOO_LARGE);
	r = read_header(ret);
	return r == R_OK ? R_OK : refuse(ret, 0, r);
}

enum reason eventlog_next(struct eventlog *log, struct event *ret)
{
	struct event e = { .number = log->next_number, .offset = log->rest.offset };
	struct cursor c = log->rest;
	enum reason r;

	if (c.n == 0 || e.offset >= log->padding_at)
		return R_LOG_END;
	if (log->next_number >= LIMIT_EVENTS)
		return refuse(log, e.offset, R_LOG_TOO_MANY);
	if (log->legacy || e.number == 0)
		r = read_event1(&c, &e);
	else
		r = read_event2(log, &c, &e);
	if (r != R_OK)
		return refuse(log, e.offset, r);
	if (!log->legacy && e.number == 0) {
		/* Its SHA-1 field is no digest of a bank and always zero. */
		e.digest_count = 0;
		e.digest[0] = BYTES_NONE;
	}
	log->rest = c;
	log->next_number++;
	*ret = e;
	return R_OK;
}

enum reason eventlog_digest_is_data(const struct eventlog *log, const struct event *e,
				    bool *ret)
{
	uint8_t digest[DIGEST_MAX];

	for (size_t i = 0; i < log->bank_count; i++) {
		TRY(digest_of(log->bank[i], &e->data, 1, digest));
		if (!bytes_equal(e->digest[i], bytes_of(digest, digest_len(log->bank[i])))) {
			*ret = false;
			return R_OK;
		}
	}
	*ret = true;
	return R_OK;
}
