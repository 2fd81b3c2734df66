/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence of NVIDIA GPUs and switches: an SPDM 1.1 GET_MEASUREMENTS request
 * with its signed answer (DSP0274), opaque data in NVIDIA's form.
 */
#ifndef BOOTGATE_FORMAT_GPU_H
#define BOOTGATE_FORMAT_GPU_H

#include "base/bytes.h"

#define GPU_SIGNATURE_LEN 96u		/* r || s, P-384 */
#define GPU_BLOCKS_MAX 254u
#define GPU_OPAQUE_MAX 64u
#define GPU_FWID_LEN 48u
#define GPU_VBIOS_TEXT 32u

#define GPU_OPAQUE_DRIVER 3u
#define GPU_OPAQUE_VBIOS 6u
#define GPU_OPAQUE_FWID 20u

struct gpu_block {
	uint8_t index, type;
	struct bytes value;
};
struct gpu_opaque {
	uint16_t type;
	struct bytes value;
};
struct gpu_report {
	struct bytes signed_part, signature;
	struct bytes nonce, responder_nonce;	/* of the request; of the answer */
	uint8_t slot;
	size_t blocks, fields;
	struct gpu_block block[GPU_BLOCKS_MAX];	/* by index, each once */
	struct gpu_opaque field[GPU_OPAQUE_MAX];
};
/* R_CVM_EVIDENCE when it does not begin like one, R_GPU_FORMAT, R_FORMAT_TRUNCATED. */
enum reason gpu_report_read(struct bytes in, struct gpu_report *ret) must_check;

/* Opaque field by type; no bytes where it is not there. */
struct bytes gpu_field(const struct gpu_report *r, uint16_t type);
/* "driver_version", or NULL for a type that has no name here. */
const char *gpu_field_name(uint16_t type);
/* "96.00.A5.00.01", whichever form the device gives it in; "" for neither. */
void gpu_vbios_text(struct bytes value, char ret[GPU_VBIOS_TEXT]);

/*
 * Digest of the firmware that a device key was made for, in the values of
 * its certificate's extension: 2.23.133.5.4.1 (Hopper, switches) or
 * 2.23.133.5.4.1.1 (Blackwell). R_GPU_FWID.
 */
enum reason gpu_fwid_read(struct bytes extension, bool tcb_info, struct bytes *ret) must_check;

#endif
