/* SPDX-License-Identifier: Apache-2.0 */
/* Each case runs in a child: it enters the jail and tries something. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/jail.h"
#include "base/jail_landlock.h"
#include "base/log.h"
#include "base/proc.h"
#include "unit.h"

enum { NOBODY = 65534 };

/* 0: it went as it should */
typedef int act_fn(void);

static struct proc_end in_jail(const struct jail *j, act_fn *act)
{
	struct proc p = PROC_NONE;
	struct proc_end end = { -1, 0 };

	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (jail_enter(j) != R_OK)
			_exit(100);
		_exit(act());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	return end;
}

static void assert_does(enum jail_profile profile, act_fn *act)
{
	struct proc_end end = in_jail(&(struct jail){ .profile = profile }, act);

	if (end.code != 0 || end.signal != 0)
		fail_msg("%s: exit %d, signal %d", jail_profile_name(profile), end.code,
			 end.signal);
}

static void assert_killed(enum jail_profile profile, act_fn *act)
{
	struct proc_end end = in_jail(&(struct jail){ .profile = profile }, act);

	if (end.signal != SIGSYS)
		fail_msg("%s: exit %d, signal %d", jail_profile_name(profile), end.code,
			 end.signal);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What every process does without thinking. */
static int act_basics(void)
{
	struct timespec now;
	char text[64];
	int numbers[1000];
	time_t t = time(NULL);
	struct tm tm;
	void *big;

	for (int i = 0; i < 1000; i++)
		numbers[i] = 1000 - i;
	qsort(numbers, 1000, sizeof(*numbers), compare);
	big = malloc(4 << 20);
	if (big == NULL || numbers[0] != 1)
		return 1;
	free(big);
	if (clock_gettime(CLOCK_BOOTTIME, &now) != 0 || localtime_r(&t, &tm) == NULL)
		return 2;
	if (snprintf(text, sizeof(text), "%f %s", 1.5, strerror(ENOENT)) < 5)
		return 3;
	log_info("%s", text);
	/* stdio asks what kind of a file it is */
	if (printf("# basics\n") < 0 || fflush(stdout) != 0)
		return 4;
	return poll(NULL, 0, 1) == 0 ? 0 : 5;
}

static int act_execute(void)
{
	char *argv[] = { (char[]){ "/bin/true" }, NULL };

	execv(argv[0], argv);
	return errno;
}

static int act_execute_memory(void)
{
	return mprotect((void *)((uintptr_t)act_basics & ~4095ul), 4096,
			PROT_READ | PROT_WRITE | PROT_EXEC) != 0;
}

static int act_map_executable(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

static int act_trace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0;
}

static int act_fork(void)
{
	return fork() < 0;
}

static int act_kill(void)
{
	return kill(1, 0) != 0;
}

static int act_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL) != 0;
}

static int act_kexec(void)
{
	return syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0) != 0;
}

static int act_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0) < 0;
}

static int act_user_namespace(void)
{
	return unshare(CLONE_NEWUSER) != 0;
}

static int act_setuid(void)
{
	return setuid(0) != 0;
}

static int act_clone_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL) < 0;
}

/* What Landlock does not see, by path: the filter has to. */
static int act_chmod(void)
{
	return chmod("/tmp", 01777);
}

static int act_chown(void)
{
	return chown("/tmp", 0, 0);
}

static int act_fchown(void)
{
	return fchown(STDERR_FILENO, getuid(), getgid());
}

static int act_utimes(void)
{
	return utimensat(AT_FDCWD, "/tmp", NULL, 0);
}

/* The 32-bit numbers mean other calls: 20 is getpid there. */
static int act_32bit(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r > 0 ? 0 : 1;
}

static int act_x32(void)
{
	return syscall(0x40000000 | SYS_getpid) < 0;
}

/* Nobody may do any of these, the supervisor included. */
static void test_never(void **state)
{
	static act_fn *const acts[] = {
		act_execute, act_execute_memory, act_map_executable, act_trace, act_mount,
		act_kexec, act_bpf, act_user_namespace, act_clone_namespace, act_x32,
		act_chmod, act_chown, act_fchown, act_utimes,
	};

	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++) {
		for (size_t i = 0; i < ARRAY_LEN(acts); i++)
			assert_killed((enum jail_profile)p, acts[i]);
	}
}

