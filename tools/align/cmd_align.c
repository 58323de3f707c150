// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_align.c
 * @brief	kshark-virt align: find the relation between a guest's clock and its host's.
 */
#include <errno.h>
#include <stdlib.h>

#include "align_columns.h"
#include "align_monitor.h"
#include "align_try.h"
#include "json_writer.h"
#include "model_load.h"
#include "model_vcpus.h"
#include "monitor_trace.h"
#include "table.h"
#include "terminal.h"
#include "trace_args.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *const format_names[] = { "text", "json", NULL };

struct align_options {
	const struct ksv_command *command;
	enum align_source source;
	const char	*machine;
	int		format;		/* enum format */
	bool		write, quiet;
	uint64_t	max_input;
};

struct align {
	const struct align_options *options;
	struct model_load	host;
	const char		*guest_path;
	const char		*guest_name;	/* from the folder, or NULL */
	struct kvm_trace	*guest;
	struct align_pair	pair;
};

static int take_source(const struct ksv_command *command, const struct ksv_option *option,
		       const char *value, void *target)
{
	enum align_source *chosen = target;
	int source = align_source_find(value);

	(void)option;
	if (source < 0)
		return ksv_usage_error(command, "--source %s: not auto, trace-cmd, "
				       "kvm_write_tsc_offset, sidecar, tsc or causality", value);
	*chosen = (enum align_source)source;
	return 0;
}

#define OPTIONS	struct align_options

static const struct ksv_option align_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default) or json"),
	{ 0, "source", "SOURCE", "trace-cmd, kvm_write_tsc_offset, sidecar, tsc or\n"
	  "causality; default (auto): the first of these that\n"
	  "explains the guest's events",
	  take_source, offsetof(OPTIONS, source), NULL },
	{ 0, "machine", "NAME", "the guest's machine on the host, e.g. d1 or g1",
	  ksv_take_text, offsetof(OPTIONS, machine), NULL },
	{ 0, "write", NULL, "store the result in GUEST.meta.json",
	  ksv_take_flag, offsetof(OPTIONS, write), NULL },
	KSV_OPTION_MAX_INPUT(OPTIONS, max_input),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes"),
};

static const char *source_word(size_t i)
{
	return i < ALIGN_N_SOURCES ? align_source_name((enum align_source)i) : NULL;
}

static const struct ksv_words align_words[] = {
	{ .option = "source", .word = source_word }, { 0 }
};

/* --- output ---------------------------------------------------------------------------------- */

static double share(const struct virt_clock_evidence *evidence)
{
	uint64_t judged = evidence->inside + evidence->outside;

	return judged ? 100.0 * (double)evidence->inside / (double)judged : 0;
}

/** The offset that counts from a step on. */
static int64_t offset_of(const struct align_pair *pair, const struct virt_clock_step *step)
{
	return virt_clock_step_offset(pair->best.alignment.offset, step->add,
				      pair->best.alignment.drift_ppm);
}

static const struct table_column step_columns[] = {
	{ .key = "guest_cpu", .type = TABLE_COUNT },
	{ .key = "from", .type = TABLE_TIME },
	{ .key = "offset", .type = TABLE_TIME },
	{ .key = "back", .type = TABLE_FLAG },
};

static const struct table steps_table = {
	.rows = { .key = "steps", TABLE_COLUMNS(step_columns) },
};

static void step_rows(struct table_writer *to, const struct align_pair *pair)
{
	to->table = &steps_table;
	table_flat(to, false);
	for (size_t i = 0; i < pair->best.n_steps; i++) {
		const struct virt_clock_step *step = &pair->best.steps[i];

		table_row(to, (const struct table_cell[ARRAY_SIZE(step_columns)]){
			table_number(step->cpu),
			table_optional(step->from != INT64_MIN, step->from),
			table_number(offset_of(pair, step)), table_number(step->back),
		});
	}
	table_flat_end(to);
}

