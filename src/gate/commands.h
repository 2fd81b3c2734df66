/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program; each returns an exit code (reason_exit). */
#ifndef BOOTGATE_GATE_COMMANDS_H
#define BOOTGATE_GATE_COMMANDS_H

int command_run(int argc, char **argv);
int command_facts(int argc, char **argv);
int command_check(int argc, char **argv);
int command_record(int argc, char **argv);
int command_log(int argc, char **argv);
int command_pcrs(int argc, char **argv);
int command_quote(int argc, char **argv);

/* What `--help` behind the command tells. */
extern const char command_check_help[];
extern const char command_record_help[];
extern const char command_pcrs_help[];
extern const char command_quote_help[];

#endif