static void test_32bit(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0)
		_exit(act_32bit());
	assert_ok(proc_wait(&p, 20000, &end));
	/* this kernel has no 32-bit calls at all */
	if (end.signal == SIGSEGV)
		skip();
	for (int profile = 0; profile < JAIL_PROFILE_MAX; profile++)
		assert_killed((enum jail_profile)profile, act_32bit);
}

static void test_only_the_supervisor(void **state)
{
	static act_fn *const acts[] = { act_fork, act_kill, act_setuid };

	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++) {
		for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
			if (p != JAIL_SUPERVISOR)
				assert_killed((enum jail_profile)p, acts[i]);
		}
	}
	assert_does(JAIL_SUPERVISOR, act_fork);
}

static void test_basics(void **state)
{
	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++)
		assert_does((enum jail_profile)p, act_basics);
}

static int act_open_denied(void)
{
	int fd = open("/tmp/bootgate-jail", O_WRONLY | O_CREAT, 0600);

	return fd < 0 && errno == EACCES ? 0 : 1;
}

static int act_write_trick(void)
{
	/* each of these is more than reading */
	static const int flags[] = {
		O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_TMPFILE | O_RDWR,
		3, O_RDWR | O_APPEND,
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		if (open("/tmp/bootgate-jail", flags[i], 0600) >= 0 || errno != EACCES)
			return (int)i + 1;
	}
	return 0;
}

static int act_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

static void test_worker_and_signer(void **state)
{
	static const enum jail_profile profiles[] = { JAIL_WORKER, JAIL_SIGNER };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		assert_does(profiles[i], act_open_denied);
		assert_does(profiles[i], act_write_trick);
		assert_killed(profiles[i], act_socket);
	}
}

static int act_client(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 9 };
	char text[16];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int file;

	if (fd < 0 || socket(AF_INET6, SOCK_DGRAM, 0) < 0)
		return 1;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno != ECONNREFUSED)
		return 2;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EAFNOSUPPORT)
		return 3;
	if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || socket(AF_PACKET, SOCK_RAW, 0) >= 0)
		return 4;
	/* resolv.conf and hosts */
	file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	return file >= 0 && read(file, text, sizeof(text)) > 0 ? 0 : 5;
}

static int act_listen(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return listen(fd, 1) != 0;
}

static void test_net(void **state)
{
	(void)state;
	assert_does(JAIL_NET, act_client);
	assert_does(JAIL_NET, act_write_trick);
	assert_killed(JAIL_NET, act_listen);
}

static void *thread(void *arg)
{
	*(int *)arg = 42;
	return NULL;
}

static int act_threads(void)
{
	int value = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, &value) != 0 || pthread_join(t, NULL) != 0)
		return 1;
	return value == 42 ? 0 : 2;
}

/* Whoever holds a listening socket could connect with it, were the flag let through. */
static int act_fast_open(void)
{
	return sendto(STDIN_FILENO, "x", 1, MSG_FASTOPEN, NULL, 0) < 0 ? 0 : 1;
}

static int act_fast_open_message(void)
{
	struct msghdr m = { 0 };

	return sendmsg(STDIN_FILENO, &m, MSG_FASTOPEN) < 0 ? 0 : 1;
}

static void test_front(void **state)
{
	(void)state;
	assert_killed(JAIL_FRONT, act_fast_open);
	assert_killed(JAIL_FRONT, act_fast_open_message);
	assert_does(JAIL_FRONT, act_threads);
	assert_does(JAIL_FRONT, act_open_denied);
	assert_killed(JAIL_FRONT, act_socket);
}

static int act_files(void)
{
	char path[] = "/tmp/bootgate-jail-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, "x", 1) != 1 || pwrite(fd, "y", 1, 10) != 1)
		return 1;
	if (fsync(fd) != 0 || fdatasync(fd) != 0 || ftruncate(fd, 2) != 0)
		return 2;
	if (fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK }) != 0)
		return 3;
	/* SQLite would like to, and goes on when it may not */
	if (fchmod(fd, 0666) == 0 || errno != EPERM)
		return 4;
	return unlink(path) == 0 ? 0 : 5;
}

static void test_ledger(void **state)
{
	const struct jail tmp = { .profile = JAIL_LEDGER, .folder = "/tmp" };

	(void)state;
	assert_int_equal(in_jail(&tmp, act_files).code, 0);
	assert_killed(JAIL_LEDGER, act_socket);
}

