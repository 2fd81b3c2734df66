/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reason.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum reason_class class;
	const char *sentence;
	const char *remedy;
} reasons[R_MAX] = {
	[R_OK] = { "ok", REASON_TRANSIENT, "Nothing is wrong.", "Nothing." },
#define REASON(symbol, name, class, sentence, remedy) \
	[symbol] = { name, class, sentence, remedy },
#include "base/reason.def"
#undef REASON
};

/* A number from outside the list is a mistake of ours. */
static enum reason known(enum reason r)
{
	return (unsigned int)r < R_MAX ? r : R_INTERNAL;
}

const char *reason_name(enum reason r)
{
	return reasons[known(r)].name;
}

const char *reason_sentence(enum reason r)
{
	return reasons[known(r)].sentence;
}

const char *reason_remedy(enum reason r)
{
	return reasons[known(r)].remedy;
}

enum reason_class reason_class(enum reason r)
{
	return reasons[known(r)].class;
}

const char *reason_class_name(enum reason_class c)
{
	static const char *const names[] = {
		[REASON_TRANSIENT] = "transient",
		[REASON_REFUSED] = "refused",
		[REASON_BROKEN] = "broken",
		[REASON_USAGE] = "usage",
	};

	return (unsigned int)c <= REASON_USAGE ? names[c] : "broken";
}

bool reason_find(const char *name, enum reason *ret)
{
	for (unsigned int r = 0; r < R_MAX; r++) {
		if (strcmp(reasons[r].name, name) == 0) {
			*ret = (enum reason)r;
			return true;
		}
	}
	return false;
}

int reason_exit(enum reason r)
{
	if (r == R_OK)
		return 0;
	switch (reason_class(r)) {
	case REASON_TRANSIENT:
		return 75;
	case REASON_REFUSED:
		return 3;
	case REASON_USAGE:
		return r == R_USAGE ? 2 : 1;
	case REASON_BROKEN:
		break;
	}
	return 1;
}
