/* SPDX-License-Identifier: Apache-2.0 */
#include "node/http.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/limits.h"

#define CONNECT_MS 15000L
/* Slower than this for so long is a stall. */
#define STALL_BYTES 1024L
#define STALL_SECONDS 30L
#define STREAM_BUFFER (256L << 10)

struct http {
	CURL *curl;
	struct curl_slist *headers;
	struct blob ca;
};

static void setup_handle(struct http *h)
{
	CURL *c = h->curl;
	struct curl_blob ca = { h->ca.p, h->ca.n, CURL_BLOB_NOCOPY };

	curl_easy_reset(c);	/* keeps the connection */
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(c, CURLOPT_CAINFO_BLOB, &ca);
	curl_easy_setopt(c, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "bootgate/" BOOTGATE_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
}

enum reason http_open(struct bytes ca_pem, struct http **ret)
{
	struct http *h;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return R_INTERNAL_CRYPTO;
	h = calloc(1, sizeof(*h));
	if (!h)
		return R_INTERNAL_MEMORY;
	h->ca = BLOB(LIMIT_CONF);
	/* no waiting for "100 Continue" before a large message */
	h->headers = curl_slist_append(NULL, "Expect:");
	if (h->headers && !curl_slist_append(h->headers, "Content-Type: application/cbor"))
		goto fail;
	h->curl = curl_easy_init();
	if (!h->headers || !h->curl || blob_append(&h->ca, ca_pem.p, ca_pem.n))
		goto fail;
	*ret = h;
	return R_OK;
fail:
	http_close(&h);
	return R_INTERNAL_MEMORY;
}

void http_close(struct http **h)
{
	if (!*h)
		return;
	curl_easy_cleanup((*h)->curl);
	curl_slist_free_all((*h)->headers);
	blob_free(&(*h)->ca);
	free(*h);
	*h = NULL;
}

static enum reason reason_of(CURLcode code, bool got_bytes)
{
	switch (code) {
	case CURLE_OK:
		return R_OK;
	case CURLE_COULDNT_RESOLVE_HOST:
		return R_NET_DNS;
	case CURLE_COULDNT_CONNECT:
		return R_NET_CONNECT;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
		return R_NET_TLS;
	case CURLE_SSL_CACERT_BADFILE:
		return R_SITE_KEYS;
	case CURLE_OPERATION_TIMEDOUT:
		return got_bytes ? R_NET_STALLED : R_NET_TIMEOUT;
	case CURLE_OUT_OF_MEMORY:
		return R_INTERNAL_MEMORY;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return R_CONF_VALUE;
	default:
		return R_NET_CUT;
	}
}

static void read_result(CURL *c, CURLcode code, struct http_result *result)
{
	curl_off_t retry = 0, length = -1;

	result->code = (int)code;

	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &result->status);
	curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &retry);
	curl_easy_getinfo(c, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	result->retry_after = retry < 0 ? 0 : retry > 86400 ? 86400 : (uint32_t)retry;
	result->length_known = length >= 0;
}

struct answer {
	struct blob *to;
	bool too_large;
};

static size_t to_blob(char *p, size_t size, size_t n, void *ctx)
{
	struct answer *a = ctx;

	if (blob_append(a->to, p, size * n)) {
		a->too_large = true;
		return 0;
	}
	return n;
}

enum reason http_call(struct http *h, const char *url, struct bytes body, unsigned timeout_ms,
		      struct blob *ret, struct http_result *result)
{
	struct answer answer = { ret, false };
	CURLcode code;

	*result = (struct http_result){ 0 };
	setup_handle(h);
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "https");
	curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, to_blob);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &answer);
	if (body.n > 0) {
		curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body.p);
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	}
	code = curl_easy_perform(h->curl);
	read_result(h->curl, code, result);
	if (answer.too_large)
		return R_NET_ANSWER;
	return reason_of(code, false);
}

struct stream {
	CURL *curl;
	int fd;
	long wanted;			/* status whose body is passed on */
	uint64_t bytes;
	bool closed;
};

static size_t to_fd(char *p, size_t size, size_t n, void *ctx)
{
	struct stream *s = ctx;
	long status = 0;

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != s->wanted)
		return n;	/* an error page: dropped */
	if (fd_write_full(s->fd, bytes_of(p, size * n))) {
		s->closed = true;
		return 0;
	}
	s->bytes += size * n;
	return n;
}

enum reason http_stream(struct http *h, const char *url, uint64_t offset, int fd,
			uint64_t *ret_bytes, struct http_result *result)
{
	struct stream s = { h->curl, fd, offset > 0 ? 206 : 200, 0, false };
	CURLcode code;

	*result = (struct http_result){ 0 };
	setup_handle(h);
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h->curl, CURLOPT_BUFFERSIZE, STREAM_BUFFER);
	curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, to_fd);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &s);
	if (offset > 0)
		curl_easy_setopt(h->curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)offset);
	code = curl_easy_perform(h->curl);
	read_result(h->curl, code, result);
	/* libcurl compares the start in Content-Range with what was asked for */
	result->no_resume = code == CURLE_RANGE_ERROR || (offset > 0 && result->status == 416);
	*ret_bytes = s.bytes;
	if (s.closed)
		return R_NET_CUT;
	return reason_of(code, s.bytes > 0);
}
