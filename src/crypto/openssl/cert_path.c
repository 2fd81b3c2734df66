/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths from an endorsement certificate to a root. OpenSSL builds and checks
 * them; its callback lets it go on after a fault, so that every link is told,
 * and whatever it reports that the policy (docs/ek.md) does not tolerate is a
 * fault of that link. The answer is yes only when it said yes and no link has one.
 */
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "crypto/cert_der.h"
#include "crypto/openssl/cert_priv.h"

enum { SENT_MAX = 16 };

OSSL_CLEANUP(STACK_OF(X509), stack, sk_X509_free)

struct judging {
	struct cert_path *path;
	const struct cert_store *store;
	STACK_OF(X509) *sent, *all;
	bool authority;			/* the leaf is a CA */
	bool by_signature;		/* an issuer is who signed it, not who has the name */
};

static struct cert_link *link_at(struct judging *j, int depth)
{
	int last = (int)CERT_PATH_MAX - 1;

	return &j->path->link[depth < 0 ? 0 : depth > last ? last : depth];
}

static void note(struct cert_link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct cert_link *l, const char *format, ...)
{
	size_t at = strlen(l->note);
	va_list args;

	if (at > 0 && at + 2 < sizeof(l->note)) {
		memcpy(l->note + at, "; ", 3);
		at += 2;
	}
	va_start(args, format);
	(void)vsnprintf(l->note + at, sizeof(l->note) - at, format, args);
	va_end(args);
}

/* The reasons of this file, the gravest first. */
static const enum reason gravity[] = { R_EK_REVOKED, R_EK_PROFILE, R_EK_UNTRUSTED, R_EK_EXPIRED };

static size_t rank(enum reason r)
{
	size_t i = 0;

	while (i < ARRAY_LEN(gravity) && gravity[i] != r)
		i++;
	return i;
}

/* The gravest fault of a link is the one that is told; of equal ones the first. */
static void fault(struct cert_link *l, enum reason r, const char *words)
{
	if (rank(r) >= rank(l->reason))
		return;
	l->reason = r;
	(void)text_escape(bytes_str(words), l->fault, sizeof(l->fault));
}

/* ---- what OpenSSL reports -------------------------------------------------- */

/*
 * Vendors let a CA end while TPMs with its certificates are in use for many
 * years more. What it signed while it was valid stays good.
 */
static bool signed_in_time(X509_STORE_CTX *context, int depth)
{
	STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
	const X509 *ca = sk_X509_value(chain, depth);
	const X509 *below = sk_X509_value(chain, depth - 1);

	return ca != NULL && below != NULL &&
	       ASN1_TIME_compare(X509_get0_notBefore(below), X509_get0_notAfter(ca)) <= 0;
}

static void on_expired(const struct judging *j, X509_STORE_CTX *context, int depth,
		       struct cert_link *l)
{
	char ended[24];

	if (depth == 0 && !j->authority) {
		fault(l, R_EK_EXPIRED, "the endorsement certificate has expired");
		return;
	}
	if (depth > 0 && !signed_in_time(context, depth)) {
		fault(l, R_EK_EXPIRED, "the CA had expired when the certificate below was made");
		return;
	}
	cert_time_text(X509_get0_notAfter(X509_STORE_CTX_get_current_cert(context)), ended,
		       sizeof(ended));
	note(l, "expired %s, counts for what it signed before", ended);
}

/* Over other bytes than OpenSSL holds: judged by what was received. */
static void on_signature(X509_STORE_CTX *context, int depth, struct cert_link *l)
{
	STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
	X509 *x = X509_STORE_CTX_get_current_cert(context);
	const X509 *issuer = sk_X509_value(chain, depth + 1);

	if (issuer == NULL)
		issuer = x;
	if (cert_repaired(x) && cert_signed_by(x, X509_get0_pubkey(issuer)))
		return;
	fault(l, R_EK_UNTRUSTED, "its signature is not one of its issuer's key");
}

/* Who was looked for, and why one of that name would not do. */
static void on_no_issuer(struct judging *j, X509_STORE_CTX *context, struct cert_link *l)
{
	X509 *x = X509_STORE_CTX_get_current_cert(context);

	for (int i = 0; i < sk_X509_num(j->all); i++) {
		X509 *issuer = sk_X509_value(j->all, i);
		char words[120];
		int e;

		if (X509_NAME_cmp(X509_get_subject_name(issuer), X509_get_issuer_name(x)) != 0)
			continue;
		e = X509_check_issued(issuer, x);
		if (e == X509_V_OK)
			continue;
		(void)snprintf(words, sizeof(words), "a certificate of its issuer's name is there, but: %s",
			       X509_verify_cert_error_string(e));
		fault(l, R_EK_UNTRUSTED, words);
		return;
	}
	fault(l, R_EK_UNTRUSTED, "no certificate of its issuer is there");
}

