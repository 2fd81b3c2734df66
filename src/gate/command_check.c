/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "check/check.h"
#include "check/record.h"
#include "gate/commands.h"

const char command_check_help[] =
	"check [--root DIR] [--stage gate|host] [--json]: everything that confidential\n"
	"computing needs of this machine, or of one that `record` saved into DIR. Changes\n"
	"nothing. --stage host: also what needs the host's kernel. Exit status 3 when a\n"
	"check failed.\n";
const char command_record_help[] =
	"record DIR [--anonymous] [--root DIR]: saves what `check` reads into the new folder\n"
	"DIR. --anonymous: without serial numbers, UUIDs, MAC addresses and the event log.\n"
	"--root: of a machine that was recorded before.\n";

struct check_options {
	const char *root;
	enum check_stage stage;
	bool json;
};

static enum reason read_options(int argc, char **argv, struct check_options *o)
{
	for (int i = 0; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--json") == 0) {
			o->json = true;
		} else if (strcmp(argv[i], "--root") == 0 && *value) {
			o->root = argv[++i];
		} else if (strcmp(argv[i], "--stage") == 0 &&
			   (strcmp(value, "gate") == 0 || strcmp(value, "host") == 0)) {
			o->stage = strcmp(argv[++i], "host") == 0 ? STAGE_HOST : STAGE_GATE;
		} else {
			return log_reason(R_USAGE, "%s", argv[i]);
		}
	}
	return R_OK;
}

static enum reason check_machine(const struct check_options *o)
{
	static struct finding findings[CHECK_COUNT];
	_cleanup_(machine_close) struct machine m = { .source = SOURCE_NONE };
	struct check_summary s;
	enum reason r = machine_open(o->root, &m);

	if (r != R_OK)
		return log_reason_errno(r, "%s", o->root ? o->root : "/");
	check_run(&m, o->stage, findings);
	if (o->json)
		check_print_json(&m, o->stage, findings);
	else
		check_print_table(findings, isatty(STDOUT_FILENO));
	s = check_count(findings);
	return check_verdict(&s);
}

int command_check(int argc, char **argv)
{
	struct check_options o = { NULL, STAGE_GATE, false };
	enum reason r = read_options(argc, argv, &o);

	if (r == R_OK)
		r = check_machine(&o);
	return reason_exit(r);
}

struct record_options {
	const char *root, *folder;
	bool anonymous;
};

static enum reason read_record_options(int argc, char **argv, struct record_options *o)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--anonymous") == 0)
			o->anonymous = true;
		else if (strcmp(argv[i], "--root") == 0 && i + 1 < argc)
			o->root = argv[++i];
		else if (argv[i][0] != '-' && !o->folder)
			o->folder = argv[i];
		else
			return log_reason(R_USAGE, "%s", argv[i]);
	}
	if (!o->folder)
		return log_reason(R_USAGE, "record DIR");
	return R_OK;
}

static enum reason save(const struct record_options *o)
{
	_cleanup_(machine_close) struct machine m = { .source = SOURCE_NONE };
	struct record record;
	enum reason r = machine_open(o->root, &m);

	if (r != R_OK)
		return log_reason_errno(r, "%s", o->root ? o->root : "/");
	r = record_open(o->folder, o->anonymous, &record);
	if (r == R_OK) {
		m.source.record = &record;
		machine_identify(&m);	/* once more: now the recorder listens */
		check_read_all(&m);
		r = record_close(&record);
	}
	return r == R_OK ? R_OK : log_reason_errno(r, "%s", o->folder);
}

int command_record(int argc, char **argv)
{
	struct record_options o = { NULL, NULL, false };
	enum reason r = read_record_options(argc, argv, &o);

	if (r == R_OK)
		r = save(&o);
	return reason_exit(r);
}
