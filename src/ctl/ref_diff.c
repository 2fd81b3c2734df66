/* SPDX-License-Identifier: Apache-2.0 */
/* How two variants differ, event by event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

#define EVENTS_MAX 2048u	/* of a variant (format/reference.h) */
#define NEAREST_CANDIDATES 16u	/* the newest active ones that are looked at */

/* ---- what is compared ------------------------------------------------------------ */

/* Register, type and a digest in each bank that is compared, as one text. */
static char *key_of(const json_t *event, const json_t *banks)
{
	_cleanup_(blob_free) struct blob key = BLOB(64 + LIMIT_BANKS * 160);
	const json_t *digests = json_object_get(event, "digests");
	const json_t *bank;
	char head[64];
	size_t i;

	snprintf(head, sizeof(head), "%lld %lld", member_number(event, "pcr"), member_number(event, "type_number"));
	enum reason r = blob_append(&key, head, strlen(head));
	json_array_foreach(banks, i, bank) {
		const char *digest = member_text(digests, json_string_value(bank));

		if (r == R_OK)
			r = blob_u8(&key, ' ');
		if (r == R_OK)
			r = blob_append(&key, digest, strlen(digest));
	}
	return r == R_OK ? strndup((const char *)key.p, key.n) : NULL;
}

static bool all_have(const json_t *events, const char *bank)
{
	const json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
		if (!json_object_get(json_object_get(e, "digests"), bank))
			return false;
	return true;
}

/* Banks that each event of both has. */
static json_t *banks_of(const json_t *a, const json_t *b)
{
	json_t *first = json_object_get(json_array_get(a, 0), "digests"), *digest, *banks = json_array();
	const char *bank;

	json_object_foreach(first, bank, digest)
		if (all_have(a, bank) && all_have(b, bank))
			json_array_append_new(banks, json_string(bank));
	return banks;
}

struct side {
	const json_t *events;
	size_t count;
	char **key;
};

static void side_free(struct side *s)
{
	for (size_t i = 0; s->key && i < s->count; i++)
		free(s->key[i]);
	free(s->key);
}

static enum reason side_of(const json_t *events, const json_t *banks, struct side *ret)
{
	ret->events = events;
	ret->count = json_array_size(events);
	if (ret->count > EVENTS_MAX)
		return R_FORMAT_TOO_LARGE;
	ret->key = calloc(ret->count + 1, sizeof(*ret->key));
	if (!ret->key)
		return R_INTERNAL_MEMORY;
	for (size_t i = 0; i < ret->count; i++) {
		ret->key[i] = key_of(json_array_get(events, i), banks);
		if (!ret->key[i])
			return R_INTERNAL_MEMORY;
	}
	return R_OK;
}

/* ---- the difference -------------------------------------------------------------- */

/* Takes over nothing; the event gets a copy with its number and whose it is. */
static void add(json_t *to, const struct side *s, size_t at, const char *whose)
{
	json_t *e = json_copy(json_array_get(s->events, at));

	json_object_set_new(e, "only", json_string(whose));
	json_object_set_new(e, "number", json_integer((json_int_t)at));
	json_array_append_new(to, e);
}

/* length[i][j]: of the longest common sequence of what is left from i of a and j of b. */
static uint16_t *lengths(const struct side *a, const struct side *b)
{
	size_t row = b->count + 1;
	uint16_t *n = calloc((a->count + 1) * row, sizeof(*n));

	if (!n)
		return NULL;
	for (size_t i = a->count; i-- > 0;) {
		for (size_t j = b->count; j-- > 0;) {
			uint16_t down = n[(i + 1) * row + j], right = n[i * row + j + 1];

			if (strcmp(a->key[i], b->key[j]) == 0)
				n[i * row + j] = (uint16_t)(n[(i + 1) * row + j + 1] + 1);
			else
				n[i * row + j] = down > right ? down : right;
		}
	}
	return n;
}

/* Events of one alone into `to`, those of a first where both go on differently. */
static enum reason walk(const struct side *a, const struct side *b, json_t *to, size_t *ret_equal)
{
	_cleanup_free_ uint16_t *n = lengths(a, b);
	size_t i = 0, j = 0, row = b->count + 1;

	if (!n)
		return R_INTERNAL_MEMORY;
	*ret_equal = n[0];
	while (i < a->count || j < b->count) {
		bool both = i < a->count && j < b->count;

		if (both && strcmp(a->key[i], b->key[j]) == 0) {
			i++;
			j++;
		} else if (i < a->count && (!both || n[(i + 1) * row + j] >= n[i * row + j + 1])) {
			add(to, a, i++, "a");
		} else {
			add(to, b, j++, "b");
		}
	}
	return R_OK;
}

static json_t *head_of(const json_t *v)
{
	json_t *head = json_copy((json_t *)(uintptr_t)v);

	json_object_del(head, "events");
	return head;
}

