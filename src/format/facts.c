/* SPDX-License-Identifier: Apache-2.0 */
#include "format/facts.h"

#include <string.h>

#include "base/cleanup.h"

static const struct {
	uint32_t tag;
	uint32_t pcr;
	const char *name;
	bool many;
} facts[FACT_MAX] = {
#define FACT(symbol, tag, pcr, name, many) [symbol] = { tag, pcr, name, many },
#include "format/facts.def"
#undef FACT
};

uint32_t fact_tag(enum fact f)
{
	return facts[f].tag;
}

uint32_t fact_pcr(enum fact f)
{
	return facts[f].pcr;
}

const char *fact_name(enum fact f)
{
	return facts[f].name;
}

bool fact_many(enum fact f)
{
	return facts[f].many;
}

bool fact_find(uint32_t tag, enum fact *ret)
{
	for (size_t i = 0; i < FACT_MAX; i++) {
		if (facts[i].tag == tag) {
			*ret = (enum fact)i;
			return true;
		}
	}
	return false;
}

/* What stands for itself; everything else is written \xHH. */
static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c <= 0x7e && c != '\\';
}

#define ESCAPE_LEN 4u			/* \xHH */
static const char hex[] = "0123456789abcdef";

enum reason fact_escape(struct bytes raw, struct blob *ret)
{
	size_t room = LIMIT_FACT_VALUE;

	for (size_t i = 0; i < raw.n; i++) {
		uint8_t c = raw.p[i];
		uint8_t text[ESCAPE_LEN] = { '\\', 'x', (uint8_t)hex[c >> 4],
					     (uint8_t)hex[c & 15] };
		bool plain = is_plain(c);
		size_t n = plain ? 1 : ESCAPE_LEN;

		if (n > room)
			break;
		TRY(blob_append(ret, plain ? &c : text, n));
		room -= n;
	}
	return R_OK;
}

/* The value of a lower-case hex digit; above 15 for any other character. */
static unsigned int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - (unsigned int)'0';
	if (c >= 'a' && c <= 'f')
		return c - (unsigned int)'a' + 10;
	return 16;
}

bool fact_text_valid(struct bytes text)
{
	if (text.n == 0 || text.n > LIMIT_FACT_VALUE)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		unsigned int high, low;

		if (is_plain(text.p[i]))
			continue;
		if (text.n - i < ESCAPE_LEN || text.p[i] != '\\' || text.p[i + 1] != 'x')
			return false;
		high = digit(text.p[i + 2]);
		low = digit(text.p[i + 3]);
		/* One way to write each value: no \x41 for A. */
		if (high > 15 || low > 15 || is_plain((uint8_t)(high << 4 | low)))
			return false;
		i += ESCAPE_LEN - 1;
	}
	return true;
}

enum reason fact_write(struct eventlog_writer *w, enum fact f, struct bytes raw,
		       struct pcr_digests *digests)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_FACT_VALUE);

	if (fact_pcr(f) == 0)
		return R_FORMAT_RANGE;
	if (raw.n == 0)
		raw = bytes_str(FACT_UNAVAILABLE);
	TRY(fact_escape(raw, &text));
	return eventlog_writer_tag(w, fact_pcr(f), fact_tag(f), blob_bytes(&text), digests);
}

enum reason fact_write_cap(struct eventlog_writer *w, uint32_t pcr, enum reason why,
			   struct pcr_digests *digests)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_FACT_VALUE);
	struct bytes name = bytes_str(reason_name(why));

	if (pcr != PCR_FACTS && pcr != PCR_DECISION)
		return R_FORMAT_RANGE;
	if (why == R_OK) {
		TRY(blob_append(&text, FACT_CAP_TEXT, strlen(FACT_CAP_TEXT)));
	} else {
		TRY(blob_append(&text, FACT_FAILED_TEXT, strlen(FACT_FAILED_TEXT)));
		TRY(blob_append(&text, name.p, name.n));
	}
	return eventlog_writer_tag(w, pcr, fact_tag(FACT_CAP), blob_bytes(&text), digests);
}

enum reason fact_read(const struct eventlog *log, const struct event *e,
		      struct fact_value *ret)
{
	struct fact_value v = { .pcr = e->pcr };
	struct eventlog_tag tag;
	bool proven;

	if (e->pcr != PCR_FACTS && e->pcr != PCR_DECISION)
		return R_LOG_FOREIGN_REGISTER;
	if (e->type != EV_EVENT_TAG || eventlog_tag_read(e->data, &tag) != R_OK ||
	    !fact_find(tag.tag, &v.fact))
		return R_FACTS_EVENT;
	if (v.fact != FACT_CAP && fact_pcr(v.fact) != e->pcr)
		return R_FACTS_EVENT;
	TRY(eventlog_digest_is_data(log, e, &proven));
	if (!proven)
		return R_LOG_DIGEST_DATA;
	if (!fact_text_valid(tag.value))
		return R_FORMAT_TEXT;
	v.text = tag.value;
	*ret = v;
	return R_OK;
}
