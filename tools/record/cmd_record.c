// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_record.c
 * @brief	kshark-virt record: record a host and its guests into a folder of traces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "budget.h"
#include "record.h"
#include "virt_moments.h"
#include "xen_trace.h"

/** The kinds that a trigger can have; @i counts those. */
static const char *trigger_word(size_t i)
{
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (RECORD_TRIGGER_KINDS >> kind & 1 && !i--)
			return virt_worst_kind_name((enum virt_worst_kind)kind);
	return NULL;
}

static const struct ksv_words record_words[] = {
	{ .option = "events", .word = record_event_preset },
	{ .option = "trigger", .word = trigger_word, .suffix = ">" },
	{ 0 }
};

#define OPTIONS	struct record_options

#define MAX_TRIGGER_LIMIT	9999

static const char *const hypervisor_names[] = {
	[RECORDING_KVM] = "kvm", [RECORDING_XEN] = "xen", [RECORD_AUTO] = "auto", NULL,
};

static int take_guest(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	struct record_options *options = target;

	if (!*value || *value == '=')
		return ksv_usage_error(command, "--%s %s: no name", option->name, value);
	if (ARRAY_GROW(options->guests, options->n_guests, options->room_guests)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	options->guests[options->n_guests++] = value;
	return 0;
}

static int take_regions(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct record_options *options = target;
	const char *file = strchr(value, '=');

	if (!strcmp(value, "none")) {
		options->no_regions = true;
		return 0;
	}
	if (!file || file == value || !file[1])
		return ksv_usage_error(command, "--%s %s: not NAME=FILE, nor none", option->name,
				       value);
	if (ARRAY_GROW(options->regions, options->n_regions, options->room_regions)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	options->regions[options->n_regions++] = value;
	return 0;
}

static int take_reserve(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct record_options *options = target;

	options->has_reserve = true;
	if (!strcmp(value, "0")) {
		options->reserve = 0;
		return 0;
	}
	return ksv_take_size(command, option, value, &options->reserve);
}

static int take_duration(const struct ksv_command *command, const struct ksv_option *option,
			 const char *value, void *target)
{
	struct ksv_time *duration = target;
	int status = ksv_take_time(command, option, value, target);

	if (!status && (duration->kind != KSV_TIME_NS || duration->ns <= 0))
		return ksv_usage_error(command, "--%s %s: not a duration", option->name, value);
	return status;
}

/** What a flight recorder keeps by default. */
#define FLIGHT_NS	10000000000

static int take_flight(const struct ksv_command *command, const struct ksv_option *option,
		       const char *value, void *target)
{
	struct ksv_time duration = { .kind = KSV_TIME_NS, .ns = FLIGHT_NS };
	int status = value ? take_duration(command, option, value, &duration) : 0;

	*(int64_t *)target = duration.ns;
	return status;
}

static int take_limit(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, struct record_options *options)
{
	const char *wrong;
	int ret = record_limit_parse(value, &options->triggers[options->n_triggers], &wrong);

	if (ret == -EINVAL)
		return ksv_usage_error(command, "--%s %s: %s", option->name, value, wrong);
	if (ret)
		return ksv_usage_error(command, "not enough memory");
	options->n_triggers++;
	return 0;
}

static int take_trigger(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct record_options *options = target;
	char kinds[128];
	int ret;

	if (options->n_triggers == RECORD_MAX_TRIGGERS)
		return ksv_usage_error(command, "--%s %s: one more than %d", option->name, value,
				       RECORD_MAX_TRIGGERS);
	if (!strchr(value, '>') && strchr(value, '='))
		return take_limit(command, option, value, options);
	ret = record_trigger_parse(value, &options->triggers[options->n_triggers]);
	if (ret == -ENOENT)
		return ksv_usage_error(command, "--%s %s: compares none of %s", option->name, value,
				       virt_worst_kind_list(RECORD_TRIGGER_KINDS, kinds,
							    sizeof(kinds)));
	if (ret == -ERANGE)
		return ksv_usage_error(command, "--%s %s: no time after >; write 2ms, 300us or 1.5",
				       option->name, value);
	if (ret)
		return ksv_usage_error(command, "--%s %s: not a condition; write 'wake>2ms', or a "
				       "limit: " BUDGET_WAKE, option->name, value);
	options->n_triggers++;
	return 0;
}

static int take_trigger_log(const struct ksv_command *command, const struct ksv_option *option,
			    const char *value, void *target)
{
	struct record_options *options = target;
	char error[256];

	if (options->n_logs == RECORD_MAX_LOGS)
		return ksv_usage_error(command, "--%s %s: one more than %d", option->name, value,
				       RECORD_MAX_LOGS);
	if (!options->logs)
		options->logs = calloc(RECORD_MAX_LOGS, sizeof(*options->logs));
	if (!options->logs)
		return ksv_usage_error(command, "not enough memory");
	if (record_log_parse(&options->logs[options->n_logs++], value, error, sizeof(error)))
		return ksv_usage_error(command, "--%s %s: %s", option->name, value, error);
	return 0;
}

static int take_trigger_limit(const struct ksv_command *command, const struct ksv_option *option,
			      const char *value, void *target)
{
	char *end;
	long limit = strtol(value, &end, 10);

	if (end == value || *end || limit < 1 || limit > MAX_TRIGGER_LIMIT)
		return ksv_usage_error(command, "--%s %s: not a number from 1 to %d", option->name,
				       value, MAX_TRIGGER_LIMIT);
	*(int *)target = (int)limit;
	return 0;
}

/** A number alone counts recordings, one with a unit bytes. */
static int take_keep(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct record_keep *keep = target;
	bool is_number = *value && !value[strspn(value, "0123456789")];

	if (!is_number)
		return ksv_take_size(command, option, value, &keep->bytes);
	keep->number = strtoull(value, NULL, 10);
	if (keep->number < 1 || keep->number > MAX_TRIGGER_LIMIT)
		return ksv_usage_error(command, "--%s %s: not a number from 1 to %d, nor a size "
				       "such as 10G", option->name, value, MAX_TRIGGER_LIMIT);
	return 0;
}

static const struct ksv_option record_option_table[] = {
	{ 'o', "output", "FOLDER", "create FOLDER and record into it (default:\n"
	  "kshark-virt-DATE-TIME)", ksv_take_text, offsetof(OPTIONS, folder), NULL },
	{ 'd', "duration", "TIME", "stop after TIME: seconds, or a number with ms or s",
	  take_duration, offsetof(OPTIONS, duration), NULL },
	{ 'e', "events", "SET", "minimal, default, memory, full, or a list",
	  ksv_take_text, offsetof(OPTIONS, events), NULL },
	{ 'g', "guest", "NAME[=HOW]", "a guest, by its name, UUID or process; HOW is agent,\n"
	  "ssh:USER@HOST or none; may be repeated", take_guest, 0, NULL },
	{ 0, "regions", "NAME=FILE", "what QEMU of NAME answers to 'info mtree -f -o': names\n"
	  "for addresses; may be repeated; none: ask no monitor", take_regions, 0, NULL },
	{ 'b', "buffer", "SIZE", "kernel buffer for each CPU, e.g. 32M", ksv_take_size,
	  offsetof(OPTIONS, buffer), NULL },
	{ 0, "limit", "SIZE", "stop when the folder reaches SIZE", ksv_take_size,
	  offsetof(OPTIONS, limit), NULL },
	{ 0, "reserve", "SIZE", "stop when the disk has less free space (default 1G)",
	  take_reserve, 0, NULL },
	{ 0, "flight", "[=TIME]", "flight recorder: keep the last TIME (default 10 s) in\n"
	  "memory, write it on SIGUSR1, Ctrl-C, and at the end",
	  take_flight, offsetof(OPTIONS, flight_ns), NULL },
	{ 0, "trigger", "CONDITION", "with --flight: write it when a moment costs more,\n"
	  "e.g. 'wake>2ms', or when the records exceed a limit\n"
	  "of check --max, e.g. " BUDGET_WAKE "; may be repeated", take_trigger, 0, NULL },
	{ 0, "trigger-log", "NAME:FILE[=REGEX]", "with --flight: write it when the log of a guest\n"
	  "gets a line that matches (default: a warning that\n"
	  "why --guest-log knows); may be repeated", take_trigger_log, 0, NULL },
	{ 0, "trigger-limit", "N", "with --trigger or --trigger-log: end after N such\n"
	  "recordings (default 1)", take_trigger_limit, offsetof(OPTIONS, trigger_limit), NULL },
	{ 0, "keep", "N|SIZE", "with --flight: after each recording, remove the\n"
	  "oldest ones, so that N or SIZE (e.g. 10G) stay;\n"
	  "--trigger-limit has no default then", take_keep, offsetof(OPTIONS, keep), NULL },
	{ 0, "hypervisor", "NAME", "xen, kvm, or auto (default)",
	  ksv_take_choice, offsetof(OPTIONS, hypervisor), hypervisor_names },
	{ 0, "share", NULL, "let other users read the recording, less the umask;\n"
	  "without this, only the owner can",
	  ksv_take_flag, offsetof(OPTIONS, share), NULL },
	{ 0, "keep-command", NULL, "keep the arguments of COMMAND in recording.json",
	  ksv_take_flag, offsetof(OPTIONS, keep_command), NULL },
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress"),
};

static int find_hypervisor(struct record_options *options)
{
	if (options->hypervisor != RECORD_AUTO)
		return KSV_EXIT_OK;
	if (record_is_xen())
		options->hypervisor = RECORDING_XEN;
	else if (record_is_kvm())
		options->hypervisor = RECORDING_KVM;
	if (options->hypervisor != RECORD_AUTO)
		return KSV_EXIT_OK;
	ksv_error("this is neither Xen's dom0 nor a KVM host: record on the host, or for KVM run "
		  "modprobe kvm_intel, or kvm_amd");
	return KSV_EXIT_FILE;
}

/** What belongs together. Return: KSV_EXIT_OK, or an exit status after a message. */
static int check_flight(const struct ksv_command *command, const struct record_options *options)
{
	if (!options->flight_ns && options->n_triggers)
		return ksv_usage_error(command, "--trigger requires --flight");
	if (!options->flight_ns && options->n_logs)
		return ksv_usage_error(command, "--trigger-log requires --flight");
	if (!options->flight_ns && (options->keep.number || options->keep.bytes))
		return ksv_usage_error(command, "--keep requires --flight");
	if (!options->n_triggers && !options->n_logs && options->trigger_limit)
		return ksv_usage_error(command, "--trigger-limit requires --trigger or "
				       "--trigger-log");
	for (int i = 0; options->flight_ns && i < options->n_guests; i++) {
		const char *how = strchr(options->guests[i], '=');

		if (!how || strcmp(how, "=none") != 0)
			return ksv_usage_error(command, "--guest %s: a flight recorder cannot "
					       "record guests: record without --flight; or see "
					       "FLIGHT RECORDER in kshark-virt-record(1)",
					       options->guests[i]);
	}
	return KSV_EXIT_OK;
}

static void name_folder(char *name, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(name, size, RECORD_FOLDER "%Y%m%d-%H%M%S", &tm);
}

/** The command line is kept as it was typed: parsing changes the order. */
static int keep_command(struct recording *recording, int argc, char **argv)
{
	int ret = recording_add_argument(recording, "kshark-virt");

	for (int i = 0; !ret && i < argc; i++)
		ret = recording_add_argument(recording, argv[i]);
	if (ret)
		ksv_error("not enough memory");
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Arguments of the user's command may be passwords: they are left out. @n: words that stay */
static void drop_arguments(struct recording *recording, int n)
{
	while (recording->n_command > n)
		free(recording->command[--recording->n_command]);
}

static void free_record(struct record *record)
{
	for (int i = 0; i < record->n_guests; i++) {
		free(record->guests[i].name);
		free(record->guests[i].file);
		free(record->guests[i].target);
		free(record->guests[i].why);
	}
	for (int i = 0; i < record->n_events; i++)
		free(record->events[i]);
	free(record->guests);
	free(record->events);
	kvm_live_free(&record->live);
	kvm_cgroups_free(&record->cgroups);
	kvm_cgroups_free(&record->cgroups_end);
	recording_free(&record->recording);
	free(record->options->guests);
	record_free_regions(record);
	free(record->options->regions);
	for (int i = 0; i < record->options->n_logs; i++)
		record_log_free(&record->options->logs[i]);
	free(record->options->logs);
	free(record->left_folder);
	record_lock_drop(record);
}

static int record_all(struct record *record)
{
	struct record_options *options = record->options;
	char name[64];
	int status = find_hypervisor(options);

	if (status)
		return status;
	name_folder(name, sizeof(name));
	if (!options->folder)
		options->folder = name;
	return options->hypervisor == RECORDING_XEN ? record_xen(record) : record_kvm(record);
}

static int run_record(const struct ksv_command *command, int argc, char **argv)
{
	struct record_options options = { .hypervisor = RECORD_AUTO };
	struct record record = { .command = command, .options = &options, .lock = -1,
				 .input = -1 };
	int status = keep_command(&record.recording, argc, argv), first;
	int end = ksv_split_command(argc, argv, &options.command);

	if (!status)
		status = ksv_parse(command, end, argv, &options, &first);
	if (status < 0 && first < end)
		status = ksv_usage_error(command, "'%s': write the command after --", argv[first]);
	else if (status < 0 && end < argc && !options.command)
		status = ksv_usage_error(command, "no command after --");
	if (status < 0 && options.keep_command && !options.command)
		status = ksv_usage_error(command, "--keep-command requires a COMMAND after --");
	/* "kshark-virt" stands before argv[0], and argv[end] is the -- */
	if (!options.keep_command)
		drop_arguments(&record.recording, end + 3);
	if (!options.share)
		record_keep_private();
	if (status < 0 && !(status = check_flight(command, &options)))
		status = record_all(&record);
	/* nothing has begun: nothing is left */
	if (record.made && !record.recording.begin)
		rmdir(record.folder);
	/* others need not wait for this */
	record_lock_drop(&record);
	record_align_left(&record);
	free_record(&record);
	return status;
}

const struct ksv_command cmd_record = {
	.name = "record",
	.args = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.summary = "Record a host and its guests into a folder for the other commands",
	.notes = "Without --duration and COMMAND, it records until Ctrl-C. It needs root, and\n"
		 "trace-cmd on a KVM host or xentrace in Xen's dom0.\n",
	.options = record_option_table,
	.words = record_words,
	.n_options = ARRAY_SIZE(record_option_table),
	.run = run_record,
};
