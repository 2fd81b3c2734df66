/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD SEV-SNP attestation reports (SEV-SNP Firmware ABI, ATTESTATION_REPORT
 * versions 2, 3 and 5) and what VCEK and VLEK certificates say of their key.
 */
#ifndef BOOTGATE_FORMAT_SNP_H
#define BOOTGATE_FORMAT_SNP_H

#include "base/bytes.h"

#define SNP_REPORT_LEN 1184u
#define SNP_SIGNED_LEN 0x2a0u
#define SNP_COORD_LEN 48u
#define SNP_TCB_LEN 8u

#define SNP_POLICY_SMT (1ull << 16)
#define SNP_POLICY_MIGRATE (1ull << 18)
#define SNP_POLICY_DEBUG (1ull << 19)
#define SNP_POLICY_SINGLE_SOCKET (1ull << 20)
#define SNP_POLICY_CXL (1ull << 21)
#define SNP_POLICY_AES_256 (1ull << 22)
#define SNP_POLICY_NO_RAPL (1ull << 23)
#define SNP_POLICY_CIPHERTEXT_HIDING (1ull << 24)

enum snp_product { SNP_PRODUCT_UNKNOWN, SNP_MILAN, SNP_GENOA, SNP_TURIN };
/* "Milan" "Genoa" "Turin"; "unknown" */
const char *snp_product_name(enum snp_product p);
/* Of CPUID family and model, extended parts added (Bergamo and Siena count as Genoa). */
enum snp_product snp_product_cpuid(uint8_t family, uint8_t model);

enum snp_signer { SNP_VCEK, SNP_VLEK };

struct snp_firmware {
	uint8_t major, minor, build;
};

struct snp_report {
	struct bytes signed_part;
	uint8_t signature[2 * SNP_COORD_LEN];	/* r || s, big-endian */
	uint32_t version, guest_svn, vmpl;
	uint64_t policy, platform_info;
	enum snp_signer signer;
	bool author_key;		/* author_key_digest is of a key that was given */
	bool chip_masked;		/* chip_id is zeros */
	struct bytes family_id, image_id, report_data, measurement, host_data;
	struct bytes id_key_digest, author_key_digest, report_id, report_id_ma, chip_id;
	struct bytes current_tcb, reported_tcb, committed_tcb, launch_tcb;	/* SNP_TCB_LEN */
	struct snp_firmware current, committed;
	/* version 3 and later */
	uint8_t cpu_family, cpu_model, cpu_stepping;
	/* version 5 */
	uint64_t launch_mitigations, current_mitigations;
};

/* R_SNP_VERSION, R_SNP_FORMAT, R_FORMAT_TRUNCATED, R_FORMAT_TRAILING */
enum reason snp_report_read(struct bytes in, struct snp_report *ret) must_check;
/*
 * The report inside of what tools save: bare, behind the guest driver's
 * header, inside Azure's HCL report, or followed by a table of certificates.
 * R_CVM_EVIDENCE.
 */
enum reason snp_report_locate(struct bytes in, struct bytes *ret) must_check;

/* The parts of a TCB_VERSION; its layout is the processor's. */
struct snp_tcb {
	bool has_fmc;			/* Turin and later */
	uint8_t fmc, bootloader, tee, snp, microcode;
};
enum reason snp_tcb_read(struct bytes in, enum snp_product product, struct snp_tcb *ret) must_check;
bool snp_tcb_equal(const struct snp_tcb *a, const struct snp_tcb *b);
/* No part of a is below that of b. */
bool snp_tcb_at_least(const struct snp_tcb *a, const struct snp_tcb *b);

/*
 * Values of the extensions of a VCEK or VLEK certificate below
 * 1.3.6.1.4.1.3704.1; no bytes where one is not there.
 */
struct snp_key_extensions {
	struct bytes product;		/* .2 */
	struct bytes bootloader;	/* .3.1 */
	struct bytes tee;		/* .3.2 */
	struct bytes snp;		/* .3.3 */
	struct bytes microcode;		/* .3.8 */
	struct bytes fmc;		/* .3.9, Turin */
	struct bytes chip;		/* .4, VCEK */
	struct bytes provider;		/* .5, VLEK */
};
struct snp_key {
	enum snp_product product;
	struct snp_tcb tcb;
	struct bytes chip;		/* hwID, 64 bytes, of Turin 8; VLEK: none */
	struct bytes provider;		/* text; VCEK: none */
};
/* R_SNP_FORMAT */
enum reason snp_key_read(const struct snp_key_extensions *in, struct snp_key *ret) must_check;

#endif
