/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest: a COSE_Sign over the description of one image.
 * Command-line template: text with `%{name}` where a value of the declared
 * type goes. A value never begins a parameter, so `%{` follows a character
 * other than blank.
 */
#ifndef BOOTGATE_FORMAT_MANIFEST_H
#define BOOTGATE_FORMAT_MANIFEST_H

#include "format/cose.h"
#include "format/protocol.h"

struct artifact {
	uint64_t size;
	uint8_t sha256[SHA256_LEN];
};

enum parameter_type {
	PARAMETER_HEX = 0,	/* exactly `bound` lower-case hex characters */
	PARAMETER_ADDRESS = 1,	/* IPv4 or IPv6 address */
	PARAMETER_HOST = 2,	/* host name, at most `bound` characters */
	PARAMETER_NUMBER = 3,	/* decimal, 0..`bound` */
	PARAMETER_TYPE_MAX,
};

#define MANIFEST_PARAMETERS_MAX 8u
#define MANIFEST_CVMS_MAX 8u

struct manifest_parameter {
	char name[32];		/* lower case, digits, - */
	enum parameter_type type;
	uint32_t bound;
};

struct manifest_cvm {
	char name[64];
	struct artifact image;
};

struct manifest {
	char line[64];			/* lower case, digits, - : "lab" */
	enum purpose purpose;
	char version[64];
	uint32_t security_version;
	struct artifact kernel;
	struct artifact initrd;
	uint64_t memory;		/* bytes needed to unpack, 0: not stated */
	char cmdline[LIMIT_CMDLINE];	/* template, printable ASCII */
	size_t parameter_count;
	struct manifest_parameter parameter[MANIFEST_PARAMETERS_MAX];
	size_t cvm_count;
	struct manifest_cvm cvm[MANIFEST_CVMS_MAX];
};

enum reason manifest_read(struct bytes payload, struct manifest *ret) must_check;
enum reason manifest_write(const struct manifest *m, struct blob *ret) must_check;

/*
 * Fills the template. `value(ctx, name)` gives a value or NULL. Refuses with
 * R_MANIFEST_TEMPLATE what the declared type does not allow, and with
 * R_IMAGE_CMDLINE what grows past LIMIT_CMDLINE. ret gets a C string.
 */
enum reason manifest_cmdline(const struct manifest *m,
			     const char *(*value)(void *ctx, const char *name), void *ctx,
			     char ret[LIMIT_CMDLINE]) must_check;

#endif
