// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_worst.c
 * @brief	kshark-virt report --worst: a list of the worst moments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_durations.h"
#include "report_delivery.h"
#include "report_page.h"
#include "report_parts.h"
#include "report_unknown.h"
#include "report_worst.h"
#include "table.h"
#include "text_columns.h"
#include "virt_arguments.h"
#include "virt_finding.h"
#include "virt_limits.h"
#include "virt_moments.h"

/** Parts of a wait that are listed, in text. */
#define MAX_PARTS	8

int report_worst_kinds(const char *text, unsigned int *kinds)
{
	*kinds = 0;
	for (;;) {
		size_t n = strcspn(text, ",");
		int kind = 0;

		while (kind < VIRT_WORST_N_KINDS &&
		       (strlen(virt_worst_kind_name((enum virt_worst_kind)kind)) != n ||
			strncmp(virt_worst_kind_name((enum virt_worst_kind)kind), text, n) != 0))
			kind++;
		if (kind == VIRT_WORST_N_KINDS)
			return -EINVAL;
		*kinds |= 1u << kind;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/** What is written about one moment. */
struct entry {
	struct virt_finding	row;
	const char		*event;		/* irq, wake: first one of the guest; or "" */
	struct virt_wake_chain	chain;		/* wake */
};

/** The list. */
struct list {
	struct virt_worst	*index, *own;	/* own: to be freed; NULL: it is the report's */
	struct virt_worst_hit	*hits;
	size_t			n;
};

static void free_list(struct list *list)
{
	virt_worst_free(list->own);
	free(list->hits);
}

/** The vCPUs that were asked for. Return: their number, or -ENOMEM. */
static ssize_t choose_vcpus(const struct report *report, const struct ksv_vcpu_set *vcpus,
			    int32_t **chosen)
{
	const struct virt_model *model = report->load->model;
	int32_t n = virt_model_n_vcpus(model);
	ssize_t found = 0;

	*chosen = calloc((size_t)n + 1, sizeof(**chosen));
	if (!*chosen)
		return -ENOMEM;
	for (int32_t i = 0; i < n; i++)
		if (report_wants_vcpu(report, i, vcpus))
			(*chosen)[found++] = i;
	return found;
}

struct virt_worst *report_worst_index(const struct report *report, struct virt_worst **own)
{
	*own = NULL;
	if (report->worst)
		return report->worst;
	*own = virt_worst_new(report->load->model, false,
			      report->delivery ? report->delivery->irqs.all : NULL,
			      report->delivery ? report->delivery->irqs.n : 0);
	return *own;
}

static int find(const struct report *report, const struct ksv_vcpu_set *vcpus,
		const struct report_worst *worst, struct list *list)
{
	struct virt_worst_query query = {
		.from_ns = report->from_ns, .to_ns = report->to_ns,
		.kinds = report_worst_visible(report, worst->kinds), .apart = worst->apart,
	};
	int32_t *chosen = NULL;
	ssize_t n = 0;

	*list = (struct list){ 0 };
	if (ksv_vcpus_given(vcpus))
		n = choose_vcpus(report, vcpus, &chosen);
	if (n < 0)
		return -ENOMEM;
	query.of = chosen;
	query.n_of = (size_t)n;
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		query.min_ns[kind] = worst->above_ns;
	list->index = report_worst_index(report, &list->own);
	list->hits = calloc(worst->n, sizeof(*list->hits));
	n = list->index && list->hits ?
	    virt_worst_top(list->index, &query, list->hits, worst->n) : -ENOMEM;
	free(chosen);
	if (n < 0) {
		free_list(list);
		return -ENOMEM;
	}
	list->n = (size_t)n;
	return 0;
}

/** What the guest's own trace adds. */
static void describe_guest(const struct report *report, struct entry *entry)
{
	const struct report_guest *guest = NULL;
	const struct report_guest_cpu *cpu = report->guests ?
		report_kvm_find(report->guests, entry->row.moment.vcpu, &guest) : NULL;
	int32_t event = entry->row.moment.event;
	const char *name = NULL;

	if (cpu && !irq_guest_cpu_is_aligned(&cpu->seen))
		cpu = NULL;
	if (entry->row.moment.kind == VIRT_WORST_WAKE) {
		virt_wake_chain(report->load->model, &entry->row.moment,
				cpu ? cpu->seen.events : NULL, cpu ? cpu->seen.n_events : 0,
				&entry->chain);
		event = entry->chain.event;
	}
	if (cpu && event != VIRT_NONE)
		name = kvm_trace_event(guest->trace, event);
	entry->event = name ? name : "";
}

static bool describe(const struct report *report, const struct list *list, size_t i,
		     struct entry *entry)
{
	if (!virt_finding_make(report->load->model, list->index, &list->hits[i], &entry->row))
		return false;
	describe_guest(report, entry);
	return true;
}

int report_worst_each(const struct report *report, const struct ksv_vcpu_set *vcpus,
		      const struct report_worst *worst,
		      void (*take)(void *arg, const struct virt_finding *finding), void *arg)
{
	struct virt_finding finding;
	struct list list;
	int ret = find(report, vcpus, worst, &list);

	if (ret)
		return ret;
	for (size_t i = 0; i < list.n; i++)
		if (virt_finding_make(report->load->model, list.index, &list.hits[i], &finding))
			take(arg, &finding);
	free_list(&list);
	return 0;
}

/* --- text ------------------------------------------------------------------------------------ */

/** ", hypervisor 28.38 ms, waking 11.98 ms" */
static void put_states(struct output *out, const struct virt_moment *moment)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (moment->state_ns[state])
			out_printf(out, ", %s %s", virt_state_name((enum virt_state)state),
				   duration_text(moment->state_ns[state]).text);
}

/** The part of the time asleep that is a cost. */
static void put_unasked(struct output *out, const struct report *report,
			const struct virt_moment *moment)
{
	int64_t other_ns = moment->unasked_ns - moment->unasked_vmm_ns -
			   moment->state_ns[VIRT_DEVICE_MODEL];

	if (moment->unasked_vmm_ns)
		out_printf(out, ", of this vmm %s", duration_text(moment->unasked_vmm_ns).text);
	if (other_ns)
		out_printf(out, ", of this %s %s", report->load->host.xen ? "device model" :
			   "asleep", duration_text(other_ns).text);
}

/** The steps after the vCPU got its pCPU. */
static void put_chain(struct output *out, const struct virt_wake_chain *chain, const char *event)
{
	bool has_event = chain->event_ns != VIRT_NO_TIME;
	int64_t last = has_event ? chain->event_ns : chain->entry_ns;

	if (chain->entry_ns == VIRT_NO_TIME || chain->in_ns == VIRT_NO_TIME)
		return;
	if (chain->entry_ns == chain->in_ns)
		out_str(out, ", guest code at once");
	else
		out_printf(out, ", entry + %s", duration_text(chain->entry_ns - chain->in_ns).text);
	if (has_event)
		out_printf(out, ", first event of the guest + %s",
			   duration_text(last - chain->entry_ns).text);
	if (has_event && *event)
		out_sentence(out, " (%s)", event);
	out_printf(out, ", %s %s", last > chain->in_ns ? "in all" : "after",
		   duration_text(last - chain->wake_ns).text);
}

/** The pCPUs that a wait was for, one after the other, if it was moved. */
static void put_parts(struct output *out, const struct report *report,
		      const struct virt_moment *moment)
{
	const struct virt_model *model = report->load->model;
	struct virt_wait_part part = { .to_ns = VIRT_NO_TIME };

	if (!virt_wait_longest_part(model, moment, &part))
		return;
	part.to_ns = VIRT_NO_TIME;
	for (int n = 0; n < MAX_PARTS && virt_wait_next_part(model, moment, &part); n++) {
		out_str(out, n ? ", " : "; it waits for ");
		if (part.pcpu < 0)
			out_str(out, "an unknown pCPU");
		else
			out_printf(out, "pCPU %d", part.pcpu);
		out_sentence(out, " for %s (%s %s)", duration_text(part.to_ns - part.from_ns).text,
			     virt_model_culprit(model, part.who), duration_text(part.who_ns).text);
	}
	if (part.to_ns < moment->end_ns)
		out_str(out, ", ...");
}

/** The argument of an exit; NULL if no record shows it. */
static const char *argument_of(const struct report *report, const struct virt_moment *moment)
{
	return virt_argument_name(report->load->model, moment->argument);
}

/** How long of a wait its own limit held a vCPU, or may have. */
static void put_held(struct output *out, const struct report *report,
		     const struct virt_moment *moment)
{
	struct duration_text certain = duration_text(moment->held_ns);
	struct duration_text most = duration_text(moment->held_ns + moment->possible_ns);
	char text[VIRT_HELD_TEXT];

	if (moment->kind != VIRT_WORST_OFFLINE &&
	    virt_held_text(text, report->load->model, VIRT_PREEMPTED,
			   moment->held_ns ? certain.text : NULL,
			   moment->possible_ns ? most.text : NULL))
		out_printf(out, ", %s", text);
}

static void put_what(struct output *out, const struct report *report, const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	const char *argument = virt_argument_text(report->load->model, moment->argument);
	const char *what = entry->row.what;
	char text[80];

	switch (moment->kind) {
	case VIRT_WORST_EXIT:
		out_sentence(out, "%s%s%s", what, argument ? ": " : "", argument ? argument : "");
		put_states(out, moment);
		put_unasked(out, report, moment);
		out_printf(out, "%s%s", moment->nested ? ", out of a nested guest" : "",
			   moment->unsplit ? ", waits not split" : "");
		break;
	case VIRT_WORST_STEAL:
		if (moment->pcpu < 0) {
			out_str(out, "for an unknown pCPU");
			put_parts(out, report, moment);
			break;
		}
		out_sentence(out, "%s%s had the pCPU for %s", what,
			     virt_model_is_own(report->load->model, moment->vcpu, moment->who) ?
			     ", its own machine's," : "", duration_text(moment->who_ns).text);
		report_moment_tasks_text(out, report, moment);
		put_parts(out, report, moment);
		break;
	case VIRT_WORST_MIGRATION:
		out_printf(out, "pCPU %d to pCPU %d, gap %s", moment->from_pcpu, moment->pcpu,
			   duration_text(moment->end_ns - moment->start_ns).text);
		put_states(out, moment);
		put_unasked(out, report, moment);
		break;
	case VIRT_WORST_IRQ:
		report_vector(text, sizeof(text), report, moment->vcpu, moment->vector);
		out_printf(out, "vector %s", text);
		put_states(out, moment);
		out_sentence(out, ", handler seen by %s",
			     *entry->event ? entry->event : "the guest");
		break;
	case VIRT_WORST_OFFLINE:
		out_text(out, what);
		break;
	case VIRT_WORST_TSC:
		if (moment->tsc->has_before)
			out_printf(out, "%+lld cycles: ", (long long)virt_tsc_jump(moment->tsc));
		out_printf(out, "the host's plus 0x%llx",
			   (unsigned long long)moment->tsc->offset);
		break;
	case VIRT_WORST_LOST:
		if (moment->records)
			out_printf(out, "%llu records", (unsigned long long)moment->records);
		else
			out_str(out, "an unknown number of records");
		break;
	default:
		out_str(out, "until it ran");
		if (moment->who != VIRT_NONE)
			out_sentence(out, ", %s had the pCPU for %s", what,
				     duration_text(moment->who_ns).text);
		put_chain(out, &entry->chain, entry->event);
	}
	put_held(out, report, moment);
	if (moment->entry_ns != VIRT_NO_TIME && moment->kind != VIRT_WORST_EXIT &&
	    moment->kind != VIRT_WORST_WAKE)
		out_printf(out, ", %s after %s", moment->entry_ns == moment->end_ns ?
			   "guest code at once," : "guest code",
			   duration_text(moment->entry_ns - moment->start_ns).text);
	out_printf(out, "%s%s\n", moment->begun ? "" : ", its beginning is not in the trace",
		   moment->complete ? "" : ", its end is not in the trace");
}

static void put_entry(struct output *out, const struct report *report,
		      const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	const char *kind = virt_worst_kind_name(moment->kind);
	char pcpu[16] = "";

	out_printf(out, "  %10s  %-9s ", duration_text(moment->cost_ns).text, kind);
	out_ns(out, entry->row.time_ns, 16);
	out_str(out, "  ");
	out_text_left(out, entry->row.vcpu, 8);
	if (moment->pcpu >= 0)
		snprintf(pcpu, sizeof(pcpu), "p%d", moment->pcpu);
	out_printf(out, " %-5s ", pcpu);
	put_what(out, report, entry);
}

static void list_text(struct output *out, const struct report *report, const struct list *list,
		      unsigned int kinds, bool first)
{
	char advice[VIRT_ADVICE_SIZE];
	struct entry entry;

	out_str(out, first ? "" : "\n");
	out_text(out, report->file);
	out_char(out, '\n');
	report_lacks_text(out, report);
	out_str(out, "        cost  kind              at [s]  vCPU     pCPU  what\n");
	for (size_t i = 0; i < list->n; i++)
		if (describe(report, list, i, &entry))
			put_entry(out, report, &entry);
	if (!list->n && report_worst_visible(report, kinds))
		out_str(out, "  nothing of this kind\n");
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		const char *why = kinds >> kind & 1 ? report_worst_hidden(report, kind, advice,
								     sizeof(advice)) : NULL;

		if (!why)
			continue;
		out_sentence(out, "  %s: unknown, as %s",
			     virt_worst_kind_name((enum virt_worst_kind)kind), why);
		out_char(out, '\n');
	}
}

