// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_counters.c
 * @brief	kshark-virt report --counters: counters of pCPUs, by machine, vCPU and task, and by
 *		the states of vCPUs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_counters.h"
#include "report_page.h"
#include "text_columns.h"

#define NAME_WIDTH	24
#define KIND_WIDTH	14
#define COUNTER_WIDTH	22

/** In text, vCPUs or tasks of a kind. */
#define MAX_SUBJECTS	12

/** A kind of machine besides those of the model: tasks that work for none. */
#define OF_HOST		VIRT_NONE

/* --- the tables ------------------------------------------------------------------------------ */

/** All kinds of rows have the same columns; @first, @second: titles in text, or NULL. */
#define COLUMNS(first, second) {							\
	{ .key = "section", .not_json = true },						\
	{ .key = "machine" },								\
	{ .key = "vcpu" },								\
	{ .key = "name" },								\
	{ .key = "pid", .type = TABLE_TIME },						\
	{ .key = "pcpu", .type = TABLE_COUNT },						\
	{ .key = "state" },								\
	{ .key = "after" },								\
	{ .key = "read_at" },								\
	{ .key = "counts_in" },								\
	{ .title = first, .width = NAME_WIDTH },					\
	{ .title = second, .width = KIND_WIDTH },					\
	{ .key = "counter", .title = "counter", .width = COUNTER_WIDTH },		\
	{ .key = "group", .type = TABLE_COUNT },					\
	{ .key = "spans", .type = TABLE_COUNT, .title = "spans" },			\
	{ .key = "total_ns", .type = TABLE_NS, .title = "time" },			\
	{ .key = "partial_ns", .type = TABLE_NS },					\
	{ .key = "uncounted_ns", .type = TABLE_NS },					\
	{ .key = "count", .type = TABLE_COUNT, .title = "count", .width = COUNT_WIDTH }, \
	{ .type = TABLE_SHARE, .title = "share" },					\
	{ .type = TABLE_PER_SECOND, .title = "per s", .width = COUNT_WIDTH },		\
	{ .key = "per_cycle", .type = TABLE_FIXED, .title = "per cycle" },		\
	{ .key = "per_1000_instructions", .type = TABLE_FIXED, .title = "per 1000 in." },	\
	{ .key = "enabled_ns", .type = TABLE_NS },					\
	{ .key = "running_ns", .type = TABLE_NS },					\
	{ .key = "estimate", .type = TABLE_FIXED },					\
	{ .title = "counted", .type = TABLE_SHARE },					\
}
#define COUNT_WIDTH	14

/** Columns that text shows in another way. */
enum { FIRST = 10, SECOND, SPANS = 14, TIME, COUNT = 18, PER_SECOND = 20 };

static const struct table_column counter_columns[] = COLUMNS("read at", "counts in");
static const struct table_column machine_columns[] = COLUMNS("machine", NULL);
static const struct table_column vcpu_columns[] = COLUMNS("vCPU", NULL);
static const struct table_column state_columns[] = COLUMNS("vCPU", "all of it in");
static const struct table_column after_columns[] = COLUMNS("vCPU", "runs after");
static const struct table_column task_columns[] = COLUMNS("task", NULL);
static const struct table_column pcpu_columns[] = COLUMNS("pCPU", NULL);

#define N_COLUMNS	ARRAY_SIZE(counter_columns)

static const struct table table = {
	.rows = { .key = "counters", TABLE_COLUMNS(counter_columns) },
};
static const struct table_rows machine_rows = {
	.key = "machines", TABLE_COLUMNS(machine_columns), .apart = true,
};
static const struct table_rows vcpu_rows = {
	.key = "vcpus", TABLE_COLUMNS(vcpu_columns), .apart = true,
};
static const struct table_rows state_rows = {
	.key = "states", TABLE_COLUMNS(state_columns), .apart = true,
};
static const struct table_rows after_rows = {
	.key = "after", TABLE_COLUMNS(after_columns), .apart = true,
};
static const struct table_rows task_rows = {
	.key = "tasks", TABLE_COLUMNS(task_columns), .apart = true,
};
static const struct table_rows pcpu_rows = {
	.key = "pcpus", TABLE_COLUMNS(pcpu_columns), .apart = true,
};

