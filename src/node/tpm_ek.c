/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endorsement keys (TCG EK Credential Profile 2.5): which ones have a
 * certificate, the key that belongs to it, and opening a credential with it.
 *
 * No certificate is parsed here. That a key belongs to a certificate is
 * found by looking for its modulus, or its point, in the bytes: enough to
 * choose among candidates. Whether the certificate holds is the server's part.
 */
#include "node/tpm_internal.h"

#include <string.h>

#include "base/log.h"
#include "crypto/digest.h"

#define EK_NV_FIRST 0x01c00000u
#define EK_HIGH_RANGE 0x01c00012u	/* certificates from here on have no nonce */
#define EK_CHAIN_FIRST 0x01c00100u
#define EK_CHAIN_LAST 0x01c001ffu
#define EK_PERSISTENT_FIRST 0x81010000u
#define EK_PERSISTENT_LAST 0x8101ffffu
#define EK_RSA_UNIQUE 256u
#define EK_P256_UNIQUE 32u

static bool in_use(const struct tpm_handles *h, uint32_t handle)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->handle[i] == handle)
			return true;
	return false;
}

/* Faults after which the TPM is not asked for more. */
static bool is_fatal(enum reason r)
{
	switch (r) {
	case R_OK:
	case R_TPM_RESPONSE:
	case R_TPM_AK_TEMPLATE:
	case R_FORMAT_TOO_LARGE:
	case R_EK_FORMAT:
	case R_EK_PADDING:
	case R_EK_MISMATCH:
		return false;
	default:
		return true;
	}
}

/* The certificate of one template: none (n = 0), or a view into b. */
static enum reason certificate(struct tpm *t, const struct tpm_handles *nv,
			       const struct tpm_ek_template *template, struct blob *b,
			       struct bytes *ret)
{
	enum reason r;

	*ret = BYTES_NONE;
	if (!in_use(nv, template->cert_index))
		return R_OK;
	r = tpm_nv_read(t, template->cert_index, LIMIT_EK_CERT, b);
	if (r == R_OK)
		r = tpm_certificate_cut(blob_bytes(b), ret);
	if (r != R_OK && !is_fatal(r))
		log_warn("%s: certificate of EK %s in NV %#010x passed over", reason_name(r),
			 template->name, template->cert_index);
	return r;
}

enum reason tpm_ek_digests(struct tpm *t, uint8_t ret[LIMIT_EKS][SHA256_LEN], size_t *ret_count)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EK_CERT);
	struct tpm_handles nv;
	size_t count = 0;

	TRY(tpm_handles(t, EK_NV_FIRST, &nv));
	for (size_t i = 0; i < TPM_EK_TEMPLATES; i++) {
		struct bytes cert;
		enum reason r = certificate(t, &nv, &tpm_ek_template[i], &b, &cert);

		if (is_fatal(r))
			return r;
		if (r == R_OK && cert.n > 0)
			TRY(sha256(cert, ret[count++]));
	}
	*ret_count = count;
	return R_OK;
}

/* ---- the key of a certificate ------------------------------------------------- */

/* What is looked for: this public area, or the key of this certificate. */
struct wanted {
	struct bytes public_area;
	struct bytes certificate;
};

struct ek_key {
	ESYS_TR h;
	bool persistent;
	struct tpm_area area;
};

static void ek_release(struct tpm *t, struct ek_key *k)
{
	if (k->persistent && k->h != ESYS_TR_NONE)
		(void)Esys_TR_Close(t->esys, &k->h);
	tpm_flush(t, &k->h);
}

static bool contains(struct bytes in, struct bytes what)
{
	return what.n > 0 && memmem(in.p, in.n, what.p, what.n) != NULL;
}

static bool is_wanted(const struct tpm_area *area, const struct wanted *w)
{
	struct tpm_public p;

	if (w->public_area.n > 0)
		return bytes_equal(tpm_area_bytes(area), w->public_area);
	if (w->certificate.n == 0)
		return true;
	if (tpm_public_read(tpm_area_bytes(area), &p) != R_OK)
		return false;
	if (p.type == TPM_ALG_RSA)
		return contains(w->certificate, p.modulus);
	return contains(w->certificate, p.x) && contains(w->certificate, p.y);
}

/* R_EK_MISMATCH when it is not the one. */
static enum reason try_persistent(struct tpm *t, uint32_t handle,
				  const struct tpm_ek_template *template, const struct wanted *w,
				  struct ek_key *ret)
{
	struct ek_key k = { .h = ESYS_TR_NONE, .persistent = true };
	struct tpm_public p;
	enum reason r = tpm_key_at(t, handle, &k.h, &k.area);

