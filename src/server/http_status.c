/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_status.h"

uint16_t http_status(enum reason r)
{
	switch (r) {
	case R_OK:
		return 200;
	case R_SERVER_ROUTE:
	case R_STORE_NOT_FOUND:
	case R_RECEIPT_UNKNOWN:
		return 404;
	case R_STORE_EXISTS:
	case R_STORE_REVOKED:
	case R_STORE_AMBIGUOUS:
	case R_NODE_CONFLICT:
		return 409;
	case R_FORMAT_TOO_LARGE:
		return 413;
	case R_SERVER_DENIED:
		return 403;
	case R_NODE_PENDING:
	case R_SESSION_EXPIRED:
	case R_SERVER_BUSY:
	case R_ENROL_FULL:
		return 503;
	default:
		break;
	}
	/* Bytes that are not a message at all are the sender's mistake. */
	if (r >= R_FORMAT_TRUNCATED && r <= R_FORMAT_TEXT)
		return 400;
	switch (reason_class(r)) {
	case REASON_TRANSIENT:
		return 503;
	case REASON_REFUSED:
		return 403;
	case REASON_USAGE:
		return 400;
	case REASON_BROKEN:
		break;
	}
	return 500;
}