/* --- a row ----------------------------------------------------------------------------------- */

/** A vCPU, task or machine, and the longest time that a counter has of it. */
struct subject {
	int32_t		who;
	int64_t		ns;
};

struct page {
	struct table_writer	*to;
	const struct report	*report;
	struct host_counters	counters;
	struct host_counter_sums sums;
	struct subject		*subjects;	/* those of spans, most time first */
	size_t			n, room;
	struct host_counter_sum	*totals;	/* of each counter, all pCPUs */
	struct host_counter_sum	*machines;	/* of each, of each counter: machine_at() */
	int64_t			last_group;	/* of the row before; -1: none of the subject */
};

/** What a row is about. */
struct about {
	const char	*section, *machine, *vcpu, *name, *state, *after, *first, *second;
	int32_t		pid, pcpu;
};

static int64_t clamp(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/** A number that is not whole, also in text. */
static struct table_cell fixed(bool is_there, double number, char text[32])
{
	struct table_cell cell = table_rate(is_there, number);

	snprintf(text, 32, "%.3f", number);
	cell.instead = text;
	return cell;
}

/** Per number of @other, of which @of has counted, too. */
static struct table_cell ratio(const struct host_counter_sum *sum,
			       const struct host_counter_sum *other, double per, char text[32])
{
	bool is_there = other && other->value && other != sum && !sum->uncounted_ns &&
			!other->uncounted_ns;

	return fixed(is_there, is_there ? per * (double)sum->value / (double)other->value : 0,
		     text);
}

/** Is nothing of a sum known? */
static bool is_blind(const struct host_counter_sum *sum)
{
	return host_counter_share(sum) == HOST_COUNTED_NONE || sum->uncounted_ns == sum->ns;
}

/** In text, as perf does it, a counter that has not counted all the time is scaled. */
static void scale(struct table_cell *cells, double estimate, const struct host_counter_sum *sum,
		  char count[32], char per_second[32])
{
	snprintf(count, 32, "~%.0f", estimate);
	cells[COUNT].instead = count;
	snprintf(per_second, 32, "~%.0f", 1e9 * estimate / (double)(sum->ns - sum->uncounted_ns));
	cells[PER_SECOND].instead = per_second;
}

/** In text, a sum that lacks some spans. */
static const char *more_than(const struct host_counter_sum *sum, char text[32])
{
	snprintf(text, 32, ">%llu", (unsigned long long)sum->value);
	return text;
}

/** @cycles, @instructions: sums of the same, or NULL */
static void put_row(struct page *page, const struct about *about,
		    const struct host_counter_sum *sum, const struct host_counter_sum *cycles,
		    const struct host_counter_sum *instructions, int64_t partial_ns)
{
	const struct host_counters *counters = &page->counters;
	const struct trace_counter *counter = &counters->file.counters[sum->counter];
	enum host_counter_share share = host_counter_share(sum);
	bool is_known = !is_blind(sum) || !sum->ns, has_times = share != HOST_COUNTED_UNKNOWN;
	bool is_instructions = host_counters_is(counters, sum->counter, "instructions");
	bool is_estimate = is_known && has_times, is_same = page->last_group == counter->group;
	double estimate = is_estimate ? host_counter_estimate(sum) : 0;
	char texts[4][32];
	struct table_cell cells[] = {
		table_name(about->section), table_optional_name(about->machine),
		table_optional_name(about->vcpu), table_optional_name(about->name),
		table_optional(about->pid >= 0, about->pid),
		table_optional(about->pcpu >= 0, about->pcpu),
		table_optional_name(about->state), table_optional_name(about->after),
		table_name(counter->read_at), table_optional_name(host_counter_side_name(counter)),
		table_name(about->first), table_name(about->second), table_name(counter->name),
		table_number(counter->group), table_number((int64_t)sum->spans),
		table_number(sum->ns), table_optional(partial_ns >= 0, partial_ns),
		table_number(sum->uncounted_ns),
		is_known ? table_number(clamp(sum->value)) : table_unknown(),
		table_share(is_known ? clamp(sum->value) : VIRT_NONE,
			    clamp(page->totals[sum->counter].value)),
		table_share(is_known ? clamp(sum->value) : VIRT_NONE, sum->ns - sum->uncounted_ns),
		ratio(sum, is_instructions ? cycles : NULL, 1, texts[0]),
		ratio(sum, is_instructions ||
		      host_counters_is(counters, sum->counter, "cycles") ? NULL : instructions,
		      1000, texts[1]),
		has_times ? table_number(sum->enabled_ns) : table_unknown(),
		has_times ? table_number(sum->running_ns) : table_unknown(),
		is_estimate ? table_rate(true, estimate) : table_unknown(),
		table_share(has_times ? sum->running_ns : VIRT_NONE, sum->enabled_ns),
	};

	_Static_assert(ARRAY_SIZE(cells) == N_COLUMNS, "a cell for each column");
	if (share == HOST_COUNTED_SOME && is_estimate)
		scale(cells, estimate, sum, texts[2], texts[3]);
	else if (is_known && sum->uncounted_ns)
		cells[COUNT].instead = more_than(sum, texts[2]);
	/* people see at once what belongs together */
	if (is_same && table_as_text(page->to))
		cells[FIRST] = cells[SECOND] = cells[SPANS] = cells[TIME] = table_absent();
	page->last_group = counter->group;
	table_row(page->to, cells);
}

static const struct host_counter_sum *partner_sum(const struct page *page,
						  const struct host_counter_sum *sum,
						  const char *name)
{
	int32_t partner = host_counters_partner(&page->counters, sum->counter, name);

	return partner < 0 ? NULL :
	       host_counter_sum_of(&page->sums, (enum host_counter_kind)sum->kind,
				   (uint32_t)partner, sum->who, sum->sub);
}

/** A row of a sum of host_counter_sums_make(). */
static void row(struct page *page, const struct about *about,
		const struct host_counter_sum *sum)
{
	put_row(page, about, sum, partner_sum(page, sum, "cycles"),
		partner_sum(page, sum, "instructions"), -1);
}

/** The rows of a subject, one for each counter. */
static void subject_rows(struct page *page, const struct about *about,
			 enum host_counter_kind kind, int32_t who, uint8_t sub)
{
	page->last_group = -1;
	for (uint32_t i = 0; i < page->counters.file.n; i++) {
		const struct host_counter_sum *sum = host_counter_sum_of(&page->sums, kind, i, who,
									 sub);

		if (sum)
			row(page, about, sum);
	}
}

/* --- whose it is ----------------------------------------------------------------------------- */

static int32_t machine_of(const struct page *page, int32_t who)
{
	return who < 0 ? who : virt_model_machine_of(page->report->load->model, who);
}

/** Rows of the machines, then of the host's own tasks, idle and unknown. */
static size_t machine_at(const struct page *page, int32_t machine)
{
	size_t n = (size_t)virt_model_n_machines(page->report->load->model);

	return machine >= 0 ? (size_t)machine : machine == OF_HOST ? n :
	       machine == HOST_COUNTER_IDLE ? n + 1 : n + 2;
}

static bool wants(const struct page *page, int32_t who)
{
	const struct report *report = page->report;

	if (who >= 0 && virt_model_vcpu(report->load->model, who))
		return virt_window_walk_wants(report->walk, who);
	return report_wants_work(report, who < 0 ? VIRT_NONE : machine_of(page, who));
}

static const char *machine_name(const struct page *page, int32_t machine)
{
	return machine >= 0 ? virt_model_machine(page->report->load->model, machine)->name :
	       machine == OF_HOST ? "host" : machine == HOST_COUNTER_IDLE ? "idle" : "unknown";
}

static struct about about_who(const struct page *page, int32_t who)
{
	const struct virt_model *model = page->report->load->model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, who);
	const struct virt_task *task = virt_model_task(model, who);
	int32_t machine = machine_of(page, who);
	const char *name = who < 0 ? machine_name(page, who) : virt_model_who(model, who);

	return (struct about){
		.section = vcpu ? "vcpu" : task ? "task" : name,
		.machine = who >= 0 ? machine_name(page, machine) : NULL,
		.vcpu = vcpu ? name : NULL, .name = vcpu ? NULL : name, .first = name,
		.pid = vcpu ? vcpu->host_pid : task ? task->pid : VIRT_NONE, .pcpu = VIRT_NONE,
	};
}

