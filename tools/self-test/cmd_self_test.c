// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_self_test.c
 * @brief	kshark-virt self-test: does this host's trace show what its kernel counts?
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json_writer.h"
#include "options.h"
#include "output.h"
#include "record.h"
#include "record_buffers.h"
#include "record_tracing.h"
#include "self_test.h"
#include "table.h"
#include "terminal.h"

#define BUFFER		(8 * RECORD_MIB)
#define INSTANCE	"kshark-virt-test-"
/** The process that copies has written all in this time. */
#define COPY_S		60

struct self_test_options {
	const struct ksv_command *command;
	int		format;		/* enum table_format_kind */
	const char	*output;
};

static const char *const format_names[] = { "text", "json", NULL };

static const struct ksv_option self_test_option_table[] = {
	KSV_OPTION_FORMAT(struct self_test_options, format, format_names,
			  "text (default) or json"),
	KSV_OPTION_OUTPUT(struct self_test_options, output),
};

/* --- versions -------------------------------------------------------------------------------- */

#define MOST_VERSIONS	16

struct version {
	char	name[32], text[256];
};

struct versions {
	struct version all[MOST_VERSIONS];
	int	n;
};

__attribute__((format(printf, 3, 4)))
static void add_version(struct versions *versions, const char *name, const char *format, ...)
{
	struct version *version;
	va_list args;

	if (versions->n == MOST_VERSIONS)
		return;
	version = &versions->all[versions->n++];
	snprintf(version->name, sizeof(version->name), "%s", name);
	va_start(args, format);
	vsnprintf(version->text, sizeof(version->text), format, args);
	va_end(args);
}

/** The file of a library has its full version in its name. */
static int add_library_version(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const names[] = { "libtracecmd", "libtraceevent", "libtracefs" };
	char *path = *info->dlpi_name ? realpath(info->dlpi_name, NULL) : NULL;
	const char *base = path ? strrchr(path, '/') : NULL, *so;

	(void)size;
	for (size_t i = 0; base && i < ARRAY_SIZE(names); i++) {
		so = strstr(base, ".so.");
		if (so && so - base - 1 == (ptrdiff_t)strlen(names[i]) &&
		    !strncmp(base + 1, names[i], strlen(names[i])))
			add_version(arg, names[i], "%s", so + strlen(".so."));
	}
	free(path);
	return 0;
}

static bool add_versions(struct versions *versions)
{
	const char *const argv[] = { "trace-cmd", "--version", NULL };
	char said[4096], version[64];
	struct utsname system;
	const char *at;
	bool there;

	uname(&system);
	add_version(versions, "kshark-virt", "%s", KSHARK_VIRT_VERSION);
	add_version(versions, "kernel", "%s %s, %ld CPUs", system.release, system.machine,
		    sysconf(_SC_NPROCESSORS_ONLN));
	there = record_capture(argv, RECORD_ANSWER_S, said, sizeof(said)) != 127;
	at = there ? strstr(said, "trace-cmd version ") : NULL;
	there = at && sscanf(at, "trace-cmd version %63s", version) == 1;
	add_version(versions, "trace-cmd", "%s", there ? version : "not installed");
	dl_iterate_phdr(add_library_version, versions);
	return there;
}

/* --- the recording --------------------------------------------------------------------------- */

/** Why nothing can be recorded here, or NULL. */
static const char *refusal(bool has_trace_cmd)
{
	char path[PATH_MAX];

	if (record_is_xen())
		return "this is dom0 of Xen, where xentrace records: kshark-virt record -d 1";
	if (geteuid())
		return "it needs root: sudo kshark-virt self-test";
	if (!record_tracing())
		return "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing";
	snprintf(path, sizeof(path), "%s%s/instances", record_root(), record_tracing());
	if (access(path, W_OK))
		return "tracefs has no instances that this process may make";
	return has_trace_cmd ? NULL : "trace-cmd is not installed: apt-get install trace-cmd";
}

/** Return: false after a check that says what has failed. */
static bool start(struct record *record, struct self_test_checks *checks)
{
	char why[300];

	record_instance_sweep(INSTANCE);
	if (record_instance_make(record->instance, INSTANCE, record->clock,
				 record->options->buffer, (const char *const *)record->events,
				 record->n_events, why, sizeof(why))) {
		self_test_say(checks, "record", SELF_TEST_FAILED, "%s", why);
		return false;
	}
	record_tracing_use(record->instance);
	if (!record_own_start(record))
		return true;
	self_test_say(checks, "record", SELF_TEST_FAILED, "the kernel's buffers cannot be copied");
	record_own_remove(record);
	return false;
}

