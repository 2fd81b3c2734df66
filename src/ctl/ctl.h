/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgatectl: every command, one file a noun. Each takes the arguments
 * behind its verb and returns the exit code (reason_exit); for CTL_USAGE main
 * prints how the command is called.
 */
#ifndef BOOTGATE_CTL_CTL_H
#define BOOTGATE_CTL_CTL_H

#include "base/bytes.h"

#define CTL_USAGE 2
#define CTL_SHOWN_MAX 4200u

/* log.c: event logs, offline on files */
int ctl_log_show(int argc, char **argv);
int ctl_log_replay(int argc, char **argv);

/* quote.c: verifies a quote, offline on files */
int ctl_quote_verify(int argc, char **argv);

/* cvm.c: verifies evidence of CVMs and GPUs, offline on files */
int ctl_cvm_verify(int argc, char **argv);

/* predict.c: events of a gate image, offline on files, or as references at the server */
int ctl_image_predict(int argc, char **argv);
int ctl_ref_stage(int argc, char **argv);

/* decode.c: tables that a machine has of itself, offline on files */
int ctl_report_decode(int argc, char **argv);

/* node.c, group.c, ref.c, rollout.c, image.c, image_sign.c, key.c, explain.c, site.c, verdict.c, policy.c, ek_*.c, server.c (audit too) */
int ctl_node_list(int argc, char **argv);
int ctl_node_show(int argc, char **argv);
int ctl_node_approve(int argc, char **argv);
int ctl_node_revoke(int argc, char **argv);
int ctl_node_rename(int argc, char **argv);
int ctl_node_rebind(int argc, char **argv);
int ctl_node_evidence(int argc, char **argv);
int ctl_ref_list(int argc, char **argv);
int ctl_ref_show(int argc, char **argv);
int ctl_ref_export(int argc, char **argv);
int ctl_ref_import(int argc, char **argv);
int ctl_ref_diff(int argc, char **argv);
int ctl_ref_learn(int argc, char **argv);
int ctl_ref_activate(int argc, char **argv);
int ctl_ref_revoke(int argc, char **argv);
int ctl_image_sign(int argc, char **argv);
int ctl_image_verify(int argc, char **argv);
int ctl_image_add_signature(int argc, char **argv);
int ctl_image_add(int argc, char **argv);
int ctl_image_select(int argc, char **argv);
int ctl_image_unselect(int argc, char **argv);
int ctl_image_list(int argc, char **argv);
int ctl_group_list(int argc, char **argv);
int ctl_group_add(int argc, char **argv);
int ctl_group_remove(int argc, char **argv);
int ctl_group_assign(int argc, char **argv);
int ctl_rollout_list(int argc, char **argv);
int ctl_rollout_show(int argc, char **argv);
int ctl_rollout_create(int argc, char **argv);
int ctl_rollout_start(int argc, char **argv);
int ctl_rollout_pause(int argc, char **argv);
int ctl_rollout_resume(int argc, char **argv);
int ctl_rollout_stop(int argc, char **argv);
int ctl_rollout_retry(int argc, char **argv);
int ctl_explain(int argc, char **argv);
int ctl_key_new(int argc, char **argv);
int ctl_key_show(int argc, char **argv);
int ctl_site_check(int argc, char **argv);
int ctl_verdict_show(int argc, char **argv);
int ctl_manifest_show(int argc, char **argv);
int ctl_audit_list(int argc, char **argv);
int ctl_audit_verify(int argc, char **argv);
int ctl_policy_show(int argc, char **argv);
int ctl_policy_set(int argc, char **argv);
int ctl_ek_load(int argc, char **argv);
int ctl_ek_remove(int argc, char **argv);
int ctl_ek_rule_list(int argc, char **argv);
int ctl_ek_rule_add(int argc, char **argv);
int ctl_ek_rule_remove(int argc, char **argv);
int ctl_ek_show(int argc, char **argv);
int ctl_ek_ca_list(int argc, char **argv);
int ctl_ek_ca_check(int argc, char **argv);
int ctl_ek_ca_add(int argc, char **argv);
int ctl_server_status(int argc, char **argv);
int ctl_server_failures(int argc, char **argv);

/*
 * file.c: R_FILE is returned by these alone, and they said which file it is
 * and what the system says about it; ctl_refused then adds what to do.
 */
enum reason ctl_file_error(const char *path) must_check;
/*
 * A whole file of at most `max` bytes, `-` for standard input. Reads to its
 * end whatever its size is said to be (files of securityfs say 0).
 * R_FORMAT_TOO_LARGE.
 */
enum reason ctl_read_file(const char *path, size_t max, struct blob *ret) must_check;
enum reason ctl_write_file(const char *path, struct bytes content) must_check;
/*
 * A name that somebody else chose, as it may go to a terminal; returns ret.
 * Of what is longer than a path the end is left out.
 */
const char *ctl_shown(const char *name, char ret[CTL_SHOWN_MAX]);
/* folder/name */
enum reason ctl_path(const char *folder, const char *name, char *ret, size_t n) must_check;

#endif