static int compare_subjects(const void *a, const void *b)
{
	const struct subject *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->who > y->who) - (x->who < y->who);
}

/** Return: 0 or -ENOMEM. */
static int find_subjects(struct page *page)
{
	struct key_map found = { .n_keys = 0 };
	int ret = 0;

	for (uint32_t i = 0; i < page->sums.map.n_keys && !ret; i++) {
		const struct host_counter_sum *sum = &page->sums.all[i];
		int64_t at;

		if (sum->kind != HOST_COUNTER_OF_WHO)
			continue;
		at = KEY_MAP_ELEMENT(&found, (uint32_t)sum->who, page->subjects, page->room);
		if (at < 0) {
			ret = -ENOMEM;
			break;
		}
		page->subjects[at].who = sum->who;
		if (sum->ns > page->subjects[at].ns)
			page->subjects[at].ns = sum->ns;
	}
	page->n = found.n_keys;
	key_map_destroy(&found);
	if (page->n)
		qsort(page->subjects, page->n, sizeof(*page->subjects), compare_subjects);
	return ret;
}

/** The sums of all pCPUs, and of machines. Return: 0 or -ENOMEM. */
static int add_up(struct page *page)
{
	uint32_t n = page->counters.file.n;
	size_t n_machines = machine_at(page, HOST_COUNTER_UNKNOWN) + 1;

	page->totals = calloc(n, sizeof(*page->totals));
	page->machines = calloc(n_machines * n, sizeof(*page->machines));
	if (!page->totals || !page->machines)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		page->totals[i].counter = i;
	for (uint32_t i = 0; i < page->sums.map.n_keys; i++) {
		const struct host_counter_sum *sum = &page->sums.all[i];
		size_t at;

		if (sum->kind != HOST_COUNTER_OF_WHO)
			continue;
		at = machine_at(page, machine_of(page, sum->who)) * n + sum->counter;
		page->machines[at].counter = sum->counter;
		host_counter_add(&page->machines[at], sum);
		host_counter_add(&page->totals[sum->counter], sum);
	}
	return 0;
}