	if (r == R_TPM_KEY_HANDLE)
		return R_EK_MISMATCH;
	TRY(r);
	if (tpm_public_read(tpm_area_bytes(&k.area), &p) == R_OK &&
	    tpm_ek_template_of(&p) == template && is_wanted(&k.area, w)) {
		*ret = k;
		return R_OK;
	}
	ek_release(t, &k);
	return R_EK_MISMATCH;
}

static enum reason try_template(struct tpm *t, struct bytes template, const struct wanted *w,
				struct ek_key *ret)
{
	struct ek_key k = { .h = ESYS_TR_NONE };
	enum reason r = tpm_primary(t, template, &k.h, &k.area);

	TRY(r);
	if (is_wanted(&k.area, w)) {
		*ret = k;
		return R_OK;
	}
	ek_release(t, &k);
	return R_EK_MISMATCH;
}

/* `unique` becomes the nonce, padded with zeros. */
static enum reason set_nonce(struct tpm_public *p, struct bytes nonce,
			     uint8_t room[EK_RSA_UNIQUE])
{
	size_t n = p->type == TPM_ALG_RSA ? EK_RSA_UNIQUE : EK_P256_UNIQUE;

	if (nonce.n > n)
		return R_EK_MISMATCH;
	memset(room, 0, EK_RSA_UNIQUE);
	memcpy(room, nonce.p, nonce.n);
	if (p->type == TPM_ALG_RSA) {
		p->modulus = bytes_of(room, n);
	} else {
		p->x = bytes_of(room, n);
		p->y = bytes_of(room + n, n);
	}
	return R_OK;
}

/* Template and nonce that the vendor left in NV; nothing written where there are none. */
static enum reason nv_template(struct tpm *t, const struct tpm_handles *nv,
			       const struct tpm_ek_template *template, struct blob *ret)
{
	_cleanup_(blob_free) struct blob stored = BLOB(LIMIT_TPM_PUBLIC);
	_cleanup_(blob_free) struct blob nonce = BLOB(EK_RSA_UNIQUE);
	bool high = template->cert_index >= EK_HIGH_RANGE;
	uint32_t template_index = template->cert_index + (high ? 1 : 2);
	uint32_t nonce_index = template->cert_index + 1;
	uint8_t room[EK_RSA_UNIQUE];
	struct tpm_public p;

	if (in_use(nv, template_index))
		TRY(tpm_nv_read(t, template_index, LIMIT_TPM_PUBLIC, &stored));
	if (!high && in_use(nv, nonce_index))
		TRY(tpm_nv_read(t, nonce_index, EK_RSA_UNIQUE, &nonce));
	if (stored.n == 0 && nonce.n == 0)
		return R_OK;
	if (tpm_public_read(stored.n > 0 ? blob_bytes(&stored) : template->pub, &p) != R_OK)
		return R_EK_MISMATCH;
	if (nonce.n > 0)
		TRY(set_nonce(&p, blob_bytes(&nonce), room));
	return tpm_public_write(&p, ret);
}

static enum reason ek_find(struct tpm *t, const struct tpm_ek_template *template,
			   const struct wanted *w, struct ek_key *ret)
{
	_cleanup_(blob_free) struct blob own = BLOB(LIMIT_TPM_PUBLIC);
	struct tpm_handles h;
	enum reason r;

	TRY(tpm_handles(t, EK_PERSISTENT_FIRST, &h));
	for (size_t i = 0; i < h.count && h.handle[i] <= EK_PERSISTENT_LAST; i++) {
		/* without anything to compare with, only a key made now counts */
		if (w->public_area.n == 0 && w->certificate.n == 0)
			break;
		r = try_persistent(t, h.handle[i], template, w, ret);
		if (r != R_EK_MISMATCH)
			return r;
	}
	TRY(tpm_handles(t, EK_NV_FIRST, &h));
	r = nv_template(t, &h, template, &own);
	if (r == R_OK && own.n > 0)
		r = try_template(t, blob_bytes(&own), w, ret);
	else if (r == R_OK)
		r = R_EK_MISMATCH;
	return r == R_EK_MISMATCH ? try_template(t, template->pub, w, ret) : r;
}

/* ---- all of them ----------------------------------------------------------------- */

static enum reason ek_add(struct tpm *t, uint32_t template_index, struct bytes cert,
			  struct tpm_eks *eks)
{
	const struct tpm_ek_template *template = &tpm_ek_template[template_index];
	struct wanted w = { .certificate = cert };
	struct tpm_ek *e = &eks->ek[eks->count];
	struct ek_key k;
	enum reason r = ek_find(t, template, &w, &k);

