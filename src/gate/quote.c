/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgate quote: a quote by hand, in the files that tpm2_checkquote reads:
 *
 *	tpm2_checkquote -u ak.pem -m quote.msg -s quote.sig -f quote.pcrs -q NONCE
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/digest.h"
#include "gate/by_hand.h"
#include "gate/commands.h"

#define NONCE_MAX 64u			/* what every TPM takes as qualifying data */
#define NONCE_DIGITS 128u
#define PATH_LEN 512u

const char command_quote_help[] =
	"usage: bootgate quote --pcrs SELECTION --nonce HEX [--ak HANDLE] [--out DIR]\n"
	"\n"
	"Quotes the registers with the fleet's attestation key, or with the key at a\n"
	"persistent handle. Writes quote.msg, quote.sig, quote.pcrs, ak.pub and ak.pem\n"
	"for tpm2_checkquote.\n"
	"\n"
	"  -l, --pcrs SELECTION  like sha256:0,1,2,7+sha1:all (also --pcr-list)\n"
	"  -q, --nonce HEX       1 to 64 bytes (also --qualification)\n"
	"  -c, --ak HANDLE       0x81000000 to 0x81ffffff (also --key-context)\n"
	"  -d, --out DIR         where the files go; made if it is not there\n"
	"  -m, --message FILE    in place of quote.msg\n"
	"  -s, --signature FILE  in place of quote.sig\n"
	"  -o, --pcr FILE        in place of quote.pcrs\n";

struct quote {
	/* as given */
	const char *pcrs, *nonce, *ak, *folder, *message, *signature, *values, *tpm;
	/* as read */
	struct pcr_selection sel;
	uint8_t nonce_bytes[NONCE_MAX];
	size_t nonce_n;
	uint32_t handle;		/* 0: the fleet's AK */
	/* as made */
	struct blob attest, sig, public;	/* public: TPMT_PUBLIC */
	struct pcr_values pcr;
};

/* ---- what is asked for ----------------------------------------------------------- */

static enum reason options(int argc, char **argv, struct quote *q)
{
	const struct by_hand_option list[] = {
		{ "pcrs", 'l', false, &q->pcrs },
		{ "pcr-list", 0, false, &q->pcrs },
		{ "nonce", 'q', false, &q->nonce },
		{ "qualification", 0, false, &q->nonce },
		{ "ak", 'c', false, &q->ak },
		{ "key-context", 0, false, &q->ak },
		{ "out", 'd', false, &q->folder },
		{ "message", 'm', false, &q->message },
		{ "signature", 's', false, &q->signature },
		{ "pcr", 'o', false, &q->values },
#ifdef BOOTGATE_TEST
		{ "tpm", 0, false, &q->tpm },
#endif
		{ NULL, 0, false, NULL },
	};

	return by_hand_options(argc, argv, list, NULL);
}

static enum reason read_nonce(struct quote *q)
{
	char lower[NONCE_DIGITS + 1];
	size_t n = q->nonce != NULL ? strlen(q->nonce) : 0;

	if (n > 0 && n <= NONCE_DIGITS) {
		for (size_t i = 0; i <= n; i++)
			lower[i] = (char)tolower((unsigned char)q->nonce[i]);
		if (hex_decode_upto(bytes_str(lower), q->nonce_bytes, NONCE_MAX, &q->nonce_n) ==
		    R_OK)
			return R_OK;
	}
	fprintf(stderr, "bootgate: --nonce wants 1 to %u bytes in hex\n", NONCE_MAX);
	return R_USAGE;
}

static enum reason read_handle(struct quote *q)
{
	unsigned long long v;
	char *end;

	if (q->ak == NULL)
		return R_OK;
	errno = 0;
	v = strtoull(q->ak, &end, 16);
	if (errno == 0 && *end == '\0' && strncmp(q->ak, "0x", 2) == 0 && v >= 0x81000000u &&
	    v <= 0x81ffffffu) {
		q->handle = (uint32_t)v;
		return R_OK;
	}
	fprintf(stderr, "bootgate: --ak wants a persistent handle, 0x81000000 to 0x81ffffff\n");
	return R_USAGE;
}