static int on_report(int ok, X509_STORE_CTX *context)
{
	struct judging *j = X509_STORE_CTX_get_app_data(context);
	int e = X509_STORE_CTX_get_error(context);
	int depth = X509_STORE_CTX_get_error_depth(context);
	struct cert_link *l = link_at(j, depth);

	if (ok == 1)
		return 1;
	switch (e) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		on_expired(j, context, depth, l);
		break;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		fault(l, R_EK_EXPIRED, "it is not valid yet");
		break;
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		on_signature(context, depth, l);
		break;
	case X509_V_ERR_CERT_REVOKED:
		fault(l, R_EK_REVOKED, "its issuer has revoked it");
		break;
	case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
		fault(l, depth == 0 ? R_EK_PROFILE : R_EK_UNTRUSTED,
		      "it has a critical extension that is not known");
		break;
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
		on_no_issuer(j, context, l);
		break;
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		fault(l, R_EK_UNTRUSTED, "no certificate of its issuer is there");
		break;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
		fault(l, R_EK_UNTRUSTED, "it signed itself and is not a root in the folder");
		break;
	case X509_V_ERR_UNABLE_TO_GET_CRL:
	case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
		/* a root answers for itself, there is nobody to revoke it */
		if (X509_self_signed(X509_STORE_CTX_get_current_cert(context), 0) != 1)
			note(l, "not checked for revocation: no list of its issuer is there");
		break;
	case X509_V_ERR_DIFFERENT_CRL_SCOPE:
	case X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION:
		note(l, "not fully checked for revocation: %s", X509_verify_cert_error_string(e));
		break;
	case X509_V_ERR_CRL_HAS_EXPIRED:
	case X509_V_ERR_CRL_NOT_YET_VALID:
		note(l, "the revocation list is out of date, what it lists still counts");
		break;
	default:
		fault(l, R_EK_UNTRUSTED, X509_verify_cert_error_string(e));
	}
	return 1;
}

static int is_issued(X509_STORE_CTX *context, X509 *x, X509 *issuer)
{
	const struct judging *j = X509_STORE_CTX_get_app_data(context);

	if (X509_check_issued(issuer, x) != X509_V_OK)
		return 0;
	return j == NULL || !j->by_signature || cert_signed_by(x, X509_get0_pubkey(issuer));
}

/* ---- the path -------------------------------------------------------------- */

static enum cert_origin origin_of(const struct judging *j, const X509 *x, int at)
{
	if (at == 0)
		return CERT_GIVEN;
	for (int i = 0; i < sk_X509_num(j->sent); i++)
		if (sk_X509_value(j->sent, i) == x)
			return CERT_SENT;
	return CERT_FOLDER;
}

/* The one rule of ours between leaf and root: a CA for other things vouches for no EK. */
static void check_between(X509 *x, struct cert_link *l)
{
	_cleanup_(cleanup_usages) EXTENDED_KEY_USAGE *usages =
		X509_get_ext_d2i(x, NID_ext_key_usage, NULL, NULL);

	if (usages != NULL && !cert_usage_has(usages, EK_USAGE) &&
	    !cert_usage_has(usages, "2.5.29.37.0"))
		fault(l, R_EK_UNTRUSTED, "its extended key usage does not allow endorsement keys");
}

static enum reason describe_path(struct judging *j, STACK_OF(X509) *chain, const struct cert *leaf)
{
	struct cert_path *p = j->path;
	int n = sk_X509_num(chain);

	p->count = n < 0 ? 0 : (size_t)n;
	if (p->count > CERT_PATH_MAX)
		p->count = CERT_PATH_MAX;
	/* whatever became of the path, the leaf is told */
	TRY(cert_describe(leaf, &p->link[0].info));
	for (size_t i = 0; i < p->count; i++) {
		struct cert_link *l = &p->link[i];
		X509 *x = sk_X509_value(chain, (int)i);
		const struct cert c = { x };

		TRY(cert_describe(&c, &l->info));
		l->origin = origin_of(j, x, (int)i);
		if (l->info.repaired)
			note(l, "its serial number is not DER, the signature was checked over the bytes as they are");
		if (i > 0 && !l->info.self_signed)
			check_between(x, l);
	}
	return R_OK;
}

static enum reason worst(const struct cert_path *p)
{
	enum reason r = R_OK;

	for (size_t i = 0; i < CERT_PATH_MAX; i++)
		if (rank(p->link[i].reason) < rank(r))
			r = p->link[i].reason;
	return r;
}

static enum reason walk(struct judging *j, const struct cert *c, int64_t now)
{
	_cleanup_(cleanup_store_ctx) X509_STORE_CTX *context = X509_STORE_CTX_new();
	const char *misfit = NULL;
	unsigned long flags = X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL;
	enum reason r;
	int verified;