	if (r != R_OK) {
		if (!is_fatal(r))
			log_warn("%s: EK %s passed over", reason_name(r), template->name);
		return r;
	}
	ek_release(t, &k);
	*e = (struct tpm_ek){ .template_index = template_index, .public_len = k.area.n };
	memcpy(e->public_area, k.area.b, k.area.n);
	if (cert.n > 0) {
		e->certificate = malloc(cert.n);
		if (e->certificate == NULL)
			return R_INTERNAL_MEMORY;
		memcpy(e->certificate, cert.p, cert.n);
		e->certificate_len = cert.n;
	}
	eks->count++;
	return R_OK;
}

static enum reason add_certified(struct tpm *t, const struct tpm_handles *nv,
				 struct tpm_eks *eks, enum reason *ret_first)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EK_CERT);

	for (uint32_t i = 0; i < TPM_EK_TEMPLATES && eks->count < LIMIT_EKS; i++) {
		struct bytes cert;
		enum reason r = certificate(t, nv, &tpm_ek_template[i], &b, &cert);

		if (r == R_OK && cert.n > 0)
			r = ek_add(t, i, cert, eks);
		if (is_fatal(r))
			return r;
		if (*ret_first == R_OK)
			*ret_first = r;
	}
	return R_OK;
}

/* L-1 and L-2: what a TPM without a certificate is known by. */
static enum reason add_bare(struct tpm *t, struct tpm_eks *eks)
{
	for (uint32_t i = 0; i < 2; i++) {
		enum reason r = ek_add(t, i, BYTES_NONE, eks);

		if (is_fatal(r))
			return r;
	}
	return eks->count > 0 ? R_OK : R_EK_NONE;
}

/* One after the other: a certificate may go over the end of an index. */
static enum reason add_chain(struct tpm *t, const struct tpm_handles *nv, struct blob *chain)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EK_CHAIN);

	for (size_t i = 0; i < nv->count; i++) {
		enum reason r;

		if (nv->handle[i] < EK_CHAIN_FIRST || nv->handle[i] > EK_CHAIN_LAST)
			continue;
		r = tpm_nv_read(t, nv->handle[i], LIMIT_EK_CHAIN - chain->n, &b);
		if (r == R_FORMAT_TOO_LARGE) {
			log_warn("tpm: chain of certificates too long, NV %#010x left out",
				 nv->handle[i]);
			return R_OK;
		}
		TRY(r);
		if (b.n > 0)
			TRY(blob_append(chain, b.p, b.n));
	}
	return R_OK;
}

static enum reason collect(struct tpm *t, struct tpm_eks *eks)
{
	struct tpm_handles nv;
	enum reason first = R_OK;

	TRY(tpm_handles(t, EK_NV_FIRST, &nv));
	TRY(add_certified(t, &nv, eks, &first));
	if (eks->count > 0)
		return add_chain(t, &nv, &eks->chain);
	/* certificates there, but none of use: say so rather than offer bare keys */
	return first == R_OK ? add_bare(t, eks) : first;
}

enum reason tpm_eks(struct tpm *t, struct tpm_eks *ret)
{
	enum reason r;

	*ret = (struct tpm_eks){ .chain = BLOB(LIMIT_EK_CHAIN) };
	r = collect(t, ret);
	if (r != R_OK)
		tpm_eks_free(ret);
	return r;
}

void tpm_eks_free(struct tpm_eks *eks)
{
	for (size_t i = 0; i < eks->count; i++)
		free(eks->ek[i].certificate);
	blob_free(&eks->chain);
	eks->count = 0;
}

/* ---- opening a credential ---------------------------------------------------------- */

struct activation {
	ESYS_TR ak;
	struct ek_key ek;
	ESYS_TR session;		/* AK's authorisation; salted, encrypts */
	ESYS_TR policy;			/* EK's, ESYS_TR_NONE when it takes an empty one */
	TPM2B_ID_OBJECT id_object;
	TPM2B_ENCRYPTED_SECRET secret;
};

static enum reason read_credential(struct bytes id_object, struct bytes secret,
				   struct activation *a)
{
	size_t used_id = 0, used_secret = 0;

	if (Tss2_MU_TPM2B_ID_OBJECT_Unmarshal(id_object.p, id_object.n, &used_id,
					      &a->id_object) != TSS2_RC_SUCCESS ||
	    Tss2_MU_TPM2B_ENCRYPTED_SECRET_Unmarshal(secret.p, secret.n, &used_secret,
						     &a->secret) != TSS2_RC_SUCCESS ||
	    used_id != id_object.n || used_secret != secret.n)
		return R_TPM_ACTIVATE;
	return R_OK;
}