static const struct table_column vcpu_columns[] = {
	{ .key = "vcpu" },
	{ .key = "tid", .type = TABLE_TIME },
	{ .key = "guest_cpu", .type = TABLE_COUNT },
	{ .key = "events", .type = TABLE_COUNT },
	{ .key = "explained_percent", .type = TABLE_FIXED },
	{ .key = "worst_violation", .type = TABLE_TIME },
	{ .key = "interrupts", .type = TABLE_COUNT },
	{ .key = "interrupts_explained", .type = TABLE_COUNT },
};

static const struct table vcpus_table = {
	.rows = { .key = "vcpus", TABLE_COLUMNS(vcpu_columns) },
};

static void vcpu_rows(struct table_writer *to, const struct align_pair *pair)
{
	to->table = &vcpus_table;
	table_flat(to, false);
	for (int32_t c = 0; pair->best.machine >= 0 && c < pair->plain.n; c++) {
		const struct virt_clock_evidence *evidence = &pair->best.evidence[c];
		const struct virt_vcpu *vcpu = align_pair_vcpu(pair, c);

		table_row(to, (const struct table_cell[ARRAY_SIZE(vcpu_columns)]){
			table_optional_name(vcpu ? vcpu->name : NULL),
			table_optional(vcpu, vcpu ? vcpu->host_pid : 0), table_number(c),
			table_number((int64_t)(evidence->inside + evidence->outside)),
			table_rate(true, share(evidence)), table_number(evidence->worst),
			table_number((int64_t)evidence->interrupts),
			table_number((int64_t)evidence->interrupts_explained),
		});
	}
	table_flat_end(to);
}

static void result_object(struct json *json, const struct align *align, bool many)
{
	const struct align_pair *pair = &align->pair;
	const struct virt_clock_alignment *result = &pair->best.alignment;
	const char *refused = align_pair_refusal(pair);
	struct table_writer to = { .format = &table_json, .json = json };
	const struct table_cell offsets[ALIGNED_N_TRACE_CMD] = {
		table_number(pair->offsets.least), table_number(pair->offsets.most),
		table_rate(true, pair->offsets.scale_ppm), table_number(pair->offsets.bend),
		table_number(pair->best.source == ALIGN_TRACE_CMD),
	};
	struct table_cell cells[ALIGNED_N_COLUMNS];

	align_cells(cells);
	cells[ALIGNED_OFFSET] = table_number(result->offset);
	cells[ALIGNED_AT] = table_number(result->at);
	cells[ALIGNED_UNIT] = table_name(pair->cycles ? "cycles" : "ns");
	cells[ALIGNED_INTERVAL] = table_range(result->lo, result->hi);
	cells[ALIGNED_DRIFT] = table_rate(true, result->drift_ppm);
	cells[ALIGNED_DRIFT_INTERVAL] = table_rates(result->drift_lo_ppm, result->drift_hi_ppm);
	cells[ALIGNED_EXPLAINED] = table_rate(true, result->explained_percent);
	cells[ALIGNED_WORST] = table_number(result->worst);
	cells[ALIGNED_UNKNOWN] = table_number((int64_t)result->unknown);
	cells[ALIGNED_INTERRUPTS] = table_number((int64_t)result->interrupts);
	cells[ALIGNED_INTERRUPTS_EXPLAINED] = table_number((int64_t)result->interrupts_explained);
	cells[ALIGNED_BY_INTERRUPTS] = table_number(result->by_interrupts);
	cells[ALIGNED_SOURCE] = table_name(align_source_name(pair->best.source));
	cells[ALIGNED_REFUSED] = table_number(refused != NULL);
	cells[ALIGNED_REASON] = table_optional_name(refused);
	if (pair->has_offsets)
		cells[ALIGNED_TRACE_CMD] = table_object(offsets);
	align_begin(json, many ? align->guest_path : NULL, cells);
	if (pair->best.n_steps)
		step_rows(&to, pair);
	vcpu_rows(&to, pair);
	json_close(json, '}');
}