	memset(j->path->link, 0, sizeof(j->path->link));
	if (context == NULL)
		return R_INTERNAL_MEMORY;
	X509_STORE_set_check_issued(j->store->roots, is_issued);
	if (X509_STORE_CTX_init(context, j->store->roots, c->x509, j->all) != 1 ||
	    X509_STORE_CTX_set_app_data(context, j) != 1)
		return R_INTERNAL_CRYPTO;
	X509_STORE_CTX_set_verify_cb(context, on_report);
	X509_STORE_CTX_set_time(context, 0, (time_t)now);
	if (j->authority)
		flags |= X509_V_FLAG_CHECK_SS_SIGNATURE;
	X509_STORE_CTX_set_flags(context, flags);
	verified = X509_verify_cert(context);
	ERR_clear_error();
	r = describe_path(j, X509_STORE_CTX_get0_chain(context), c);
	if (r != R_OK)
		return r;
	for (size_t i = 1; verified < 0 && i < j->path->count; i++)
		fault(&j->path->link[i], R_EK_UNTRUSTED, "not checked, the library gave up before");
	if (!j->authority)
		misfit = cert_profile_fault(c->x509);
	else if (X509_check_ca(c->x509) == 0)
		misfit = "the certificate is not a CA's";
	ERR_clear_error();
	if (misfit != NULL)
		fault(&j->path->link[0], R_EK_PROFILE, misfit);
	r = worst(j->path);
	if (r == R_OK && verified != 1) {
		fault(&j->path->link[0], R_EK_UNTRUSTED, "the path cannot be checked");
		r = R_EK_UNTRUSTED;
	}
	return r;
}

/* Certificates one after the other; what cannot be read ends the list. */
static enum reason read_sent(struct judging *j, struct bytes sent)
{
	while (sent.n > 0 && sk_X509_num(j->sent) < SENT_MAX) {
		X509 *x = NULL;
		struct bytes der, rest;

		/* padding between two NV indices */
		if (sent.p[0] == 0x00 || sent.p[0] == 0xff) {
			sent = bytes_of(sent.p + 1, sent.n - 1);
			continue;
		}
		if (der_sequence(sent, &der, &rest) != R_OK)
			break;
		sent = rest;
		if (cert_x509(der, &x) != R_OK) {
			j->path->sent_unusable++;
			continue;
		}
		if (sk_X509_push(j->sent, x) <= 0) {
			X509_free(x);
			return R_INTERNAL_MEMORY;
		}
	}
	j->path->sent_unusable += sent.n > 0;
	j->path->sent = (size_t)sk_X509_num(j->sent);
	return R_OK;
}

static enum reason gather(struct judging *j, struct bytes sent)
{
	TRY(read_sent(j, sent));
	/* the folder's first: what a TPM sends cannot stand in their way */
	for (int i = 0; i < sk_X509_num(j->store->others); i++)
		if (sk_X509_push(j->all, sk_X509_value(j->store->others, i)) <= 0)
			return R_INTERNAL_MEMORY;
	for (int i = 0; i < sk_X509_num(j->sent); i++)
		if (sk_X509_push(j->all, sk_X509_value(j->sent, i)) <= 0)
			return R_INTERNAL_MEMORY;
	return R_OK;
}

static enum reason judge(const struct cert_store *s, bool authority, struct bytes sent,
			 const struct cert *c, int64_t now, struct cert_path *ret)
{
	_cleanup_(cleanup_stack) STACK_OF(X509) *all = sk_X509_new_null();
	struct judging j = { .path = ret, .store = s, .sent = sk_X509_new_null(), .all = all,
			     .authority = authority };
	enum reason r = R_INTERNAL_MEMORY;

	memset(ret, 0, sizeof(*ret));
	if (j.sent != NULL && j.all != NULL)
		r = gather(&j, sent);
	if (r == R_OK)
		r = walk(&j, c, now);
	/*
	 * Two CAs of one name, and OpenSSL took the other one: it does not come
	 * back to that choice by itself.
	 */
	j.by_signature = true;
	if (r == R_EK_UNTRUSTED) {
		struct cert_path first = *ret;

		r = walk(&j, c, now);
		if (r == R_EK_UNTRUSTED)
			*ret = first;
	}
	sk_X509_pop_free(j.sent, X509_free);
	return r;
}

enum reason cert_judge(const struct cert_store *s, struct bytes sent, const struct cert *c,
		       int64_t now, struct cert_path *ret)
{
	return judge(s, /* authority= */ false, sent, c, now, ret);
}

enum reason cert_judge_ca(const struct cert_store *s, const struct cert *c, int64_t now,
			  struct cert_path *ret)
{
	return judge(s, /* authority= */ true, BYTES_NONE, c, now, ret);
}
