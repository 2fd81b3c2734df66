/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver WHERE COMMAND [ARGS]: node/tpm.h and node/measure.h from a shell, for
 * the tests of this folder. Prints `name value` lines; a refusal is its
 * reason's name on stderr and its exit code.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mbedtls/ecdh.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/digest.h"
#include "format/facts.h"
#include "format/protocol.h"
#include "format/tpm.h"
#include "node/measure.h"
#include "node/tpm.h"

#define WAIT_MS 1500u		/* for a device that is not there yet */

/*
 * Linked in place of open(2). The TPM is busy for as long as the file
 * $DRIVER_BUSY exists. The device $DRIVER_LATE appears right after the first
 * look at its place.
 */
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
	const char *busy = getenv("DRIVER_BUSY"), *late = getenv("DRIVER_LATE");

	if (busy != NULL && strstr(path, "tpm") != NULL && access(busy, F_OK) == 0) {
		errno = EBUSY;
		return -1;
	}
	if (late != NULL && strstr(path, "/tpmrm0") != NULL && rename(late, path) == 0) {
		errno = ENOENT;
		return -1;
	}
	return __real_open(path, flags, mode);
}

/*
 * Linked in place of the one of mbedtls, which tpm2-tss calls for the key that
 * a session's salt is made with: $DRIVER_SALT_KEY is that key, in hex.
 */
int __real_mbedtls_ecdh_gen_public(mbedtls_ecp_group *group, mbedtls_mpi *d, mbedtls_ecp_point *q,
				   mbedtls_f_rng_t *rng, void *rng_context);
int __wrap_mbedtls_ecdh_gen_public(mbedtls_ecp_group *group, mbedtls_mpi *d, mbedtls_ecp_point *q,
				   mbedtls_f_rng_t *rng, void *rng_context)
{
	const char *key = getenv("DRIVER_SALT_KEY");
	int r;

	if (key == NULL)
		return __real_mbedtls_ecdh_gen_public(group, d, q, rng, rng_context);
	r = mbedtls_mpi_read_string(d, 16, key);
	return r != 0 ? r : mbedtls_ecp_mul(group, q, d, &group->G, rng, rng_context);
}

static void show(const char *name, struct bytes b)
{
	char hex[2 * 8192 + 1];

	if (b.n > 8192)
		return;
	hex_encode(b, hex);
	printf("%s %s\n", name, hex);
}

static enum reason save(const char *folder, const char *name, struct bytes b)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fd_write_file(path, b, 0600);
}

static enum reason hex_of(const char *text, uint8_t *ret, size_t max, size_t *ret_n)
{
	return hex_decode_upto(bytes_str(text), ret, max, ret_n);
}

static enum reason do_facts(struct tpm *t, char **a)
{
	struct tpm_facts f;

	(void)a;
	TRY(tpm_facts(t, &f));
	printf("manufacturer %s\nfirmware %016llx\nrevision %u\n", f.manufacturer,
	       (unsigned long long)f.firmware_version, f.spec_revision);
	return R_OK;
}

static enum reason do_banks(struct tpm *t, char **a)
{
	struct tpm_banks b;

	(void)a;
	TRY(tpm_banks(t, &b));
	printf("active");
	for (size_t i = 0; i < b.active_count; i++)
		printf(" %s", digest_name(b.active[i]));
	printf("\nimplemented");
	for (size_t i = 0; i < b.implemented_count; i++)
		printf(" %#06x", b.implemented[i]);
	printf("\n");
	return R_OK;
}

static void show_values(const struct pcr_values *v)
{
	for (size_t i = 0; i < v->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes b = pcr_value(v, v->bank[i].alg, pcr);
			char name[32];

			(void)snprintf(name, sizeof(name), "%s:%u", digest_name(v->bank[i].alg),
				       pcr);
			if (b.n > 0)
				show(name, b);
		}
}

/* read SELECTION */
static enum reason do_read(struct tpm *t, char **a)
{
	struct pcr_selection sel;
	struct pcr_values v;