/* ---- Landlock: paths, not calls ---- */

static char top[64], state_folder[80], secret[80];

/* A server's folder, and everybody could read its key as far as modes go. */
static int make_server(void **state)
{
	(void)state;
	(void)snprintf(top, sizeof(top), "/tmp/bootgate-jail-server-%d", getpid());
	(void)snprintf(state_folder, sizeof(state_folder), "%s/state", top);
	(void)snprintf(secret, sizeof(secret), "%s/secret", top);
	if (mkdir(top, 0777) != 0 || chmod(top, 0777) != 0)
		return -1;
	if (mkdir(state_folder, 0777) != 0 || chmod(state_folder, 0777) != 0)
		return -1;
	return fd_write_file(secret, bytes_str("secret"), 0666) == R_OK ? 0 : -1;
}

static int remove_server(void **state)
{
	(void)state;
	return unlink(secret) | rmdir(state_folder) | rmdir(top);
}

static bool may_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EACCES;
}

/* 1: it has its folder; 2 and above: it has more */
static int act_taken_over_ledger(void)
{
	char own[96], around[96], evil[96];

	(void)snprintf(own, sizeof(own), "%s/bootgate.db", state_folder);
	(void)snprintf(around, sizeof(around), "%s/../secret", state_folder);
	(void)snprintf(evil, sizeof(evil), "%s/evil", top);
	if (!may_open(own, O_RDWR | O_CREAT | O_EXCL) || !may_open(own, O_RDWR | O_TRUNC) ||
	    unlink(own) != 0)
		return 1;
	if (may_open(secret, O_RDONLY) || may_open(secret, O_WRONLY) || may_open(around, O_RDONLY))
		return 2;
	if (may_open(evil, O_WRONLY | O_CREAT) || may_open("/tmp/bootgate-jail", O_WRONLY | O_CREAT))
		return 3;
	if (may_open("/", O_RDONLY | O_DIRECTORY) || may_open("/etc/passwd", O_RDONLY))
		return 4;
	return unlink(secret) != 0 && errno == EACCES ? 0 : 5;
}

static void test_ledger_has_its_folder_only(void **state)
{
	struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };

	(void)state;
	if (!jail_has_landlock())
		skip();
	/* as who we are: without users it is Landlock alone */
	assert_int_equal(in_jail(&j, act_taken_over_ledger).code, 0);
	if (geteuid() == 0) {
		j.uid = j.gid = NOBODY;
		assert_int_equal(in_jail(&j, act_taken_over_ledger).code, 0);
	}
}

/* Rules for older kernels are subsets: this one can check each of them. */
static void test_each_landlock_version(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };
	int newest = jail_landlock_version();

	(void)state;
	for (int version = 1; version <= newest; version++) {
		struct proc p = PROC_NONE;
		struct proc_end end;
		int rules;

		assert_ok(proc_fork(NULL, 0, &p));
		if (p.pid == 0) {
			if (jail_landlock_make(&j, version, &rules) != R_OK ||
			    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			    jail_landlock_enter(rules) != R_OK)
				_exit(100);
			_exit(act_taken_over_ledger());
		}
		assert_ok(proc_wait(&p, 20000, &end));
		if (end.code != 0)
			fail_msg("version %d: exit %d", version, end.code);
	}
}

/* The sanitizer's filter lets through what only reads: this is Landlock's no. */
static int act_no_file(void)
{
	return may_open(secret, O_RDONLY) || may_open("/etc/passwd", O_RDONLY) ||
	       may_open(state_folder, O_RDONLY | O_DIRECTORY);
}

static int act_read_only(void)
{
	char evil[96];

	(void)snprintf(evil, sizeof(evil), "%s/evil", top);
	if (!may_open(secret, O_RDONLY) || !may_open(top, O_RDONLY | O_DIRECTORY))
		return 1;
	return may_open(secret, O_WRONLY) || may_open(evil, O_WRONLY | O_CREAT) ? 2 : 0;
}

static int act_bind(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno == EACCES ? 0 : 1;
}

