/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which board a TPM sits on. A certificate of a TPM does not say, so it is
 * remembered: one that moved is for an operator to explain.
 */
#include "appraise/judge.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

/* Of a board that has none; as good as what vendors forgot to fill in. */
#define NO_SERIAL "none"

/* Longer ones go by their digest. */
static enum reason name_serial(struct bytes value, char ret[BOARD_MAX])
{
	char hex[2 * SHA256_LEN + 1];
	uint8_t digest[SHA256_LEN];

	if (value.n < BOARD_MAX) {
		snprintf(ret, BOARD_MAX, "%.*s", (int)value.n, (const char *)value.p);
		return R_OK;
	}
	TRY(sha256(value, digest));
	hex_encode(BYTES(digest), hex);
	snprintf(ret, BOARD_MAX, "sha256:%s", hex);
	return R_OK;
}

enum reason board_of(const struct report *report, char ret[BOARD_MAX])
{
	snprintf(ret, BOARD_MAX, "%s", NO_SERIAL);
	for (size_t i = 0; i < report->fact_count; i++) {
		const struct report_fact *f = &report->fact[i];

		if (bytes_equal(f->name, bytes_str(REPORT_BOARD_SERIAL)) && f->value.n > 0)
			return name_serial(f->value, ret);
	}
	return R_OK;
}

void board_judge(const char *now, const char *record, struct explanation *e)
{
	struct finding f = finding_make(R_NODE_BOARD, SEVERITY_HOLD, "tpm");

	if (record[0] == '\0' || strcmp(now, record) == 0)
		return;
	finding_text(f.observed, "board serial %s", now);
	finding_text(f.expected, "%s, which is on record", record);
	explain(e, &f);
}

bool board_is_one(const char *serial)
{
	static const char *const common[] = {
		"", NO_SERIAL, "n/a", "null", "unknown", "invalid", "empty", "default string",
		"not specified", "not applicable", "not available", "to be filled by o.e.m.",
		"system serial number", "board serial number", "base board serial number",
		"chassis serial number", "serial number", "123456789", "0123456789", "1234567890",
	};
	char low[BOARD_MAX];
	size_t n = 0;

	for (; *serial == ' '; serial++)
		;
	for (; serial[n] && n < sizeof(low) - 1; n++)
		low[n] = (char)tolower((unsigned char)serial[n]);
	while (n > 0 && low[n - 1] == ' ')
		n--;
	low[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		if (strcmp(low, common[i]) == 0)
			return false;
	/* "0000000", "......", "xxxx" */
	return strspn(low, (const char[]){ low[0], '\0' }) < n;
}
