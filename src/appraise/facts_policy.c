/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts have no variants: a mixed fleet would need the product of all of
 * them. Each is judged by its own rule, on the decoded and proved value.
 */
#include "appraise/judge.h"

#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

/* ---- versions --------------------------------------------------------- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next run of digits or of letters; none at the end. */
static struct bytes next_part(struct bytes *in)
{
	struct bytes part = { NULL, 0 };
	bool (*is_same)(uint8_t);

	while (in->n > 0 && !is_digit(*in->p) && !is_letter(*in->p)) {
		in->p++;
		in->n--;
	}
	if (in->n == 0)
		return part;
	part.p = in->p;
	is_same = is_digit(*in->p) ? is_digit : is_letter;
	while (in->n > 0 && is_same(*in->p)) {
		part.n++;
		in->p++;
		in->n--;
	}
	return part;
}

/* Numbers of any length: without leading zeros the longer one is larger. */
static int compare_numbers(struct bytes a, struct bytes b)
{
	while (a.n > 0 && *a.p == '0') {
		a.p++;
		a.n--;
	}
	while (b.n > 0 && *b.p == '0') {
		b.p++;
		b.n--;
	}
	if (a.n != b.n)
		return a.n < b.n ? -1 : 1;
	return a.n ? memcmp(a.p, b.p, a.n) : 0;
}

static bool is_hex(struct bytes text, struct bytes *ret_digits)
{
	if (text.n < 3 || text.p[0] != '0' || text.p[1] != 'x')
		return false;
	*ret_digits = bytes_of(text.p + 2, text.n - 2);
	for (size_t i = 2; i < text.n; i++)
		if (!is_digit(text.p[i]) && !(text.p[i] >= 'a' && text.p[i] <= 'f'))
			return false;
	return true;
}

bool version_at_least(struct bytes value, const char *least)
{
	struct bytes want = bytes_str(least);
	struct bytes a;
	struct bytes b;

	if (is_hex(value, &a) != is_hex(want, &b))
		return false;
	if (is_hex(value, &a) && is_hex(want, &b))
		return compare_numbers(a, b) >= 0;
	for (;;) {
		a = next_part(&value);
		b = next_part(&want);
		if (b.n == 0)
			return true;
		if (a.n == 0 || is_digit(*a.p) != is_digit(*b.p))
			return false;
		if (is_digit(*a.p)) {
			int order = compare_numbers(a, b);

			if (order != 0)
				return order > 0;
		} else if (!bytes_equal(a, b)) {
			/* Words have an order only when they are as long. */
			return a.n == b.n && memcmp(a.p, b.p, a.n) > 0;
		}
	}
}

/* ---- rules ------------------------------------------------------------- */

static bool rule_holds(const struct fact_rule *rule, enum fact fact, struct bytes value)
{
	char hex[LIMIT_FACT_VALUE + 3] = "0x";

	if (bytes_equal(value, bytes_str(FACT_UNAVAILABLE)))
		return false;
	for (size_t i = 0; i < rule->value_count; i++) {
		if (rule->kind == FACT_ALLOWED && bytes_equal(value, bytes_str(rule->value[i])))
			return true;
		if (rule->kind != FACT_MINIMUM)
			continue;
		if (fact == FACT_TPM_FIRMWARE && value.n <= LIMIT_FACT_VALUE &&
		    strncmp(rule->value[i], "0x", 2) == 0) {
			memcpy(hex + 2, value.p, value.n);
			value = bytes_of(hex, value.n + 2);
		}
		if (version_at_least(value, rule->value[i]))
			return true;
	}
	return false;
}

