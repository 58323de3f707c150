// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_migration.c
 * @brief	kshark-virt migration: the phases of a live migration, from traces of both hosts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_meta.h"
#include "migration.h"
#include "terminal.h"
#include "trace_args.h"

/** A time that may be negative. */
struct migration_time {
	bool		given;
	int64_t		ns;
};

struct migration_options {
	const struct ksv_command *command;
	int			format;		/* enum table_format_kind */
	bool			quiet;
	const char		*output, *machine;
	struct migration_time	offset, within;
	struct host_options	trace;
};

static int take_offset(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	struct migration_time *to = target;
	bool negative = *text == '-';
	struct ksv_time time;
	int status = ksv_take_time(command, option, text + negative, &time);

	if (status)
		return status;
	if (time.kind != KSV_TIME_NS)
		return ksv_usage_error(command, "--%s is not a time", option->name);
	*to = (struct migration_time){ true, negative ? -time.ns : time.ns };
	return KSV_EXIT_OK;
}

static int take_within(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	struct migration_time *to = target;
	int status = take_offset(command, option, text, target);

	if (!status && to->ns < 0)
		return ksv_usage_error(command, "--%s is negative", option->name);
	return status;
}

#define OPTIONS	struct migration_options

static const struct ksv_option migration_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, table_format_names, "text (default), csv or json"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "machine", "NAME[=NAME]", "the machine that moved; its name on the target, if it\n"
	  "is another one there",
	  ksv_take_text, offsetof(OPTIONS, machine), NULL },
	{ 0, "offset", "TIME", "add TIME to times of TARGET to get those of SOURCE,\n"
	  "instead of the wall clocks: seconds, or a number with\n"
	  "ns, us, ms, s, m or h; may be negative",
	  take_offset, offsetof(OPTIONS, offset), NULL },
	{ 0, "within", "TIME", "the error of --offset, or of both wall clocks together,\n"
	  "is at most TIME",
	  take_within, offsetof(OPTIONS, within), NULL },
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/* --- the machine ----------------------------------------------------------------------------- */

/** The sidecar's guest that a machine is; NULL: none is known. */
static const struct kvm_meta_guest *guest_of(const struct report *report, int32_t machine)
{
	const struct kvm_meta *meta = report->load->host.kvm ?
				      kvm_trace_meta(report->load->host.kvm) : NULL;
	const char *name = virt_model_machine(report->load->model, machine)->name;

	for (int i = 0; meta && i < meta->n_guests; i++)
		if (meta->guests[i].name && ksv_vcpu_is_called(name, 0, meta->guests[i].name))
			return &meta->guests[i];
	return NULL;
}

/** What it is called without a number of this host; NULL: it has no name. */
static const char *name_of(const struct report *report, int32_t machine)
{
	const char *name = report_machine_name(report, machine);
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : guest_of(report, machine) ? name : NULL;
}

static bool runs(const struct report *report, int32_t machine)
{
	const struct virt_model *model = report->load->model;
	const struct virt_machine *of = virt_model_machine(model, machine);

	for (int32_t i = 0; i < of->n_vcpus; i++) {
		struct virt_totals totals;

		virt_vcpu_totals(model, of->vcpus[i], virt_model_begin(model),
				 virt_model_end(model), &totals);
		if (totals.count[VIRT_GUEST])
			return true;
	}
	return false;
}

/** Are these two the same machine? */
static bool is_same(const struct report sides[], int32_t source, int32_t target,
		    enum migration_by *by)
{
	const struct kvm_meta_guest *one = guest_of(&sides[VIRT_MOVE_SOURCE], source);
	const struct kvm_meta_guest *other = guest_of(&sides[VIRT_MOVE_TARGET], target);
	const char *name = name_of(&sides[VIRT_MOVE_SOURCE], source);
	const char *called = name_of(&sides[VIRT_MOVE_TARGET], target);

	*by = MIGRATION_BY_UUID;
	if (one && other && one->uuid && other->uuid)
		return !strcmp(one->uuid, other->uuid);
	*by = MIGRATION_BY_NAME;
	return name && called && !strcmp(name, called);
}

/** --machine: the one of that name. Return: index, or VIRT_NONE after a message. */
static int32_t find_named(const struct migration_options *options, const struct report *report,
			  const char *name)
{
	struct ksv_vcpu_list list = { 0 };
	const struct virt_model *model = report->load->model;

	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		if (ksv_vcpu_is_called(report_machine_name(report, i), 0, name) ||
		    ksv_vcpu_is_called(virt_model_machine(model, i)->name, 0, name))
			return i;
		ksv_vcpu_list_add(&list, report_machine_name(report, i));
	}
	ksv_usage_error(options->command, "%s: there is no machine '%s'; there are: %s%s",
			report->file, name, list.text, ksv_vcpu_list_more(&list));
	return VIRT_NONE;
}

/** Return: KSV_EXIT_OK, or the exit status after a message. */
static int take_named(const struct migration_options *options, const struct report sides[],
		      struct migration *migration)
{
	const char *equal = strchr(options->machine, '=');
	char *name = equal ? strndup(options->machine, (size_t)(equal - options->machine)) :
			     strdup(options->machine);

