// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_functions.c
 * @brief	kshark-virt report --function: functions by their calls and their time.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "guest_tasks.h"
#include "report_section.h"
#include "report_traced.h"
#include "table.h"
#include "text_columns.h"
#include "virt_window.h"

#define MAX_ROWS	20

/** Of a sum that may be larger. */
#define MARK		" +?"
#define NAME_WIDTH	32

int report_functions_take(const struct ksv_command *command, const struct ksv_option *option,
			  const char *text, void *target)
{
	struct report_function_options *options = target;

	(void)option;
	if (options->n_patterns == REPORT_MOST_PATTERNS)
		return ksv_usage_error(command, "--function: more than %d", REPORT_MOST_PATTERNS);
	options->patterns[options->n_patterns++] = text;
	return 0;
}

const char *report_function_name(const struct report_function *function,
				 char text[REPORT_FUNCTION_ADDRESS])
{
	if (function->name)
		return function->name;
	snprintf(text, REPORT_FUNCTION_ADDRESS, "0x%llx", (unsigned long long)function->address);
	return text;
}

/* --- which ones are asked for ---------------------------------------------------------------- */

static bool matches(const struct report_function *function, const char *pattern)
{
	char address[REPORT_FUNCTION_ADDRESS];

	return !fnmatch(pattern, report_function_name(function, address), 0);
}

bool report_functions_matches(const struct report_function *function,
			      const struct report_function_options *options)
{
	for (int i = 0; i < options->n_patterns; i++)
		if (matches(function, options->patterns[i]))
			return true;
	return false;
}

static int compare_ns(int64_t x, int64_t y)
{
	return x > y ? -1 : x < y;
}