/* The salt is encrypted to the EK, whose public is the one that the server checks. */
static enum reason begin_encrypted(struct tpm *t, struct activation *a)
{
	const TPMT_SYM_DEF aes = {
		.algorithm = TPM2_ALG_AES,
		.keyBits.aes = 128,
		.mode.aes = TPM2_ALG_CFB,
	};

	TRY(tpm_reason(t, Esys_StartAuthSession(t->esys, a->ek.h, ESYS_TR_NONE, ESYS_TR_NONE,
						ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
						&aes, TPM2_ALG_SHA256, &a->session)));
	return tpm_reason(t, Esys_TRSess_SetAttributes(t->esys, a->session,
						       TPMA_SESSION_CONTINUESESSION |
							       TPMA_SESSION_DECRYPT |
							       TPMA_SESSION_ENCRYPT,
						       0xff));
}

/*
 * Keys of the low range only obey PolicySecret(endorsement). Those of the high
 * range have userWithAuth, and their authorisation is empty: their PolicyB is
 * for operators that want an NV index to decide.
 */
static enum reason begin_policy(struct tpm *t, struct activation *a)
{
	const TPMT_SYM_DEF none = { .algorithm = TPM2_ALG_NULL };
	struct tpm_public p;
	enum reason r;

	TRY(tpm_public_read(tpm_area_bytes(&a->ek.area), &p));
	if ((p.attributes & TPMA_USER_WITH_AUTH) != 0)
		return R_OK;
	TRY(tpm_reason(t, Esys_StartAuthSession(t->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
						ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_POLICY,
						&none, p.name_alg, &a->policy)));
	r = tpm_reason(t, Esys_PolicySecret(t->esys, ESYS_TR_RH_ENDORSEMENT, a->policy,
					    ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, NULL,
					    NULL, NULL, 0, NULL, NULL));
	if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_BAD_AUTH))
		return R_TPM_ENDORSEMENT_AUTH;
	return r;
}

static enum reason open_credential(struct tpm *t, const struct activation *a,
				   struct blob *ret_secret)
{
	TPM2B_DIGEST *info = NULL;
	enum reason r;

	r = tpm_reason(t, Esys_ActivateCredential(
				  t->esys, a->ak, a->ek.h, a->session,
				  a->policy == ESYS_TR_NONE ? ESYS_TR_PASSWORD : a->policy,
				  ESYS_TR_NONE, &a->id_object, &a->secret, &info));
	/* libtpms says so of a block that another RSA key was meant to open */
	if (r == R_TPM_FAILURE)
		return R_TPM_RESPONSE;
	TRY(r);
	blob_reset(ret_secret);
	r = blob_append(ret_secret, info->buffer, info->size);
	explicit_bzero(info, sizeof(*info));
	Esys_Free(info);
	return r;
}

static enum reason open_in_session(struct tpm *t, struct activation *a, struct blob *ret_secret)
{
	enum reason r = begin_encrypted(t, a);

	if (r == R_OK)
		r = begin_policy(t, a);
	if (r == R_OK)
		r = open_credential(t, a, ret_secret);
	tpm_flush(t, &a->policy);
	tpm_flush(t, &a->session);
	return r;
}

static enum reason activate(struct tpm *t, const struct tpm_ak *ak, const struct tpm_ek *ek,
			    struct activation *a, struct blob *ret_secret)
{
	struct wanted w = { .public_area = bytes_of(ek->public_area, ek->public_len) };

	TRY(tpm_ak_handle(t, ak, &a->ak));
	TRY(ek_find(t, &tpm_ek_template[ek->template_index], &w, &a->ek));
	return open_in_session(t, a, ret_secret);
}

enum reason tpm_activate(struct tpm *t, const struct tpm_ak *ak, const struct tpm_ek *ek,
			 struct bytes id_object, struct bytes encrypted_secret,
			 struct blob *ret_secret)
{
	struct activation a = {
		.ek.h = ESYS_TR_NONE, .session = ESYS_TR_NONE, .policy = ESYS_TR_NONE
	};
	enum reason r;

	if (ek->template_index >= TPM_EK_TEMPLATES)
		return R_INTERNAL;
	TRY(read_credential(id_object, encrypted_secret, &a));
	r = activate(t, ak, ek, &a, ret_secret);
	ek_release(t, &a.ek);
	if (r == R_TPM_RESPONSE)
		return log_reason(R_TPM_ACTIVATE, "EK %s, response code %#05x",
				  tpm_ek_template[ek->template_index].name, t->rc);
	return r;
}