static void put_interrupts(const struct virt_clock_alignment *result, struct output *out)
{
	if (result->interrupts)
		out_printf(out, "  interrupts  %llu of %llu handlers run shortly after an "
			   "injection%s\n",
			   (unsigned long long)result->interrupts_explained,
			   (unsigned long long)result->interrupts,
			   result->by_interrupts ? "" : ": too few to count");
}

/** The clocks as a formula, and how well it is known. */
static void put_clocks(const struct align_pair *pair, struct output *out)
{
	const struct virt_clock_alignment *result = &pair->best.alignment;
	const char *unit = pair->cycles ? "cycles" : "ns";
	bool trace_cmd = pair->best.source == ALIGN_TRACE_CMD;
	bool drifts = result->drift_ppm != 0;

	out_printf(out, "host time = guest time%s %+lld %s",
		   trace_cmd ? " with trace-cmd's offsets" :
		   drifts && !result->at ? " * (1 + drift)" : "", (long long)result->offset, unit);
	if (drifts && result->at)
		out_printf(out, " + drift * (guest time - %lld %s)", (long long)result->at, unit);
	out_printf(out, "\n  source      %s\n", align_source_name(pair->best.source));
	out_printf(out, "  interval    %lld .. %lld (%lld %s wide)", (long long)result->lo,
		   (long long)result->hi, (long long)(result->hi - result->lo), unit);
	if (result->at)
		out_printf(out, " at guest time %lld %s", (long long)result->at, unit);
	if (drifts)
		out_printf(out, "\n  drift       %.6f ppm", result->drift_ppm);
	else
		out_printf(out, "\n  drift       none to be seen");
	if (result->drift_lo_ppm < result->drift_hi_ppm)
		out_printf(out, "; %.3f .. %.3f ppm are possible", result->drift_lo_ppm,
			   result->drift_hi_ppm);
	out_char(out, '\n');
}

/** From when on another offset counts, of which CPU. */
static void put_steps(const struct align_pair *pair, struct output *out)
{
	const char *unit = pair->cycles ? "cycles" : "ns";

	for (size_t i = 0; i < pair->best.n_steps; i++) {
		const struct virt_clock_step *step = &pair->best.steps[i];

		out_printf(out, "  CPU %-7d %+lld %s ", step->cpu,
			   (long long)offset_of(pair, step), unit);
		if (step->from == INT64_MIN)
			out_str(out, "instead\n");
		else
			out_printf(out, "from guest time %lld on%s\n", (long long)step->from,
				   step->back ? ", where its clock goes back" : "");
	}
}

static void put_text(const struct align_pair *pair, struct output *out)
{
	const struct virt_clock_alignment *result = &pair->best.alignment;
	const char *unit = pair->cycles ? "cycles" : "ns", *refused = align_pair_refusal(pair);
	uint64_t judged = result->inside + result->outside;
	char offsets[128];

	if (refused) {
		out_styled(out, OUT_BAD, "refused: ");
		out_text(out, refused);
		out_char(out, '\n');
	}
	if (pair->best.machine < 0)
		return;
	put_clocks(pair, out);
	put_steps(pair, out);
	if (align_pair_offsets(pair, offsets, sizeof(offsets)))
		out_printf(out, "  trace-cmd   added %s%s\n", offsets,
			   pair->best.source == ALIGN_TRACE_CMD ? "" : "; not used");
	out_printf(out, "  explained   %.3f %% of %llu events; %llu not judged\n",
		   result->explained_percent, (unsigned long long)judged,
		   (unsigned long long)result->unknown);
	out_printf(out, "  worst       %lld %s outside\n", (long long)result->worst, unit);
	put_interrupts(result, out);
	for (int32_t c = 0; c < pair->plain.n; c++) {
		const struct virt_clock_evidence *evidence = &pair->best.evidence[c];
		const struct virt_vcpu *vcpu = align_pair_vcpu(pair, c);

		out_printf(out, "  CPU %-7d ", c);
		out_text(out, vcpu ? vcpu->name : "no vCPU is known for it");
		if (vcpu)
			out_printf(out, " (%d): %.3f %% of %llu events", vcpu->host_pid,
				   share(evidence),
				   (unsigned long long)(evidence->inside + evidence->outside));
		out_char(out, '\n');
	}
}