static enum reason understand(int argc, char **argv, struct quote *q)
{
	TRY(options(argc, argv, q));
	if (q->pcrs == NULL) {
		fprintf(stderr, "bootgate: --pcrs is missing\n");
		return R_USAGE;
	}
	TRY(by_hand_selection(q->pcrs, &q->sel));
	TRY(read_nonce(q));
	return read_handle(q);
}

/* ---- the quote --------------------------------------------------------------------- */

static enum reason sign(struct tpm *t, struct quote *q, const struct tpm_ak *ak)
{
	struct bytes nonce = bytes_of(q->nonce_bytes, q->nonce_n);

	if (q->handle != 0)
		return tpm_quote_handle(t, q->handle, &q->sel, nonce, &q->attest, &q->sig,
					&q->public);
	return tpm_quote(t, ak, &q->sel, nonce, &q->attest, &q->sig);
}

/* Signs, then reads what was signed; again if a register moved in between. */
static enum reason sign_and_read(struct tpm *t, struct quote *q, const struct tpm_ak *ak)
{
	enum reason r = R_QUOTE_DIGEST;

	for (unsigned i = 0; i < TPM_QUOTE_TRIES && r == R_QUOTE_DIGEST; i++) {
		struct tpm_signature s;

		TRY(sign(t, q, ak));
		TRY(tpm_signature_read(blob_bytes(&q->sig), &s));
		r = tpm_quoted_values(t, &q->sel, blob_bytes(&q->attest), s.hash, &q->pcr);
	}
	return r;
}

static enum reason make(struct tpm *t, void *ctx)
{
	struct quote *q = ctx;
	struct tpm_ak ak = { 0 };
	struct pcr_values now;

	/* a quote over an inactive bank is signed, and says nothing */
	TRY(tpm_pcr_read(t, &q->sel, &now));
	TRY(by_hand_complete(t, &q->sel, &now));
	if (q->handle == 0) {
		TRY(tpm_ak(t, &ak));
		TRY(blob_append(&q->public, ak.public_area, ak.public_len));
	}
	return sign_and_read(t, q, &ak);
}

/* ---- the files ---------------------------------------------------------------------- */

/*
 * The values as tpm2_quote writes them: TPML_PCR_SELECTION, a count, and so
 * many TPML_DIGEST of up to eight values each; C structures of tpm2-tss with
 * their padding, numbers little-endian.
 */
#define TOOLS_SELECTIONS 16u
#define TOOLS_LIST 8u
#define TOOLS_DIGEST 64u

static enum reason tools_selection(const struct pcr_selection *sel, struct blob *b)
{
	TRY(blob_le32(b, (uint32_t)sel->count));
	for (size_t i = 0; i < TOOLS_SELECTIONS; i++) {
		struct pcr_select s = i < sel->count ? sel->bank[i] : (struct pcr_select){ 0 };

		TRY(blob_le16(b, s.alg));
		TRY(blob_u8(b, i < sel->count ? 3 : 0));
		TRY(blob_le32(b, s.mask));	/* register 0 is the lowest bit of the first byte */
		TRY(blob_u8(b, 0));
	}
	return R_OK;
}

static enum reason tools_digest(struct bytes value, struct blob *b)
{
	static const uint8_t zeros[TOOLS_DIGEST];

	TRY(blob_le16(b, (uint16_t)value.n));
	if (value.n > 0)
		TRY(blob_append(b, value.p, value.n));
	return blob_append(b, zeros, TOOLS_DIGEST - value.n);
}

static enum reason tools_values(const struct pcr_selection *sel, const struct pcr_values *v,
				struct blob *b)
{
	struct bytes value[LIMIT_BANKS * PCR_COUNT];
	size_t n = 0;

