/* SPDX-License-Identifier: Apache-2.0 */
/* Rules into classic BPF, by hand: it is small, and nothing else is needed. */
#include "base/jail_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef __x86_64__
#error "the tables are for x86-64"
#endif

enum {
	RULE_MAX_LEN = 9,
	PROLOGUE_LEN = 4,
};

struct program {
	struct sock_filter *code;
	size_t n;
	size_t cap;
};

static void put(struct program *p, struct sock_filter one)
{
	/* cap was computed from the rules: this is never reached */
	if (p->n == p->cap)
		abort();
	p->code[p->n++] = one;
}

static struct sock_filter load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter ret(uint32_t action)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

/* Goes on when equal, else over `skip` instructions. */
static struct sock_filter unless_equal(uint32_t value, uint8_t skip)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

/* Numbers of the x32 ABI need no check: they equal none of ours. */
static void put_prologue(struct program *p)
{
	put(p, load(offsetof(struct seccomp_data, arch)));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	put(p, ret(SECCOMP_RET_KILL_PROCESS));
	put(p, load(offsetof(struct seccomp_data, nr)));
}

/* The call's number is in the accumulator before and after. */
static void put_rule(struct program *p, const struct jail_rule *rule)
{
	uint32_t action = rule->error == 0 ? SECCOMP_RET_ALLOW :
					     SECCOMP_RET_ERRNO | (uint32_t)rule->error;
	size_t low = offsetof(struct seccomp_data, args) + 8 * (size_t)rule->arg;

	if (rule->mask == 0) {
		put(p, unless_equal((uint32_t)rule->nr, 1));
		put(p, ret(action));
		return;
	}
	put(p, unless_equal((uint32_t)rule->nr, 8));
	put(p, load(low));
	put(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)rule->mask));
	put(p, unless_equal((uint32_t)rule->value, 4));
	put(p, load(low + 4));
	put(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
					    (uint32_t)(rule->mask >> 32)));
	put(p, unless_equal((uint32_t)(rule->value >> 32), 1));
	put(p, ret(action));
	put(p, load(offsetof(struct seccomp_data, nr)));
}

enum reason jail_filter_load(const struct jail_group *groups)
{
	_cleanup_free_ struct sock_filter *code = NULL;
	struct program p = { .cap = PROLOGUE_LEN + 1 };
	struct sock_fprog prog;

	for (const struct jail_group *g = groups; g->rules != NULL; g++)
		p.cap += g->count * RULE_MAX_LEN;
	code = calloc(p.cap, sizeof(*code));
	if (code == NULL)
		return R_INTERNAL_MEMORY;
	p.code = code;
	put_prologue(&p);
	for (const struct jail_group *g = groups; g->rules != NULL; g++) {
		for (size_t i = 0; i < g->count; i++)
			put_rule(&p, &g->rules[i]);
	}
	put(&p, ret(SECCOMP_RET_KILL_PROCESS));
	if (p.n > BPF_MAXINSNS)
		return R_INTERNAL_TOO_LARGE;
	prog = (struct sock_fprog){ .len = (unsigned short)p.n, .filter = code };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0)
		return R_INTERNAL_JAIL;
	return R_OK;
}
