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
	bool explains;		/* has a --help of its own */
} commands[] = {
	{ "run", command_run, "the gate: measure, attest, obey the verdict", false },
	{ "facts", command_facts, "what would be measured: facts [--json]", false },
	{ "log", command_log, "the firmware's event log, to standard output", false },
	{ "pcrs", command_pcrs, "register values: pcrs SELECTION", true },
	{ "quote", command_quote, "a quote: quote --pcrs SELECTION --nonce HEX [--ak HANDLE]", true },
	{ "net-child", net_child, NULL, false },
};

static void help(FILE *to)
{
	fprintf(to, "bootgate " BOOTGATE_VERSION "\nusage: bootgate COMMAND [ARGUMENTS]\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (commands[i].help)
			fprintf(to, "  %-7s %s\n", commands[i].name, commands[i].help);
}

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--version") == 0;
}

int main(int argc, char **argv)
{
	if (fd_standard())
		return 1;
	if (argc > 1 && asks_help(argv[1])) {
		help(stdout);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		/* `run` in an initramfs is never called so: who asks starts no boot. */
		if (argc > 2 && asks_help(argv[2]) && !commands[i].explains) {
			help(stdout);
			return 0;
		}
		return commands[i].run(argc - 2, argv + 2);
	}
	help(stderr);
	return reason_exit(R_USAGE);
}
