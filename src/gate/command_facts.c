/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/commands.h"
#include "gate/gate.h"

static void free_list(struct fact_list **list)
{
	free(*list);
	*list = NULL;
}

static enum reason print_fact(const struct fact_text *f, bool json, bool first)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_FACT_VALUE);
	const char *value = f->known ? f->text : FACT_UNAVAILABLE;

	TRY(fact_escape(bytes_str(value), &text));
	if (!json) {
		printf("%-18s %.*s\n", fact_name(f->fact), (int)text.n, (const char *)text.p);
		return R_OK;
	}
	printf("%s\n  {\"name\": \"%s\", \"value\": ", first ? "" : ",", fact_name(f->fact));
	text_print_json(blob_bytes(&text));
	putchar('}');
	return R_OK;
}

/* Only to look at: registers and configuration stay as they are. */
static enum reason read_facts(const struct options *o, struct fact_list *ret)
{
	_cleanup_(blob_free) struct blob report = BLOB(LIMIT_REPORT);
	_cleanup_(config_free) struct config config = { 0 };
	struct watchdog watchdog = WATCHDOG_NONE;
	struct tpm_facts facts;
	struct tpm *tpm = NULL;
	bool has_tpm;
	enum reason r;

	if (config_read(o->config, &config)) {
		log_warn("no usable configuration in %s", o->config);
		strcpy(config.build, BOOTGATE_VERSION);
	}
	has_tpm = tpm_open(o->tpm, 0, &tpm) == R_OK && tpm_facts(tpm, &facts) == R_OK;
	tpm_close(&tpm);
	r = collect(o, &config, has_tpm ? &facts : NULL, &watchdog, ret, &report);
	return r;
}

int command_facts(int argc, char **argv)
{
	_cleanup_(free_list) struct fact_list *list = calloc(1, sizeof(*list));
	struct options o;
	enum reason r = options_read(argc, argv, &o);

	if (r == R_OK)
		r = list ? read_facts(&o, list) : R_INTERNAL_MEMORY;
	if (r != R_OK)
		return reason_exit(r);
	if (o.json)
		printf("[");
	for (size_t i = 0; i < list->count && r == R_OK; i++)
		r = print_fact(&list->item[i], o.json, i == 0);
	if (o.json)
		printf("\n]\n");
	return reason_exit(r);
}