/** Return: whether there is a trace, after a check. */
static bool stop(struct record *record, struct self_test_checks *checks,
		 struct self_test_truth *truth)
{
	int status = -1;
	bool ended, made;

	record_tracing_stop();
	record_tracing_count(record, &record->count);
	truth->records = record->count.records;
	truth->lost = record->count.lost;
	close(record->input);
	ended = record_wait(record->recorder, COPY_S, &status);
	if (!ended)
		record_wait_or_kill(record->recorder, 1, &status);
	made = record_settle_files(record->folder) && record_has_trace(record->folder);
	record_own_remove(record);
	if (made && ended && WIFEXITED(status) && !WEXITSTATUS(status)) {
		self_test_say(checks, "record", SELF_TEST_OK, "%llu records in an instance of "
			      "tracefs, %llu lost", (unsigned long long)truth->records,
			      (unsigned long long)truth->lost);
		return true;
	}
	self_test_say(checks, "record", SELF_TEST_FAILED, made ? "the process that copies the "
		      "kernel's buffers has failed" : "trace-cmd restore makes no trace of the "
		      "%llu records", (unsigned long long)truth->records);
	return false;
}

static void record_and_judge(struct record *record, struct self_test_checks *checks)
{
	struct self_test_truth truth = { 0 };
	char path[PATH_MAX + NAME_MAX];

	if (record_events(record) || record_begin(record) || record_write_state(record)) {
		self_test_say(checks, "record", SELF_TEST_FAILED, "it cannot be prepared");
		return;
	}
	if (!start(record, checks))
		return;
	self_test_load(checks, &truth);
	if (!stop(record, checks, &truth))
		return;
	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE, record->folder);
	self_test_judge(checks, path, &truth);
}

/** In a folder of its own, which is gone at the end. */
static void run_with_trace(const struct self_test_options *options,
			   struct self_test_checks *checks)
{
	struct record_options how = { .buffer = BUFFER, .hypervisor = RECORDING_KVM,
				      .quiet = true };
	struct record record = { .command = options->command, .options = &how, .lock = -1,
				 .input = -1, .clock = "mono" };

	record_keep_private();
	if (!record_temp_make(record.folder, "self-test")) {
		self_test_say(checks, "record", SELF_TEST_FAILED, "%s: %s (TMPDIR)",
			      record.folder, strerror(errno));
		return;
	}
	how.folder = record.folder;
	record_and_judge(&record, checks);
	record_temp_remove(record.folder);
	for (int i = 0; i < record.n_events; i++)
		free(record.events[i]);
	free(record.events);
	recording_free(&record.recording);
}

/* --- the output ------------------------------------------------------------------------------ */

static const char *const verdict_names[] = {
	[SELF_TEST_OK] = "ok", [SELF_TEST_FAILED] = "failed", [SELF_TEST_SKIPPED] = "skipped",
};

static const struct table_column version_columns[] = {
	{ .key = "name", .title = "version of", .width = 16 },
	{ .key = "version", .title = "is" },
};

static const struct table version_table = {
	.rows = { .key = "versions", TABLE_COLUMNS(version_columns) },
};

static const struct table_column check_columns[] = {
	{ .key = "check", .title = "check", .width = 20 },
	{ .key = "verdict", .title = "verdict", .width = 9 },
	{ .type = TABLE_TIME, .key = "trace" },
	{ .type = TABLE_TIME, .key = "kernel" },
	{ .type = TABLE_TIME, .key = "below" },
	{ .type = TABLE_TIME, .key = "above" },
	{ .key = "unit" },
	{ .key = "text", .title = "what was compared, or the reason" },
};

static const struct table check_table = {
	.rows = { .key = "checks", TABLE_COLUMNS(check_columns) },
};

static void put_number(char *text, size_t size, const struct self_test_check *check,
		       int64_t number)
{
	if (!strcmp(check->unit, "ns"))
		snprintf(text, size, "%.6f s", (double)number / 1e9);
	else
		snprintf(text, size, "%lld %s", (long long)number, check->unit);
}