/* --- the rows of each kind ------------------------------------------------------------------- */

/** @sums: of all counters */
static const struct host_counter_sum *partner_in(const struct page *page,
						 const struct host_counter_sum *sums,
						 uint32_t counter, const char *name)
{
	int32_t partner = host_counters_partner(&page->counters, counter, name);

	return partner < 0 ? NULL : &sums[partner];
}

/** @sums: of all counters, of the subject */
static void sum_row(struct page *page, const struct about *about,
		    const struct host_counter_sum *sums, uint32_t counter, int64_t partial_ns)
{
	put_row(page, about, &sums[counter], partner_in(page, sums, counter, "cycles"),
		partner_in(page, sums, counter, "instructions"), partial_ns);
}

static void put_counters(struct page *page)
{
	page->last_group = -1;
	for (uint32_t i = 0; i < page->counters.file.n && !page->report->chosen; i++) {
		const struct trace_counter *counter = &page->counters.file.counters[i];
		const struct host_counter_sum *cut = host_counter_sum_of(&page->sums,
									 HOST_COUNTER_CUT, i,
									 VIRT_NONE, 0);

		sum_row(page, &(const struct about){
			.section = "counter", .first = counter->read_at,
			.second = host_counter_side_name(counter), .pid = VIRT_NONE,
			.pcpu = VIRT_NONE,
		}, page->totals, i, cut ? cut->ns : 0);
	}
}

