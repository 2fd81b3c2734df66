/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intel's quotes of TDX and SGX (DCAP, ECDSA: versions 3, 4 and 5), what a PCK
 * certificate says of its platform, and the signed collateral: TCB info and
 * identities of quoting enclaves.
 */
#ifndef BOOTGATE_FORMAT_TDX_H
#define BOOTGATE_FORMAT_TDX_H

#include "base/bytes.h"

#define TDX_ENCLAVE_LEN 384u
#define TDX_COMPONENTS 16u
#define TDX_RTMRS 4u
#define TDX_SIGNATURE_LEN 64u		/* r || s, P-256 */

#define TDX_CERT_PCK_CHAIN 5u		/* of certification data: PEM, leaf first */

/* ---- quotes ----------------------------------------------------------------- */

enum tdx_body { TDX_BODY_SGX, TDX_BODY_TD_1_0, TDX_BODY_TD_1_5 };

/* An SGX report: of an enclave, or of the quoting enclave itself. */
struct tdx_enclave {
	struct bytes cpu_svn, attributes, mr_enclave, mr_signer, config_id, report_data;
	struct bytes misc_select;
	uint16_t isv_prod_id, isv_svn, config_svn;
};

struct tdx_td {
	struct bytes tee_tcb_svn, mr_seam, mr_signer_seam, seam_attributes, td_attributes, xfam;
	struct bytes mr_td, mr_config_id, mr_owner, mr_owner_config, rtmr[TDX_RTMRS], report_data;
	struct bytes tee_tcb_svn_2, mr_service_td;	/* TD 1.5 */
};

struct tdx_quote {
	uint16_t version;
	uint32_t tee_type;		/* 0 SGX, 0x81 TDX */
	struct bytes vendor, user_data;
	enum tdx_body body;
	struct tdx_enclave enclave;	/* TDX_BODY_SGX */
	struct tdx_td td;		/* the others */
	struct bytes report_data;	/* of either */
	struct bytes signed_part;	/* header and body */
	struct bytes signature, attest_key;	/* 64 bytes each */
	struct bytes qe_report, qe_signature, qe_auth;
	struct tdx_enclave qe;
	uint16_t cert_type;
	struct bytes cert_data;
	struct bytes rest;		/* behind the quote, which nobody signed */
};
/*
 * R_CVM_EVIDENCE when it does not begin like a quote, R_TDX_VERSION,
 * R_TDX_ALGORITHM, R_TDX_FORMAT, R_FORMAT_TRUNCATED.
 */
enum reason tdx_quote_read(struct bytes in, struct tdx_quote *ret) must_check;
/* tdx_pck.c: the SGX extension of a PCK certificate (1.2.840.113741.1.13.1). */
struct tdx_pck {
	struct bytes fmspc, pce_id, cpu_svn, ppid;
	uint8_t component[TDX_COMPONENTS];
	uint16_t pce_svn;
};
/* R_TDX_PCK */
enum reason tdx_pck_read(struct bytes extension, struct tdx_pck *ret) must_check;

/* ---- collateral (tdx_collateral.c) ------------------------------------------ */

enum tdx_collateral { TDX_TCB_INFO, TDX_IDENTITY };
/* Has the members of any kind and form: a text and its signature. */
bool tdx_is_collateral(struct bytes object);
/*
 * The signed text in an object as Intel's service answers it, or as it is
 * saved with a quote by others (there the text is a string in the object).
 * R_FORMAT_MISSING_KEY where it has none of this kind; R_TDX_COLLATERAL.
 */
enum reason tdx_collateral_find(struct bytes object, enum tdx_collateral kind, struct blob *ret_text,
				uint8_t ret_signature[TDX_SIGNATURE_LEN]) must_check;

/* What both have; views into the text. */
struct tdx_head {
	struct bytes id;		/* "SGX" "TDX"; "QE" "TD_QE"; empty in version 2 */
	uint32_t version, evaluation;	/* tcbEvaluationDataNumber */
	int64_t issued, next_update;	/* seconds since 1970 */
	struct bytes levels;		/* array, best first */
};
struct tdx_tcb_info {
	struct tdx_head head;
	uint8_t fmspc[6], pce_id[2];
	bool has_module;
	uint8_t module_signer[48], module_attributes[8], module_mask[8];
	struct bytes modules;		/* array of identities by version, or nothing */
};
struct tdx_identity {
	struct tdx_head head;
	uint8_t mr_signer[32], attributes[16], attributes_mask[16], misc_select[4], misc_mask[4];
	uint32_t isv_prod_id;
};
/* R_TDX_COLLATERAL */
enum reason tdx_tcb_info_read(struct bytes text, struct tdx_tcb_info *ret) must_check;
enum reason tdx_identity_read(struct bytes text, struct tdx_identity *ret) must_check;

/* One identity of `modules`: "TDX_03". */
struct tdx_module {
	struct bytes id;
	uint8_t signer[48], attributes[8], mask[8];
	struct bytes levels;
};
/* R_FORMAT_MISSING_KEY where there is none with this id; R_TDX_COLLATERAL. */
enum reason tdx_module_find(struct bytes modules, const char *id, struct tdx_module *ret) must_check;

enum tdx_status {
	TDX_STATUS_UNKNOWN,
	TDX_UP_TO_DATE,
	TDX_SW_HARDENING,
	TDX_CONFIGURATION,
	TDX_CONFIGURATION_SW_HARDENING,
	TDX_OUT_OF_DATE,
	TDX_OUT_OF_DATE_CONFIGURATION,
	TDX_REVOKED,
};
/* "UpToDate" and so on, as Intel writes them; "unknown". */
const char *tdx_status_name(enum tdx_status s);

/* One level of a platform (components) or of an enclave or module (isv_svn). */
struct tdx_level {
	uint32_t sgx[TDX_COMPONENTS], tdx[TDX_COMPONENTS], pce_svn, isv_svn;
	bool has_sgx, has_tdx, has_isv_svn;
	enum tdx_status status;
	struct bytes date;		/* text */
	struct bytes advisories;	/* array of strings, or nothing */
};
/* R_TDX_COLLATERAL */
enum reason tdx_level_read(struct bytes value, struct tdx_level *ret) must_check;

#endif