/* Without a bank in common no event equals another. */
static enum reason difference(const json_t *a, const json_t *b, json_t **ret)
{
	const json_t *a_events = json_object_get(a, "events"), *b_events = json_object_get(b, "events");
	_cleanup_(client_free) json_t *banks = banks_of(a_events, b_events), *events = json_array();
	_cleanup_(side_free) struct side left = { 0 }, right = { 0 };
	size_t equal = 0;

	TRY(side_of(a_events, banks, &left));
	TRY(side_of(b_events, banks, &right));
	if (json_array_size(banks) == 0 || strcmp(member_text(a, "component"), member_text(b, "component")) != 0) {
		for (size_t i = 0; i < left.count; i++)
			add(events, &left, i, "a");
		for (size_t i = 0; i < right.count; i++)
			add(events, &right, i, "b");
	} else {
		TRY(walk(&left, &right, events, &equal));
	}
	*ret = json_pack("{s:o, s:o, s:O, s:I, s:O}", "a", head_of(a), "b", head_of(b), "banks", banks, "equal",
			 (json_int_t)equal, "events", events);
	return *ret ? R_OK : R_INTERNAL_MEMORY;
}

/* ---- words ----------------------------------------------------------------------- */

static void print_head(const char *sign, const json_t *v)
{
	printf("%s variant %lld of %s: %s, %s, %s\n", sign, member_number(v, "id"), member_text(v, "component"),
	       member_text(v, "name"), member_text(v, "state"), member_text(v, "source"));
}

static void print_events(const json_t *d)
{
	const json_t *e, *bank;
	size_t i, k;

	json_array_foreach(json_object_get(d, "events"), i, e) {
		const char *sign = strcmp(member_text(e, "only"), "a") == 0 ? "-" : "+";

		printf("%s %4lld  pcr %-2lld  %-34s  %s\n", sign, member_number(e, "number"), member_number(e, "pcr"),
		       member_text(e, "type"), member_text(e, "text"));
		json_array_foreach(json_object_get(d, "banks"), k, bank)
			printf("%s       %-7s %s\n", sign, json_string_value(bank),
			       member_text(json_object_get(e, "digests"), json_string_value(bank)));
	}
	if (json_array_size(json_object_get(d, "banks")) == 0)
		printf("they have no bank in common\n");
	printf("%lld events are equal, %zu are not\n", member_number(d, "equal"),
	       json_array_size(json_object_get(d, "events")));
}

static void print(const json_t *d)
{
	print_head("-", json_object_get(d, "a"));
	print_head("+", json_object_get(d, "b"));
	print_events(d);
}

static enum reason variant_get(const struct options *o, long long id, json_t **ret)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", id);
	return client_get(o, CLIENT_PATH("ref", text), NULL, ret);
}

int ctl_ref_diff(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL, *b = NULL, *d = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("ref", o.argument[0]), NULL, &a);
	if (r == R_OK)
		r = client_get(&o, CLIENT_PATH("ref", o.argument[1]), NULL, &b);
	if (r != R_OK)
		return reason_exit(r);
	r = difference(a, b, &d);
	if (r != R_OK)
		return ctl_refused(r, NULL);
	if (!client_json(&o, d))
		print(d);
	return 0;
}

/* ---- before one is activated ------------------------------------------------------ */

/* The difference to the nearest of the newest active ones; NULL where none is active. */
static enum reason nearest(const struct options *o, const json_t *v, json_t **ret)
{
	_cleanup_(client_free) json_t *all = NULL, *best = NULL;
	const json_t *list;
	size_t looked_at = 0;

	TRY(client_get(o, CLIENT_PATH("ref"), "state=active", &all));
	list = json_object_get(all, "variants");
	for (size_t i = json_array_size(list); i-- > 0 && looked_at < NEAREST_CANDIDATES;) {
		_cleanup_(client_free) json_t *other = NULL, *d = NULL;
		const json_t *row = json_array_get(list, i);

		if (strcmp(member_text(row, "component"), member_text(v, "component")) != 0 ||
		    member_number(row, "id") == member_number(v, "id"))
			continue;
		looked_at++;
		TRY(variant_get(o, member_number(row, "id"), &other));
		TRY(difference(other, v, &d));
		if (best && json_array_size(json_object_get(d, "events")) >=
				    json_array_size(json_object_get(best, "events")))
			continue;
		client_free(&best);
		best = take_ptr(d);
	}
	*ret = take_ptr(best);
	return R_OK;
}

enum reason ctl_ref_against_active(const struct options *o, const char *id)
{
	_cleanup_(client_free) json_t *v = NULL, *d = NULL;

	TRY(client_get(o, CLIENT_PATH("ref", id), NULL, &v));
	TRY(nearest(o, v, &d));
	if (d)
		print(d);
	else
		printf("variant %s of %s is the first: no other is active\n", id, member_text(v, "component"));
	return R_OK;
}
