// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_hypertrace.c
 * @brief	kshark-virt dump --hypertrace: reports of guests through hypercalls, call by call.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "json_writer.h"
#include "host_hypertrace.h"
#include "hyper_decoder.h"
#include "hyper_text.h"
#include "model_load.h"
#include "model_vcpus.h"
#include "table.h"

/** Enough for all fields of an event, with the name of a function. */
#define INFO_SIZE		2048
#define NAME_SIZE		128

/** A call, and who made it. */
struct placed_call {
	const struct hyper_call	*call;
	int32_t			vcpu;		/* global index; VIRT_NONE: no vCPU's */
};

struct hyper_dump {
	const struct dump_hypertrace *options;
	struct model_load	load;
	struct host_hypercalls	calls;
	struct host_hypertrace	*trace;
	struct hyper_symbols	*symbols;
	struct hyper_decoder	**decoders;	/* by machine; NULL: no dialect is known */
	struct placed_call	*placed;	/* in order of time */
	struct output		*out;
	struct table_writer	rows;		/* not of text */
	int			error;		/* -ENOMEM */
};

/** What is written of a call or of an event in it. */
struct hyper_line {
	const struct placed_call *placed;
	const struct hyper_event *event;	/* NULL: not decoded */
	enum hyper_result	result;
	char			name[NAME_SIZE];
	char			info[INFO_SIZE];
};

/* --- who ------------------------------------------------------------------------------------- */

static const char *machine_name(const struct hyper_dump *dump, int32_t vcpu)
{
	const struct virt_model *model = dump->load.model;

	return vcpu == VIRT_NONE ? "" :
	       virt_model_machine(model, virt_model_vcpu(model, vcpu)->machine)->name;
}

static int64_t time_of(const struct hyper_line *line)
{
	/* an event from before its call, at an unknown time, has the time of the call */
	return line->placed->call->time_ns -
	       (line->event && hyper_has(line->event, HYPER_F_BEFORE) ? line->event->before_ns : 0);
}

/* --- formats --------------------------------------------------------------------------------- */

static void write_text(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct placed_call *placed = line->placed;
	struct output *out = dump->out;
	char who[32];

	if (placed->vcpu == VIRT_NONE) {
		snprintf(who, sizeof(who), "thread %d", placed->call->tid);
		out_text_right(out, who, DUMP_TASK_WIDTH);
	} else {
		out_text_right(out, virt_model_who(dump->load.model, placed->vcpu),
			       DUMP_TASK_WIDTH);
	}
	dump_text_place(out, placed->call->pcpu, time_of(line));
	out_mem(out, ": ", 2);
	dump_text_event(out, line->name, line->info);
}

/** Registers have 64 bits and no sign. */
static void call_members(struct json *json, const void *of)
{
	const struct hyper_call *call = of;

	json_u64(json, "nr", call->nr);
	json_open(json, "registers", '[', true);
	for (int i = 0; i < HYPER_N_REGISTERS && 8 * i < call->bytes; i++)
		json_u64(json, NULL, call->a[i]);
	json_close(json, ']');
}

/** Addresses have 64 bits and no sign, all other numbers have one. */
static void field_members(struct json *json, const void *of)
{
	const struct hyper_event *event = of;
	int64_t value;

	json_open(json, "fields", '{', true);
	for (int field = 1; event && field < HYPER_N_FIELDS; field++) {
		const char *key = hyper_field_name((enum hyper_field)field);

		if (!hyper_event_field(event, (enum hyper_field)field, &value))
			continue;
		if (field == HYPER_F_ADDRESS)
			json_u64(json, key, event->address);
		else if (field == HYPER_F_VALUE && event->no_sign)
			json_u64(json, key, (uint64_t)value);
		else
			json_i64(json, key, value);
	}
	if (event && hyper_has(event, HYPER_F_NAME))
		json_str(json, "name", event->name);
	json_close(json, '}');
}

static const struct table_column columns[] = {
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "pcpu", .type = TABLE_TIME },
	{ .key = "machine" },
	{ .key = "vcpu", .type = TABLE_TIME },
	{ .key = "nr", .not_json = true },
	{ .key = "registers", .type = TABLE_MEMBERS },
	{ .key = "result" },
	{ .key = "event" },
	{ .key = "kind", .not_csv = true },
	{ .key = "edge", .not_csv = true },
	{ .key = "info" },
	{ .key = "fields", .type = TABLE_MEMBERS },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