/* Its children only, although it may be root. */
static int act_signals(void)
{
	struct proc p = PROC_NONE;

	if (kill(getppid(), 0) == 0 || errno != EPERM)
		return 1;
	if (proc_fork(NULL, 0, &p) != R_OK)
		return 2;
	if (p.pid == 0) {
		if (jail_enter(&(struct jail){ .profile = JAIL_WORKER }) != R_OK)
			_exit(1);
		for (;;)
			(void)poll(NULL, 0, -1);
	}
	if (kill(p.pid, 0) != 0)
		return 3;
	proc_kill(&p);
	return 0;
}

static void test_landlock_of_the_others(void **state)
{
	const struct jail supervisor = { .profile = JAIL_SUPERVISOR, .folder = state_folder };
	int version = jail_landlock_version();

	(void)state;
	if (version == 0)
		skip();
	assert_does(JAIL_FRONT, act_no_file);
	assert_does(JAIL_WORKER, act_no_file);
	assert_does(JAIL_SIGNER, act_no_file);
	assert_does(JAIL_NET, act_read_only);
	assert_int_equal(in_jail(&supervisor, act_read_only).code, 0);
	if (version >= 4)
		assert_does(JAIL_NET, act_bind);
	if (version >= 6)
		assert_int_equal(in_jail(&supervisor, act_signals).code, 0);
	assert_int_equal(in_jail(&(struct jail){ .profile = JAIL_LEDGER, .folder = "/no/such" },
				 act_basics).code, 100);
}

/* What a kernel without it says. */
static bool forget_landlock(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_LEN(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
}

static void test_without_landlock(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (!forget_landlock() || jail_has_landlock())
			_exit(1);
		if (jail_enter(&j) != R_OK)
			_exit(2);
		_exit(act_socket());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	assert_int_equal(end.signal, SIGSYS);
}

/* Root gives each child its own user; what it lost itself it cannot give. */
static int act_supervise(void)
{
	const struct jail worker = { .profile = JAIL_WORKER, .uid = NOBODY, .gid = NOBODY };
	struct proc p = PROC_NONE;
	struct proc_end end;

	if (proc_fork(NULL, 0, &p) != R_OK)
		return 1;
	if (p.pid == 0) {
		if (jail_enter(&worker) != R_OK)
			_exit(1);
		_exit(getuid() == NOBODY ? act_basics() : 2);
	}
	if (proc_wait(&p, 10000, &end) != R_OK || end.code != 0)
		return 2;
	if (proc_fork(NULL, 0, &p) != R_OK)
		return 3;
	if (p.pid == 0) {
		if (jail_enter(&worker) != R_OK)
			_exit(1);
		_exit(act_socket());
	}
	return proc_wait(&p, 10000, &end) == R_OK && end.signal == SIGSYS ? 0 : 4;
}

static void test_supervisor(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_does(JAIL_SUPERVISOR, act_supervise);
}

/* A line of the kernel's own word on this process. */
static bool status_says(const char *text, const char *line)
{
	return strstr(text, line) != NULL;
}

static int status_fd;

static int act_privileges(void)
{
	static char text[8192];

	if (read(status_fd, text, sizeof(text) - 1) <= 0)
		return 1;
	if (getuid() != NOBODY || geteuid() != NOBODY || getgid() != NOBODY ||
	    getegid() != NOBODY)
		return 2;
	if (!status_says(text, "\nUid:\t65534\t65534\t65534\t65534\n") ||
	    !status_says(text, "\nGid:\t65534\t65534\t65534\t65534\n"))
		return 3;
	if (!status_says(text, "\nGroups:\t \n") && !status_says(text, "\nGroups:\t\n"))
		return 4;
	if (!status_says(text, "\nCapPrm:\t0000000000000000\n") ||
	    !status_says(text, "\nCapEff:\t0000000000000000\n") ||
	    !status_says(text, "\nCapInh:\t0000000000000000\n") ||
	    !status_says(text, "\nCapBnd:\t0000000000000000\n") ||
	    !status_says(text, "\nCapAmb:\t0000000000000000\n"))
		return 5;
	if (!status_says(text, "\nNoNewPrivs:\t1\n") || !status_says(text, "\nSeccomp:\t2\n"))
		return 6;
	return 0;
}

static void test_privileges(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .uid = NOBODY, .gid = NOBODY };
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		const gid_t groups[] = { 1, 2, 3 };

		if (setgroups(3, groups) != 0)
			_exit(99);
		status_fd = open("/proc/self/status", O_RDONLY);
		if (jail_enter(&j) != R_OK)
			_exit(100);
		_exit(act_privileges());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	assert_int_equal(end.signal, 0);
	assert_int_equal(end.code, 0);
}

