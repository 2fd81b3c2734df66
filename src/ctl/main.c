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
	const char *arguments;
	const char *help;
} commands[] = {
	{ "node", "list", ctl_node_list, "[--state STATE] [--group GROUP] [--rule RULE] [--json]",
	  "nodes and their states: pending, enrolled, held, conflict, revoked, retired" },
	{ "node", "show", ctl_node_show, "NODE [--json]", "one node, its keys and last boots" },
	{ "node", "approve", ctl_node_approve, "(NODE [--label TEXT] [--group GROUP] | --rule RULE) [--reason TEXT] [--dry-run]",
	  "let a waiting node in, or all that a rule marked" },
	{ "node", "revoke", ctl_node_revoke, "NODE [--reason TEXT] [--dry-run]", "refuse a node from now on" },
	{ "node", "rename", ctl_node_rename, "NODE LABEL [--reason TEXT] [--dry-run]", "give a node another label" },
	{ "node", "rebind", ctl_node_rebind, "OLD NEW [--reason TEXT] [--dry-run]",
	  "a machine got another TPM: the old one is retired" },
	{ "node", "evidence", ctl_node_evidence, "NODE FOLDER [--boot N]",
	  "save logs and quote of a boot as files" },
	{ "group", "list", ctl_group_list, "[--json]", "groups of nodes" },
	{ "group", "add", ctl_group_add, "GROUP [--reason TEXT] [--dry-run]", "make a group" },
	{ "group", "assign", ctl_group_assign, "NODE (GROUP | --none) [--reason TEXT] [--dry-run]",
	  "put a node into a group" },
	{ "group", "remove", ctl_group_remove, "GROUP [--reason TEXT] [--dry-run]",
	  "forget a group that nothing is in" },
	{ "explain", NULL, ctl_explain, "NODE [--boot N] [--json]", "why a node got its verdict, event by event" },
	{ "ref", "list", ctl_ref_list, "[--component NAME] [--state STATE] [--json]",
	  "reference variants: staged, active, retiring, revoked" },
	{ "ref", "show", ctl_ref_show, "ID [--json]", "one variant with its events" },
	{ "ref", "diff", ctl_ref_diff, "A B [--json]", "how two variants differ, event by event" },
	{ "ref", "learn", ctl_ref_learn, "NODE [--name TEXT] [--reason TEXT] [--dry-run] [--json]",
	  "stage variants from a node's last boot" },
	{ "ref", "stage", ctl_ref_stage,
	  "GATE.EFI [--ipxe NAME] [--name TEXT] [--version TEXT] [--reason TEXT] [--dry-run] [--json]",
	  "stage what a gate image will measure, computed from the file" },
	{ "ref", "export", ctl_ref_export, "FILE [ID...]", "variants into a file, all active ones where none is named" },
	{ "ref", "import", ctl_ref_import, "FILE --reason TEXT [--dry-run] [--json]", "stage the variants of a file" },
	{ "ref", "activate", ctl_ref_activate, "(ID... | --all-staged) [--security-version N] --reason TEXT [--dry-run]",
	  "allow a staged variant" },
	{ "ref", "revoke", ctl_ref_revoke, "(ID... | --all-staged) [--reason TEXT] [--dry-run]",
	  "allow a variant no more" },
	{ "rollout", "create", ctl_rollout_create,
	  "NAME --group GROUP --image IMAGE --variant ID [--variant ID]...\n"
	  "         [--failures N] [--tries N] [--at-once N] [--reason TEXT] [--dry-run]",
	  "describe an update of a group's nodes" },
	{ "rollout", "list", ctl_rollout_list, "[--json]", "rollouts and how far they are" },
	{ "rollout", "show", ctl_rollout_show, "NAME [--json]", "one rollout, node by node" },
	{ "rollout", "start", ctl_rollout_start, "NAME --reason TEXT [--dry-run]", "begin it, or begin it anew" },
	{ "rollout", "pause", ctl_rollout_pause, "NAME [--reason TEXT] [--dry-run]", "no further node gets its update" },
	{ "rollout", "resume", ctl_rollout_resume, "NAME [--reason TEXT] [--dry-run]", "go on after a pause" },
	{ "rollout", "stop", ctl_rollout_stop, "NAME [--reason TEXT] [--dry-run]", "end it where it is" },
	{ "rollout", "retry", ctl_rollout_retry, "NAME NODE --reason TEXT [--dry-run]",
	  "a node's update failed, or it is back to an old variant: begin anew with it" },
	{ "image", "sign", ctl_image_sign,
	  "--key FILE [--key FILE]... --line NAME --version TEXT --kernel FILE\n"
	  "         --initrd FILE --cmdline TEXT [--purpose host|maintenance|cvm] [--security-version N]\n"
	  "         [--memory BYTES] [--parameter NAME:hex|address|host|number:BOUND]...\n"
	  "         [--mirror FOLDER] MANIFEST",
	  "describe and sign a host image (offline)" },
	{ "image", "verify", ctl_image_verify,
	  "MANIFEST --keys FOLDER [--threshold N] [--kernel FILE] [--initrd FILE]",
	  "check a manifest and its files (offline)" },
	{ "image", "add-signature", ctl_image_add_signature,
	  "--key FILE MANIFEST [--keys FOLDER] [--kernel FILE] [--initrd FILE]",
	  "sign a manifest with one key more (offline)" },
	{ "image", "predict", ctl_image_predict, "[--ipxe NAME] [--json] FILE",
	  "events that a gate image causes (offline)" },
	{ "image", "add", ctl_image_add, "MANIFEST [--reason TEXT] [--dry-run]", "give a signed manifest to the server" },
	{ "image", "select", ctl_image_select, "IMAGE [--node NODE | --group GROUP] [--reason TEXT] [--dry-run]",
	  "choose what nodes boot" },
	{ "image", "unselect", ctl_image_unselect,
	  "IMAGE [--node NODE | --group GROUP] [--reason TEXT] [--dry-run]", "take that choice back" },
	{ "image", "list", ctl_image_list, "[--json]", "manifests at the server" },
	{ "key", "new", ctl_key_new, "--type verdict|release|token FILE", "make a key (offline)" },
	{ "key", "show", ctl_key_show, "FILE|FOLDER [--json]", "ids and fingerprints of keys (offline)" },
	{ "site", "check", ctl_site_check, "DIR", "what is wrong with a site folder (offline)" },
	{ "log", "show", ctl_log_show, "[--json | --details] FILE", "an event log, one event a line (offline)" },
	{ "log", "replay", ctl_log_replay, "[--bank NAME] FILE", "register values that a log leads to (offline)" },
	{ "quote", "verify", ctl_quote_verify,
	  "--ak FILE --quote FILE --signature FILE [--nonce HEX] [--pcrs FILE]\n"
	  "         [--log FILE]... [--json]",
	  "check a TPM quote (offline)" },
	{ "cvm", "verify", ctl_cvm_verify,
	  "--type snp|tdx|gpu --evidence FILE [--certs DIR]... [--nonce HEX]\n"
	  "         [--minimum-tcb HEX] [--at TIME] [--strict] [--json]",
	  "check evidence of a CVM, GPU or switch (offline)" },
	{ "report", "decode", ctl_report_decode, "--type smbios|pci|rom [--json] FILE",
	  "what a machine's own tables say (offline)" },
	{ "verdict", "show", ctl_verdict_show, "(FILE | --node NODE) [--keys FOLDER] [--json]",
	  "what a verdict says" },
	{ "manifest", "show", ctl_manifest_show, "FILE [--keys FOLDER] [--json]", "what a manifest says (offline)" },
	{ "policy", "show", ctl_policy_show, "[--group GROUP] [--json]", "the policy in force" },
	{ "policy", "set", ctl_policy_set, "FILE [--group GROUP] [--reason TEXT] [--dry-run]", "put another policy in force" },
	{ "ek", "load", ctl_ek_load, "FILE [--reason TEXT] [--dry-run] [--json]", "endorsement keys from delivery papers" },
	{ "ek", "remove", ctl_ek_remove, "LIST [--key HEX] [--reason TEXT] [--dry-run]",
	  "take a list of keys, or a key of it, back" },
	{ "ek", "show", ctl_ek_show, "FILE [--ca DIR] [--chain FILE] [--json]",
	  "why an EK certificate is trusted or not (offline)" },
	{ "ek", "ca-list", ctl_ek_ca_list, "DIR [--json]", "what a folder of vendor CAs holds (offline)" },
	{ "ek", "ca-check", ctl_ek_ca_check, "DIR [--json]", "what is wrong with that folder (offline)" },
	{ "ek", "ca-add", ctl_ek_ca_add, "FILE DIR --from TEXT [--dry-run]",
	  "put a CA into it, with where it is from (offline)" },
	{ "ek", "rule-list", ctl_ek_rule_list, "[--json]", "what becomes of new TPMs of a vendor CA and model" },
	{ "ek", "rule-add", ctl_ek_rule_add,
	  "RULE --anchor HEX --manufacturer TEXT --model TEXT [--group GROUP]\n"
	  "         [--enrol --until TIME --max N --from NETWORK [--from NETWORK]...] [--reason TEXT] [--dry-run]",
	  "mark such nodes, or let them in for a time" },
	{ "ek", "rule-remove", ctl_ek_rule_remove, "RULE [--reason TEXT] [--dry-run]",
	  "forget a rule; nodes that are in stay in" },
	{ "audit", "list", ctl_audit_list, "[--json]", "who did what" },
	{ "audit", "verify", ctl_audit_verify, "[--json]", "does the audit's hash chain hold" },
	{ "server", "status", ctl_server_status, "[--json]", "counters of the server" },
	{ "server", "failures", ctl_server_failures, "[--json]", "what gates reported, unproven" },
};