static void line_row(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct placed_call *placed = line->placed;
	const struct virt_vcpu *vcpu = virt_model_vcpu(dump->load.model, placed->vcpu);
	const struct hyper_event *event = line->event;
	char nr[24];

	snprintf(nr, sizeof(nr), "%llu", (unsigned long long)placed->call->nr);
	table_row(&dump->rows, (const struct table_cell[ARRAY_SIZE(columns)]){
		table_number(time_of(line)), table_number(placed->call->pcpu),
		table_optional_name(vcpu ? machine_name(dump, placed->vcpu) : NULL),
		table_optional(vcpu, vcpu ? vcpu->id : 0), table_name(nr),
		table_members(call_members, placed->call),
		table_name(hyper_result_name(line->result)), table_name(line->name),
		table_optional_name(event ? hyper_kind_name((enum hyper_kind)event->kind) : NULL),
		table_optional_name(event ? hyper_edge_name((enum hyper_edge)event->edge) : NULL),
		table_name(line->info), table_members(field_members, event),
	});
}

/* --- call by call ---------------------------------------------------------------------------- */

static void write_line(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct dump_hypertrace *options = dump->options;
	uint32_t id = line->placed->call->nr > UINT32_MAX ? UINT32_MAX :
		      (uint32_t)line->placed->call->nr;

	if (!dump_event_selected(options->filter, id, line->name))
		return;
	if (options->format == FORMAT_TEXT)
		write_text(dump, line);
	else
		line_row(dump, line);
}

/** A call that says nothing. */
static void write_undecoded(struct hyper_dump *dump, struct hyper_line *line,
			    const struct hyper_decoded *decoded)
{
	hyper_undecoded_name(line->name, sizeof(line->name), line->placed->call, decoded);
	hyper_undecoded_text(line->info, sizeof(line->info), line->placed->call, decoded);
	write_line(dump, line);
}

/** Those that are not wanted are decoded, too: what others say may depend on them. */
static void write_call(struct hyper_dump *dump, const struct placed_call *placed, bool wanted)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(dump->load.model, placed->vcpu);
	struct hyper_line line = { .placed = placed, .result = HYPER_UNKNOWN };
	struct hyper_decoded decoded = { .result = hyper_result_of(placed->call) };

	if (vcpu && dump->decoders[vcpu->machine])
		dump->error |= hyper_decoder_take(dump->decoders[vcpu->machine], placed->call,
						  &decoded);
	for (unsigned int i = 0; wanted && i < decoded.n; i++) {
		line.result = HYPER_DECODED;
		line.event = &decoded.events[i];
		snprintf(line.name, sizeof(line.name), "%s", line.event->label);
		hyper_event_text(line.info, sizeof(line.info), line.event,
				 dump->trace->machines[vcpu->machine].dialect, dump->symbols);
		write_line(dump, &line);
	}
	line.event = NULL;
	line.result = decoded.result;
	if (wanted && line.result != HYPER_DECODED)
		write_undecoded(dump, &line, &decoded);
}

/** As --vcpu names it, also of KVM. */
static bool is_wanted(const struct hyper_dump *dump, const struct placed_call *placed)
{
	const struct dump_filter *filter = dump->options->filter;
	const struct virt_model *model = dump->load.model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, placed->vcpu);
	const struct hyper_call *call = placed->call;

	if (filter->pcpus.any && !ksv_id_in_set(&filter->pcpus, (unsigned int)call->pcpu))
		return false;
	if (call->time_ns < model_time(&dump->load, &filter->from, INT64_MIN) ||
	    call->time_ns >= model_time(&dump->load, &filter->to, INT64_MAX))
		return false;
	return vcpu ? model_wants_vcpu(model, placed->vcpu, &filter->vcpus) :
	       !ksv_vcpus_given(&filter->vcpus) ||
	       ksv_vcpu_in_set(&filter->vcpus, XEN_VCPU_UNKNOWN);
}

