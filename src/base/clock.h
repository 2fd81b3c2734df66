/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_BASE_CLOCK_H
#define BOOTGATE_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since the machine started; nobody can set this clock. */
uint64_t clock_boot_ms(void);
/*
 * What is left until `deadline_ms` of that clock, as poll(2) wants it: never
 * negative, and -1 for a deadline of UINT64_MAX, which never comes.
 */
int clock_left_ms(uint64_t deadline_ms);

#endif
