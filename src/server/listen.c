/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "server/listen.h"

#define BACKLOG 1024

struct where {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	socklen_t n;
	bool loopback;
};

static enum reason where_of(const char *text, struct where *ret)
{
	char host[64];
	const char *colon = strrchr(text, ':');
	uint64_t port;

	memset(ret, 0, sizeof(*ret));
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return R_CONF_VALUE;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (text_u64(bytes_str(colon + 1), 65535, &port) != R_OK || port == 0)
		return R_CONF_VALUE;

	size_t n = strlen(host);
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		ret->a.v6.sin6_family = AF_INET6;
		ret->a.v6.sin6_port = htons((uint16_t)port);
		ret->n = sizeof(ret->a.v6);
		if (inet_pton(AF_INET6, host + 1, &ret->a.v6.sin6_addr) != 1)
			return R_CONF_VALUE;
		ret->loopback = IN6_IS_ADDR_LOOPBACK(&ret->a.v6.sin6_addr);
		return R_OK;
	}
	ret->a.v4.sin_family = AF_INET;
	ret->a.v4.sin_port = htons((uint16_t)port);
	ret->n = sizeof(ret->a.v4);
	if (inet_pton(AF_INET, host, &ret->a.v4.sin_addr) != 1)
		return R_CONF_VALUE;
	ret->loopback = (ntohl(ret->a.v4.sin_addr.s_addr) >> 24) == 127;
	return R_OK;
}

enum reason listen_check(const char *where, bool loopback)
{
	struct where w;

	TRY(where_of(where, &w));
	return loopback && !w.loopback ? R_CONF_VALUE : R_OK;
}

enum reason listen_tcp(const char *where, bool loopback, int *ret)
{
	struct where w;
	int one = 1;

	TRY(where_of(where, &w));
	if (loopback && !w.loopback)
		return R_CONF_VALUE;
	_cleanup_fd_ int fd = socket(w.a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    bind(fd, &w.a.any, w.n) != 0 || listen(fd, BACKLOG) != 0)
		return log_reason_errno(R_INTERNAL_IO, "listening on %s", where);
	*ret = take_fd(fd);
	return R_OK;
}

enum reason listen_unix(const char *path, uint32_t gid, int *ret)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return R_CONF_VALUE;
	memcpy(a.sun_path, path, strlen(path) + 1);
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(path);
	/* Nobody may connect between bind and chmod. */
	mode_t before = umask(0177);
	int bound = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&a, sizeof(a));
	umask(before);
	if (bound != 0 || (gid != 0 && chown(path, (uid_t)-1, gid) != 0) || chmod(path, 0660) != 0 ||
	    listen(fd, BACKLOG) != 0)
		return log_reason_errno(R_INTERNAL_IO, "listening on %s", path);
	*ret = take_fd(fd);
	return R_OK;
}