	TRY(pcr_selection_parse(a[0], &sel));
	TRY(tpm_pcr_read(t, &sel, &v));
	show_values(&v);
	return R_OK;
}

/* extend PCR TEXT... */
static enum reason do_extend(struct tpm *t, char **a)
{
	unsigned pcr = (unsigned)strtoul(a[0], NULL, 10);
	uint8_t digest[LIMIT_BANKS][DIGEST_MAX];
	struct tpm_banks b;

	TRY(tpm_banks(t, &b));
	for (a++; *a != NULL; a++) {
		struct bytes text = bytes_str(*a);

		for (size_t i = 0; i < b.active_count; i++)
			TRY(digest_of(b.active[i], &text, 1, digest[i]));
		TRY(tpm_pcr_extend(t, pcr, &b, (const uint8_t(*)[DIGEST_MAX])digest));
	}
	return R_OK;
}

/* ak [DIR] */
static enum reason do_ak(struct tpm *t, char **a)
{
	struct tpm_ak ak;
	uint64_t start = tpm_time_ms(t);

	TRY(tpm_ak(t, &ak));
	show("name", BYTES(ak.name));
	printf("made_ms %llu\n", (unsigned long long)(tpm_time_ms(t) - start));
	if (a[0] != NULL)
		TRY(save(a[0], "ak.tpmt", bytes_of(ak.public_area, ak.public_len)));
	return R_OK;
}

static enum reason save_quote(const char *folder, struct blob *attest, struct blob *signature)
{
	TRY(save(folder, "quote.msg", blob_bytes(attest)));
	return save(folder, "quote.sig", blob_bytes(signature));
}

/* quote SELECTION HEX DIR [REPEAT] */
static enum reason do_quote(struct tpm *t, char **a)
{
	_cleanup_(blob_free) struct blob attest = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob signature = BLOB(LIMIT_TPM_SIGNATURE);
	unsigned long repeat = a[3] != NULL ? strtoul(a[3], NULL, 10) : 1;
	struct pcr_selection sel;
	struct pcr_values v;
	struct tpm_ak ak;
	uint8_t nonce[64];
	uint64_t start;
	size_t n;

	TRY(pcr_selection_parse(a[0], &sel));
	TRY(hex_of(a[1], nonce, sizeof(nonce), &n));
	TRY(tpm_ak(t, &ak));
	start = tpm_time_ms(t);
	for (unsigned long i = 0; i < repeat; i++) {
		enum reason r = R_QUOTE_DIGEST;

		for (unsigned k = 0; k < TPM_QUOTE_TRIES && r == R_QUOTE_DIGEST; k++) {
			TRY(tpm_quote(t, &ak, &sel, bytes_of(nonce, n), &attest, &signature));
			r = tpm_quoted_values(t, &sel, blob_bytes(&attest), ALG_SHA256, &v);
		}
		TRY(r);
	}
	printf("quotes_ms %llu\n", (unsigned long long)(tpm_time_ms(t) - start));
	show_values(&v);
	TRY(save(a[2], "ak.tpmt", bytes_of(ak.public_area, ak.public_len)));
	return save_quote(a[2], &attest, &signature);
}

static enum reason do_ek_digests(struct tpm *t, char **a)
{
	uint8_t d[LIMIT_EKS][SHA256_LEN];
	size_t n;

	(void)a;
	TRY(tpm_ek_digests(t, d, &n));
	for (size_t i = 0; i < n; i++)
		show("certificate", BYTES(d[i]));
	return R_OK;
}

/* eks DIR: N.pub, N.crt, chain */
static enum reason do_eks(struct tpm *t, char **a)
{
	struct tpm_eks eks;
	char name[32];
	enum reason r;

