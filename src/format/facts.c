/* SPDX-License-Identifier: Apache-2.0 */
#include "format/facts.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

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

enum reason fact_escape(struct bytes raw, struct blob *ret)
{
	char text[LIMIT_FACT_VALUE + 1];

	if (raw.n == 0)
		return R_OK;
	(void)text_escape(raw, text, sizeof(text));
	return blob_append(ret, text, strlen(text));
}

#define ESCAPE_LEN 4u			/* \xHH */

bool fact_text_valid(struct bytes text)
{
	if (text.n == 0 || text.n > LIMIT_FACT_VALUE)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		uint8_t meant;

		if (is_plain(text.p[i]))
			continue;
		if (text.n - i < ESCAPE_LEN || text.p[i] != '\\' || text.p[i + 1] != 'x' ||
		    hex_decode(bytes_of(text.p + i + 2, 2), &meant, 1) != R_OK)
			return false;
		/* One way to write each value: no \x41 for A. */
		if (is_plain(meant))
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
