/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each profile may ask of the kernel: musl and glibc, x86-64. A row is
 * added when a run ends with SIGSYS and the call belongs there; `ausearch` or
 * the kernel log names its number.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/jail_filter.h"

#define ALLOW(call) { SYS_##call, 0, 0, 0, 0 }
#define ALLOW_IF(call, arg, mask, value) { SYS_##call, 0, (arg), (mask), (value) }
#define DENY(call, error) { SYS_##call, (error), 0, 0, 0 }

enum {
	/* what makes open(2) more than reading */
	OPEN_WRITES = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY),
	THREAD = CLONE_VM | CLONE_THREAD,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		     CLONE_NEWPID | CLONE_NEWNET,
};

/* Memory, time, its own descriptors, its own end. Nothing by name. */
static const struct jail_rule core[] = {
	ALLOW(read),
	ALLOW(readv),
	ALLOW(write),
	ALLOW(writev),
	ALLOW(recvmsg),
	ALLOW(recvfrom),
	/* MSG_FASTOPEN connects, which is another call's business */
	ALLOW_IF(sendmsg, 2, MSG_FASTOPEN, 0),
	ALLOW_IF(sendto, 3, MSG_FASTOPEN, 0),
	ALLOW(shutdown),
	ALLOW(close),
	ALLOW(lseek),
	ALLOW(fstat),
	ALLOW_IF(newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),
	ALLOW(poll),
	ALLOW(ppoll),
	ALLOW(dup),
	ALLOW_IF(fcntl, 1, 0xffffffff, F_GETFD),
	ALLOW_IF(fcntl, 1, 0xffffffff, F_SETFD),
	ALLOW_IF(fcntl, 1, 0xffffffff, F_GETFL),
	ALLOW_IF(fcntl, 1, 0xffffffff, F_SETFL),
	ALLOW_IF(fcntl, 1, 0xffffffff, F_DUPFD_CLOEXEC),
	ALLOW(brk),
	ALLOW_IF(mmap, 2, PROT_EXEC, 0),
	ALLOW_IF(mprotect, 2, PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(set_robust_list),
	ALLOW(rseq),
	ALLOW(sched_yield),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sigaltstack),
	ALLOW(restart_syscall),
	ALLOW(nanosleep),
	ALLOW(clock_nanosleep),
	ALLOW(clock_gettime),
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(time),
	ALLOW(getrandom),
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW(getppid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(getrusage),
	ALLOW(times),
	/* glibc's qsort asks how much memory there is */
	ALLOW(sysinfo),
	ALLOW(uname),
	ALLOW(exit),
	ALLOW(exit_group),
	/* stdio asks every new stream whether it is a terminal */
	DENY(ioctl, ENOTTY),
};

/*
 * Libraries look for configuration, locale and time zone by themselves. They
 * get a plain no; there is nothing that an attacker learns from it.
 */
static const struct jail_rule no_files[] = {
	DENY(open, EACCES),
	DENY(openat, EACCES),
	DENY(access, EACCES),
	DENY(faccessat, EACCES),
	DENY(faccessat2, EACCES),
	DENY(stat, EACCES),
	DENY(lstat, EACCES),
	DENY(newfstatat, EACCES),
	DENY(statx, EACCES),
	DENY(readlink, EACCES),
	DENY(readlinkat, EACCES),
	DENY(getcwd, EACCES),
	DENY(prlimit64, EPERM),
	DENY(sched_getaffinity, EPERM),
};

static const struct jail_rule read_files[] = {
	ALLOW_IF(open, 1, OPEN_WRITES, 0),
	ALLOW_IF(openat, 2, OPEN_WRITES, 0),
	DENY(open, EACCES),
	DENY(openat, EACCES),
	ALLOW(access),
	ALLOW(faccessat),
	ALLOW(faccessat2),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(readlink),
	ALLOW(readlinkat),
	ALLOW(getdents64),
	ALLOW(pread64),
	DENY(prlimit64, EPERM),
};

/*
 * SQLite's. Nothing that changes mode, owner or times: those calls take any
 * path, and Landlock does not see them.
 */
static const struct jail_rule write_files[] = {
	ALLOW(open),
	ALLOW(openat),
	ALLOW(pwrite64),
	ALLOW(fsync),
	ALLOW(fdatasync),
	ALLOW(ftruncate),
	ALLOW(fallocate),
	ALLOW(unlink),
	ALLOW(rename),
	/* the database's mode is right already; SQLite asks and goes on */
	DENY(fchmod, EPERM),
	ALLOW(getcwd),
	ALLOW(fcntl),
};

static const struct jail_rule events[] = {
	ALLOW(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_wait),
	ALLOW(epoll_pwait),
	ALLOW(eventfd2),
	ALLOW(timerfd_create),
	ALLOW(timerfd_settime),
	ALLOW(timerfd_gettime),
	ALLOW(select),
	ALLOW(pselect6),
	ALLOW(pipe),
	ALLOW(pipe2),
};

static const struct jail_rule connections[] = {
	ALLOW(getsockname),
	ALLOW(getpeername),
	ALLOW(getsockopt),
	ALLOW(setsockopt),
};

static const struct jail_rule client[] = {
	ALLOW_IF(socket, 0, 0xffffffff, AF_INET),
	ALLOW_IF(socket, 0, 0xffffffff, AF_INET6),
	DENY(socket, EAFNOSUPPORT),
	ALLOW(connect),
	ALLOW(bind),
	ALLOW_IF(sendmmsg, 3, MSG_FASTOPEN, 0),
	ALLOW(recvmmsg),
};

static const struct jail_rule accepts[] = {
	ALLOW(accept),
	ALLOW(accept4),
	ALLOW(sendfile),
};

static const struct jail_rule threads[] = {
	ALLOW_IF(clone, 0, THREAD, THREAD),
	/* its flags are out of our sight; libc falls back to clone */
	DENY(clone3, ENOSYS),
	ALLOW_IF(prctl, 0, 0xffffffff, PR_SET_NAME),
	ALLOW(sched_getaffinity),
	ALLOW(set_tid_address),
};

/* What makes and ends other processes, and what jail_enter() itself calls. */
static const struct jail_rule processes[] = {
	ALLOW_IF(clone, 0, NAMESPACES, 0),
	ALLOW(wait4),
	ALLOW(waitid),
	ALLOW(kill),
	ALLOW(pidfd_open),
	ALLOW(close_range),
	ALLOW(socketpair),
	ALLOW(setgroups),
	ALLOW(setresuid),
	ALLOW(setresgid),
	ALLOW(getresuid),
	ALLOW(getresgid),
	ALLOW(capset),
	ALLOW(prctl),
	ALLOW(seccomp),
	ALLOW(landlock_create_ruleset),
	ALLOW(landlock_add_rule),
	ALLOW(landlock_restrict_self),
	ALLOW(prlimit64),
	ALLOW(chroot),
	ALLOW(chdir),
};

#ifdef __SANITIZE_ADDRESS__
/* Reads its own maps for reports, and asks for its stack. */
static const struct jail_rule sanitizer[] = {
	ALLOW_IF(open, 1, OPEN_WRITES, 0),
	ALLOW_IF(openat, 2, OPEN_WRITES, 0),
	ALLOW(readlink),
	ALLOW(prlimit64),
	ALLOW(getrlimit),
	ALLOW(sched_getaffinity),
	ALLOW(tgkill),
};
#define SANITIZER GROUP(sanitizer),
#else
#define SANITIZER
#endif

#define GROUP(g) { (g), ARRAY_LEN(g) }
#define END { NULL, 0 }

static const struct jail_group net[] = {
	SANITIZER GROUP(core), GROUP(read_files), GROUP(events), GROUP(connections),
	GROUP(client), END,
};
static const struct jail_group front[] = {
	SANITIZER GROUP(core), GROUP(no_files), GROUP(events), GROUP(connections),
	GROUP(accepts), GROUP(threads), END,
};
static const struct jail_group ledger[] = {
	SANITIZER GROUP(core), GROUP(write_files), GROUP(read_files), GROUP(events), END,
};
static const struct jail_group worker[] = {
	SANITIZER GROUP(core), GROUP(no_files), END,
};
static const struct jail_group signer[] = {
	SANITIZER GROUP(core), GROUP(no_files), END,
};
/*
 * Filters add up in children, so this allows what any of them needs, be it
 * before its own filter. No program, no file's mode, no new socket.
 */
static const struct jail_group supervisor[] = {
	SANITIZER GROUP(core), GROUP(processes), GROUP(write_files), GROUP(read_files),
	GROUP(events), GROUP(connections), GROUP(accepts), GROUP(threads), END,
};

static const struct jail_group *const profiles[] = {
	[JAIL_NET] = net,
	[JAIL_FRONT] = front,
	[JAIL_LEDGER] = ledger,
	[JAIL_WORKER] = worker,
	[JAIL_SIGNER] = signer,
	[JAIL_SUPERVISOR] = supervisor,
};

const struct jail_group *jail_groups(enum jail_profile profile)
{
	return profiles[profile];
}
