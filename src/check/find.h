/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of checks: what they read with, and how they tell what they found. */
#ifndef BOOTGATE_CHECK_FIND_H
#define BOOTGATE_CHECK_FIND_H

#include "check/check.h"

#define EFI_GLOBAL_GUID "8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define EFI_SECURITY_GUID "d719b2cb-3d3a-4596-a3bc-dad00e67656f"

#define BIT(n) (UINT64_C(1) << (n))

/* Every check, so that a file of checks agrees with the table. */
#define CHECK(function, ...) \
	void check_##function(const struct machine *m, struct finding *f);
#include "check/check.def"
#undef CHECK

/* Anything that is not printable ASCII is escaped, what is too long is cut. */
void found(struct finding *f, enum check_result r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* `pass` when it is as it should be, else `fail`. */
void found_if(struct finding *f, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* `unknown`: what could not be read, and why not. */
void found_unread(struct finding *f, const char *what, enum reason why);

/*
 * The bits of a register, equal on every processor that is online. False, and
 * f says why: cannot be read (unknown), not there or not equal (fail).
 */
bool msr_everywhere(const struct machine *m, uint32_t msr, uint64_t mask, uint64_t *ret,
		    struct finding *f);
/* Passes when all `ones` are set and all `zeros` are clear, on every processor. */
void msr_bits(const struct machine *m, uint32_t msr, uint64_t ones, uint64_t zeros,
	      struct finding *f);
/* False, and f says why. */
bool cpuid_read(const struct machine *m, uint32_t leaf, uint32_t subleaf, struct cpuid *ret,
		struct finding *f);
/* A line of a file; false, and f is unknown. */
bool line_read(const struct machine *m, const char *path, char *ret, size_t n,
	       struct finding *f);
/* Passes when a module's parameter is on. */
void parameter_on(const struct machine *m, const char *path, struct finding *f);
/*
 * An EFI variable's content, without its attributes. False when f says why:
 * unknown, or, where `absent` is not CHECK_UNKNOWN, that when firmware has
 * variables but not this one.
 */
bool efi_read(const struct machine *m, const char *name_guid, enum check_result absent,
	      struct blob *ret, struct finding *f);

#endif
