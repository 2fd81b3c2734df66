/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/by_hand.h"

#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/digest.h"

/* ---- options ------------------------------------------------------------------- */

/* The value of `option` if this argument names it: what stands behind `=`, or the next. */
static bool matches(const struct by_hand_option *o, int argc, char **argv, int *i)
{
	const char *arg = argv[*i];
	size_t n = strlen(o->name);
	bool is_long = strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, o->name, n) == 0;
	bool is_short = o->letter != 0 && arg[0] == '-' && arg[1] == o->letter && arg[2] == '\0';

	if (is_long && arg[2 + n] == '=' && !o->is_flag) {
		*o->value = arg + 2 + n + 1;
		return true;
	}
	if (!is_short && !(is_long && arg[2 + n] == '\0'))
		return false;
	if (o->is_flag) {
		*o->value = o->name;
		return true;
	}
	if (*i + 1 >= argc)
		return false;
	*o->value = argv[++*i];
	return true;
}

static bool option(int argc, char **argv, int *i, const struct by_hand_option *options)
{
	for (; options->name != NULL; options++)
		if (matches(options, argc, argv, i))
			return true;
	return false;
}

enum reason by_hand_options(int argc, char **argv, const struct by_hand_option *options,
			    const char **rest)
{
	for (int i = 0; i < argc; i++) {
		if (option(argc, argv, &i, options))
			continue;
		if (argv[i][0] != '-' && rest != NULL && *rest == NULL) {
			*rest = argv[i];
			continue;
		}
		fprintf(stderr, "bootgate: not understood: %s\n", argv[i]);
		return R_USAGE;
	}
	return R_OK;
}

enum reason by_hand_selection(const char *text, struct pcr_selection *ret)
{
	struct pcr_selection s;

	if (pcr_selection_parse(text, &s) != R_OK || pcr_selection_empty(&s)) {
		fprintf(stderr, "bootgate: not a selection like sha256:0,1,2,7+sha1:all: %s\n",
			text);
		return R_USAGE;
	}
	*ret = s;
	return R_OK;
}

/* ---- values -------------------------------------------------------------------- */

enum reason by_hand_tpm(const char *where, enum reason (*use)(struct tpm *t, void *ctx), void *ctx)
{
	struct tpm *t = NULL;
	sigset_t all, before;
	enum reason r;

	sigfillset(&all);
	/* A TPM that never answers would hold the terminal: this one ends it at once. */
	sigdelset(&all, SIGQUIT);
	sigprocmask(SIG_BLOCK, &all, &before);
	r = tpm_open(where, 0, &t);
	if (r == R_OK)
		r = use(t, ctx);
	tpm_close(&t);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void say_active(struct tpm *t)
{
	struct tpm_banks banks;

	if (tpm_banks(t, &banks) != R_OK)
		return;
	fprintf(stderr, "bootgate: active banks:");
	for (size_t i = 0; i < banks.active_count; i++)
		fprintf(stderr, " %s", digest_name(banks.active[i]));
	fprintf(stderr, "\n");
}

enum reason by_hand_complete(struct tpm *t, const struct pcr_selection *sel,
			     const struct pcr_values *v)
{
	for (size_t i = 0; i < sel->count; i++) {
		const struct pcr_bank *bank = pcr_values_bank(v, sel->bank[i].alg);

		if (bank != NULL && (sel->bank[i].mask & ~bank->present) == 0)
			continue;
		if (sel->bank[i].mask == 0)
			continue;
		fprintf(stderr, "bootgate: not active: %s\n", digest_name(sel->bank[i].alg));
		say_active(t);
		return R_TPM_BANK_INACTIVE;
	}
	return R_OK;
}

void by_hand_print(FILE *to, const struct pcr_selection *sel, const struct pcr_values *v)
{
	for (size_t i = 0; i < sel->count; i++) {
		uint16_t alg = sel->bank[i].alg;

		fprintf(to, "  %s:\n", digest_name(alg));
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes value = pcr_value(v, alg, pcr);

			if ((sel->bank[i].mask & PCR_MASK(pcr)) == 0)
				continue;
			fprintf(to, "    %-2u: 0x", pcr);
			for (size_t k = 0; k < value.n; k++)
				fprintf(to, "%02X", value.p[k]);
			fprintf(to, "\n");
		}
	}
}

enum reason by_hand_raw(const struct pcr_selection *sel, const struct pcr_values *v,
			struct blob *ret)
{
	for (size_t i = 0; i < sel->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes value = pcr_value(v, sel->bank[i].alg, pcr);

			if ((sel->bank[i].mask & PCR_MASK(pcr)) != 0)
				TRY(blob_append(ret, value.p, value.n));
		}
	return R_OK;
}

int by_hand_end(enum reason r)
{
	if (r != R_OK)
		fprintf(stderr, "bootgate: %s: %s\n  %s\n", reason_name(r), reason_sentence(r),
			reason_remedy(r));
	return reason_exit(r);
}