/* --- JSON and CSV ---------------------------------------------------------------------------- */

/** A moment, for members of JSON. */
struct written {
	const struct report *report;
	const struct entry *entry;
};

/** A wait that was moved: each part of it. */
static void parts_members(struct json *json, const void *of)
{
	const struct written *written = of;
	const struct virt_model *model = written->report->load->model;
	const struct virt_moment *moment = &written->entry->row.moment;
	struct virt_wait_part part = { .to_ns = VIRT_NO_TIME };

	report_moment_tasks_facts(&(struct facts){ .json = json }, written->report, moment);
	if (!virt_wait_longest_part(model, moment, &part))
		return;
	part.to_ns = VIRT_NO_TIME;
	json_open(json, "parts", '[', true);
	while (virt_wait_next_part(model, moment, &part)) {
		json_open(json, NULL, '{', true);
		if (part.pcpu >= 0)
			json_i64(json, "pcpu", part.pcpu);
		json_i64(json, "from_ns", part.from_ns);
		json_i64(json, "to_ns", part.to_ns);
		json_str(json, "who", virt_model_culprit(model, part.who));
		json_i64(json, "who_ns", part.who_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** The states of a moment of a vCPU, and the part of the time asleep that is a cost. */
static void states_members(struct json *json, const void *of)
{
	const struct written *written = of;
	const struct virt_moment *moment = &written->entry->row.moment;
	struct facts to = { .json = json };

	report_states_facts(&to, written->report, NULL, NULL, VIRT_GUEST, VIRT_N_STATES,
			    moment->state_ns);
	report_unasked_facts(&to, written->report, NULL, moment->unasked_ns,
			     moment->unasked_vmm_ns);
}

/** Steps of a wake-up, each with its time since the one before. */
static const struct table_column step_columns[] = {
	{ .key = "step" },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "after_ns", .type = TABLE_TIME },
	{ .key = "event" },
};

enum { N_STEP = ARRAY_SIZE(step_columns), MOST_STEPS = 4 };

/** @cells: receives the steps. Return: how many */
static size_t step_cells(struct table_cell cells[MOST_STEPS * N_STEP], const struct entry *entry)
{
	const struct virt_wake_chain *chain = &entry->chain;
	bool is_in = chain->in_ns != VIRT_NO_TIME;
	const struct {
		const char	*step;
		int64_t		time_ns, since_ns;
		const char	*event;
	} steps[MOST_STEPS] = {
		{ "wake-up", chain->wake_ns, chain->wake_ns, NULL },
		{ "in", chain->in_ns, chain->wake_ns, NULL },
		{ "entry", is_in ? chain->entry_ns : VIRT_NO_TIME, chain->in_ns, NULL },
		{ "guest", is_in ? chain->event_ns : VIRT_NO_TIME, chain->entry_ns,
		  *entry->event ? entry->event : NULL },
	};
	size_t n = 0;

	for (int i = 0; i < MOST_STEPS; i++) {
		if (steps[i].time_ns == VIRT_NO_TIME)
			continue;
		cells[n * N_STEP] = table_name(steps[i].step);
		cells[n * N_STEP + 1] = table_number(steps[i].time_ns);
		cells[n * N_STEP + 2] = table_number(steps[i].time_ns - steps[i].since_ns);
		cells[n * N_STEP + 3] = table_optional_name(steps[i].event);
		n++;
	}
	return n;
}

enum {
	KIND = 0, TIME, COST, VCPU, PCPU, START, END, BEGUN_JSON, COMPLETE, ENTRY, WHAT, REASON,
	ARGUMENT_JSON, CAUSE_JSON, NESTED, UNSPLIT, WHO, WHO_TIME, OWN, PARTS, FROM_PCPU, RECORDS,
	STATES, VECTOR = STATES + VIRT_N_STATES, IRQ_NAME, IRQ_EVENT, CHAIN, EVENT, EVENT_TIME,
	BEGUN, WHOLE_MACHINE, STATES_JSON, UNASKED, UNASKED_VMM, TASK, TASK_TIME, TSC_OFFSET,
	TSC_JUMP, ARGUMENT, CAUSE, HELD, POSSIBLE, N_COLUMNS
};

/**
 * The columns. JSON has names for what a moment is about, CSV has one column for all of them.
 * @states: receives the keys of those that states have
 */
static void make_columns(struct table_column columns[N_COLUMNS], char states[VIRT_N_STATES][32])
{
	const struct table_column fixed[N_COLUMNS] = {
		[KIND] = { .key = "kind" },
		[TIME] = { .key = "time_ns", .type = TABLE_TIME },
		[COST] = { .key = "cost_ns", .type = TABLE_TIME },
		[VCPU] = { .key = "vcpu" },
		[PCPU] = { .key = "pcpu", .type = TABLE_COUNT },
		[START] = { .key = "start_ns", .type = TABLE_TIME },
		[END] = { .key = "end_ns", .type = TABLE_TIME },
		[BEGUN_JSON] = { .key = "begun", .type = TABLE_FLAG, .not_csv = true },
		[COMPLETE] = { .key = "complete", .type = TABLE_FLAG },
		[ENTRY] = { .key = "entry_ns", .type = TABLE_TIME },
		[WHAT] = { .key = "what", .not_json = true },
		[REASON] = { .key = "reason", .not_csv = true },
		[ARGUMENT_JSON] = { .key = "argument", .not_csv = true },
		[CAUSE_JSON] = { .key = "cause", .not_csv = true },
		[NESTED] = { .key = "nested", .type = TABLE_FLAG, .not_csv = true },
		[UNSPLIT] = { .key = "unsplit", .type = TABLE_FLAG, .not_csv = true },
		[WHO] = { .key = "who", .not_csv = true },
		[WHO_TIME] = { .key = "who_ns", .type = TABLE_TIME },
		[OWN] = { .key = "own", .type = TABLE_FLAG, .not_csv = true },
		[PARTS] = { .key = "parts", .type = TABLE_MEMBERS },
		[FROM_PCPU] = { .key = "from_pcpu", .type = TABLE_COUNT },
		[RECORDS] = { .key = "records", .type = TABLE_COUNT },
		[VECTOR] = { .key = "vector", .type = TABLE_COUNT },
		[IRQ_NAME] = { .key = "name", .not_csv = true },
		[IRQ_EVENT] = { .key = "event", .not_csv = true },
		[CHAIN] = { .key = "chain", .type = TABLE_LIST, .not_csv = true,
			    .list = step_columns, .n_list = N_STEP },
		[EVENT] = { .key = "event", .not_json = true },
		[EVENT_TIME] = { .key = "event_ns", .type = TABLE_TIME, .not_json = true },
		[BEGUN] = { .key = "begun", .type = TABLE_FLAG, .not_json = true },
		[WHOLE_MACHINE] = { .key = "whole_machine", .type = TABLE_FLAG, .not_csv = true },
		[STATES_JSON] = { .key = "states_ns", .type = TABLE_MEMBERS },
		[UNASKED] = { .key = "unasked_ns", .type = TABLE_NS, .not_json = true },
		[UNASKED_VMM] = { .key = "unasked_vmm_ns", .type = TABLE_NS, .not_json = true },
		[TASK] = { .key = "task", .not_json = true },
		[TASK_TIME] = { .key = "task_ns", .type = TABLE_NS, .not_json = true },
		[TSC_OFFSET] = { .key = "tsc_offset", .not_csv = true },
		[TSC_JUMP] = { .key = "tsc_jump", .type = TABLE_TIME },
		[ARGUMENT] = { .key = "argument", .not_json = true },
		[CAUSE] = { .key = "cause", .not_json = true },
		[HELD] = { .key = "held_ns", .type = TABLE_NS },
		[POSSIBLE] = { .key = "possible_ns", .type = TABLE_NS },
	};

	memcpy(columns, fixed, sizeof(fixed));
	for (int state = 0; state < VIRT_N_STATES; state++) {
		snprintf(states[state], 32, "%s_ns", virt_state_name((enum virt_state)state));
		columns[STATES + state] = (struct table_column){
			.key = states[state], .type = TABLE_NS, .not_json = true,
		};
	}
}

/** Is it a moment of a vCPU, which has states? */
static bool has_states(const struct virt_moment *moment)
{
	return moment->kind != VIRT_WORST_LOST && moment->kind != VIRT_WORST_TSC;
}

/** More than other programs' numbers can hold; NULL: no moment of a TSC */
static const char *offset_text(char *text, size_t size, const struct virt_moment *moment)
{
	if (!moment->tsc)
		return NULL;
	snprintf(text, size, "0x%016llx", (unsigned long long)moment->tsc->offset);
	return text;
}

/** A number that a moment may have. It is unknown if @is_lost. */
static struct table_cell lost_cell(bool is_there, bool is_lost, int64_t number)
{
	return !is_there && is_lost ? table_unknown() : table_optional(is_there, number);
}

/** The cells of what only moments of vCPUs have. */
static void state_cells(struct table_cell cells[N_COLUMNS], const struct written *written)
{
	const struct report *report = written->report;
	const struct virt_moment *moment = &written->entry->row.moment;
	bool has = has_states(moment);
	bool unasked = has && report_knows_state(report, VIRT_BLOCKED);

	for (int i = 0; i < VIRT_N_STATES; i++)
		cells[STATES + i] = table_optional(has && report_knows_state(report,
									     (enum virt_state)i),
						   moment->state_ns[i]);
	cells[STATES_JSON] = has ? table_members(states_members, written) : table_absent();
	cells[UNASKED] = table_optional(unasked, moment->unasked_ns);
	cells[UNASKED_VMM] = table_optional(unasked && report_knows_state(report, VIRT_VMM),
					    moment->unasked_vmm_ns);
}

static void entry_row(struct table_writer *to, const struct report *report,
		      const struct entry *entry)
{
	const struct written written = { report, entry };
	const struct virt_moment *moment = &entry->row.moment;
	const char *argument = argument_of(report, moment), *what = entry->row.what;
	const char *cause = exit_cause_name(virt_argument_cause(report->load->model,
								moment->argument));
	bool is_exit = moment->kind == VIRT_WORST_EXIT, is_irq = moment->kind == VIRT_WORST_IRQ;
	bool is_steal = moment->kind == VIRT_WORST_STEAL;
	bool is_move = moment->kind == VIRT_WORST_MIGRATION;
	bool is_wake = moment->kind == VIRT_WORST_WAKE;
	bool has_who = is_steal || (is_wake && moment->who != VIRT_NONE);
	bool has_hold = virt_model_knows_holds(report->load->model) &&
			(is_steal || is_wake || moment->kind == VIRT_WORST_OFFLINE);
	bool jumps = moment->tsc && moment->tsc->has_before;
	int64_t event_ns = is_wake ? entry->chain.event_ns : VIRT_NO_TIME;
	struct table_cell steps[MOST_STEPS * N_STEP];
	char task[GUEST_TASK_NAME] = "", offset[24];
	int64_t task_ns = 0;	/* of the culprit's task that had most of its time */
	bool has_task = report_moment_task(report, moment, task, sizeof(task), &task_ns);
	struct table_cell cells[N_COLUMNS] = {
		[KIND] = table_name(virt_worst_kind_name(moment->kind)),
		[TIME] = table_number(entry->row.time_ns),
		[COST] = table_number(moment->cost_ns),
		[VCPU] = table_optional_name(*entry->row.vcpu ? entry->row.vcpu : NULL),
		[PCPU] = lost_cell(moment->pcpu >= 0, has_states(moment), moment->pcpu),
		[START] = table_number(moment->start_ns),
		[END] = table_number(moment->end_ns),
		[BEGUN_JSON] = table_number(moment->begun),
		[COMPLETE] = table_number(moment->complete),
		[ENTRY] = lost_cell(moment->entry_ns != VIRT_NO_TIME, has_states(moment) &&
				    !report_knows_state(report, VIRT_GUEST), moment->entry_ns),
		[WHAT] = table_name(what),
		[REASON] = table_optional_name(is_exit ? what : NULL),
		[ARGUMENT_JSON] = table_optional_name(is_exit ? argument : NULL),
		[CAUSE_JSON] = table_optional_name(is_exit ? cause : NULL),
		[NESTED] = table_optional(is_exit, moment->nested),
		[UNSPLIT] = table_optional(is_exit, moment->unsplit),
		[WHO] = table_optional_name(has_who ? what : NULL),
		[WHO_TIME] = table_optional(has_who, moment->who_ns),
		[OWN] = table_optional(is_steal && virt_model_is_own(report->load->model,
								    moment->vcpu, moment->who),
				       true),
		[PARTS] = is_steal ? table_members(parts_members, &written) : table_absent(),
		[FROM_PCPU] = table_optional(is_move, moment->from_pcpu),
		[RECORDS] = table_optional(moment->kind == VIRT_WORST_LOST,
					   moment->records ? (int64_t)moment->records : VIRT_NONE),
		[VECTOR] = table_optional(moment->vector != VIRT_NONE, moment->vector),
		[IRQ_NAME] = table_optional_name(is_irq && *what ? what : NULL),
		[IRQ_EVENT] = table_optional_name(is_irq ? entry->event : NULL),
		[CHAIN] = is_wake ? table_list(steps, step_cells(steps, entry)) : table_absent(),
		[EVENT] = table_name(entry->event),
		[EVENT_TIME] = table_optional(event_ns != VIRT_NO_TIME, event_ns),
		[BEGUN] = table_number(moment->begun),
		[WHOLE_MACHINE] = table_optional(moment->kind == VIRT_WORST_OFFLINE,
						 moment->whole_machine),
		[TASK] = table_name(task),
		[TASK_TIME] = table_optional(has_task, task_ns),
		[TSC_OFFSET] = table_optional_name(offset_text(offset, sizeof(offset), moment)),
		[TSC_JUMP] = table_optional(jumps, jumps ? virt_tsc_jump(moment->tsc) : 0),
		[ARGUMENT] = table_name(argument),
		[CAUSE] = table_name(cause),
		[HELD] = table_optional(has_hold, moment->held_ns),
		[POSSIBLE] = table_optional(has_hold, moment->possible_ns),
	};

	state_cells(cells, &written);
	table_row(to, cells);
}

/** The kinds that this trace cannot show: moments of them may have happened. */
static void json_not_visible(struct json *json, const struct report *report, unsigned int kinds)
{
	unsigned int hidden = kinds & ~report_worst_visible(report, kinds);

	json_open(json, "not_visible", '[', true);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (hidden >> kind & 1)
			json_str(json, NULL, virt_worst_kind_name((enum virt_worst_kind)kind));
	json_close(json, ']');
}

static void list_rows(struct table_writer *to, const struct report *report,
		      const struct list *list, bool first)
{
	char states[VIRT_N_STATES][32];
	struct table_column columns[N_COLUMNS];
	const struct table table = {
		.rows = { .key = "worst", .columns = columns, .n = N_COLUMNS },
	};
	struct entry entry;

	make_columns(columns, states);
	to->table = &table;
	table_flat(to, first);
	for (size_t i = 0; i < list->n; i++)
		if (describe(report, list, i, &entry))
			entry_row(to, report, &entry);
	table_flat_end(to);
}

static void list_json(struct output *out, const struct report *report, const struct list *list,
		      unsigned int kinds)
{
	struct json json;
	struct table_writer to = { .format = &table_json, .json = &json };

	json_document(&json, out);
	json_str(&json, "file", report->file);
	json_window(&json, report->from_ns, report->to_ns);
	json_warnings(&json, &report->load->notes);
	report_lacks_facts(&(struct facts){ .json = &json }, report);
	json_not_visible(&json, report, kinds);
	list_rows(&to, report, list, true);
	report_page_end(&json);
}

int report_worst_write(enum table_format_kind format, struct output *out,
		       const struct report *report, const struct ksv_vcpu_set *vcpus,
		       const struct report_worst *worst, bool first)
{
	struct table_writer csv = { .format = &table_csv, .out = out, .file = report->file };
	struct list list;
	int ret = find(report, vcpus, worst, &list);

	if (ret)
		return ret;
	if (format == TABLE_TEXT)
		list_text(out, report, &list, worst->kinds, first);
	else if (format == TABLE_JSON)
		list_json(out, report, &list, worst->kinds);
	else
		list_rows(&csv, report, &list, first);
	free_list(&list);
	return 0;
}
