/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroller FOLDER NONCE NEW-NONCE AK-NAME [CA-FILE...]: what the server does
 * with an enrolment. FOLDER is what tpm-driver's `eks` and `proof` wrote;
 * N.id and N.sealed are written for `activate`, N counting the results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "appraise/ek.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"

static struct blob load(const char *folder, const char *name, bool *found)
{
	struct blob b = BLOB(1u << 20);
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	*found = fd_read_named(path, &b) == R_OK;
	return b;
}

static struct bytes must_load(const char *folder, const char *name)
{
	bool found;
	struct blob b = load(folder, name, &found);

	if (!found) {
		(void)fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	return blob_bytes(&b);
}

static void show(const char *name, struct bytes b)
{
	char hex[2 * 1024 + 1];

	hex_encode(b, hex);
	printf(" %s=%s", name, hex);
}

static enum reason save(const char *folder, size_t n, const char *what, struct bytes b)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%zu.%s", folder, n, what);
	return fd_write_file(path, b, 0644);
}

static void read_request(const char *folder, struct enrol_request *m)
{
	char name[32];
	bool found = true;

	m->ak_public = must_load(folder, "ak.tpmt");
	m->banks.capability = must_load(folder, "capability");
	m->banks.attest = must_load(folder, "quote.msg");
	m->banks.signature = must_load(folder, "quote.sig");
	m->chain = must_load(folder, "chain");
	while (m->ek_count < LIMIT_EKS) {
		struct blob b;

		(void)snprintf(name, sizeof(name), "%zu.pub", m->ek_count);
		b = load(folder, name, &found);
		if (!found)
			break;
		m->ek[m->ek_count].public_area = blob_bytes(&b);
		(void)snprintf(name, sizeof(name), "%zu.crt", m->ek_count);
		b = load(folder, name, &found);
		m->ek[m->ek_count].certificate = found ? blob_bytes(&b) : BYTES_NONE;
		m->ek_count++;
	}
}

static enum reason run(int argc, char **argv)
{
	static struct enrol_request m;
	static struct ek_result result[LIMIT_EKS];
	_cleanup_(cert_store_free) struct cert_store *cas = NULL;
	struct pcr_selection implemented;
	uint8_t nonce[NONCE_LEN], fresh[NONCE_LEN], name[AK_NAME_LEN];
	size_t count, added;

	TRY(hex_decode(bytes_str(argv[2]), nonce, sizeof(nonce)));
	TRY(hex_decode(bytes_str(argv[3]), fresh, sizeof(fresh)));
	TRY(hex_decode(bytes_str(argv[4]), name, sizeof(name)));
	TRY(cert_store_make(&cas));
	for (int i = 5; i < argc; i++)
		TRY(cert_store_add(cas, must_load("/", argv[i]), &added));
	read_request(argv[1], &m);
	TRY(enrol_check(&m, name, nonce, fresh, cas, (int64_t)time(NULL), &implemented, result, &count));
	printf("banks");
	for (size_t i = 0; i < implemented.count; i++)
		printf(" %04x", implemented.bank[i].alg);
	printf("\n");
	for (size_t i = 0; i < count; i++) {
		struct ek_result *r = &result[i];

		printf("ek %zu trust=%d reason=%s certificate=%d", i, r->trust,
		       reason_name(r->reason), r->has_certificate);
		show("name", bytes_of(r->name, r->name_len));
		show("spki", BYTES(r->spki_digest));
		show("digest", BYTES(r->certificate_digest));
		show("proof", BYTES(r->proof));
		printf("\n");
		TRY(save(argv[1], i, "id", bytes_of(r->id_object, r->id_object_len)));
		TRY(save(argv[1], i, "sealed", bytes_of(r->secret, r->secret_len)));
	}
	return R_OK;
}

int main(int argc, char **argv)
{
	enum reason r = argc < 5 ? R_USAGE : run(argc, argv);

	if (r != R_OK)
		(void)fprintf(stderr, "%s\n", reason_name(r));
	return reason_exit(r);
}