/** In text, the numbers stand in the sentence. */
static void check_row(struct table_writer *to, const struct self_test_check *check)
{
	char text[600], trace[64], kernel[64], allowed[160] = "";
	bool has = check->has_numbers;

	snprintf(text, sizeof(text), "%s", check->text);
	if (has && table_as_text(to)) {
		put_number(trace, sizeof(trace), check, check->trace);
		put_number(kernel, sizeof(kernel), check, check->kernel);
		if (check->below || check->above)
			snprintf(allowed, sizeof(allowed), " (allowed: -%.6f s to +%.6f s)",
				 (double)check->below / 1e9, (double)check->above / 1e9);
		snprintf(text, sizeof(text), "%s, %s: %s%s", trace, kernel, check->text, allowed);
	}
	table_row(to, (const struct table_cell[]){
		table_name(check->name),
		{ .name = verdict_names[check->verdict],
		  .style = check->verdict == SELF_TEST_FAILED ? OUT_BAD : OUT_PLAIN },
		table_optional(has, check->trace), table_optional(has, check->kernel),
		table_optional(has, check->below), table_optional(has, check->above),
		table_optional_name(has ? check->unit : NULL), table_name(text),
	});
}

static void put(struct output *out, struct json *json, enum table_format_kind format,
		const struct versions *versions, const struct self_test_checks *checks)
{
	struct table_writer to = { .table = &version_table, .format = table_formats[format],
				   .out = out, .json = json };

	table_flat(&to, true);
	for (int i = 0; i < versions->n; i++)
		table_row(&to, (const struct table_cell[]){
			table_name(versions->all[i].name), table_name(versions->all[i].text),
		});
	table_flat_end(&to);
	to = (struct table_writer){ .table = &check_table, .format = table_formats[format],
				    .out = out, .json = json };
	if (!json)
		out_char(out, '\n');
	table_flat(&to, true);
	for (int i = 0; i < checks->n; i++)
		check_row(&to, &checks->all[i]);
	table_flat_end(&to);
	for (size_t i = 0; json && i < ARRAY_SIZE(verdict_names); i++)
		json_i64(json, verdict_names[i],
			 self_test_count(checks, (enum self_test_verdict)i));
	if (!json)
		out_printf(out, "\n%d ok, %d failed, %d skipped\n",
			   self_test_count(checks, SELF_TEST_OK),
			   self_test_count(checks, SELF_TEST_FAILED),
			   self_test_count(checks, SELF_TEST_SKIPPED));
}

static int write_all(const struct self_test_options *options, struct output *out,
		     const struct versions *versions, const struct self_test_checks *checks)
{
	int status = self_test_count(checks, SELF_TEST_FAILED) ? KSV_EXIT_FINDINGS : KSV_EXIT_OK;
	bool is_json = options->format == TABLE_JSON;
	struct json json;

	if (is_json) {
		json_document(&json, out);
	}
	put(out, is_json ? &json : NULL, is_json ? TABLE_JSON : TABLE_TEXT, versions, checks);
	if (is_json) {
		json_document_end(&json);
	}
	return out_close(out, status);
}

static int run_self_test(const struct ksv_command *command, int argc, char **argv)
{
	struct self_test_options options = { .command = command };
	struct self_test_checks *checks = calloc(1, sizeof(*checks));
	struct versions *versions = calloc(1, sizeof(*versions));
	struct self_test_truth truth = { 0 };
	int first, status = ksv_parse(command, argc, argv, &options, &first);
	struct output out;
	const char *why;

	if (status < 0 && first < argc)
		status = ksv_usage_error(command, "'%s': it takes no argument", argv[first]);
	if (status < 0 && (!checks || !versions)) {
		ksv_error("not enough memory");
		status = KSV_EXIT_FILE;
	}
	/* nothing is recorded that cannot be written */
	if (status < 0 && out_open(&out, options.output))
		status = KSV_EXIT_FILE;
	if (status < 0) {
		why = refusal(add_versions(versions));
		if (why) {
			self_test_say(checks, "record", SELF_TEST_SKIPPED, "%s", why);
			self_test_load(checks, &truth);
		} else {
			run_with_trace(&options, checks);
		}
		status = write_all(&options, &out, versions, checks);
	}
	free(versions);
	free(checks);
	return status;
}

const struct ksv_command cmd_self_test = {
	.name = "self-test",
	.args = "[OPTION...]",
	.summary = "Check that traces of this host show what its kernel counts",
	.notes = "Records this host for some seconds into an instance of tracefs, while a thread\n"
		 "works, and a small virtual machine if /dev/kvm opens. Compares the trace with\n"
		 "the kernel's own numbers. Needs root; without it, only prints versions and\n"
		 "tries the machine. Exit status 1: a check failed.\n",
	.options = self_test_option_table,
	.n_options = ARRAY_SIZE(self_test_option_table),
	.prints_text = true,
	.run = run_self_test,
};
