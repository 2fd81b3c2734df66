/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A power cut: what was acknowledged is there, after everything that was
 * written since the last sync of its file is gone. A VFS below SQLite keeps,
 * beside each file, a copy as of its last sync; a child does the work and is
 * killed; the copies take the place of the files.
 *
 * With synchronous=NORMAL this test fails: that mode syncs the log at
 * checkpoints only.
 */
#include "unit.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "server/store.h"

#define FILE_MAX (64u << 20)
#define ROUNDS 12
#define SYNCED ".synced"

/* ---- the VFS ------------------------------------------------------------- */

struct shim_file {
	sqlite3_file base;
	char path[512];
	sqlite3_file *real;
};

static sqlite3_vfs *below;

static void copy_file(const char *from, const char *to)
{
	_cleanup_(blob_free) struct blob b = BLOB(FILE_MAX);

	assert_int_equal(fd_read_named(from, &b), R_OK);
	assert_int_equal(fd_write_file(to, blob_bytes(&b), 0600), R_OK);
}

static int shim_sync(sqlite3_file *f, int flags)
{
	struct shim_file *s = (struct shim_file *)f;
	char synced[600];
	int r = s->real->pMethods->xSync(s->real, flags);

	snprintf(synced, sizeof(synced), "%s" SYNCED, s->path);
	if (r == SQLITE_OK && s->path[0])
		copy_file(s->path, synced);
	return r;
}

#define REAL(f) (((struct shim_file *)(f))->real)
#define PASS(name, params, args)                                        \
	static int shim_##name params                                   \
	{                                                               \
		return REAL(f)->pMethods->x##name args;                 \
	}
PASS(Close, (sqlite3_file * f), (REAL(f)))
PASS(Read, (sqlite3_file * f, void *p, int n, sqlite3_int64 at), (REAL(f), p, n, at))
PASS(Write, (sqlite3_file * f, const void *p, int n, sqlite3_int64 at), (REAL(f), p, n, at))
PASS(Truncate, (sqlite3_file * f, sqlite3_int64 n), (REAL(f), n))
PASS(FileSize, (sqlite3_file * f, sqlite3_int64 *n), (REAL(f), n))
PASS(Lock, (sqlite3_file * f, int l), (REAL(f), l))
PASS(Unlock, (sqlite3_file * f, int l), (REAL(f), l))
PASS(CheckReservedLock, (sqlite3_file * f, int *l), (REAL(f), l))
PASS(FileControl, (sqlite3_file * f, int op, void *p), (REAL(f), op, p))
PASS(SectorSize, (sqlite3_file * f), (REAL(f)))
PASS(DeviceCharacteristics, (sqlite3_file * f), (REAL(f)))
PASS(ShmMap, (sqlite3_file * f, int page, int n, int extend, void volatile **p), (REAL(f), page, n, extend, p))
PASS(ShmLock, (sqlite3_file * f, int at, int n, int flags), (REAL(f), at, n, flags))
PASS(ShmUnmap, (sqlite3_file * f, int remove), (REAL(f), remove))

static void shim_ShmBarrier(sqlite3_file *f)
{
	REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = shim_Close,
	.xRead = shim_Read,
	.xWrite = shim_Write,
	.xTruncate = shim_Truncate,
	.xSync = shim_sync,
	.xFileSize = shim_FileSize,
	.xLock = shim_Lock,
	.xUnlock = shim_Unlock,
	.xCheckReservedLock = shim_CheckReservedLock,
	.xFileControl = shim_FileControl,
	.xSectorSize = shim_SectorSize,
	.xDeviceCharacteristics = shim_DeviceCharacteristics,
	.xShmMap = shim_ShmMap,
	.xShmLock = shim_ShmLock,
	.xShmBarrier = shim_ShmBarrier,
	.xShmUnmap = shim_ShmUnmap,
};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct shim_file *s = (struct shim_file *)f;

	(void)vfs;
	s->base.pMethods = NULL;
	s->real = (sqlite3_file *)(s + 1);
	snprintf(s->path, sizeof(s->path), "%s", name ? name : "");
	int r = below->xOpen(below, name, s->real, flags, out);
	if (r == SQLITE_OK)
		s->base.pMethods = &methods;
	return r;
}

static void shim_register(void)
{
	static sqlite3_vfs shim;

	below = sqlite3_vfs_find(NULL);
	shim = *below;
	shim.zName = "shim";
	shim.szOsFile = (int)sizeof(struct shim_file) + below->szOsFile;
	shim.xOpen = shim_open;
	assert_int_equal(sqlite3_vfs_register(&shim, 1), SQLITE_OK);
}

/* ---- the work -------------------------------------------------------------- */

static struct node node_number(uint32_t i)
{
	struct node n = { .state = NODE_PENDING, .created = 1 + i };

	memcpy(n.id, &i, sizeof(i));
	memcpy(n.ak_name, &i, sizeof(i));
	return n;
}

/* Adds nodes and audit rows for ever; tells the number of each that is safe. */
static void work(const char *path, int tell)
{
	struct store *s = NULL;

	shim_register();
	if (store_open(path, &s) != R_OK)
		_exit(3);
	for (uint32_t i = 0;; i++) {
		struct node n = node_number(i);
		struct audit_row row = { .time = 1, .actor = "test", .action = "add" };

		if (store_begin(s) != R_OK || store_node_add(s, &n) != R_OK || store_audit_add(s, &row) != R_OK ||
		    store_commit(s) != R_OK)
			_exit(4);
		if (write(tell, &i, sizeof(i)) != sizeof(i))
			_exit(5);
	}
}

/* Every file as of its last sync; one that was never synced is gone. */
static void cut_power(const char *path)
{
	static const char *const suffix[] = { "", "-wal" };
	char file[512], synced[600];
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(suffix); i++) {
		snprintf(file, sizeof(file), "%s%s", path, suffix[i]);
		snprintf(synced, sizeof(synced), "%s" SYNCED, file);
		if (stat(synced, &st) == 0)
			assert_int_equal(rename(synced, file), 0);
		else
			unlink(file);
	}
	snprintf(file, sizeof(file), "%s-shm", path);
	unlink(file);
}

static void one_round(uint32_t wanted)
{
	char dir[] = "/tmp/powercut-XXXXXX", path[64];
	int pipe_fd[2];
	uint32_t last = 0;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/db", dir);
	assert_int_equal(pipe(pipe_fd), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(pipe_fd[0]);
		work(path, pipe_fd[1]);
	}
	close(pipe_fd[1]);
	for (uint32_t i = 0; i <= wanted; i++)
		assert_int_equal(read(pipe_fd[0], &last, sizeof(last)), sizeof(last));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* It may have told of more before it died. */
	while (read(pipe_fd[0], &last, sizeof(last)) == sizeof(last))
		;
	close(pipe_fd[0]);
	cut_power(path);

	struct store *s = NULL;
	uint64_t rows;
	assert_int_equal(store_open(path, &s), R_OK);
	for (uint32_t i = 0; i <= last; i++) {
		struct node want = node_number(i), have;

		assert_int_equal(store_node_by_ak(s, want.ak_name, &have), R_OK);
		assert_memory_equal(have.id, want.id, sizeof(have.id));
	}
	assert_int_equal(store_audit_verify(s, 1, UINT32_MAX, &rows), R_OK);
	assert_true(rows >= last + 1u);
	store_close(&s);

	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_acknowledged_is_there(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++)
		one_round(i * 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acknowledged_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
