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

/* Letters and digits alone, small ones: vendors write the same filler in many ways. */
static size_t essence(const char *serial, char ret[BOARD_MAX])
{
	size_t n = 0;

	for (; *serial && n < BOARD_MAX - 1; serial++)
		if (isalnum((unsigned char)*serial))
			ret[n++] = (char)tolower((unsigned char)*serial);
	ret[n] = '\0';
	return n;
}

/* "0000000", "xxxx", "\xff\xff" */
static bool repeats(const char *text, size_t n, size_t unit)
{
	return n % unit == 0 && memcmp(text, text + unit, n - unit) == 0;
}

bool board_is_one(const char *serial)
{
	static const char *const common[] = {
		NO_SERIAL, "na", "null", "unknown", "invalid", "empty", "oem", "defaultstring",
		"notspecified", "notapplicable", "notavailable", "notsettable", "tobefilledbyoem",
		"serialnumber", "systemserialnumber", "boardserialnumber", "baseboardserialnumber",
		"chassisserialnumber",
	};
	static const char counting[] = "0123456789abcdef";
	char text[BOARD_MAX];
	size_t n = essence(serial, text);

	if (n == 0 || repeats(text, n, 1) || (n > 3 && repeats(text, n, 3)))
		return false;
	if (strncmp(text, counting, n) == 0 || strncmp(text, counting + 1, n) == 0 ||
	    strcmp(text, "1234567890") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		if (strcmp(text, common[i]) == 0)
			return false;
	return true;
}