	TRY(tpm_eks(t, &eks));
	r = save(a[0], "chain", blob_bytes(&eks.chain));
	for (size_t i = 0; i < eks.count && r == R_OK; i++) {
		const struct tpm_ek *e = &eks.ek[i];

		printf("ek %zu %s certificate=%zu\n", i, tpm_ek_template[e->template_index].name,
		       e->certificate_len);
		(void)snprintf(name, sizeof(name), "%zu.pub", i);
		r = save(a[0], name, bytes_of(e->public_area, e->public_len));
		(void)snprintf(name, sizeof(name), "%zu.crt", i);
		if (r == R_OK && e->certificate_len > 0)
			r = save(a[0], name, bytes_of(e->certificate, e->certificate_len));
	}
	tpm_eks_free(&eks);
	return r;
}

/* activate N ID-OBJECT SECRET: files with the size in front; N as eks numbers them */
static enum reason do_activate(struct tpm *t, char **a)
{
	_cleanup_(blob_free) struct blob id = BLOB(1024), secret = BLOB(1024), out = BLOB(64);
	size_t n = strtoul(a[0], NULL, 10);
	struct tpm_eks eks;
	struct tpm_ak ak;
	enum reason r;

	TRY(fd_read_named(a[1], &id));
	TRY(fd_read_named(a[2], &secret));
	TRY(tpm_ak(t, &ak));
	TRY(tpm_eks(t, &eks));
	r = n < eks.count ? tpm_activate(t, &ak, &eks.ek[n], blob_bytes(&id), blob_bytes(&secret),
					 &out)
			  : R_USAGE;
	if (r == R_OK)
		show("secret", blob_bytes(&out));
	tpm_eks_free(&eks);
	return r;
}

static enum reason over_nonce(void *ctx, struct bytes capability, uint8_t ret[SHA256_LEN])
{
	return quote_qualifying(QUOTE_BANKS, ctx, capability, ret);
}

/* proof NONCE DIR */
static enum reason do_proof(struct tpm *t, char **a)
{
	_cleanup_(blob_free) struct blob capability = BLOB(256);
	_cleanup_(blob_free) struct blob attest = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob signature = BLOB(LIMIT_TPM_SIGNATURE);
	uint8_t nonce[SHA256_LEN];
	struct tpm_ak ak;

	TRY(hex_decode(bytes_str(a[0]), nonce, sizeof(nonce)));
	TRY(tpm_ak(t, &ak));
	TRY(tpm_banks_proof(t, &ak, over_nonce, nonce, &capability, &attest, &signature));
	TRY(save(a[1], "ak.tpmt", bytes_of(ak.public_area, ak.public_len)));
	TRY(save(a[1], "capability", blob_bytes(&capability)));
	return save_quote(a[1], &attest, &signature);
}

static enum reason do_platform(struct tpm *t, char **a)
{
	bool was_open;

	(void)a;
	TRY(tpm_close_platform(t, &was_open));
	printf("was_open %d\n", was_open);
	return R_OK;
}

/* measure FILE [REASON]: all facts, then the cap; the log goes to the file */
static enum reason do_measure(struct tpm *t, char **a)
{
	struct measure m;
	enum reason r, why = R_OK;

	if (a[1] != NULL && !reason_find(a[1], &why))
		return R_USAGE;
	TRY(measure_begin(&m, t));
	r = m.failed;
	for (int f = 0; f < FACT_CAP && r == R_OK; f++)
		r = measure_fact(&m, fact_tag((enum fact)f),
				 f == FACT_END ? FACT_END_TEXT : f % 5 == 0 ? NULL : "a\tfact");
	if (r == R_OK)
		r = measure_cap(&m, why);
	else if (measure_fact(&m, fact_tag(FACT_END), FACT_END_TEXT) != r)
		printf("went on\n");
	else if (measure_cap(&m, r) != R_OK)
		printf("cap failed\n");
	if (r == R_OK)
		r = measure_cap(&m, R_INTERNAL);	/* does nothing */
	if (r == R_OK && measure_fact(&m, fact_tag(FACT_BUILD), "late") != R_INTERNAL)
		r = R_INTERNAL;
	if (fd_write_file(a[0], blob_bytes(&m.log), 0600) != R_OK)
		r = R_FILE;
	measure_free(&m);
	return r;
}