	if (!name) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	migration->by = MIGRATION_BY_OPTION;
	migration->hosts[VIRT_MOVE_SOURCE].machine =
		find_named(options, &sides[VIRT_MOVE_SOURCE], name);
	if (migration->hosts[VIRT_MOVE_SOURCE].machine != VIRT_NONE)
		migration->hosts[VIRT_MOVE_TARGET].machine =
			find_named(options, &sides[VIRT_MOVE_TARGET], equal ? equal + 1 : name);
	free(name);
	return migration->hosts[VIRT_MOVE_SOURCE].machine == VIRT_NONE ||
	       migration->hosts[VIRT_MOVE_TARGET].machine == VIRT_NONE ? KSV_EXIT_USAGE :
	       KSV_EXIT_OK;
}

/** The only machine that runs on both hosts. Return: as above. */
static int find_machine(const struct migration_options *options, const struct report sides[],
			struct migration *migration)
{
	const struct virt_model *source = sides[VIRT_MOVE_SOURCE].load->model;
	const struct virt_model *target = sides[VIRT_MOVE_TARGET].load->model;
	struct ksv_vcpu_list list = { 0 };
	int found = 0;

	for (int32_t i = 0; i < virt_model_n_machines(source); i++) {
		for (int32_t k = 0; k < virt_model_n_machines(target); k++) {
			enum migration_by by;

			if (!is_same(sides, i, k, &by) || !runs(&sides[VIRT_MOVE_SOURCE], i) ||
			    !runs(&sides[VIRT_MOVE_TARGET], k))
				continue;
			found++;
			ksv_vcpu_list_add(&list, name_of(&sides[VIRT_MOVE_SOURCE], i));
			migration->by = by;
			migration->hosts[VIRT_MOVE_SOURCE].machine = i;
			migration->hosts[VIRT_MOVE_TARGET].machine = k;
		}
	}
	if (found == 1)
		return KSV_EXIT_OK;
	if (found)
		return ksv_usage_error(options->command, "several machines run on both hosts: "
				       "%s%s: name one with --machine", list.text,
				       ksv_vcpu_list_more(&list));
	if (virt_model_n_machines(source) == 1 && virt_model_n_machines(target) == 1 &&
	    (!name_of(&sides[VIRT_MOVE_SOURCE], 0) || !name_of(&sides[VIRT_MOVE_TARGET], 0))) {
		migration->by = MIGRATION_BY_ALONE;
		return KSV_EXIT_OK;
	}
	return ksv_usage_error(options->command, "no machine of %s has the name or UUID of one of "
			       "%s: name it with --machine NAME=NAME",
			       sides[VIRT_MOVE_SOURCE].file, sides[VIRT_MOVE_TARGET].file);
}

/* --- clocks ---------------------------------------------------------------------------------- */

/** The wall clocks of the sidecars. Return: are they known? */
static bool wall_clocks(const struct report sides[], struct virt_move_clock *clock)
{
	struct host_moment moments[VIRT_MOVE_N_SIDES];
	int64_t zero_ns[VIRT_MOVE_N_SIDES], within_ns = 0;

	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++) {
		if (!host_trace_moment(&sides[side].load->host, &moments[side]) ||
		    __builtin_sub_overflow(moments[side].realtime_ns, moments[side].trace_ns,
					   &zero_ns[side]))
			return false;
		clock->at_ns[side] = moments[side].trace_ns;
		if (moments[side].within_ns < 0 || within_ns < 0 ||
		    __builtin_add_overflow(within_ns, moments[side].within_ns, &within_ns))
			within_ns = -1;
	}
	if (__builtin_sub_overflow(zero_ns[VIRT_MOVE_TARGET], zero_ns[VIRT_MOVE_SOURCE],
				   &clock->offset_ns))
		return false;
	clock->drifts = clock->known = true;
	clock->least_ns = VIRT_MOVE_OPEN_LEAST;
	clock->most_ns = VIRT_MOVE_OPEN_MOST;
	if (within_ns >= 0 &&
	    (__builtin_sub_overflow(clock->offset_ns, within_ns, &clock->least_ns) ||
	     __builtin_add_overflow(clock->offset_ns, within_ns, &clock->most_ns))) {
		clock->least_ns = VIRT_MOVE_OPEN_LEAST;
		clock->most_ns = VIRT_MOVE_OPEN_MOST;
	}
	return true;
}

