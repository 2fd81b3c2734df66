/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that the gate's kernel was started with, where they are not the
 * embedded ones. Boot loaders pass the name of the file they loaded: exactly
 * one word, first, that looks like the name of an EFI program is let through.
 * Some words without `=` mean something to the kernel, such as
 * sysrq_always_enabled; none ends in .efi. Every other word must be one that
 * the policy names.
 *
 * Text counts only where a digest proves it. The stub of systemd hashes the
 * UTF-16 text (some versions with its NUL), and has it in the log. The stub of
 * Linux hashes the bytes of the options and has no text in the log: it is
 * proved by text from elsewhere that has this digest.
 */
#include "appraise/component.h"

#include <string.h>
#include <strings.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

#define OPTIONS_MAX 2048u		/* characters */
#define TEXTS_MAX 8u
#define EVENTS_MAX 16u			/* each is compared with each text */

struct options {
	size_t n;
	char text[OPTIONS_MAX];
};

/* Printable ASCII as UTF-16LE, to its NUL or its end. */
static bool from_utf16(struct bytes in, struct options *ret)
{
	ret->n = 0;
	if (in.n % 2)
		return false;
	for (size_t i = 0; i < in.n; i += 2) {
		uint8_t c = in.p[i];

		if (c == 0 && in.p[i + 1] == 0)
			return i + 2 == in.n;
		if (in.p[i + 1] != 0 || c < 0x20 || c > 0x7e || ret->n == OPTIONS_MAX - 1)
			return false;
		ret->text[ret->n++] = (char)c;
	}
	return true;
}

/* The event's digest is of this text in UTF-16LE, with or without a NUL. */
static enum reason is_proved(const struct logs *l, const struct event *e,
			     const struct options *o, bool *ret)
{
	uint8_t wide[2 * OPTIONS_MAX] = { 0 };

	for (size_t i = 0; i < o->n; i++)
		wide[2 * i] = (uint8_t)o->text[i];
	TRY(logs_digest_is(l, e, bytes_of(wide, 2 * o->n), ret));
	if (*ret)
		return R_OK;
	return logs_digest_is(l, e, bytes_of(wide, 2 * o->n + 2), ret);
}

static bool is_parameter(const struct policy *p, const char *word, size_t n)
{
	for (size_t i = 0; i < p->parameter_count; i++)
		if (strlen(p->parameter[i]) == n && memcmp(p->parameter[i], word, n) == 0)
			return true;
	return false;
}

static bool is_file_name(const char *word, size_t n)
{
	static const char suffix[] = ".efi";
	const size_t len = sizeof(suffix) - 1;

	if (n <= len || strncasecmp(word + n - len, suffix, len) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = word[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      strchr("._/\\:-", c)))
			return false;
	}
	return true;
}

/* False with the first word that is not allowed. */
static bool words_allowed(const struct policy *p, const struct options *o, struct bytes *ret_word)
{
	size_t at = 0;

	for (unsigned word = 0;; word++) {
		const char *start;
		size_t n = 0;

		while (at < o->n && o->text[at] == ' ')
			at++;
		if (at == o->n)
			return true;
		start = &o->text[at];
		while (at + n < o->n && start[n] != ' ')
			n++;
		at += n;
		/* A quote would let a parameter reach over a blank. */
		if (memchr(start, '"', n) ||
		    !((word == 0 && is_file_name(start, n)) || is_parameter(p, start, n))) {
			*ret_word = bytes_of(start, n);
			return false;
		}
	}
}

static void add_refusal(const struct logs *l, const struct logged *one, const char *observed,
			struct bytes word, const char *expected, struct explanation *e)
{
	const struct active_bank *b = logs_shown_bank(l);
	struct finding f = finding_make(R_POLICY_CMDLINE, SEVERITY_REFUSE,
					component_name(COMPONENT_COMMAND_LINE));

	finding_event(&f, &one->event, b->alg, b->column);
	finding_text(f.observed, "%s%.*s", observed,
		     (int)(word.n < FINDING_TEXT_MAX ? word.n : FINDING_TEXT_MAX),
		     word.n ? (const char *)word.p : "");
	finding_text(f.expected, "%s", expected);
	explain(e, &f);
}

static const char want_words[] =
	"the embedded command line, a file name, or parameters that the policy allows";

/* Options whose text is in the log: of the stub of systemd. */
static enum reason check_text(const struct logs *l, const struct logged *one,
			      const struct policy *policy, struct options *o,
			      struct explanation *e)
{
	struct bytes word;
	bool proved = false;

	if (from_utf16(one->event.data, o))
		TRY(is_proved(l, &one->event, o, &proved));
	if (!proved) {
		o->n = 0;
		add_refusal(l, one, "options whose text the digest does not prove", BYTES_NONE,
			    want_words, e);
	} else if (!words_allowed(policy, o, &word)) {
		add_refusal(l, one, "parameter ", word, want_words, e);
	}
	return R_OK;
}

static bool from_report(const struct report *report, struct options *ret)
{
	for (size_t i = 0; report && i < report->fact_count; i++) {
		const struct report_fact *f = &report->fact[i];

		if (!bytes_equal(f->name, bytes_str(REPORT_COMMAND_LINE)))
			continue;
		if (f->value.n >= OPTIONS_MAX || !text_printable(f->value))
			return false;
		memcpy(ret->text, f->value.p, f->value.n);
		ret->n = f->value.n;
		return true;
	}
	return false;
}

/* Options of which the log has the digest only: of the stub of Linux. */
static enum reason check_digest(const struct logs *l, const struct logged *one,
				const struct policy *policy, const struct options *texts,
				size_t count, struct bytes reported, struct explanation *e)
{
	struct bytes word;

	for (size_t i = 0; i < count; i++) {
		bool proved;

		TRY(is_proved(l, &one->event, &texts[i], &proved));
		if (!proved)
			continue;
		if (!words_allowed(policy, &texts[i], &word))
			add_refusal(l, one, "parameter ", word, want_words, e);
		return R_OK;
	}
	add_refusal(l, one, reported.n > 0 ? "options of another text than the kernel's own, " :
		    "options that equal no known text", reported, want_words, e);
	return R_OK;
}

enum reason cmdline_check(const struct logs *l, const struct component_events *events,
			  const struct policy *policy, const struct report *report,
			  struct explanation *e)
{
	_cleanup_free_ struct options *texts = calloc(TEXTS_MAX + 1, sizeof *texts);
	struct bytes reported = BYTES_NONE;
	size_t count = 0;

	if (!texts)
		return R_INTERNAL_MEMORY;
	if (events->count > EVENTS_MAX) {
		add_refusal(l, &l->event[events->index[0]], "too many options", BYTES_NONE,
			    want_words, e);
		return R_OK;
	}
	for (size_t i = 0; i < events->count; i++) {
		const struct logged *one = &l->event[events->index[i]];

		if (one->event.type == EV_EVENT_TAG)
			continue;
		if (count == TEXTS_MAX) {
			add_refusal(l, one, "too many options", BYTES_NONE, want_words, e);
			return R_OK;
		}
		TRY(check_text(l, one, policy, &texts[count], e));
		count += texts[count].n > 0;
	}
	if (from_report(report, &texts[count])) {
		reported = bytes_of(texts[count].text, texts[count].n);
		count++;
	}
	for (size_t i = 0; i < events->count; i++) {
		const struct logged *one = &l->event[events->index[i]];

		if (one->event.type == EV_EVENT_TAG)
			TRY(check_digest(l, one, policy, texts, count, reported, e));
	}
	return R_OK;
}