static void put_machine(struct page *page, int32_t machine)
{
	const struct host_counter_sum *sums = &page->machines[machine_at(page, machine) *
							      page->counters.file.n];
	const char *name = machine_name(page, machine);
	const struct about about = {
		.section = "machine", .machine = name, .first = name, .pid = VIRT_NONE,
		.pcpu = VIRT_NONE,
	};

	page->last_group = -1;
	for (uint32_t i = 0; i < page->counters.file.n; i++)
		if (sums[i].spans)
			sum_row(page, &about, sums, i, -1);
}

static void put_machines(struct page *page)
{
	const struct report *report = page->report;
	int32_t n = virt_model_n_machines(report->load->model);

	table_rows(page->to, &machine_rows);
	for (int32_t i = 0; i < n; i++)
		if (report_wants_machine(report, i))
			put_machine(page, i);
	for (int32_t who = OF_HOST; who >= HOST_COUNTER_UNKNOWN; who--)
		if (!report->chosen)
			put_machine(page, who);
}

/** Text has the first ones only. @n: receives their number */
static bool is_left_out(const struct page *page, size_t *n)
{
	return ++*n > MAX_SUBJECTS && table_as_text(page->to);
}

/** A line for @n that would be there, if some were left out. */
static void put_rest(const struct page *page, size_t n)
{
	if (n > MAX_SUBJECTS && table_as_text(page->to))
		text_rest(table_as_text(page->to));
}

/** vCPUs, or tasks and time without an owner. */
static void put_subjects(struct page *page, bool of_vcpus)
{
	const struct virt_model *model = page->report->load->model;
	size_t n = 0;

	table_rows(page->to, of_vcpus ? &vcpu_rows : &task_rows);
	for (size_t i = 0; i < page->n; i++) {
		int32_t who = page->subjects[i].who;
		const struct about about = about_who(page, who);

		if (!!virt_model_vcpu(model, who) != of_vcpus || !wants(page, who) ||
		    (who >= 0 && is_left_out(page, &n)))
			continue;
		subject_rows(page, &about, HOST_COUNTER_OF_WHO, who, 0);
	}
	put_rest(page, n);
}

/** By the state of vCPUs, or by what was before their runs. */
static void put_parts(struct page *page, enum host_counter_kind kind, uint8_t n)
{
	bool is_state = kind == HOST_COUNTER_IN_STATE;
	size_t n_vcpus = 0;

	table_rows(page->to, is_state ? &state_rows : &after_rows);
	for (size_t i = 0; i < page->n; i++) {
		int32_t who = page->subjects[i].who;
		struct about about = about_who(page, who);

		if (!about.vcpu || !wants(page, who) || is_left_out(page, &n_vcpus))
			continue;
		about.section = is_state ? "state" : "after";
		for (uint8_t sub = 0; sub < n; sub++) {
			about.second = is_state ? host_counter_state_name(sub) :
				       host_counter_after_name((enum host_counter_after)sub);
			*(is_state ? &about.state : &about.after) = about.second;
			subject_rows(page, &about, kind, who, sub);
		}
	}
	put_rest(page, n_vcpus);
}

static void put_pcpus(struct page *page)
{
	char name[16];

	table_rows(page->to, &pcpu_rows);
	for (int32_t pcpu = 0; pcpu < page->report->count->n_pcpus && !page->report->chosen;
	     pcpu++) {
		snprintf(name, sizeof(name), "p%d", pcpu);
		subject_rows(page, &(const struct about){
			.section = "pcpu", .first = name, .pid = VIRT_NONE, .pcpu = pcpu,
		}, HOST_COUNTER_OF_PCPU, pcpu, 0);
	}
}

/* --- what people must know ------------------------------------------------------------------- */

#define HOW	"perf record -s -a -e 'kvm:*' -e '{sched:sched_switch,cycles:GH,instructions:GH}:S'"

static const char *lacks(int ret, const struct report *report)
{
	if (!report->load->host.kvm)
		return "counters of Xen's processors are not in its traces";
	if (ret == -EBADMSG)
		return "the counters are damaged";
	return ret == -ENOENT ? "no counters were recorded: " HOW : NULL;
}

