/* SPDX-License-Identifier: Apache-2.0 */
/* What a root, an issuer and a store of both say about a certificate. */
#ifndef BOOTGATE_TESTS_CERT_JUDGE_KIT_H
#define BOOTGATE_TESTS_CERT_JUDGE_KIT_H

#include <time.h>

#include "cert_kit.h"

static struct cert_path path;

static inline enum reason judge(const struct cert_store *s, struct bytes sent, struct bytes der)
{
	_cleanup_(cert_free) struct cert *c = NULL;

	assert_ok(cert_read(der, &c));
	return cert_judge(s, sent, c, (int64_t)time(NULL), &path);
}

/* Part of what one of the links says. */
static inline void assert_says(const char *says)
{
	for (size_t i = 0; i < CERT_PATH_MAX; i++)
		if (strstr(path.link[i].fault, says) != NULL ||
		    strstr(path.link[i].note, says) != NULL)
			return;
	fail_msg("says '%s' / '%s' / '%s', not '%s'", path.link[0].fault, path.link[1].fault,
		 path.link[2].fault, says);
}

/* What a set of these CAs says about the leaf; `says` is part of its words. */
static inline void assert_judged(enum reason want, const char *says, const struct made *root,
				 const struct made *issuer, const struct made *leaf)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob der = der_of(leaf);

	assert_ok(cert_store_make(&s));
	if (root != NULL)
		trust(s, root);
	if (issuer != NULL)
		trust(s, issuer);
	assert_reason(want, judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_says(says);
}

static struct made root, issuer;

static inline int make_ca(void **state)
{
	(void)state;
	root = make(&root_spec, NULL);
	issuer = make(&issuer_spec, &root);
	return 0;
}

static inline int free_ca(void **state)
{
	(void)state;
	unmake(&root);
	unmake(&issuer);
	return 0;
}

static inline void assert_leaf(enum reason want, const char *says, const struct spec *s)
{
	_cleanup_made_ struct made leaf = make(s, &issuer);

	assert_judged(want, says, &root, &issuer, &leaf);
}

static inline struct cert_store *usual_store(void)
{
	struct cert_store *s = NULL;

	assert_ok(cert_store_make(&s));
	trust(s, &root);
	trust(s, &issuer);
	return s;
}

#endif