/* In the supervisor's jail one may still ask. */
static int act_limits(void)
{
	struct rlimit l;
	int death = 0;

	if (prctl(PR_GET_DUMPABLE) != 0)
		return 1;
	if (getrlimit(RLIMIT_CORE, &l) != 0 || l.rlim_cur != 0 || l.rlim_max != 0)
		return 2;
	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur != 50 || l.rlim_max != 50)
		return 3;
	if (prctl(PR_GET_PDEATHSIG, &death) != 0 || death != SIGKILL)
		return 4;
	return 0;
}

static void test_limits(void **state)
{
	const struct jail j = { .profile = JAIL_SUPERVISOR, .files = 50, .memory = 1ull << 40 };
	struct proc_end end = in_jail(&j, act_limits);

	(void)state;
	assert_int_equal(end.signal, 0);
	assert_int_equal(end.code, 0);
}

/* A change of user makes the kernel forget it; the jail reminds it. */
static void test_dies_with_parent(void **state)
{
	const struct jail j = { .profile = JAIL_WORKER, .uid = NOBODY, .gid = NOBODY };
	char byte;
	int p[2];
	pid_t parent;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(p), 0);
	parent = fork();
	if (parent == 0) {
		struct proc child = PROC_NONE;

		if (proc_fork(&p[1], 1, &child) != R_OK)
			_exit(1);
		if (child.pid == 0) {
			if (jail_enter(&j) != R_OK)
				_exit(1);
			(void)!write(p[1], "x", 1);
			for (;;)
				(void)poll(NULL, 0, -1);
		}
		_exit(read(p[0], &byte, 1) == 1 ? 0 : 1);
	}
	close(p[1]);
	int status;
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(status, 0);
	assert_int_equal(read(p[0], &byte, 1), 0);
	close(p[0]);
}

static int act_look_around(void)
{
	struct stat s;

	if (stat("/etc", &s) == 0 || errno != ENOENT)
		return 1;
	return stat("/inside", &s) == 0 ? 0 : 2;
}

static void test_root_folder(void **state)
{
	char folder[] = "/tmp/bootgate-jail-root-XXXXXX";
	char inside[64];
	struct proc_end end;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(folder));
	(void)snprintf(inside, sizeof(inside), "%s/inside", folder);
	assert_int_equal(mkdir(inside, 0755), 0);
	end = in_jail(&(struct jail){ .profile = JAIL_LEDGER, .root = folder }, act_look_around);
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(end.code, 0);
}

/* Without the right to: refused, not half done. */
static int act_nothing(void)
{
	return 0;
}

static void test_refusals(void **state)
{
	struct proc_end end;

	(void)state;
	end = in_jail(&(struct jail){ .profile = JAIL_PROFILE_MAX }, act_nothing);
	assert_int_equal(end.code, 100);
	end = in_jail(&(struct jail){ .profile = JAIL_WORKER, .root = "/no/such/folder" },
		      act_nothing);
	assert_int_equal(end.code, 100);
	assert_string_equal(jail_profile_name(JAIL_PROFILE_MAX), "unknown");
	if (geteuid() == 0) {
		struct proc p = PROC_NONE;

		assert_ok(proc_fork(NULL, 0, &p));
		if (p.pid == 0) {
			const struct jail other = { .profile = JAIL_WORKER, .uid = 1, .gid = 1 };
			const struct jail own = { .profile = JAIL_WORKER };

			if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
				_exit(1);
			if (jail_enter(&other) != R_INTERNAL_JAIL)
				_exit(2);
			/* an ordinary user may confine itself */
			_exit(jail_enter(&own) == R_OK ? 0 : 3);
		}
		assert_ok(proc_wait(&p, 20000, &end));
		assert_int_equal(end.code, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_32bit),
		cmocka_unit_test(test_only_the_supervisor),
		cmocka_unit_test(test_worker_and_signer),
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_front),
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_ledger_has_its_folder_only),
		cmocka_unit_test(test_each_landlock_version),
		cmocka_unit_test(test_landlock_of_the_others),
		cmocka_unit_test(test_without_landlock),
		cmocka_unit_test(test_supervisor),
		cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_dies_with_parent),
		cmocka_unit_test(test_root_folder),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, make_server, remove_server);
}