/** What text says above the rows. */
static void text_notes(const struct page *page, struct output *out)
{
	const struct host_counters *counters = &page->counters;
	bool no_times = false, is_shared = false, is_anew = false;
	uint32_t sides = 0;
	int64_t partial_ns = 0;

	for (uint32_t i = 0; i < counters->file.n; i++) {
		const struct host_counter_sum *cut = host_counter_sum_of(&page->sums,
									 HOST_COUNTER_CUT, i,
									 VIRT_NONE, 0);

		no_times |= page->totals[i].no_times;
		is_shared |= host_counter_share(&page->totals[i]) == HOST_COUNTED_SOME ||
			     host_counter_share(&page->totals[i]) == HOST_COUNTED_NONE;
		is_anew |= page->totals[i].uncounted_ns > 0;
		sides |= counters->file.counters[i].sides;
		if (cut && cut->ns > partial_ns)
			partial_ns = cut->ns;
	}
	if (no_times)
		out_str(out, "  unknown  how much of the time counters counted: record with 'perf "
			"record -s'\n");
	if (is_shared)
		out_str(out, "  note     some counters did not count all the time, because there "
			"were too few in the processor: events that are in a group with them may "
			"be missing, too; record less of them\n");
	if (is_anew)
		out_str(out, "  note     some counters began anew between two readings, so that "
			"the real count is higher than the number here (>)\n");
	if (sides == TRACE_COUNTS_HOST)
		out_str(out, "  note     counters that count in the host leave guests' code out: "
			"record cycles:GH for both, cycles:G for guests alone\n");
	if (partial_ns)
		out_printf(out, "  note     %s of pCPUs' time in the window are between readings "
			   "of which one is outside: what was counted then is left out\n",
			   duration_text(partial_ns).text);
}

static void all_rows(struct page *page)
{
	struct output *out = table_as_text(page->to);

	if (out)
		text_notes(page, out);
	table_group(page->to, NULL);
	put_counters(page);
	put_machines(page);
	put_subjects(page, true);
	put_parts(page, HOST_COUNTER_IN_STATE, HOST_COUNTER_MIXED + 1);
	put_parts(page, HOST_COUNTER_AFTER, HOST_N_AFTERS);
	put_subjects(page, false);
	put_pcpus(page);
	table_group_end(page->to);
}

/** Nothing is known: no rows, and JSON has null. */
static void no_rows(struct table_writer *to)
{
	static const struct table_rows *const kinds[] = {
		&machine_rows, &vcpu_rows, &state_rows, &after_rows, &task_rows, &pcpu_rows,
	};

	to->unknown = true;
	table_group(to, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		table_rows(to, kinds[i]);
	table_group_end(to);
}

static int make(struct page *page)
{
	const struct report *report = page->report;
	struct kvm_trace *trace = report->load->host.kvm;
	int ret = trace ? host_counters_open(&page->counters, trace) : -ENOENT;

	if (!ret)
		ret = host_counter_sums_make(&page->sums, &page->counters, trace,
					     report->load->model, report->from_ns, report->to_ns);
	if (!ret)
		ret = find_subjects(page);
	return ret ? ret : add_up(page);
}

/** Return: 0 or -ENOMEM. */
static int counters_rows(struct table_writer *to, const struct report *report)
{
	struct page page = { .to = to, .report = report };
	int ret = make(&page);
	const char *why = lacks(ret, report);

	if (why && table_as_text(to))
		out_printf(table_as_text(to), "  unknown  %s\n", why);
	if (why && table_as_json(to))
		json_str(to->json, "unknown", why);
	if (!ret)
		all_rows(&page);
	else
		no_rows(to);
	host_counter_sums_free(&page.sums);
	host_counters_close(&page.counters);
	free(page.subjects);
	free(page.totals);
	free(page.machines);
	return ret == -ENOMEM ? ret : 0;
}

const struct report_page report_counters = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = counters_rows,
};
