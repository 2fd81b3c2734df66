/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/sign.h"

#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <string.h>

/* A number that does not fit or a lack of memory is ours, the rest the signature's. */
static enum reason outcome(int mbedtls)
{
	if (mbedtls == 0)
		return R_OK;
	return mbedtls == MBEDTLS_ERR_MPI_ALLOC_FAILED ? R_INTERNAL_MEMORY : R_COSE_SIGNATURE;
}

static int read_point(mbedtls_ecp_group *group, mbedtls_ecp_point *q, const struct ec_public *key)
{
	uint8_t wire[1 + 2 * P256_LEN] = { 0x04 };
	int e;

	memcpy(wire + 1, key->x, P256_LEN);
	memcpy(wire + 1 + P256_LEN, key->y, P256_LEN);
	e = mbedtls_ecp_group_load(group, MBEDTLS_ECP_DP_SECP256R1);
	if (e != 0)
		return e;
	e = mbedtls_ecp_point_read_binary(group, q, wire, sizeof(wire));
	if (e != 0)
		return e;
	/* reading does not ask whether the point is on the curve */
	return mbedtls_ecp_check_pubkey(group, q);
}

enum reason es256_verify(const struct ec_public *key, const uint8_t digest[SHA256_LEN],
			 const uint8_t sig[ES256_LEN])
{
	mbedtls_ecp_group group;
	mbedtls_ecp_point q;
	mbedtls_mpi r, s;
	int e;

	mbedtls_ecp_group_init(&group);
	mbedtls_ecp_point_init(&q);
	mbedtls_mpi_init(&r);
	mbedtls_mpi_init(&s);
	e = read_point(&group, &q, key);
	if (e == 0)
		e = mbedtls_mpi_read_binary(&r, sig, P256_LEN);
	if (e == 0)
		e = mbedtls_mpi_read_binary(&s, sig + P256_LEN, P256_LEN);
	if (e == 0)
		e = mbedtls_ecdsa_verify(&group, digest, SHA256_LEN, &q, &r, &s);
	mbedtls_mpi_free(&s);
	mbedtls_mpi_free(&r);
	mbedtls_ecp_point_free(&q);
	mbedtls_ecp_group_free(&group);
	return outcome(e);
}

enum reason ec_public_check(const struct ec_public *key)
{
	mbedtls_ecp_group group;
	mbedtls_ecp_point q;
	int e;

	mbedtls_ecp_group_init(&group);
	mbedtls_ecp_point_init(&q);
	e = read_point(&group, &q, key);
	mbedtls_ecp_point_free(&q);
	mbedtls_ecp_group_free(&group);
	if (e == 0)
		return R_OK;
	return e == MBEDTLS_ERR_MPI_ALLOC_FAILED ? R_INTERNAL_MEMORY : R_SITE_KEYS;
}
