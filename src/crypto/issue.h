/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site's own small CA: one self-signed certificate, and TLS server
 * certificates under it. OpenSSL body only.
 */
#ifndef BOOTGATE_CRYPTO_ISSUE_H
#define BOOTGATE_CRYPTO_ISSUE_H

#include "crypto/sign.h"

/* Self-signed, CA:TRUE with path length 0, for `days`. PEM is appended. */
enum reason issue_ca(const struct private_key *key, const char *common_name, unsigned days,
		     struct blob *ret) must_check;
/*
 * TLS server certificate for names (DNS names, or IPv4/IPv6 addresses in
 * text), the first of them also as common name.
 */
enum reason issue_server(const struct private_key *ca_key, struct bytes ca_pem,
			 const struct private_key *key, const char *const *names, size_t count,
			 unsigned days, struct blob *ret) must_check;

#endif
