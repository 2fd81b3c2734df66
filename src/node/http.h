/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 over TLS 1.2 or later with one pinned CA; the only user of
 * libcurl. No redirects, no resumption, no content encodings, no proxy.
 */
#ifndef BOOTGATE_NODE_HTTP_H
#define BOOTGATE_NODE_HTTP_H

#include "base/bytes.h"

struct http;

/* R_SITE_KEYS when the CA cannot be used. */
enum reason http_open(struct bytes ca_pem, struct http **ret) must_check;
void http_close(struct http **h);

struct http_result {
	long status;			/* 0: no answer came */
	int code;			/* libcurl's own, for the log */
	uint32_t retry_after;		/* seconds, 0: not stated */
	bool length_known;		/* the answer said how long it is */
	bool no_resume;			/* it does not begin where it was asked to */
};

/*
 * POST of a CBOR message (GET when body is none); the answer's body goes into
 * `ret` up to its ceiling, whatever the status. R_OK means that a whole
 * answer came, of any status.
 */
enum reason http_call(struct http *h, const char *url, struct bytes body, unsigned timeout_ms,
		      struct blob *ret, struct http_result *result) must_check;
/*
 * GET from `offset` on, without a limit of time as long as bytes flow. The
 * body is written to fd only when the status is 200, resp. 206 with exactly
 * that start; R_NET_CUT when fd takes no more.
 */
enum reason http_stream(struct http *h, const char *url, uint64_t offset, int fd,
			uint64_t *ret_bytes, struct http_result *result) must_check;

#endif