	for (size_t i = 0; i < sel->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
			if ((sel->bank[i].mask & PCR_MASK(pcr)) != 0)
				value[n++] = pcr_value(v, sel->bank[i].alg, pcr);
	TRY(tools_selection(sel, b));
	TRY(blob_le32(b, (uint32_t)((n + TOOLS_LIST - 1) / TOOLS_LIST)));
	for (size_t i = 0; i < n; i += TOOLS_LIST) {
		size_t count = n - i < TOOLS_LIST ? n - i : TOOLS_LIST;

		TRY(blob_le32(b, (uint32_t)count));
		for (size_t k = 0; k < TOOLS_LIST; k++)
			TRY(tools_digest(k < count ? value[i + k] : BYTES_NONE, b));
	}
	return R_OK;
}

static enum reason save(const struct quote *q, const char *path, const char *name, struct bytes b)
{
	char joined[PATH_LEN];

	if (path == NULL) {
		if (snprintf(joined, sizeof(joined), "%s/%s", q->folder != NULL ? q->folder : ".",
			     name) >= (int)sizeof(joined))
			return R_FILE;
		path = joined;
	}
	if (fd_write_file(path, b, 0644) != R_OK)
		return log_reason_errno(R_FILE, "%s", path);
	return R_OK;
}

static enum reason save_public(const struct quote *q)
{
	_cleanup_(blob_free) struct blob sized = BLOB(LIMIT_TPM_PUBLIC + 2);
	_cleanup_(blob_free) struct blob pem = BLOB(BY_HAND_PEM_MAX);
	struct tpm_public p;

	TRY(blob_be16(&sized, (uint16_t)q->public.n));
	TRY(blob_append(&sized, q->public.p, q->public.n));
	TRY(save(q, NULL, "ak.pub", blob_bytes(&sized)));
	TRY(tpm_public_read(blob_bytes(&q->public), &p));
	TRY(public_pem(&p, &pem));
	return save(q, NULL, "ak.pem", blob_bytes(&pem));
}

static enum reason save_all(const struct quote *q)
{
	_cleanup_(blob_free) struct blob values = BLOB(64u << 10);

	if (q->folder != NULL && mkdir(q->folder, 0755) != 0 && errno != EEXIST)
		return log_reason_errno(R_FILE, "%s", q->folder);
	TRY(tools_values(&q->sel, &q->pcr, &values));
	TRY(save(q, q->message, "quote.msg", blob_bytes(&q->attest)));
	TRY(save(q, q->signature, "quote.sig", blob_bytes(&q->sig)));
	TRY(save(q, q->values, "quote.pcrs", blob_bytes(&values)));
	return save_public(q);
}

static void print_hex(const char *before, struct bytes b)
{
	printf("%s", before);
	for (size_t i = 0; i < b.n; i++)
		printf("%02x", b.p[i]);
	printf("\n");
}

static enum reason print(const struct quote *q)
{
	struct tpm_attest a;

	TRY(tpm_quote_read(blob_bytes(&q->attest), &a));
	print_hex("quoted: ", blob_bytes(&q->attest));
	print_hex("signature: ", blob_bytes(&q->sig));
	printf("pcrs:\n");
	by_hand_print(stdout, &q->sel, &q->pcr);
	print_hex("calcDigest: ", a.pcr_digest);
	return R_OK;
}

int command_quote(int argc, char **argv)
{
	struct quote q = {
		.attest = BLOB(LIMIT_TPM_ATTEST),
		.sig = BLOB(LIMIT_TPM_SIGNATURE),
		.public = BLOB(LIMIT_TPM_PUBLIC),
	};
	enum reason r;

	r = understand(argc, argv, &q);
	if (r == R_OK)
		r = by_hand_tpm(q.tpm, make, &q);
	if (r == R_OK)
		r = save_all(&q);
	if (r == R_OK)
		r = print(&q);
	blob_free(&q.attest);
	blob_free(&q.sig);
	blob_free(&q.public);
	return by_hand_end(r);
}
