/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_GATE_GUARD_H
#define BOOTGATE_GATE_GUARD_H

#include "gate/gate.h"

/*
 * Runs the gate in a child and outlives it: any end of the gate that is not a
 * jump or a reset of its own is a cap of both registers and a reset. Parses
 * nothing, and collects orphans when it is process 1.
 */
int guard_run(const struct options *o);

#endif