/* fill FILE: facts until the log is full, then the cap */
static enum reason do_fill(struct tpm *t, char **a)
{
	static char text[LIMIT_FACT_VALUE + 1];
	struct measure m;
	enum reason r;

	memset(text, 'x', LIMIT_FACT_VALUE);
	TRY(measure_begin(&m, t));
	do
		r = measure_fact(&m, fact_tag(FACT_PCI_DISPLAY), text);
	while (r == R_OK);
	printf("full %s\n", reason_name(r));
	/* no room is left for another event either */
	m.log.max = m.log.n;
	if (measure_fact(&m, fact_tag(FACT_END), FACT_END_TEXT) != r)
		r = R_INTERNAL;
	else
		r = measure_cap(&m, r);
	if (fd_write_file(a[0], blob_bytes(&m.log), 0600) != R_OK)
		r = R_FILE;
	measure_free(&m);
	return r;
}

/* survive SELECTION: the AK outlives whatever happens to an extend */
static enum reason do_survive(struct tpm *t, char **a)
{
	_cleanup_(blob_free) struct blob attest = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob signature = BLOB(LIMIT_TPM_SIGNATURE);
	char *extend[] = { "8", "survive", NULL };
	struct pcr_selection sel;
	struct tpm_ak ak;

	TRY(pcr_selection_parse(a[0], &sel));
	TRY(tpm_ak(t, &ak));
	TRY(do_extend(t, extend));
	return tpm_quote(t, &ak, &sel, BYTES(ak.name), &attest, &signature);
}

/* hold MILLISECONDS: what a boot loads, then waits, for somebody who kills us */
static enum reason do_hold(struct tpm *t, char **a)
{
	struct timespec pause = { 0 };
	unsigned long ms = strtoul(a[0], NULL, 10);
	struct tpm_ak ak;

	TRY(tpm_ak(t, &ak));
	printf("held\n");
	(void)fflush(stdout);
	pause.tv_sec = (time_t)(ms / 1000);
	pause.tv_nsec = (long)(ms % 1000) * 1000000;
	(void)nanosleep(&pause, NULL);
	return R_OK;
}

static const struct {
	const char *name;
	int args;
	enum reason (*run)(struct tpm *t, char **args);
} command[] = {
	{ "facts", 0, do_facts },
	{ "banks", 0, do_banks },
	{ "read", 1, do_read },
	{ "extend", 2, do_extend },
	{ "ak", 0, do_ak },
	{ "quote", 3, do_quote },
	{ "ek-digests", 0, do_ek_digests },
	{ "eks", 1, do_eks },
	{ "activate", 3, do_activate },
	{ "proof", 2, do_proof },
	{ "platform", 0, do_platform },
	{ "measure", 1, do_measure },
	{ "fill", 1, do_fill },
	{ "survive", 1, do_survive },
	{ "hold", 1, do_hold },
};

static enum reason run(int argc, char **argv)
{
	const char *where = strcmp(argv[1], "device") == 0 ? NULL : argv[1];

	for (size_t i = 0; i < ARRAY_LEN(command); i++) {
		struct tpm *t = NULL;
		enum reason r;

		if (strcmp(argv[2], command[i].name) != 0 || argc - 3 < command[i].args)
			continue;
		r = tpm_open(where, WAIT_MS, &t);
		if (r == R_OK) {
			r = command[i].run(t, argv + 3);
			printf("tpm_ms %llu\nrc %#x\n", (unsigned long long)tpm_time_ms(t),
			       tpm_last_rc(t));
			tpm_close(&t);
		}
		return r;
	}
	return R_USAGE;
}

int main(int argc, char **argv)
{
	enum reason r = argc < 3 ? R_USAGE : run(argc, argv);

	if (r != R_OK)
		(void)fprintf(stderr, "%s\n", reason_name(r));
	return reason_exit(r);
}
