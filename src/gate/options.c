/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/gate.h"

/* Takes `--name VALUE`; false when *i is not at it. */
static bool value_of(int argc, char **argv, int *i, const char *name, const char **ret)
{
	if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc)
		return false;
	*ret = argv[++*i];
	return true;
}

#ifdef BOOTGATE_TEST
static bool test_option(int argc, char **argv, int *i, struct options *o)
{
	const char *v;
	uint64_t n;

	if (strcmp(argv[*i], "--no-network-setup") == 0) {
		o->no_network_setup = true;
		return true;
	}
	if (value_of(argc, argv, i, "--hurry", &v)) {
		if (text_u64(bytes_str(v), 1000, &n) || n == 0)
			return false;
		o->hurry = (unsigned)n;
		return true;
	}
	return value_of(argc, argv, i, "--root", &o->root) ||
	       value_of(argc, argv, i, "--tpm", &o->tpm) ||
	       value_of(argc, argv, i, "--kexec-dir", &o->kexec_dir);
}
#else
static bool test_option(int argc, char **argv, int *i, struct options *o)
{
	(void)argc;
	(void)argv;
	(void)i;
	(void)o;
	return false;
}
#endif

enum reason options_read(int argc, char **argv, struct options *ret)
{
	struct options o = { .config = "/etc/bootgate", .root = "", .hurry = 1 };

	for (int i = 0; i < argc; i++) {
		if (value_of(argc, argv, &i, "--config", &o.config))
			continue;
		if (strcmp(argv[i], "--json") == 0) {
			o.json = true;
			continue;
		}
		if (!test_option(argc, argv, &i, &o))
			return log_reason(R_USAGE, "%s", argv[i]);
	}
	*ret = o;
	return R_OK;
}