static void add_refusal(const struct fact_rule *rule, struct bytes value, struct explanation *e)
{
	struct finding f = finding_make(R_POLICY_FACT,
					rule->warn_only ? SEVERITY_WARN : SEVERITY_REFUSE, "facts");
	int n = (int)(value.n < FINDING_TEXT_MAX ? value.n : FINDING_TEXT_MAX);

	f.gate_log = true;
	f.pcr = PCR_FACTS;
	if (value.n > 0)
		finding_text(f.observed, "%s is %.*s", rule->fact, n, (const char *)value.p);
	else
		finding_text(f.observed, "there is no fact %s", rule->fact);
	finding_text(f.expected, "%s%s%s%s",
		     rule->kind == FACT_MINIMUM ? "at least " : "one of: ",
		     rule->value_count ? rule->value[0] : "nothing",
		     rule->value_count > 1 ? ", " : "",
		     rule->value_count > 1 ? rule->value[1] : "");
	if (rule->value_count > 2) {
		size_t used = strlen(f.expected);

		if (used < FINDING_TEXT_MAX - 5)
			memcpy(f.expected + used, ", ..", 5);
	}
	explain(e, &f);
}

static bool find_fact(const char *name, enum fact *ret)
{
	for (unsigned f = 0; f < FACT_MAX; f++) {
		if (strcmp(fact_name((enum fact)f), name) == 0 &&
		    fact_pcr((enum fact)f) == PCR_FACTS) {
			*ret = (enum fact)f;
			return true;
		}
	}
	return false;
}

static bool has_rule(const struct policy *policy, const char *fact)
{
	for (size_t i = 0; i < policy->fact_count; i++)
		if (strcmp(policy->fact[i].fact, fact) == 0)
			return true;
	return false;
}

/* A build with a shell says so, and is refused where nobody asked for it. */
static void judge_debug(const struct facts *facts, const struct policy *policy,
			struct explanation *e)
{
	struct finding f = finding_make(R_POLICY_FACT, SEVERITY_REFUSE, "facts");

	if (facts->count[FACT_DEBUG] == 0 || has_rule(policy, fact_name(FACT_DEBUG)))
		return;
	f.gate_log = true;
	f.pcr = PCR_FACTS;
	finding_text(f.observed, "the gate is a debug build");
	finding_text(f.expected, "a policy with a rule for the fact %s", fact_name(FACT_DEBUG));
	explain(e, &f);
}

/* The rules that apply, by fact, and how often each was met. */
struct rules {
	size_t count;
	struct {
		const struct fact_rule *rule;
		enum fact fact;
		size_t seen;
	} of[POLICY_FACTS_MAX];
};

static void choose_rules(const struct facts *facts, const struct policy *policy, struct rules *ret,
			 struct explanation *e)
{
	ret->count = 0;
	for (size_t i = 0; i < policy->fact_count; i++) {
		const struct fact_rule *rule = &policy->fact[i];
		enum fact fact;

		/* A rule about `debug` allows it; it does not ask for it. */
		if (facts->count[FACT_DEBUG] == 0 && strcmp(rule->fact, fact_name(FACT_DEBUG)) == 0)
			continue;
		if (!find_fact(rule->fact, &fact)) {
			add_refusal(rule, BYTES_NONE, e);
			continue;
		}
		ret->of[ret->count].rule = rule;
		ret->of[ret->count].fact = fact;
		ret->of[ret->count].seen = 0;
		ret->count++;
	}
}

static void judge_value(struct rules *r, const struct fact_value *v, struct explanation *e)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->of[i].fact != v->fact)
			continue;
		r->of[i].seen++;
		if (!rule_holds(r->of[i].rule, v->fact, v->text))
			add_refusal(r->of[i].rule, v->text, e);
	}
}

/* Each event of a fact must hold, and there must be one. */
enum reason facts_judge(struct bytes gate_log, const struct facts *facts,
			const struct policy *policy, struct explanation *e)
{
	struct eventlog log;
	struct event event;
	struct rules rules;
	enum reason r;

	judge_debug(facts, policy, e);
	choose_rules(facts, policy, &rules, e);
	if (rules.count == 0)
		return R_OK;
	TRY(eventlog_open(gate_log, &log));
	TRY(eventlog_next(&log, &event));
	while ((r = eventlog_next(&log, &event)) == R_OK) {
		struct fact_value v;

		TRY(fact_read(&log, &event, &v));
		judge_value(&rules, &v, e);
	}
	for (size_t i = 0; i < rules.count; i++)
		if (rules.of[i].seen == 0)
			add_refusal(rules.of[i].rule, BYTES_NONE, e);
	return r == R_LOG_END ? R_OK : r;
}