static int store(const struct align *align)
{
	struct align_meta *meta = align_pair_meta(&align->pair, align->host.path);
	char error[512] = "not enough memory";
	int ret = meta ? align_meta_write(align->guest_path, meta, error, sizeof(error)) : -ENOMEM;

	align_meta_free(meta);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

/* --- reading --------------------------------------------------------------------------------- */

static void take_record(void *arg, const struct kvm_trace_record *record)
{
	struct align *align = arg;

	align_pair_kvm(&align->pair, record);
}

static void take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct align *align = arg;

	align_pair_xen(&align->pair, rows, n);
}

/** That of the options, or of the guest's name, if the host's trace has one of that name. */
static const char *wanted_machine(const struct align *align)
{
	const struct virt_model *model = align->host.model;

	if (align->options->machine || !align->guest_name || !model)
		return align->options->machine;
	for (int32_t i = 0; i < virt_model_n_machines(model); i++)
		if (align_machine_is(virt_model_machine(model, i)->name, align->guest_name))
			return align->guest_name;
	return NULL;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int check_machine(const struct align *align)
{
	const struct virt_model *model = align->host.model;
	const char *machine = align->options->machine;

	for (int32_t i = 0; machine && i < virt_model_n_machines(model); i++)
		if (align_machine_is(virt_model_machine(model, i)->name, machine))
			return KSV_EXIT_OK;
	return !machine ? KSV_EXIT_OK :
	       model_no_machine(model, align->options->command, align->host.path, "machine",
				machine);
}

static int read_host(struct align *align)
{
	char error[512];
	int status;

	if (align_pair_begin(&align->pair, align->host.path, align->guest_path, error,
			     sizeof(error))) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	align->guest = model_open_kvm(align->guest_path, HZ_CYCLES_AS_NS);
	if (!align->guest)
		return KSV_EXIT_FILE;
	align->host.options.cpu_hz = HZ_CYCLES_AS_NS;
	align->host.options.absolute_time = true;
	align->host.options.max_input = align->options->max_input;
	align->host.quiet = align->options->quiet;
	align->host.records = take_record;
	align->host.rows = take_rows;
	align->host.arg = align;
	status = model_load(&align->host);
	if (!status)
		status = model_changed(&align->host, status);
	if (!status)
		status = check_machine(align);
	align->pair.model = align->host.model;
	align->pair.host = align->host.host.kvm;
	align->pair.source = align->options->source;
	align->pair.machine = wanted_machine(align);
	return status;
}

static void say_doubt(const struct align *align)
{
	char text[1024];

	if (!align->options->quiet && align_pair_doubt(&align->pair, text, sizeof(text)))
		ksv_note("%s: %s", align->guest_path, text);
}

/** Where results go: of several guests, one after the other. */
struct results {
	struct output	*out;
	struct json	json;		/* of several, an array */
	bool		many;
};

static void put_result(const struct align *align, struct results *results)
{
	struct output *out = results->out;

	if (align->options->format == FORMAT_JSON && results->many) {
		result_object(&results->json, align, true);
	} else if (align->options->format == FORMAT_JSON) {
		json_begin(&results->json, out);
		result_object(&results->json, align, false);
		json_end(&results->json);
	} else {
		if (results->many) {
			out_text(out, align->guest_path);
			out_str(out, ": ");
		}
		put_text(&align->pair, out);
	}
	out_flush(out);
}

/** What a monitor traced of itself, instead of a guest. */
static int align_log(const struct align_options *options, const char *host, const char *path,
		     struct results *results)
{
	const struct align_monitor_options monitor = { options->write, options->quiet };
	bool is_json = options->format == FORMAT_JSON;

	if (options->machine || options->source)
		return ksv_usage_error(options->command, "--machine and --source apply to guests, "
				       "but %s is a trace of QEMU, whose threads identify the "
				       "machine", path);
	return align_monitor(host, path, &monitor, results->out, is_json ? &results->json : NULL,
			     results->many);
}

static int align_files(const struct align_options *options, const char *host,
		       const struct trace_arg *guest, struct results *results)
{
	struct align align = {
		.options = options, .host.path = host, .guest_path = guest->path,
		.guest_name = guest->guest,
	};
	int status = read_host(&align), ret;

	if (status)
		goto end;
	ret = align_pair_try(&align.pair, align.guest);
	if (ret) {
		ksv_error("%s: %s", guest->path, ret == -ENOMEM || ret == -EBADMSG ||
			  ret == -ETIMEDOUT ? host_trace_problem(ret) :
			  "its times, or the host's, are impossible");
		status = KSV_EXIT_FILE;
		goto end;
	}
	say_doubt(&align);
	put_result(&align, results);
	status = align_pair_refusal(&align.pair) ? KSV_EXIT_FINDINGS : KSV_EXIT_OK;
	if (!status && !results->out->error && options->write)
		status = store(&align);
end:
	align_pair_free(&align.pair);
	kvm_trace_close(align.guest);
	model_unload(&align.host);
	return status;
}

/** A host first, and behind it a guest that was given, or those of its folder. */
static int align_all(const struct align_options *options, const struct trace_args *args)
{
	static struct output out;
	struct results results = { .out = &out, .many = args->n > 2 };
	int status = args->left_out ? KSV_EXIT_FILE : KSV_EXIT_OK;

	out_open_text(&out, NULL, options->format == FORMAT_JSON ? OUT_PROGRAM : OUT_PEOPLE);
	if (results.many && options->format == FORMAT_JSON) {
		json_document(&results.json, &out);
		json_open(&results.json, "alignments", '[', false);
	}
	for (int i = 1; i < args->n && !out.error; i++) {
		const char *host = args->items[0].path, *path = args->items[i].path;
		int one = monitor_trace_is(path) ? align_log(options, host, path, &results) :
			  align_files(options, host, &args->items[i], &results);

		status = one > status ? one : status;
	}
	if (results.many && options->format == FORMAT_JSON) {
		json_close(&results.json, ']');
		json_document_end(&results.json);
	}
	return out_close(&out, status);
}

/** Two files, of which a folder may be the host; or a folder with all of them. */
static int align_args(const struct align_options *options, char **argv, int n)
{
	struct trace_args args = {
		.host_only = n == 2, .quiet = options->quiet, .max_input = options->max_input,
	};
	int status = trace_args_add_all(&args, argv, n);

	if (!status && n == 2 && args.items[1].in_folder)
		status = ksv_usage_error(options->command, "%s: is a folder; give the guest's "
					 "file, or only the folder of its host", argv[1]);
	if (!status && args.n < 2) {
		ksv_error("%s: contains no trace of a guest", argv[0]);
		status = KSV_EXIT_FILE;
	}
	if (!status)
		status = align_all(options, &args);
	trace_args_free(&args);
	return status;
}

static int run_align(const struct ksv_command *command, int argc, char **argv)
{
	struct align_options options = { .command = command };
	int first, status;

	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		return status;
	if (first + 2 != argc && (first + 1 != argc || !recording_is(argv[first])))
		return ksv_usage_error(command, "give two files, the trace of the host and that of "
				       "its guest, or the folder of a recording");
	return align_args(&options, argv + first, argc - first);
}

const struct ksv_command cmd_align = {
	.name = "align",
	.args = "[OPTION...] HOST GUEST | HOST LOG | FOLDER",
	.summary = "Align the clocks of a guest and its host",
	.notes = "HOST is the trace.dat of a KVM host or a xentrace file, GUEST a trace.dat,\n"
		 "FOLDER a recording with both, LOG QEMU's own trace (-trace).\n"
		 "Exit status 1: refused, because the events are not clear enough.\n",
	.options = align_option_table,
	.words = align_words,
	.n_options = ARRAY_SIZE(align_option_table),
	.prints_text = true,
	.run = run_align,
};
