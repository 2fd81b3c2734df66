/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

#define DEFAULT_SOCKET "/run/bootgate/admin.sock"
#define ANSWER_MAX (64u << 20)
#define TIMEOUT_S 90L

static void cleanup_curl(CURL **c)
{
	curl_easy_cleanup(*c);
}

static void cleanup_list(struct curl_slist **l)
{
	curl_slist_free_all(*l);
}

void client_free(json_t **j)
{
	json_decref(*j);
	*j = NULL;
}

const char *member_text(const json_t *j, const char *name)
{
	const char *s = json_string_value(json_object_get(j, name));

	return s ? s : "";
}

long long member_number(const json_t *j, const char *name)
{
	return json_integer_value(json_object_get(j, name));
}

bool member_true(const json_t *j, const char *name)
{
	return json_is_true(json_object_get(j, name));
}

int ctl_refused(enum reason r, const char *about)
{
	char shown[CTL_SHOWN_MAX];

	if (r != R_FILE)
		fprintf(stderr, "bootgatectl: %s%s%s\n  %s\n", about ? ctl_shown(about, shown) : "",
			about ? ": " : "", reason_name(r), reason_sentence(r));
	fprintf(stderr, "  %s\n", reason_remedy(r));
	return reason_exit(r);
}

static size_t collect(char *data, size_t size, size_t n, void *ctx)
{
	struct blob *b = ctx;

	return blob_append(b, data, size * n) == R_OK ? size * n : 0;
}

static enum reason url_of(CURL *c, const char *const *path, const char *query, struct blob *ret)
{
	static const char base[] = "http://bootgate/v1/admin";

	TRY(blob_append(ret, base, sizeof(base) - 1));
	for (; *path; path++) {
		char *part = curl_easy_escape(c, *path, 0);

		if (!part)
			return R_INTERNAL_MEMORY;
		enum reason r = blob_u8(ret, '/');
		if (r == R_OK)
			r = blob_append(ret, part, strlen(part));
		curl_free(part);
		TRY(r);
	}
	if (query) {
		TRY(blob_u8(ret, '?'));
		TRY(blob_append(ret, query, strlen(query)));
	}
	return blob_u8(ret, 0);
}

/* What the server said was wrong, in its own words. */
static enum reason error_of(const json_t *answer)
{
	const json_t *e = json_object_get(answer, "error");
	enum reason r;

	if (!json_is_object(e))
		return R_OK;
	const char *about = member_text(e, "about");
	fprintf(stderr, "bootgatectl: %s%s%s\n  %s\n  %s\n", about, about[0] ? ": " : "", member_text(e, "reason"),
		member_text(e, "sentence"), member_text(e, "remedy"));
	return reason_find(member_text(e, "reason"), &r) && r != R_OK ? r : R_INTERNAL;
}

static enum reason say(enum reason r, const char *about)
{
	ctl_refused(r, about);
	return r;
}

/* A socket that is there, and not for this account, is no server that is down. */
static enum reason not_connected(CURL *c, CURLcode code, const char *path)
{
	char about[512];
	long error = 0;

	(void)curl_easy_getinfo(c, CURLINFO_OS_ERRNO, &error);
	snprintf(about, sizeof(about), "%.400s: %s", path, error ? strerror((int)error) : curl_easy_strerror(code));
	return say(error == EACCES ? R_SERVER_DENIED : R_NET_CONNECT, about);
}

static enum reason perform(const struct options *o, const char *const *path, const char *query, const char *body,
			   json_t **ret)
{
	_cleanup_(cleanup_curl) CURL *c = curl_easy_init();
	_cleanup_(cleanup_list) struct curl_slist *headers = NULL;
	_cleanup_(blob_free) struct blob url = BLOB(8192), answer = BLOB(ANSWER_MAX);
	_cleanup_(client_free) json_t *j = NULL;
	const char *path_of_socket = option(o, "socket");

	if (!path_of_socket)
		path_of_socket = getenv("BOOTGATE_SOCKET");
	if (!path_of_socket)
		path_of_socket = DEFAULT_SOCKET;
	if (!c)
		return say(R_INTERNAL_MEMORY, NULL);
	enum reason r = url_of(c, path, query, &url);
	if (r != R_OK)
		return say(r, NULL);
	curl_easy_setopt(c, CURLOPT_URL, (char *)url.p);
	curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, path_of_socket);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, collect);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &answer);
	if (body) {
		headers = curl_slist_append(headers, "Content-Type: application/json");
		headers = curl_slist_append(headers, "Expect:");
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
	}
	CURLcode code = curl_easy_perform(c);
	if (code != CURLE_OK)
		return not_connected(c, code, path_of_socket);
	json_error_t e;
	j = json_loadb((const char *)answer.p, answer.n, JSON_REJECT_DUPLICATES, &e);
	if (!json_is_object(j))
		return say(R_NET_ANSWER, NULL);
	TRY(error_of(j));
	*ret = take_ptr(j);
	return R_OK;
}

enum reason client_get(const struct options *o, const char *const *path, const char *query, json_t **ret)
{
	return perform(o, path, query, NULL, ret);
}

enum reason client_post(const struct options *o, const char *const *path, json_t *body, json_t **ret)
{
	_cleanup_(client_free) json_t *whole = body ? body : json_object();
	_cleanup_free_ char *text = NULL;

	if (option(o, "reason"))
		json_object_set_new(whole, "reason", json_string(option(o, "reason")));
	if (option_flag(o, "dry-run"))
		json_object_set_new(whole, "dry_run", json_true());
	text = json_dumps(whole, JSON_COMPACT);
	return text ? perform(o, path, NULL, text, ret) : say(R_INTERNAL_MEMORY, NULL);
}

bool client_query(char *query, size_t n, const char *name, const char *value)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
	size_t at = strlen(query);

	if (value[strspn(value, plain)] != '\0')
		return false;
	int more = snprintf(query + at, n - at, "%s%s=%s", at ? "&" : "", name, value);
	return more > 0 && (size_t)more < n - at;
}

const char *client_is(const struct options *o)
{
	return option_flag(o, "dry-run") ? "would be" : "is";
}

bool client_json(const struct options *o, const json_t *answer)
{
	if (!option_flag(o, "json"))
		return false;
	json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	return true;
}
