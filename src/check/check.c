/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include <string.h>

#include "base/cleanup.h"
#include "check/find.h"

/* What it proves stands in docs/checks.md; nobody prints it. */
const struct check checks[CHECK_COUNT] = {
#define CHECK(function, id, parents, stage, scope, title, proves, source, expected, remedy) \
	{ id, parents, stage, scope, title, source, expected, remedy, check_##function },
#include "check/check.def"
#undef CHECK
};

/* Position of the check with this id, among those before `end`. */
static size_t find_before(size_t end, struct bytes id)
{
	size_t i = 0;

	while (i < end && !bytes_equal(bytes_str(checks[i].id), id))
		i++;
	return i;
}

/* False, and the finding says so, when a parent leaves nothing to check. */
static bool parents_allow(size_t at, const struct finding *all, struct finding *f)
{
	const char *rest = checks[at].parents;

	while (*rest) {
		size_t n = strcspn(rest, " ");
		size_t parent = find_before(at, bytes_of(rest, n));
		enum check_result r = parent < at ? all[parent].result : CHECK_UNKNOWN;

		if (r == CHECK_FAIL || r == CHECK_SKIP || r == CHECK_UNKNOWN) {
			found(f, r == CHECK_UNKNOWN ? CHECK_UNKNOWN : CHECK_SKIP, "%.*s: %s",
			      (int)n, rest, check_result_name(r));
			return false;
		}
		rest += n;
		rest += strspn(rest, " ");
	}
	return true;
}

static bool scope_allows(const struct machine *m, enum check_scope scope, struct finding *f)
{
	enum vendor wanted = scope == SCOPE_AMD ? VENDOR_AMD : VENDOR_INTEL;

	if (scope == SCOPE_ANY || m->vendor == wanted)
		return true;
	if (m->vendor == VENDOR_UNKNOWN)
		found_unread(f, "CPUID", R_FILE);
	else
		found(f, CHECK_SKIP, "not for this processor");
	return false;
}

void check_run(const struct machine *m, enum check_stage stage, struct finding ret[CHECK_COUNT])
{
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		struct finding f = { CHECK_UNKNOWN, "" };

		if (checks[i].stage > stage)
			found(&f, CHECK_SKIP, "later stage");
		else if (scope_allows(m, checks[i].scope, &f) && parents_allow(i, ret, &f))
			checks[i].run(m, &f);
		ret[i] = f;
	}
}

void check_read_all(const struct machine *m)
{
	struct finding f;

	for (size_t i = 0; i < CHECK_COUNT; i++)
		if (scope_allows(m, checks[i].scope, &f))
			checks[i].run(m, &f);
}

struct check_summary check_count(const struct finding findings[CHECK_COUNT])
{
	struct check_summary s = { { 0 } };

	for (size_t i = 0; i < CHECK_COUNT; i++)
		s.by_result[findings[i].result]++;
	return s;
}

enum reason check_verdict(const struct check_summary *s)
{
	if (s->by_result[CHECK_FAIL] > 0)
		return R_CHECK_FAILED;
	return s->by_result[CHECK_PASS] > 0 ? R_OK : R_CHECK_NO_SOURCE;
}
