/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that a gate image causes between firmware and gate, computed
 * from the image alone. docs/references.md, "Prediction".
 */
#ifndef BOOTGATE_APPRAISE_PREDICT_H
#define BOOTGATE_APPRAISE_PREDICT_H

#include "appraise/component.h"

#define PREDICT_BANKS 3u
#define PREDICT_EVENTS_MAX 14u

extern const uint16_t predict_bank[PREDICT_BANKS];

struct predicted_event {
	enum component component;
	uint8_t pcr;
	uint32_t type;
	const char *text;		/* what is hashed, for people */
	uint8_t digest[PREDICT_BANKS][DIGEST_MAX];
};

struct prediction {
	size_t count;
	struct predicted_event event[PREDICT_EVENTS_MAX];	/* in the order of the log */
};

/*
 * `ipxe` is the file name that iPXE hands over, NULL where firmware boots the
 * image itself. R_FORMAT_VERSION for an image whose EFI stub does other
 * things, or nobody knows which; R_FORMAT_MISSING_KEY without a section that
 * has to be there; R_FORMAT_UNKNOWN_KEY with one that changes what is
 * measured; R_FORMAT_TEXT for a command line that the stub would alter.
 */
enum reason predict_image(struct bytes image, const char *ipxe, struct prediction *ret) must_check;

#endif
