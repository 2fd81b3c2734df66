/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "gate/commands.h"
#include "gate/guard.h"

int command_run(int argc, char **argv)
{
	struct options o;
	enum reason r = options_read(argc, argv, &o);

	if (r != R_OK)
		return reason_exit(r);
#ifndef BOOTGATE_TEST
	/*
	 * However this ends, the machine is reset or becomes another one: not
	 * something to start from a shell.
	 */
	if (getpid() != 1 && getppid() != 1) {
		fprintf(stderr, "bootgate: run is for the initramfs of a gate image; "
				"it resets the machine\n");
		return reason_exit(R_USAGE);
	}
#endif
	return guard_run(&o);
}
