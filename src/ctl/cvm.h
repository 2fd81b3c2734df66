/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl cvm: what its files share. */
#ifndef BOOTGATE_CTL_CVM_H
#define BOOTGATE_CTL_CVM_H

#include <jansson.h>

#include "appraise/cvm.h"
#include "ctl/options.h"

#define CVM_EVIDENCE_MAX (4u << 20)	/* one file */
#define CVM_FILES_MAX 4096u		/* below one folder */

/* What a folder holds. JSON objects are collateral, judged by their content. */
struct cvm_folder {
	struct chain_pool *pool;
	struct blob *object;
	size_t objects;
};
enum reason cvm_folder_make(struct cvm_folder *ret) must_check;
/*
 * Adds everything below `path` (a file or a folder), whatever the files are
 * called; links as fd_list_tree has them. Says on stderr which file is too large
 * to be looked into, and what ends it: R_FILE, R_FORMAT_TOO_LARGE for too much.
 */
enum reason cvm_folder_read(struct cvm_folder *f, const char *path) must_check;
/* Adds what a piece of evidence brings along itself. */
enum reason cvm_folder_add(struct cvm_folder *f, struct bytes file) must_check;
void cvm_folder_free(struct cvm_folder *f);

/* The judgement of one piece of evidence: its reason, and JSON about it. */
struct cvm_answer {
	enum reason reason;
	struct cvm_notes notes;
	const char *what;		/* what the evidence is of; NULL where the type says it */
	json_t *json;
};

/* cvm_snp.c, cvm_tdx.c, cvm_gpu.c: appends to the array of answers. */
struct cvm_request {
	struct cvm_evidence e;
	struct cvm_folder *folder;
	const struct options *options;
	const uint8_t (*test_pin)[SHA256_LEN];	/* test build: takes the place of the vendor's */
};
typedef enum reason cvm_judge(const struct cvm_request *q, struct cvm_answer *ret, size_t max,
			      size_t *ret_count);
cvm_judge cvm_snp, cvm_tdx, cvm_gpu;

/* cvm_json.c: pieces of an answer. */
json_t *cvm_hex(struct bytes in);
json_t *cvm_text(struct bytes in);
json_t *cvm_path(const struct chain_path *path);
json_t *cvm_time(int64_t seconds);

#endif
