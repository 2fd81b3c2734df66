/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl: the operator's command. The table below is all of it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "crypto/init.h"
#include "ctl/ctl.h"

/* A NULL verb: the one short form. */
static const struct {
	const char *noun, *verb;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "node", "list", ctl_node_list, "nodes and their states" },
	{ "node", "show", ctl_node_show, "one node, its keys and last boots" },
	{ "node", "approve", ctl_node_approve, "let a waiting node in" },
	{ "node", "revoke", ctl_node_revoke, "refuse a node from now on" },
	{ "node", "evidence", ctl_node_evidence, "save logs and quote of a boot as files" },
	{ "group", "list", ctl_group_list, "groups of nodes" },
	{ "group", "add", ctl_group_add, "make a group" },
	{ "group", "assign", ctl_group_assign, "put a node into a group" },
	{ "group", "remove", ctl_group_remove, "forget a group that nothing is in" },
	{ "explain", NULL, ctl_explain, "why a node got its verdict, event by event" },
	{ "ref", "list", ctl_ref_list, "reference variants" },
	{ "ref", "show", ctl_ref_show, "one variant with its events" },
	{ "ref", "learn", ctl_ref_learn, "stage variants from a node's last boot" },
	{ "ref", "activate", ctl_ref_activate, "allow a staged variant" },
	{ "ref", "revoke", ctl_ref_revoke, "allow a variant no more" },
	{ "image", "sign", ctl_image_sign, "describe and sign a host image (offline)" },
	{ "image", "verify", ctl_image_verify, "check a manifest and its files (offline)" },
	{ "image", "add", ctl_image_add, "give a signed manifest to the server" },
	{ "image", "select", ctl_image_select, "choose what nodes boot" },
	{ "image", "list", ctl_image_list, "manifests at the server" },
	{ "site", "check", ctl_site_check, "what is wrong with a site folder (offline)" },
	{ "log", "show", ctl_log_show, "an event log, one event a line (offline)" },
	{ "log", "replay", ctl_log_replay, "register values that a log leads to (offline)" },
	{ "quote", "verify", ctl_quote_verify, "check a TPM quote (offline)" },
	{ "cvm", "verify", ctl_cvm_verify, "check evidence of a CVM, GPU or switch (offline)" },
	{ "verdict", "show", ctl_verdict_show, "what a verdict says" },
	{ "manifest", "show", ctl_manifest_show, "what a manifest says (offline)" },
	{ "policy", "show", ctl_policy_show, "the policy in force" },
	{ "policy", "set", ctl_policy_set, "put another policy in force" },
	{ "ek", "load", ctl_ek_load, "endorsement keys from delivery papers" },
	{ "ek", "show", ctl_ek_show, "why an EK certificate is trusted or not (offline)" },
	{ "ek", "ca-list", ctl_ek_ca_list, "what a folder of vendor CAs holds (offline)" },
	{ "ek", "ca-check", ctl_ek_ca_check, "what is wrong with that folder (offline)" },
	{ "ek", "ca-add", ctl_ek_ca_add, "put a CA into it, with where it is from (offline)" },
	{ "audit", "list", ctl_audit_list, "who did what" },
	{ "audit", "verify", ctl_audit_verify, "does the audit's hash chain hold" },
	{ "server", "status", ctl_server_status, "counters of the server" },
	{ "server", "failures", ctl_server_failures, "what gates reported, unproven" },
};

static void help(FILE *to, const char *noun)
{
	fprintf(to, "usage: bootgatectl NOUN VERB [ARGUMENTS]   (--socket PATH or BOOTGATE_SOCKET: the server)\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!noun || strcmp(noun, commands[i].noun) == 0)
			fprintf(to, "  %-8s %-9s %s\n", commands[i].noun, commands[i].verb ? commands[i].verb : "NODE",
				commands[i].help);
	fprintf(to, "exit status: 0 yes or done, 1 could not, 2 wrong usage, 3 judged and refused, 75 try later\n");
}

int main(int argc, char **argv)
{
	const char *noun = argc > 1 ? argv[1] : "", *verb = argc > 2 ? argv[2] : "";
	bool known = false;

	log_set_name("bootgatectl");
	if (fd_standard() != R_OK || crypto_init() != R_OK)
		return 1;
	if (strcmp(noun, "--help") == 0 || strcmp(noun, "help") == 0) {
		help(stdout, NULL);
		return 0;
	}
	if (strcmp(noun, "--version") == 0) {
		printf("bootgatectl %s\n", BOOTGATE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(noun, commands[i].noun) != 0)
			continue;
		known = true;
		if (!commands[i].verb)
			return commands[i].run(argc - 2, argv + 2);
		if (strcmp(verb, commands[i].verb) == 0)
			return commands[i].run(argc - 3, argv + 3);
	}
	help(stderr, known ? noun : NULL);
	return 2;
}