static int compare_rest(const struct report_function *x, const struct report_function *y)
{
	if (x->calls.calls != y->calls.calls)
		return x->calls.calls > y->calls.calls ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

/** Hypercalls show no total, but the true time. */
static int64_t total_ns(const struct report_function *function)
{
	return function->calls.total_ns ? function->calls.total_ns :
	       function->calls.ns[HOST_FUNCTION_TRUE];
}

static int compare_total(const void *a, const void *b)
{
	int order = compare_ns(total_ns(a), total_ns(b));

	return order ? order : compare_rest(a, b);
}

static int compare_own(const void *a, const void *b)
{
	const struct report_function *x = a, *y = b;
	int order = compare_ns(x->calls.own_ns, y->calls.own_ns);

	return order ? order : compare_total(a, b);
}

static int compare_calls(const void *a, const void *b)
{
	return compare_rest(a, b);
}

enum order { ORDER_OWN, ORDER_TOTAL, ORDER_CALLS, N_ORDERS };

const char *const report_function_orders[] = {
	[ORDER_OWN] = "own", [ORDER_TOTAL] = "total", [ORDER_CALLS] = "calls", [N_ORDERS] = NULL
};

static void sort(struct report_functions *functions, int order)
{
	static const enum order usual[REPORT_N_FUNCTION_SOURCES] = {
		[REPORT_BY_HYPERCALLS] = ORDER_TOTAL, [REPORT_BY_FUNCTION] = ORDER_CALLS,
		[REPORT_BY_GRAPH] = ORDER_OWN,
	};
	static int (*const compare[N_ORDERS])(const void *a, const void *b) = {
		[ORDER_OWN] = compare_own, [ORDER_TOTAL] = compare_total,
		[ORDER_CALLS] = compare_calls,
	};

	if (functions->n)
		qsort(functions->all, functions->n, sizeof(*functions->all),
		      compare[order ? (enum order)(order - 1) : usual[functions->source]]);
}

int report_functions_choose(struct report_functions *functions,
			    const struct report_function_options *options)
{
	size_t n = functions->n;

	functions->n = 0;
	functions->patterns = calloc((size_t)options->n_patterns + 1,
				     sizeof(*functions->patterns));
	if (!functions->patterns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct report_function function = functions->all[i];

		host_function_calls_add(&functions->sum, &function.calls);
		for (int k = 0; k < options->n_patterns; k++)
			if (matches(&function, options->patterns[k]))
				host_function_calls_add(&functions->patterns[k], &function.calls);
		if (!report_functions_matches(&function, options))
			continue;
		host_function_calls_add(&functions->asked, &function.calls);
		functions->all[functions->n++] = function;
	}
	sort(functions, options->order);
	return 0;
}

static void free_owners(struct report_function_owners *owners)
{
	key_map_destroy(&owners->map);
	free(owners->all);
}

void report_functions_free(struct report_functions *functions)
{
	free(functions->all);
	free(functions->patterns);
	for (int kind = 0; kind < REPORT_N_FUNCTION_OWNER_KINDS; kind++)
		free_owners(&functions->owners[kind]);
	memset(functions, 0, sizeof(*functions));
}

/* --- text ------------------------------------------------------------------------------------ */

/** Columns of text. MORE marks a time before it that may be longer. */
enum column {
	NAME = 0, CALLS, CALLS_SHARE, OWN, OWN_SHARE, CALLS_UP_TO, OWN_UP_TO, TOTAL, TRUE_TIME,
	TRUE_SHARE, SELF, MEAN_TRUE, MEAN, MAX, ON_CPU, MORE, NO_END,
	N_COLUMNS
};

static const struct table_column all_columns[N_COLUMNS] = {
	[NAME] = { .title = "function", .width = NAME_WIDTH },
	[CALLS] = { .title = "calls", .type = TABLE_COUNT },
	[CALLS_SHARE] = { .title = "share", .type = TABLE_SHARE },
	[OWN] = { .title = "own", .type = TABLE_NS },
	[OWN_SHARE] = { .title = "share", .type = TABLE_SHARE },
	[CALLS_UP_TO] = { .title = "up to it", .type = TABLE_SHARE },
	[OWN_UP_TO] = { .title = "up to it", .type = TABLE_SHARE },
	[TOTAL] = { .title = "total", .type = TABLE_NS },
	[TRUE_TIME] = { .title = "true time", .type = TABLE_NS },
	[TRUE_SHARE] = { .title = "share", .type = TABLE_SHARE },
	[SELF] = { .title = "self", .type = TABLE_NS },
	[MEAN_TRUE] = { .title = "mean", .type = TABLE_NS },
	[MEAN] = { .title = "mean", .type = TABLE_NS },
	[MAX] = { .title = "max", .type = TABLE_NS },
	[ON_CPU] = { .title = "on CPU", .type = TABLE_NS },
	[MORE] = { .title = "", .width = 3 },
	[NO_END] = { .title = "no end", .type = TABLE_COUNT },
};

/** What is known of calls, by what shows them. */
static const struct {
	const char	*name;		/* in JSON */
	enum column	columns[N_COLUMNS];	/* after the name; NAME: no more */
} sources[REPORT_N_FUNCTION_SOURCES] = {
	[REPORT_BY_HYPERCALLS] = {
		"hypercalls", { CALLS, CALLS_SHARE, TRUE_TIME, MORE, TRUE_SHARE, SELF, OWN_UP_TO,
				MEAN_TRUE, ON_CPU, NO_END },
	},
	[REPORT_BY_FUNCTION] = { "function", { CALLS, CALLS_SHARE, CALLS_UP_TO } },
	[REPORT_BY_GRAPH] = {
		"function_graph", { CALLS, OWN, MORE, OWN_SHARE, OWN_UP_TO, TOTAL, MEAN, MAX,
				    NO_END, ON_CPU, MORE, TRUE_TIME, MORE },
	},
};

/** What functions are being written. */
struct writing {
	struct table_writer	to;
	struct table_column	columns[N_COLUMNS];
	enum column		shown[N_COLUMNS];
	const struct report_functions *functions;
	int64_t			guest_ns;
	struct host_function_calls up_to;	/* of the rows so far */
};

/** Is the time that vCPUs executed such calls a number of its own? */
static bool has_true_time(const struct report_functions *functions)
{
	return functions->source == REPORT_BY_HYPERCALLS || functions->has_vcpus;
}

/** A number of those calls of which it is known, if there are any. */
static struct table_cell part_of(const struct host_function_calls *calls, uint64_t known,
				 int64_t ns)
{
	return calls->calls && !known ? table_unknown() : table_number(ns);
}

static struct table_cell own_share(const struct host_function_calls *calls,
				   const struct host_function_calls *sum)
{
	return calls->calls && !calls->owned ? table_unknown() :
	       table_share(calls->own_ns, sum->own_ns);
}

static struct table_cell timed_cell(const struct report_functions *functions,
				    const struct host_function_calls *calls,
				    enum host_function_time time)
{
	return functions->is_timed ? part_of(calls, calls->timed, calls->ns[time]) :
	       table_unknown();
}

/** Is the own time of some calls unknown, and that of others known? */
static bool lacks_own(const struct host_function_calls *calls)
{
	return calls->owned && calls->owned < calls->complete;
}

/** Of a time that is shown, is more unknown? */
static bool lacks_time(const struct report_functions *functions,
		       const struct host_function_calls *calls, enum column column)
{
	if (column == OWN)
		return lacks_own(calls);
	return functions->is_timed &&
	       ((calls->timed && calls->timed < calls->complete) ||
		(column == TRUE_TIME && calls->ns[HOST_FUNCTION_UNKNOWN] > 0));
}

/** @before: the column that a mark belongs to */
static struct table_cell calls_cell(const struct writing *writing,
				    const struct host_function_calls *calls, enum column column,
				    enum column before)
{
	const struct report_functions *functions = writing->functions;
	const struct host_function_calls *sum = &functions->sum, *up_to = &writing->up_to;
	int64_t true_ns = calls->ns[HOST_FUNCTION_TRUE];
	int64_t open = (int64_t)(calls->calls - calls->complete);

	switch (column) {
	case CALLS:
		return table_number((int64_t)calls->calls);
	case CALLS_SHARE:
		return table_share((int64_t)calls->calls, (int64_t)sum->calls);
	case CALLS_UP_TO:
		return table_share((int64_t)up_to->calls, (int64_t)sum->calls);
	case OWN:
	case SELF:
		return part_of(calls, calls->owned, calls->own_ns);
	case OWN_SHARE:
		return own_share(calls, sum);
	case OWN_UP_TO:
		return table_share(up_to->own_ns, sum->own_ns);
	case TOTAL:
		return part_of(calls, calls->complete, calls->total_ns);
	case TRUE_TIME:
		return timed_cell(functions, calls, HOST_FUNCTION_TRUE);
	case TRUE_SHARE:
		return calls->calls && !calls->timed ? table_unknown() :
		       table_share(true_ns, writing->guest_ns);
	case MEAN_TRUE:
		return table_number(calls->complete ? virt_mean(true_ns, calls->complete) :
						      VIRT_NONE);
	case MEAN:
		return table_number(calls->complete ? virt_mean(calls->total_ns, calls->complete) :
						      VIRT_NONE);
	case MAX:
		return table_number(calls->complete ? calls->max_ns : VIRT_NONE);
	case ON_CPU:
		return timed_cell(functions, calls, HOST_FUNCTION_ON_CPU);
	case MORE:
		return table_name(lacks_time(functions, calls, before) ? MARK : "");
	case NO_END:
		return table_optional(open, open);
	case NAME:
	case N_COLUMNS:
		break;
	}
	return table_absent();
}

/** Set up the columns. Return: how many. @title: of the first one */
static size_t set_columns(struct writing *writing, const char *title)
{
	const struct report_functions *functions = writing->functions;
	const enum column *columns = sources[functions->source].columns;
	size_t n = 1;

	writing->columns[0] = all_columns[NAME];
	writing->columns[0].title = title;
	writing->shown[0] = NAME;
	for (size_t i = 0; i < N_COLUMNS && columns[i] != NAME; i++) {
		bool is_of_true = columns[i] == TRUE_TIME ||
				  (columns[i] == MORE && columns[i - 1] == TRUE_TIME);

		if (is_of_true && !has_true_time(functions))
			continue;
		writing->shown[n] = columns[i];
		writing->columns[n++] = all_columns[columns[i]];
	}
	return n;
}

static void calls_row(struct writing *writing, const char *name,
		      const struct host_function_calls *calls, size_t n)
{
	struct table_cell cells[N_COLUMNS] = { table_name(name) };

	host_function_calls_add(&writing->up_to, calls);
	for (size_t i = 1; i < n; i++)
		cells[i] = calls_cell(writing, calls, writing->shown[i], writing->shown[i - 1]);
	table_row(&writing->to, cells);
}

static void functions_text(struct output *out, const struct report_functions *functions,
			   const struct report_function_options *options, const char *title,
			   int64_t guest_ns)
{
	struct writing writing = { .functions = functions, .guest_ns = guest_ns };
	const size_t n = set_columns(&writing, title), most = options->most ? options->most :
								     MAX_ROWS;
	const struct table table = {
		.rows = { .columns = writing.columns, .n = n, .apart = true, .titled = true },
	};
	char address[REPORT_FUNCTION_ADDRESS];

	writing.to = (struct table_writer){ .table = &table, .format = &table_text, .out = out };
	table_flat(&writing.to, true);
	for (size_t i = 0; i < functions->n && i < most; i++)
		calls_row(&writing, report_function_name(&functions->all[i], address),
			  &functions->all[i].calls, n);
	table_flat_end(&writing.to);
	if (functions->n > most)
		text_rest(out);
	if (!functions->n)
		out_printf(out, "  none of %llu calls of functions matches\n",
			   (unsigned long long)functions->sum.calls);
}

/* --- parts of all calls ---------------------------------------------------------------------- */

static void take_out(struct host_function_calls *from, const struct host_function_calls *calls)
{
	from->calls -= calls->calls;
	from->complete -= calls->complete;
	from->total_ns -= calls->total_ns;
	from->owned -= calls->owned;
	from->own_ns -= calls->own_ns;
}

/** Calls that count in several patterns, each time but the first. */
static struct host_function_calls counted_again(const struct report_functions *functions,
						const struct report_function_options *options)
{
	struct host_function_calls again = { .calls = 0 };

	for (int i = 0; i < options->n_patterns; i++)
		host_function_calls_add(&again, &functions->patterns[i]);
	take_out(&again, &functions->asked);
	return again;
}

/** Calls of functions that match no pattern. */
static struct host_function_calls others(const struct report_functions *functions)
{
	struct host_function_calls rest = functions->sum;

	take_out(&rest, &functions->asked);
	return rest;
}

/** The columns of parts: those whose numbers add up. */
static const struct table_column part_columns[] = {
	{ .width = NAME_WIDTH },
	{ .title = "calls", .type = TABLE_COUNT },
	{ .title = "share", .type = TABLE_SHARE },
	{ .title = "own", .type = TABLE_NS },
	{ .title = "", .width = 3 },
	{ .title = "share", .type = TABLE_SHARE },
};

static void part_row(struct table_writer *to, const struct report_functions *functions,
		     const char *name, const struct host_function_calls *calls)
{
	const struct host_function_calls *sum = &functions->sum;

	table_row(to, (const struct table_cell[ARRAY_SIZE(part_columns)]){
		table_name(name), table_number((int64_t)calls->calls),
		table_share((int64_t)calls->calls, (int64_t)sum->calls),
		part_of(calls, calls->owned, calls->own_ns),
		table_name(lacks_own(calls) ? MARK : ""), own_share(calls, sum),
	});
}

/** Begin a table of parts; table_flat_end() must follow. */
static void begin_parts(struct table_writer *to, struct table *table,
			struct table_column columns[ARRAY_SIZE(part_columns)], const char *title,
			const struct report_functions *functions)
{
	memcpy(columns, part_columns, sizeof(part_columns));
	columns[0].title = title;
	*table = (struct table){
		.rows = {
			.columns = columns, .apart = true,
			/* the tracer does not show when functions end */
			.n = functions->source == REPORT_BY_FUNCTION ? 3 :
			     ARRAY_SIZE(part_columns),
		},
	};
	to->table = table;
	table_flat(to, true);
}

static void patterns_text(struct output *out, const struct report_functions *functions,
			  const struct report_function_options *options)
{
	const struct host_function_calls again = counted_again(functions, options);
	const struct host_function_calls rest = others(functions);
	struct table_writer to = { .format = &table_text, .out = out };
	struct table_column columns[ARRAY_SIZE(part_columns)];
	struct table table;

	/* one for all has no parts */
	if (!functions->sum.calls || (options->n_patterns == 1 && !rest.calls))
		return;
	begin_parts(&to, &table, columns, "pattern", functions);
	for (int i = 0; i < options->n_patterns; i++)
		part_row(&to, functions, options->patterns[i], &functions->patterns[i]);
	part_row(&to, functions, "other", &rest);
	table_flat_end(&to);
	if (again.calls)
		out_printf(out, "  calls that are counted again, as their functions match several "
			   "patterns: %llu; the sum of\n  the rows, without these, is that of "
			   "all\n", (unsigned long long)again.calls);
}

static void owner_name(const struct report *report, const struct report_functions *functions,
		     enum report_function_owner_kind kind, int32_t who, char *text, size_t size)
{
	if (kind == REPORT_FUNCTION_MACHINE)
		text_format(text, size, "%s", report_works_for(report, who, functions->is_guest));
	else if (kind == REPORT_FUNCTION_TASK)
		guest_task_name(text, size, functions->of, who);
	else
		snprintf(text, size, functions->is_host ? "p%d" : "%d", who);
}

static const struct {
	const char	*title, *key, *section;
} owner_kinds[REPORT_N_FUNCTION_OWNER_KINDS] = {
	[REPORT_FUNCTION_MACHINE] = { "machine", "machines", "function_machine" },
	[REPORT_FUNCTION_TASK] = { "task", "tasks", "function_task" },
	[REPORT_FUNCTION_CPU] = { "CPU", "cpus", "function_on" },
};

static void owners_text(struct output *out, const struct report *report,
		      const struct report_functions *functions, size_t most)
{
	struct table_writer to = { .format = &table_text, .out = out };
	struct table_column columns[ARRAY_SIZE(part_columns)];
	struct table table;
	char name[GUEST_TASK_NAME];

	for (int kind = 0; kind < REPORT_N_FUNCTION_OWNER_KINDS; kind++) {
		const struct report_function_owners *owners = &functions->owners[kind];

		/* a guest's trace is of one machine */
		if (owners->map.n_keys < 1 + (kind == REPORT_FUNCTION_MACHINE))
			continue;
		begin_parts(&to, &table, columns, owner_kinds[kind].title, functions);
		for (uint32_t i = 0; i < owners->map.n_keys && i < most; i++) {
			owner_name(report, functions, (enum report_function_owner_kind)kind,
				 owners->all[i].who, name, sizeof(name));
			part_row(&to, functions, name, &owners->all[i].calls);
		}
		table_flat_end(&to);
		if (owners->map.n_keys > most)
			text_rest(out);
	}
}

static void traced_notes(struct output *out, const struct report_functions *functions)
{
	const struct host_functions *read = functions->read;
	const struct host_function_calls *sum = &functions->sum;
	uint64_t before = read->tracers[functions->tracer].before;

	if (read->uncounted)
		out_str(out, "  lost, and not counted here: an unknown number of records\n");
	else if (read->lost)
		out_printf(out, "  lost, and not counted here: %llu records\n",
			   (unsigned long long)read->lost);
	if (before)
		out_printf(out, "  calls that began before the trace, and are not counted here: "
			   "%llu\n", (unsigned long long)before);
	if (sum->owned < sum->complete)
		out_printf(out, "  own time is unknown, and not counted here, of %llu calls: "
			   "records are missing, or a call in them has no end\n",
			   (unsigned long long)(sum->complete - sum->owned));
	if (functions->source == REPORT_BY_GRAPH && !functions->is_timed)
		out_str(out, "  unknown  sched:sched_switch was not recorded: time on CPUs is "
			"unknown\n");
}

static void traced_text(struct output *out, const struct report *report,
			const struct report_functions *functions,
			const struct report_function_options *options)
{
	out_str(out, "\nfunctions of ");
	out_text(out, functions->trace);
	out_printf(out, ", by the tracer %s\n", sources[functions->source].name);
	traced_notes(out, functions);
	patterns_text(out, functions, options);
	functions_text(out, functions, options, "function", 0);
	owners_text(out, report, functions, options->most ? options->most : MAX_ROWS);
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;
	const struct report_function_options *options = &hypertrace->options->functions;
	bool is_empty = !hypertrace->n_traced;

	for (int32_t m = 0; options->n_patterns && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		is_empty = false;
		if (!machine->info->guest)
			continue;
		patterns_text(out, &machine->functions, options);
		functions_text(out, &machine->functions, options,
			       report_hyper_name(report, machine), machine->guest_ns);
	}
	for (size_t i = 0; i < hypertrace->n_traced; i++)
		traced_text(out, report, &hypertrace->traced[i], options);
	if (options->n_patterns && is_empty)
		out_str(out, "\n  no function was recorded: by trace-cmd record -p function or -p "
			"function_graph, or by hypercalls of\n  a guest (of KVM record "
			"kvm:kvm_hypercall, of Xen the class guest)\n");
}

/* --- facts ----------------------------------------------------------------------------------- */

static void hyper_function_facts(struct facts *to, const struct report_function *function)
{
	const struct host_function_calls *calls = &function->calls;
	char address[REPORT_FUNCTION_ADDRESS];
	const char *name = report_function_name(function, address);

	facts_count(to, FACT_JSON("calls"), calls->calls);
	facts_count(to, FACT_JSON("complete"), calls->complete);
	facts_number(to, "true_ns", calls->ns[HOST_FUNCTION_TRUE]);
	facts_sum(to, "function_true", name, calls->calls, calls->ns[HOST_FUNCTION_TRUE]);
	facts_number(to, "self_ns", calls->own_ns);
	facts_sum(to, "function_self", name, calls->complete, calls->own_ns);
	facts_ns(to, FACT("cpu_ns", "function_cpu", name), calls->ns[HOST_FUNCTION_ON_CPU]);
	facts_part(to, FACT("unknown_ns", "function_unknown", name),
		   calls->ns[HOST_FUNCTION_UNKNOWN]);
}

/** A time of the calls of which it is known. */
static void timed_facts(struct facts *to, const struct host_function_calls *calls, const char *key,
			const char *section, const char *name, enum host_function_time time)
{
	facts_number(to, key, calls->ns[time]);
	facts_sum(to, section, name, calls->timed, calls->ns[time]);
}

static void graph_facts(struct facts *to, const struct report_functions *functions,
			const struct host_function_calls *calls, const char *name)
{
	facts_count(to, FACT_JSON("complete"), calls->complete);
	facts_number(to, "total_ns", calls->total_ns);
	facts_sum(to, "function_total", name, calls->complete, calls->total_ns);
	to->unknown = !calls->complete;
	facts_number(to, "max_ns", calls->max_ns);
	to->unknown = false;
	facts_count(to, FACT_JSON("own_calls"), calls->owned);
	facts_number(to, "own_ns", calls->own_ns);
	facts_sum(to, "function_own", name, calls->owned, calls->own_ns);
	to->unknown = !functions->is_timed;
	facts_count(to, FACT_JSON("cpu_calls"), calls->timed);
	timed_facts(to, calls, "cpu_ns", "function_cpu", name, HOST_FUNCTION_ON_CPU);
	if (has_true_time(functions)) {
		timed_facts(to, calls, "true_ns", "function_true", name, HOST_FUNCTION_TRUE);
		timed_facts(to, calls, "unknown_ns", "function_unknown", name,
			    HOST_FUNCTION_UNKNOWN);
	}
	to->unknown = false;
}

static void function_facts(struct facts *to, const struct report_functions *functions,
			   const struct report_function *function,
			   const struct host_function_calls *up_to)
{
	char address[REPORT_FUNCTION_ADDRESS];
	const char *name = report_function_name(function, address);

	facts_open(to, NULL, '{', true);
	facts_name(to, "name", name);
	if (to->json && function->address)
		json_u64(to->json, "address", function->address);
	if (functions->source == REPORT_BY_HYPERCALLS) {
		hyper_function_facts(to, function);
	} else {
		facts_count(to, FACT("calls", "function_calls", name), function->calls.calls);
		if (functions->source == REPORT_BY_GRAPH)
			graph_facts(to, functions, &function->calls, name);
	}
	if (functions->source == REPORT_BY_FUNCTION)
		facts_count(to, FACT_JSON("calls_up_to"), up_to->calls);
	else
		facts_number(to, "own_up_to_ns", up_to->own_ns);
	facts_close(to, '}');
}

/** A part of all calls. @key: of its name; NULL: the part is a member of the object itself */
static void part_facts(struct facts *to, const struct report_functions *functions, const char *key,
		       const char *section, const char *name,
		       const struct host_function_calls *calls)
{
	bool has_own = functions->source != REPORT_BY_FUNCTION;

	facts_open(to, key ? NULL : name, '{', true);
	if (key)
		facts_name(to, key, name);
	facts_count(to, FACT_JSON("calls"), calls->calls);
	if (has_own) {
		facts_count(to, FACT_JSON("own_calls"), calls->owned);
		facts_number(to, "own_ns", calls->own_ns);
	}
	facts_sum(to, section, name, calls->calls, has_own ? calls->own_ns : VIRT_NONE);
	facts_close(to, '}');
}

static void patterns_facts(struct facts *to, const struct report_functions *functions,
			   const struct report_function_options *options)
{
	const struct host_function_calls again = counted_again(functions, options);
	const struct host_function_calls rest = others(functions);

	facts_open(to, "patterns", '[', false);
	for (int i = 0; i < options->n_patterns; i++)
		part_facts(to, functions, "pattern", "function_pattern", options->patterns[i],
			   &functions->patterns[i]);
	facts_close(to, ']');
	part_facts(to, functions, NULL, "function_parts", "again", &again);
	part_facts(to, functions, NULL, "function_parts", "other", &rest);
	part_facts(to, functions, NULL, "function_parts", "all", &functions->sum);
}

static void list_facts(struct facts *to, const struct report_functions *functions)
{
	struct host_function_calls up_to = { .calls = 0 };

	facts_open(to, "functions", '[', false);
	for (size_t i = 0; i < functions->n; i++) {
		host_function_calls_add(&up_to, &functions->all[i].calls);
		function_facts(to, functions, &functions->all[i], &up_to);
	}
	facts_close(to, ']');
}

static void owners_facts(struct facts *to, const struct report *report,
		       const struct report_functions *functions)
{
	char name[GUEST_TASK_NAME];

	for (int kind = 0; kind < REPORT_N_FUNCTION_OWNER_KINDS; kind++) {
		const struct report_function_owners *owners = &functions->owners[kind];

		facts_open(to, owner_kinds[kind].key, '[', false);
		for (uint32_t i = 0; i < owners->map.n_keys; i++) {
			owner_name(report, functions, (enum report_function_owner_kind)kind,
				 owners->all[i].who, name, sizeof(name));
			part_facts(to, functions, "name", owner_kinds[kind].section, name,
				   &owners->all[i].calls);
		}
		facts_close(to, ']');
	}
}

static void traced_facts(struct facts *to, const struct report *report,
			 const struct report_functions *functions,
			 const struct report_function_options *options)
{
	const struct host_functions *read = functions->read;

	if (functions->is_guest || functions->is_host)
		to->machine = report_works_for(report, functions->machine, functions->is_guest);
	facts_open(to, NULL, '{', false);
	facts_name(to, "trace", functions->trace);
	if (to->machine)
		facts_name(to, "machine", to->machine);
	facts_name(to, "source", sources[functions->source].name);
	facts_count(to, FACT("all_calls", "function_all_calls", NULL), functions->sum.calls);
	facts_count(to, FACT("before", "function_before", NULL),
		    read->tracers[functions->tracer].before);
	to->unknown = read->uncounted;
	facts_count(to, FACT("lost", "function_lost", NULL), read->lost);
	to->unknown = false;
	patterns_facts(to, functions, options);
	list_facts(to, functions);
	owners_facts(to, report, functions);
	facts_close(to, '}');
	to->machine = NULL;
}

static void facts(struct facts *to, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;
	const struct report_function_options *options = &hypertrace->options->functions;

	if (!options->n_patterns)
		return;
	facts_open(to, "functions", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		to->machine = report_hyper_name(report, machine);
		facts_open(to, NULL, '{', false);
		facts_name(to, "machine", to->machine);
		facts_name(to, "source", sources[REPORT_BY_HYPERCALLS].name);
		facts_count(to, FACT("all_calls", "function_all_calls", NULL),
			    machine->functions.sum.calls);
		facts_number(to, "guest_ns", machine->guest_ns);
		if (machine->info->guest)
			patterns_facts(to, &machine->functions, options);
		list_facts(to, &machine->functions);
		facts_close(to, '}');
	}
	to->machine = NULL;
	for (size_t i = 0; i < hypertrace->n_traced; i++)
		traced_facts(to, report, &hypertrace->traced[i], options);
	facts_close(to, ']');
}

const struct report_section report_functions = {
	.build = report_traced_build, .text = text, .facts = facts,
};