static int compare_placed(const void *a, const void *b)
{
	const struct placed_call *x = a, *y = b;

	if (x->call->time_ns != y->call->time_ns)
		return x->call->time_ns < y->call->time_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int place_calls(struct hyper_dump *dump)
{
	dump->placed = calloc(dump->calls.n + 1, sizeof(*dump->placed));
	if (!dump->placed)
		return -ENOMEM;
	for (size_t i = 0; i < dump->calls.n; i++) {
		const struct hyper_call *call = &dump->calls.all[i];

		dump->placed[i].call = call;
		dump->placed[i].vcpu = i && call->tid == call[-1].tid ? dump->placed[i - 1].vcpu :
				       virt_model_find_vcpu(dump->load.model, call->tid);
	}
	qsort(dump->placed, dump->calls.n, sizeof(*dump->placed), compare_placed);
	return 0;
}

static int make_decoders(struct hyper_dump *dump)
{
	dump->decoders = calloc((size_t)dump->trace->n_machines + 1, sizeof(*dump->decoders));
	for (int32_t m = 0; dump->decoders && m < dump->trace->n_machines; m++) {
		const struct hyper_dialect *dialect = dump->trace->machines[m].dialect;

		if (!dialect)
			continue;
		dump->decoders[m] = hyper_decoder_new(dialect, dump->trace->machines[m].tally.khz);
		if (!dump->decoders[m])
			return -ENOMEM;
	}
	return dump->decoders ? 0 : -ENOMEM;
}

static void note_choices(struct hyper_dump *dump)
{
	for (int32_t m = 0; m < dump->trace->n_machines; m++) {
		const struct host_hypertrace_machine *machine = &dump->trace->machines[m];

		if (machine->tally.calls)
			ksv_note("%s: %s", virt_model_machine(dump->load.model, m)->name,
				 machine->why);
	}
	if (!dump->calls.n)
		ksv_note("%s: has no hypercalls: record kvm:kvm_hypercall for KVM, or the class "
			 "guest for Xen", dump->load.path);
	model_notes(&dump->load);
}

static int write_calls(struct hyper_dump *dump)
{
	int ret = place_calls(dump);

	if (!ret)
		ret = make_decoders(dump);
	if (ret) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	if (dump->options->format != FORMAT_TEXT)
		table_flat(&dump->rows, true);
	for (size_t i = 0; i < dump->calls.n && !dump->out->error; i++)
		write_call(dump, &dump->placed[i], is_wanted(dump, &dump->placed[i]));
	if (dump->options->format != FORMAT_TEXT)
		table_flat_end(&dump->rows);
	if (dump->error) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

/* --- the trace ------------------------------------------------------------------------------- */

static void take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct hyper_dump *dump = arg;

	for (size_t i = 0; i < n; i++)
		host_hypercalls_row(&dump->calls, &rows[i]);
}

static void take_record(void *arg, const struct kvm_trace_record *record)
{
	host_hypercalls_record(&((struct hyper_dump *)arg)->calls, record);
}

static void release(struct hyper_dump *dump)
{
	for (int32_t m = 0; dump->decoders && m < dump->trace->n_machines; m++)
		hyper_decoder_free(dump->decoders[m]);
	free(dump->decoders);
	free(dump->placed);
	host_hypertrace_free(dump->trace);
	host_hypercalls_free(&dump->calls);
	hyper_symbols_free(dump->symbols);
	model_unload(&dump->load);
}

/** Calls, dialects and symbols. Return: KSV_EXIT_OK, or the exit status after a message. */
static int load_all(struct hyper_dump *dump)
{
	const char *kallsyms = dump->options->kallsyms;
	char error[512] = "";
	int status;

	if (kallsyms && hyper_symbols_read(kallsyms, &dump->symbols, error, sizeof(error))) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	/* calls need no other records */
	dump->load.shows_lacks = true;
	status = model_load(&dump->load);
	if (status)
		return status;
	host_hypercalls_sort(&dump->calls);
	if (dump->calls.error) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	dump->trace = host_hypertrace_new(dump->load.model, &dump->calls, dump->options->dialect,
					  error, sizeof(error));
	if (dump->trace)
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

int dump_hypertrace(const struct dump_hypertrace *options, const char *path, struct output *out)
{
	struct hyper_dump dump = {
		.options = options, .out = out,
		.rows = {
			.table = &table, .format = dump_rows(options->format), .out = out,
		},
		.load = {
			.command = options->command, .vcpus = &options->filter->vcpus,
			.path = path, .options = options->trace, .quiet = options->quiet,
			.rows = take_rows, .records = take_record, .arg = &dump,
		},
	};
	int status = load_all(&dump);

	if (!status)
		status = out_open_text(out, options->output, dump_reader(options->format));
	if (!status) {
		status = out_close(out, write_calls(&dump));
		if (!status && !options->quiet && out->error != EPIPE)
			note_choices(&dump);
		status = model_changed(&dump.load, status);
	}
	release(&dump);
	return status;
}