static const char *verb_of(size_t i)
{
	return commands[i].verb ? commands[i].verb : "NODE";
}

static int help(FILE *to, const char *noun)
{
	fprintf(to, "usage: bootgatectl NOUN VERB [ARGUMENTS]   (--socket PATH or BOOTGATE_SOCKET: the server)\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!noun || strcmp(noun, commands[i].noun) == 0)
			fprintf(to, "  %-8s %-13s %s\n", commands[i].noun, verb_of(i), commands[i].help);
	fprintf(to, "--help behind a verb tells its arguments\n"
		    "exit status: 0 yes or done, 1 could not, 2 wrong usage, 3 judged and refused, 75 try later\n");
	return to == stdout ? 0 : CTL_USAGE;
}

static void help_verb(FILE *to, size_t i)
{
	fprintf(to, "usage: bootgatectl %s %s%s%s\n  %s\n", commands[i].noun, commands[i].verb ? commands[i].verb : "",
		commands[i].verb ? " " : "", commands[i].arguments, commands[i].help);
}

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(size_t i, int argc, char **argv)
{
	for (int k = 0; k < argc && strcmp(argv[k], "--") != 0; k++) {
		if (!asks_help(argv[k]))
			continue;
		help_verb(stdout, i);
		return 0;
	}
	int code = commands[i].run(argc, argv);
	if (code == CTL_USAGE)
		help_verb(stderr, i);
	return code;
}

int main(int argc, char **argv)
{
	const char *noun = argc > 1 ? argv[1] : "", *verb = argc > 2 ? argv[2] : "";
	bool known = false;

	log_set_name("bootgatectl");
	if (fd_standard() != R_OK || crypto_init() != R_OK)
		return 1;
	if (asks_help(noun) || strcmp(noun, "help") == 0)
		return help(stdout, NULL);
	if (strcmp(noun, "--version") == 0) {
		printf("bootgatectl %s\n", BOOTGATE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(noun, commands[i].noun) != 0)
			continue;
		known = true;
		if (!commands[i].verb)
			return run(i, argc - 2, argv + 2);
		if (strcmp(verb, commands[i].verb) == 0)
			return run(i, argc - 3, argv + 3);
	}
	if (known && asks_help(verb))
		return help(stdout, noun);
	if (known ? verb[0] : noun[0])
		fprintf(stderr, "bootgatectl: there is no command %s%s%s\n", noun, verb[0] ? " " : "", verb);
	return help(stderr, known ? noun : NULL);
}
