/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does an endorsement certificate prove a TPM that deserves trust: the one
 * judgement for the server at enrolment and for `bootgatectl ek show`.
 */
#ifndef BOOTGATE_APPRAISE_EK_TRUST_H
#define BOOTGATE_APPRAISE_EK_TRUST_H

#include "appraise/ek_firmware.h"
#include "crypto/cert.h"

struct ek_trust_basis {
	const struct cert_store *cas;
	struct bytes sent;		/* certificates from the TPM's NV, may be empty */
	int64_t now;			/* seconds since 1970 */
	/*
	 * firmwareVersion that the TPM signed. Without it nothing is refused for
	 * its firmware: a certificate has the version of the factory only.
	 */
	bool firmware_known;
	uint64_t firmware;
	struct ek_firmware_exceptions exceptions;
};

/* Large: allocate it. */
struct ek_judgement {
	enum reason reason;
	char detail[200];		/* printable: which certificate, and why */
	struct cert_path path;
	struct ek_firmware firmware;	/* by the version signed, else the certificate's */
};
/* R_OK when it was judged, whatever came out. */
enum reason ek_trust_judge(const struct cert *c, const struct ek_trust_basis *basis,
			   struct ek_judgement *ret) must_check;

/*
 * What a rule for new TPMs names, as one digest: SHA-256 of the root's certificate,
 * manufacturer (see ek_manufacturer_text) and model of the EK certificate.
 */
enum reason ek_origin(const uint8_t anchor[SHA256_LEN], const char *manufacturer, const char *model,
		      uint8_t ret[SHA256_LEN]) must_check;
/* That of a path that holds; none of a certificate that is its own root. */
enum reason ek_origin_of(const struct cert_path *p, uint8_t ret[SHA256_LEN], bool *ret_has) must_check;

#endif