/** Return: where it is from. */
static enum migration_clock find_clock(const struct migration_options *options,
				       const struct report sides[], struct virt_move_clock *clock)
{
	enum migration_clock from = MIGRATION_CLOCK_NONE;

	*clock = (struct virt_move_clock){
		.least_ns = VIRT_MOVE_OPEN_LEAST, .most_ns = VIRT_MOVE_OPEN_MOST,
	};
	if (options->offset.given) {
		from = MIGRATION_CLOCK_OPTION;
		clock->known = true;
		clock->offset_ns = options->offset.ns;
	} else if (wall_clocks(sides, clock)) {
		from = MIGRATION_CLOCK_WALL;
	}
	if (from && options->within.given) {
		clock->drifts = false;
		if (__builtin_sub_overflow(clock->offset_ns, options->within.ns,
					   &clock->least_ns))
			clock->least_ns = VIRT_MOVE_OPEN_LEAST;
		if (__builtin_add_overflow(clock->offset_ns, options->within.ns, &clock->most_ns))
			clock->most_ns = VIRT_MOVE_OPEN_MOST;
	}
	return from;
}

/* --- the command ----------------------------------------------------------------------------- */

static int write_migration(const struct migration_options *options,
			   const struct migration *migration)
{
	static struct output out;
	int status = out_open_text(&out, options->output,
				   options->format ? OUT_PROGRAM : OUT_PAGES);

	if (status)
		return status;
	migration_write((enum table_format_kind)options->format, &out, migration);
	for (int side = 0; side < VIRT_MOVE_N_SIDES && status <= KSV_EXIT_FINDINGS; side++)
		status = model_changed(migration->sides[side].load, status);
	return out_close(&out, status);
}

static int find_phases(const struct migration_options *options, const struct report sides[])
{
	struct migration migration = { .sides = sides };
	struct virt_move_clock clock;
	enum virt_move_side missing;
	int status, ret;

	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++)
		migration.hosts[side].model = sides[side].load->model;
	status = options->machine ? take_named(options, sides, &migration) :
		 find_machine(options, sides, &migration);
	if (status)
		return status;
	migration.clock = find_clock(options, sides, &clock);
	ret = virt_move_find(migration.hosts, &clock, &migration.move, &missing);
	if (ret == -ENODATA)
		return ksv_usage_error(options->command,
				       "%s: nothing shows that %s executes guest code",
				       sides[missing].file,
				       migration_machine(&migration, missing));
	if (!ret)
		ret = virt_move_costs_make(migration.hosts, &migration.move, &migration.costs);
	if (ret) {
		ksv_error("%s, %s: not enough memory", sides[VIRT_MOVE_SOURCE].file,
			  sides[VIRT_MOVE_TARGET].file);
		return KSV_EXIT_FILE;
	}
	status = write_migration(options, &migration);
	virt_move_costs_free(&migration.costs);
	return status;
}

static int read_both(const struct migration_options *options, const struct trace_args *args)
{
	struct model_load loads[VIRT_MOVE_N_SIDES] = { 0 };
	struct report sides[VIRT_MOVE_N_SIDES] = { 0 };
	int status = KSV_EXIT_OK;

	for (int side = 0; !status && side < VIRT_MOVE_N_SIDES; side++) {
		loads[side] = (struct model_load){
			.path = args->items[side].path, .options = options->trace,
			.quiet = options->quiet, .before = side ? NULL : &args->notes,
		};
		sides[side] = (struct report){
			.file = args->items[side].path, .load = &loads[side],
		};
		status = model_load(&loads[side]);
	}
	if (!status)
		status = find_phases(options, sides);
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++) {
		if (status <= KSV_EXIT_FINDINGS && !options->quiet && loads[side].model)
			model_notes(&loads[side]);
		model_unload(&loads[side]);
	}
	return status;
}

static int migration_args(const struct migration_options *options, char **argv)
{
	struct trace_args args = {
		.host_only = true, .quiet = options->quiet, .max_input = options->trace.max_input,
	};
	int status = trace_args_add_all(&args, argv, VIRT_MOVE_N_SIDES);

	if (!status)
		status = trace_args_check_twice(&args);
	if (!status)
		status = trace_args_check_output(&args, options->command, "output",
						 options->output);
	if (!status)
		status = read_both(options, &args);
	trace_args_free(&args);
	return status;
}

static int run_migration(const struct ksv_command *command, int argc, char **argv)
{
	struct migration_options options = { .command = command };
	int first, n;
	int status = model_parse(command, argc, argv, &options, &options.trace, &first);

	if (status >= 0)
		return status;
	n = argc - first;
	if (n > VIRT_MOVE_N_SIDES)
		return ksv_usage_error(command, "give the traces of two hosts; '%s' is another one",
				       argv[first + VIRT_MOVE_N_SIDES]);
	if (n != VIRT_MOVE_N_SIDES)
		return ksv_usage_error(command, n ? "give the trace of the other host, too" :
				       "which files?");
	return migration_args(&options, argv + first);
}

const struct ksv_command cmd_migration = {
	.name = "migration",
	.args = "[OPTION...] SOURCE TARGET",
	.summary = "Show what moving a machine to another host cost it",
	.notes = "Both are traces of hosts: that of the host from which the machine moved, and\n"
		 "that of the host to which it moved. Each is the folder of a recording, the\n"
		 "trace.dat of a KVM host, or a xentrace file.\n",
	.options = migration_option_table,
	.n_options = ARRAY_SIZE(migration_option_table),
	.prints_text = true,
	.run = run_migration,
};
