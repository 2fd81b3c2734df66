/* SPDX-License-Identifier: Apache-2.0 */
/* bootgated: the control server. The table below is all its commands. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "server/init.h"
#include "server/supervisor.h"

static int cmd_init(int argc, char **argv);
static int cmd_run(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
} commands[] = {
	{ "init", cmd_init,
	  "init DIR --name NAME [--name NAME]... [--port PORT] [--listen ADDRESS:PORT]\n"
	  "              [--mirror URL] [--release-folder FOLDER]" },
	{ "run", cmd_run, "run DIR [--log plain|json] [--ready-fd N]" },
};

static void help(FILE *to, const char *command)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!command || strcmp(command, commands[i].name) == 0)
			fprintf(to, "usage: bootgated %s\n", commands[i].usage);
}

static int usage(const char *command)
{
	help(stderr, command);
	return 2;
}

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Where it failed was said with the reason's name; here follows what that is, and what to do. */
static int ended(enum reason r)
{
	if (r != R_OK)
		log_line(LEVEL_ERROR, "%s: %s %s", reason_name(r), reason_sentence(r), reason_remedy(r));
	return reason_exit(r);
}

static int cmd_init(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },     { "port", required_argument, NULL, 'p' },
		{ "listen", required_argument, NULL, 'l' },   { "mirror", required_argument, NULL, 'm' },
		{ "release-folder", required_argument, NULL, 'r' }, { 0 },
	};
	struct init_options o = { .port = "8443" };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			if (o.name_count == INIT_NAMES_MAX)
				return usage("init");
			o.names[o.name_count++] = optarg;
			break;
		case 'p':
			o.port = optarg;
			break;
		case 'l':
			o.listen = optarg;
			break;
		case 'm':
			o.mirror = optarg;
			break;
		case 'r':
			o.release_folder = optarg;
			break;
		default:
			return usage("init");
		}
	}
	if (optind + 1 != argc || o.name_count == 0)
		return usage("init");
	o.dir = argv[optind];
	return ended(server_init(&o));
}

static int cmd_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "log", required_argument, NULL, 'l' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ 0 },
	};
	uint64_t ready = UINT64_MAX;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'l' && strcmp(optarg, "json") == 0)
			log_set_form(LOG_FORM_JSON);
		else if (c == 'l' && strcmp(optarg, "plain") == 0)
			log_set_form(LOG_FORM_PLAIN);
		else if (c != 'r' || text_u64(bytes_str(optarg), 1023, &ready) != R_OK)
			return usage("run");
	}
	if (optind + 1 != argc)
		return usage("run");
	return ended(supervisor_run(argv[optind], ready == UINT64_MAX ? -1 : (int)ready));
}

int main(int argc, char **argv)
{
	log_set_name("bootgated");
	if (fd_standard() != R_OK)
		return 1;
	if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
		printf("bootgated %s\n", BOOTGATE_VERSION);
		return 0;
	}
	if (argc >= 2 && (asks_help(argv[1]) || strcmp(argv[1], "help") == 0)) {
		help(stdout, NULL);
		return 0;
	}
	for (size_t i = 0; argc >= 2 && i < ARRAY_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		for (int k = 2; k < argc; k++) {
			if (!asks_help(argv[k]))
				continue;
			help(stdout, commands[i].name);
			return 0;
		}
		return commands[i].run(argc - 1, argv + 1);
	}
	return usage(NULL);
}
