/* SPDX-License-Identifier: Apache-2.0 */
#include "format/eventlog.h"

#include <string.h>

#include "base/cleanup.h"

/* The Spec ID event of PFP 1.06 (errata 106 of family 2.0), 64-bit firmware. */
#define PLATFORM_CLIENT 0u
#define SPEC_MINOR 0u
#define SPEC_MAJOR 2u
#define SPEC_ERRATA 106u
#define UINTN_64 2u

static const uint8_t zeros[DIGEST_MAX];

static enum reason write_spec_id(const uint16_t *bank, size_t count, struct blob *b)
{
	static const char signature[16] = "Spec ID Event03";

	TRY(blob_append(b, signature, sizeof(signature)));
	TRY(blob_le32(b, PLATFORM_CLIENT));
	TRY(blob_u8(b, SPEC_MINOR));
	TRY(blob_u8(b, SPEC_MAJOR));
	TRY(blob_u8(b, SPEC_ERRATA));
	TRY(blob_u8(b, UINTN_64));
	TRY(blob_le32(b, (uint32_t)count));
	for (size_t i = 0; i < count; i++) {
		TRY(blob_le16(b, bank[i]));
		TRY(blob_le16(b, (uint16_t)digest_len(bank[i])));
	}
	return blob_u8(b, /* vendorInfoSize */ 0);
}

static enum reason check_banks(const uint16_t *bank, size_t count)
{
	if (count == 0 || count > LIMIT_BANKS)
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < count; i++) {
		if (digest_len(bank[i]) == 0)
			return R_FORMAT_TYPE;
		for (size_t k = 0; k < i; k++)
			if (bank[k] == bank[i])
				return R_FORMAT_DUPLICATE;
	}
	return R_OK;
}

enum reason eventlog_writer_begin(const uint16_t *bank, size_t count, size_t max,
				  struct eventlog_writer *ret)
{
	_cleanup_(blob_free) struct blob data = BLOB(256);
	_cleanup_(blob_free) struct blob log = BLOB(max);

	TRY(check_banks(bank, count));
	TRY(write_spec_id(bank, count, &data));
	TRY(blob_le32(&log, /* pcr */ 0));
	TRY(blob_le32(&log, EV_NO_ACTION));
	TRY(blob_append(&log, zeros, digest_len(ALG_SHA1)));
	TRY(blob_le32(&log, (uint32_t)data.n));
	TRY(blob_append(&log, data.p, data.n));

	*ret = (struct eventlog_writer){ .bank_count = count, .log = log };
	memcpy(ret->bank, bank, count * sizeof(*bank));
	log = BLOB(0);
	return R_OK;
}

static enum reason append_event(struct blob *b, uint32_t pcr, uint32_t type,
				const struct pcr_digests *d, struct bytes data)
{
	TRY(blob_le32(b, pcr));
	TRY(blob_le32(b, type));
	TRY(blob_le32(b, (uint32_t)d->count));
	for (size_t i = 0; i < d->count; i++) {
		TRY(blob_le16(b, d->bank[i].alg));
		TRY(blob_append(b, d->bank[i].value, digest_len(d->bank[i].alg)));
	}
	TRY(blob_le32(b, (uint32_t)data.n));
	return blob_append(b, data.p, data.n);
}

enum reason eventlog_writer_event(struct eventlog_writer *w, uint32_t pcr, uint32_t type,
				  const struct pcr_digests *digests, struct bytes data)
{
	size_t before = w->log.n;
	enum reason r;

	if (pcr >= PCR_COUNT || digests->count != w->bank_count)
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < w->bank_count; i++)
		if (digests->bank[i].alg != w->bank[i])
			return R_FORMAT_TYPE;
	r = append_event(&w->log, pcr, type, digests, data);
	if (r != R_OK)
		w->log.n = before;
	return r;
}

enum reason eventlog_writer_tag(struct eventlog_writer *w, uint32_t pcr, uint32_t tag,
				struct bytes value, struct pcr_digests *ret)
{
	_cleanup_(blob_free) struct blob data = BLOB(w->log.max);
	struct eventlog_tag t = { tag, value };
	struct pcr_digests digests;

	TRY(eventlog_tag_write(&t, &data));
	TRY(pcr_digests_of(w->bank, w->bank_count, blob_bytes(&data), &digests));
	TRY(eventlog_writer_event(w, pcr, EV_EVENT_TAG, &digests, blob_bytes(&data)));
	*ret = digests;
	return R_OK;
}

void eventlog_writer_free(struct eventlog_writer *w)
{
	blob_free(&w->log);
	w->bank_count = 0;
}
