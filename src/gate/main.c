/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "gate/commands.h"
#include "node/net_child.h"

static int net_child(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return net_child_main();
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;	/* NULL: not for people */
	const char *more;	/* --help behind it, where it is more than that line */
} commands[] = {
	{ "run", command_run, "the gate: measure, attest, obey the verdict", NULL },
	{ "check", command_check, "is this machine fit: check [--root DIR] [--json]",
	  command_check_help },
	{ "record", command_record, "what check reads: record DIR [--anonymous]",
	  command_record_help },
	{ "facts", command_facts, "what would be measured: facts [--json]", NULL },
	{ "log", command_log, "the firmware's event log, to standard output", NULL },
	{ "pcrs", command_pcrs, "register values: pcrs SELECTION", command_pcrs_help },
	{ "quote", command_quote, "a quote: quote --pcrs SELECTION --nonce HEX [--ak HANDLE]",
	  command_quote_help },
	{ "net-child", net_child, NULL, NULL },
};

static void help(FILE *to)
{
	fprintf(to, "bootgate " BOOTGATE_VERSION "\nusage: bootgate COMMAND [ARGUMENTS]\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (commands[i].help)
			fprintf(to, "  %-7s %s\n", commands[i].name, commands[i].help);
}

/* Whether the word asks for help, and then `more` or all of it was printed. */
static bool helped(const char *word, const char *more)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		more ? (void)fputs(more, stdout) : help(stdout);
	else if (strcmp(word, "--version") == 0)
		help(stdout);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	if (fd_standard())
		return 1;
	if (argc > 1 && helped(argv[1], NULL))
		return 0;
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		/* `run` in an initramfs is never called so: who asks starts no boot. */
		if (argc > 2 && helped(argv[2], commands[i].more))
			return 0;
		return commands[i].run(argc - 2, argv + 2);
	}
	help(stderr);
	return reason_exit(R_USAGE);
}
