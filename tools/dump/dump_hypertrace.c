// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_hypertrace.c
 * @brief	kshark-virt dump --hypertrace: what guests tell through hypercalls, call by call.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "host_hypertrace.h"
#include "hyper_decoder.h"
#include "hyper_text.h"
#include "model_load.h"
#include "model_vcpus.h"

/** Columns of the text format, as of records. */
#define WHO_WIDTH		16
#define TIME_WIDTH		16
#define EVENT_WIDTH		24

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
	/* what was before its call, nobody knows when, is told with it */
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
		out_text_right(out, who, WHO_WIDTH);
	} else {
		out_text_right(out, virt_model_who(dump->load.model, placed->vcpu), WHO_WIDTH);
	}
	out_mem(out, " [", 2);
	out_u64_zeros(out, (uint64_t)placed->call->pcpu, 3);
	out_mem(out, "] ", 2);
	out_ns(out, time_of(line), TIME_WIDTH);
	out_mem(out, ": ", 2);
	out_text(out, line->name);
	out_char(out, ':');
	for (size_t i = out_columns(line->name); *line->info && i < EVENT_WIDTH; i++)
		out_char(out, ' ');
	if (*line->info) {
		out_char(out, ' ');
		out_text(out, line->info);
	}
	out_char(out, '\n');
}

static void write_csv(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct placed_call *placed = line->placed;
	struct output *out = dump->out;
	const char *machine = machine_name(dump, placed->vcpu);

	out_i64(out, time_of(line));
	out_char(out, ',');
	out_u64(out, (uint64_t)placed->call->pcpu);
	out_char(out, ',');
	out_csv(out, machine, strlen(machine));
	out_char(out, ',');
	if (placed->vcpu != VIRT_NONE)
		out_i64(out, virt_model_vcpu(dump->load.model, placed->vcpu)->id);
	out_char(out, ',');
	out_u64(out, placed->call->nr);
	out_char(out, ',');
	out_str(out, hyper_result_name(line->result));
	out_char(out, ',');
	out_csv(out, line->name, strlen(line->name));
	out_char(out, ',');
	out_csv(out, line->info, strlen(line->info));
	out_char(out, '\n');
}

static void json_text(struct output *out, const char *key, const char *text)
{
	out_char(out, '"');
	out_str(out, key);
	out_str(out, "\":");
	out_json(out, text, strlen(text));
}

/** Addresses have 64 bits and no sign, all other numbers have one. */
static void json_fields(struct output *out, const struct hyper_event *event)
{
	bool first = true;
	int64_t value;

	for (int field = 1; event && field < HYPER_N_FIELDS; field++) {
		if (!hyper_event_field(event, (enum hyper_field)field, &value))
			continue;
		out_str(out, first ? "\"" : ",\"");
		first = false;
		out_str(out, hyper_field_name((enum hyper_field)field));
		out_str(out, "\":");
		if (field == HYPER_F_ADDRESS)
			out_u64(out, event->address);
		else if (field == HYPER_F_VALUE && event->no_sign)
			out_u64(out, (uint64_t)value);
		else
			out_i64(out, value);
	}
	if (event && hyper_has(event, HYPER_F_NAME)) {
		out_str(out, first ? "" : ",");
		json_text(out, "name", event->name);
	}
}

static void write_json(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct placed_call *placed = line->placed;
	struct output *out = dump->out;

	out_str(out, "{\"time_ns\":");
	out_i64(out, time_of(line));
	out_str(out, ",\"pcpu\":");
	out_u64(out, (uint64_t)placed->call->pcpu);
	if (placed->vcpu != VIRT_NONE) {
		out_char(out, ',');
		json_text(out, "machine", machine_name(dump, placed->vcpu));
		out_str(out, ",\"vcpu\":");
		out_i64(out, virt_model_vcpu(dump->load.model, placed->vcpu)->id);
	}
	out_str(out, ",\"nr\":");
	out_u64(out, placed->call->nr);
	out_str(out, ",\"registers\":[");
	for (int i = 0; i < HYPER_N_REGISTERS && 8 * i < placed->call->bytes; i++) {
		out_str(out, i ? "," : "");
		out_u64(out, placed->call->a[i]);
	}
	out_str(out, "],");
	json_text(out, "result", hyper_result_name(line->result));
	out_char(out, ',');
	json_text(out, "event", line->name);
	if (line->event) {
		out_char(out, ',');
		json_text(out, "kind", hyper_kind_name((enum hyper_kind)line->event->kind));
		out_char(out, ',');
		json_text(out, "edge", hyper_edge_name((enum hyper_edge)line->event->edge));
	}
	out_char(out, ',');
	json_text(out, "info", line->info);
	out_str(out, ",\"fields\":{");
	json_fields(out, line->event);
	out_str(out, "}}\n");
}

static void (*const writers[N_FORMATS])(struct hyper_dump *, const struct hyper_line *) = {
	[FORMAT_TEXT] = write_text,
	[FORMAT_CSV] = write_csv,
	[FORMAT_JSON] = write_json,
};

/* --- call by call ---------------------------------------------------------------------------- */

static void write_line(struct hyper_dump *dump, const struct hyper_line *line)
{
	const struct dump_hypertrace *options = dump->options;
	uint32_t id = line->placed->call->nr > UINT32_MAX ? UINT32_MAX :
		      (uint32_t)line->placed->call->nr;

	if (dump_event_selected(options->filter, id, line->name))
		writers[options->format](dump, line);
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
	struct hyper_decoded decoded = { .result = HYPER_UNKNOWN };

	if (vcpu && dump->decoders[vcpu->machine])
		dump->error |= hyper_decoder_take(dump->decoders[vcpu->machine], placed->call,
						  &decoded);
	else if (placed->call->source != HYPER_XEN && hyper_kvm_number(placed->call->nr))
		decoded.result = HYPER_FOREIGN;
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
	if (dump->options->format == FORMAT_CSV)
		out_str(dump->out, "time_ns,pcpu,machine,vcpu,nr,result,event,info\n");
	for (size_t i = 0; i < dump->calls.n && !dump->out->error; i++)
		write_call(dump, &dump->placed[i], is_wanted(dump, &dump->placed[i]));
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
		.load = {
			.command = options->command, .vcpus = &options->filter->vcpus,
			.path = path, .options = options->trace, .quiet = options->quiet,
			.rows = take_rows, .records = take_record, .arg = &dump,
		},
	};
	int status = load_all(&dump);

	if (!status)
		status = out_open(out, options->output);
	if (!status) {
		status = out_close(out, write_calls(&dump));
		if (!status && !options->quiet && out->error != EPIPE)
			note_choices(&dump);
		status = model_changed(&dump.load, status);
	}
	release(&dump);
	return status;
}
