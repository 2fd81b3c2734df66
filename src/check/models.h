/* SPDX-License-Identifier: Apache-2.0 */
/* Models of processors, and their microcode. */
#ifndef BOOTGATE_CHECK_MODELS_H
#define BOOTGATE_CHECK_MODELS_H

#include "check/check.h"

struct model {
	enum vendor vendor;
	uint32_t family, first, last;	/* models from first to last */
	const char *name;
	bool confidential;		/* has SEV-SNP or TDX */
};
/* NULL for one that is not in the list. */
const struct model *model_of(const struct machine *m);

/* The revision that all processors run. False, and f says why. */
bool microcode_everywhere(const struct machine *m, uint32_t *ret, struct finding *f);

#endif
