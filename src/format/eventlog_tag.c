/* SPDX-License-Identifier: Apache-2.0 */
#include "format/eventlog.h"

#include "base/cleanup.h"

enum reason eventlog_tag_read(struct bytes data, struct eventlog_tag *ret)
{
	struct cursor c = cursor_of(data);
	struct eventlog_tag t;
	uint32_t size;

	TRY(cursor_le32(&c, &t.tag));
	TRY(cursor_le32(&c, &size));
	TRY(cursor_take(&c, size, &t.value));
	TRY(cursor_end(&c));
	*ret = t;
	return R_OK;
}

enum reason eventlog_tag_write(const struct eventlog_tag *t, struct blob *ret)
{
	if (t->value.n > UINT32_MAX)
		return R_FORMAT_TOO_LARGE;
	TRY(blob_le32(ret, t->tag));
	TRY(blob_le32(ret, (uint32_t)t->value.n));
	return blob_append(ret, t->value.p, t->value.n);
}
