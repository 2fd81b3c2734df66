/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/component.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

void event_describe(const struct logged *one, char *ret, size_t n)
{
	_cleanup_(blob_free) struct blob text = BLOB(EVENTLOG_TEXT_MAX);
	const struct event *e = &one->event;
	const char *name = eventlog_type_name(e->type);
	char number[16];
	int shown = 0;

	if (!name) {
		snprintf(number, sizeof number, "type %08x", e->type);
		name = number;
	}
	if (eventlog_text(e, &text) == R_OK)
		shown = (int)text.n;
	/* What no digest proves is said to be what somebody wrote there. */
	snprintf(ret, n, "%s%s %.*s", name, one->proved ? "" : " (hint)", shown,
		 shown ? (const char *)text.p : "");
	for (char *p = ret; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
}
