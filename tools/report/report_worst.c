// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_worst.c
 * @brief	kshark-virt report --worst: a list of the worst moments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_durations.h"
#include "json_writer.h"
#include "report_delivery.h"
#include "report_parts.h"
#include "report_unknown.h"
#include "report_worst.h"
#include "text_columns.h"
#include "virt_finding.h"
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
	struct virt_worst	*index;
	struct virt_worst_hit	*hits;
	size_t			n;
};

static void free_list(struct list *list)
{
	virt_worst_free(list->index);
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

static bool sees_irqs(const struct report *report)
{
	return report->delivery && !report->delivery->missing;
}

/** Moments whose records the trace does not have cannot be found, nor what they cost. */
static bool is_visible(const struct report *report, int kind)
{
	return report_knows(report, virt_number_of_worst((enum virt_worst_kind)kind));
}

unsigned int report_worst_visible(const struct report *report, unsigned int kinds)
{
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (!is_visible(report, kind))
			kinds &= ~(1u << kind);
	return kinds;
}

static int find(const struct report *report, const struct ksv_vcpu_set *vcpus,
		const struct report_worst *worst, struct list *list)
{
	struct virt_worst_query query = {
		.from_ns = report->from_ns, .to_ns = report->to_ns,
		.kinds = report_worst_visible(report, worst->kinds),
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
	list->index = virt_worst_new(report->load->model, false,
				     report->delivery ? report->delivery->irqs.all : NULL,
				     report->delivery ? report->delivery->irqs.n : 0);
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

static void put_after(struct output *out, const char *before, const char *text)
{
	out_str(out, before);
	out_str(out, text);
}

static void put_duration(struct output *out, const char *before, int64_t ns)
{
	char text[32];

	format_duration(text, sizeof(text), ns);
	put_after(out, before, text);
}

static void put_states(struct output *out, const struct virt_moment *moment)
{
	for (int state = 0; state < VIRT_N_STATES; state++) {
		if (!moment->state_ns[state])
			continue;
		put_after(out, ", ", virt_state_name((enum virt_state)state));
		put_duration(out, " ", moment->state_ns[state]);
	}
}

/** What of the time asleep is a cost. */
static void put_unasked(struct output *out, const struct report *report,
			const struct virt_moment *moment)
{
	bool xen = report->load->host.xen;
	int64_t other_ns = moment->unasked_ns - moment->unasked_vmm_ns;

	if (moment->unasked_vmm_ns)
		put_duration(out, ", of this vmm ", moment->unasked_vmm_ns);
	if (other_ns)
		put_duration(out, xen ? ", of this device model " : ", of this asleep ", other_ns);
}

/** What follows when the vCPU is on its pCPU, step by step. */
static void put_chain(struct output *out, const struct virt_wake_chain *chain, const char *event)
{
	int64_t last = chain->event_ns;

	if (chain->entry_ns == VIRT_NO_TIME || chain->in_ns == VIRT_NO_TIME)
		return;
	if (chain->entry_ns == chain->in_ns)
		out_str(out, ", guest code at once");
	else
		put_duration(out, ", entry + ", chain->entry_ns - chain->in_ns);
	if (last == VIRT_NO_TIME)
		last = chain->entry_ns;
	else
		put_duration(out, ", first event of the guest + ", last - chain->entry_ns);
	if (chain->event_ns != VIRT_NO_TIME && *event) {
		out_str(out, " (");
		out_text(out, event);
		out_char(out, ')');
	}
	put_duration(out, last > chain->in_ns ? ", in all " : ", after ", last - chain->wake_ns);
}

/** A wait that was moved: for which pCPUs it was, one after the other. */
static void put_parts(struct output *out, const struct report *report,
		      const struct virt_moment *moment)
{
	const struct virt_model *model = report->load->model;
	struct virt_wait_part part = { .to_ns = VIRT_NO_TIME };
	int n = 0;

	if (!virt_wait_longest_part(model, moment, &part))
		return;
	part.to_ns = VIRT_NO_TIME;
	for (; n < MAX_PARTS && virt_wait_next_part(model, moment, &part); n++) {
		out_str(out, n ? ", " : "; it waits for ");
		if (part.pcpu < 0)
			out_str(out, "an unknown pCPU");
		else
			out_printf(out, "p%d", part.pcpu);
		put_duration(out, " for ", part.to_ns - part.from_ns);
		out_str(out, " (");
		out_text(out, virt_model_culprit(model, part.who));
		put_duration(out, " ", part.who_ns);
		out_char(out, ')');
	}
	if (part.to_ns < moment->end_ns)
		out_str(out, ", ...");
}

static void json_parts(struct json *json, const struct report *report,
		       const struct virt_moment *moment)
{
	const struct virt_model *model = report->load->model;
	struct virt_wait_part part = { .to_ns = VIRT_NO_TIME };

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

static void put_what(struct output *out, const struct report *report, const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	char text[80];

	switch (moment->kind) {
	case VIRT_WORST_EXIT:
		out_text(out, entry->row.what);
		put_states(out, moment);
		put_unasked(out, report, moment);
		if (moment->nested)
			out_str(out, ", out of a nested guest");
		if (moment->unsplit)
			out_str(out, ", waits not split");
		break;
	case VIRT_WORST_STEAL:
		out_text(out, entry->row.what);
		if (virt_model_is_own(report->load->model, moment->vcpu, moment->who))
			out_str(out, ", its own machine's,");
		put_duration(out, " had the pCPU for ", moment->who_ns);
		report_moment_tasks_text(out, report, moment);
		put_parts(out, report, moment);
		break;
	case VIRT_WORST_MIGRATION:
		snprintf(text, sizeof(text), "p%d -> p%d, gap ", moment->from_pcpu, moment->pcpu);
		put_duration(out, text, moment->end_ns - moment->start_ns);
		put_states(out, moment);
		put_unasked(out, report, moment);
		break;
	case VIRT_WORST_IRQ:
		report_vector(text, sizeof(text), report, moment->vcpu, moment->vector);
		put_after(out, "vector ", text);
		put_states(out, moment);
		out_str(out, ", handler seen by ");
		out_text(out, *entry->event ? entry->event : "the guest");
		break;
	case VIRT_WORST_OFFLINE:
		out_text(out, entry->row.what);
		break;
	case VIRT_WORST_TSC:
		if (moment->tsc->has_before)
			out_printf(out, "%+lld cycles: ", (long long)virt_tsc_jump(moment->tsc));
		out_printf(out, "the host's plus 0x%llx",
			   (unsigned long long)moment->tsc->offset);
		break;
	case VIRT_WORST_LOST:
		snprintf(text, sizeof(text), "%llu records",
			 (unsigned long long)moment->records);
		out_str(out, moment->records ? text : "an unknown number of records");
		break;
	default:
		out_str(out, "until it ran");
		put_chain(out, &entry->chain, entry->event);
	}
	if (moment->entry_ns != VIRT_NO_TIME && moment->kind != VIRT_WORST_EXIT &&
	    moment->kind != VIRT_WORST_WAKE)
		put_duration(out, moment->entry_ns == moment->end_ns ?
			     ", guest code at once, after " : ", guest code after ",
			     moment->entry_ns - moment->start_ns);
	if (!moment->begun)
		out_str(out, ", its beginning is not in the trace");
	if (!moment->complete)
		out_str(out, ", its end is not in the trace");
	out_char(out, '\n');
}

static void put_entry(struct output *out, const struct report *report,
		      const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	const char *kind = virt_worst_kind_name(moment->kind);
	char text[32];

	out_str(out, "  ");
	format_duration(text, sizeof(text), moment->cost_ns);
	out_right(out, text, strlen(text), 10);
	out_str(out, "  ");
	out_left(out, kind, strlen(kind), 9);
	out_char(out, ' ');
	out_ns(out, entry->row.time_ns, 16);
	out_str(out, "  ");
	out_text_left(out, entry->row.vcpu, 8);
	*text = '\0';
	if (moment->pcpu >= 0)
		snprintf(text, sizeof(text), "p%d", moment->pcpu);
	out_char(out, ' ');
	out_left(out, text, strlen(text), 5);
	out_char(out, ' ');
	put_what(out, report, entry);
}

int report_worst_text(struct output *out, const struct report *report,
		      const struct ksv_vcpu_set *vcpus, const struct report_worst *worst,
		      bool first)
{
	char advice[VIRT_ADVICE_SIZE];
	struct entry entry;
	struct list list;
	int ret = find(report, vcpus, worst, &list);

	if (ret)
		return ret;
	out_str(out, first ? "" : "\n");
	out_text(out, report->file);
	out_char(out, '\n');
	report_lacks_text(out, report);
	out_str(out, "        cost  kind              at [s]  vCPU     pCPU  what\n");
	for (size_t i = 0; i < list.n; i++)
		if (describe(report, &list, i, &entry))
			put_entry(out, report, &entry);
	if (!list.n && report_worst_visible(report, worst->kinds))
		out_str(out, "  nothing of this kind\n");
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		if (!(worst->kinds >> kind & 1) || is_visible(report, kind))
			continue;
		virt_model_advice(report->load->model,
				  virt_number_of_worst((enum virt_worst_kind)kind), advice,
				  sizeof(advice));
		out_printf(out, "  %s: unknown, as %s\n",
			   virt_worst_kind_name((enum virt_worst_kind)kind), advice);
	}
	free_list(&list);
	return 0;
}

/* --- JSON and CSV ---------------------------------------------------------------------------- */

static void json_step(struct json *json, const char *step, int64_t time_ns, int64_t since_ns,
		      const char *event)
{
	if (time_ns == VIRT_NO_TIME)
		return;
	json_open(json, NULL, '{', true);
	json_str(json, "step", step);
	json_i64(json, "time_ns", time_ns);
	json_i64(json, "after_ns", time_ns - since_ns);
	if (*event)
		json_str(json, "event", event);
	json_close(json, '}');
}

/** Each step with its time since the one before. */
static void json_chain(struct json *json, const struct virt_wake_chain *chain, const char *event)
{
	json_open(json, "chain", '[', true);
	json_step(json, "wake-up", chain->wake_ns, chain->wake_ns, "");
	json_step(json, "in", chain->in_ns, chain->wake_ns, "");
	if (chain->in_ns != VIRT_NO_TIME) {
		json_step(json, "entry", chain->entry_ns, chain->in_ns, "");
		json_step(json, "guest", chain->event_ns, chain->entry_ns, event);
	}
	json_close(json, ']');
}

/** More than other programs' numbers can hold. */
static void json_offset(struct json *json, int64_t offset)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)offset);
	json_str(json, "tsc_offset", text);
}

static void json_entry(struct json *json, const struct report *report, const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	struct virt_wait_part part;

	json_open(json, NULL, '{', true);
	json_str(json, "kind", virt_worst_kind_name(moment->kind));
	json_i64(json, "time_ns", entry->row.time_ns);
	json_i64(json, "cost_ns", moment->cost_ns);
	if (*entry->row.vcpu)
		json_str(json, "vcpu", entry->row.vcpu);
	if (moment->pcpu >= 0)
		json_i64(json, "pcpu", moment->pcpu);
	json_i64(json, "start_ns", moment->start_ns);
	json_i64(json, "end_ns", moment->end_ns);
	json_bool(json, "begun", moment->begun);
	json_bool(json, "complete", moment->complete);
	if (moment->entry_ns != VIRT_NO_TIME)
		json_i64(json, "entry_ns", moment->entry_ns);
	if (moment->kind == VIRT_WORST_EXIT) {
		json_str(json, "reason", entry->row.what);
		json_bool(json, "nested", moment->nested);
		json_bool(json, "unsplit", moment->unsplit);
	} else if (moment->kind == VIRT_WORST_STEAL) {
		json_str(json, "who", entry->row.what);
		json_i64(json, "who_ns", moment->who_ns);
		if (virt_model_is_own(report->load->model, moment->vcpu, moment->who))
			json_bool(json, "own", true);
		report_moment_tasks_json(json, report, moment);
		if (virt_wait_longest_part(report->load->model, moment, &part))
			json_parts(json, report, moment);
	} else if (moment->kind == VIRT_WORST_MIGRATION) {
		json_i64(json, "from", moment->from_pcpu);
	} else if (moment->kind == VIRT_WORST_IRQ) {
		json_i64(json, "vector", moment->vector);
		if (*entry->row.what)
			json_str(json, "name", entry->row.what);
		json_str(json, "event", entry->event);
	} else if (moment->kind == VIRT_WORST_WAKE) {
		json_chain(json, &entry->chain, entry->event);
	} else if (moment->kind == VIRT_WORST_LOST) {
		json_u64(json, "records", moment->records);
	} else if (moment->kind == VIRT_WORST_OFFLINE) {
		json_bool(json, "whole_machine", moment->whole_machine);
	} else if (moment->kind == VIRT_WORST_TSC) {
		json_offset(json, moment->tsc->offset);
		if (moment->tsc->has_before)
			json_i64(json, "tsc_jump", virt_tsc_jump(moment->tsc));
	}
	json_open(json, "states_ns", '{', true);
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (moment->state_ns[state])
			json_i64(json, virt_state_name((enum virt_state)state),
				 moment->state_ns[state]);
	json_close(json, '}');
	if (moment->unasked_ns)
		json_i64(json, "unasked_ns", moment->unasked_ns);
	if (moment->unasked_vmm_ns)
		json_i64(json, "unasked_vmm_ns", moment->unasked_vmm_ns);
	json_close(json, '}');
}

int report_worst_json(struct output *out, const struct report *report,
		      const struct ksv_vcpu_set *vcpus, const struct report_worst *worst,
		      bool first)
{
	struct entry entry;
	struct json json;
	struct list list;
	int ret = find(report, vcpus, worst, &list);

	(void)first;
	if (ret)
		return ret;
	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	json_str(&json, "file", report->file);
	json_window(&json, report->from_ns, report->to_ns);
	json_warnings(&json, &report->load->notes);
	report_lacks_json(&json, report);
	/* what cannot be seen in this trace is not what did not happen */
	json_open(&json, "not_visible", '[', true);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (worst->kinds >> kind & 1 && !is_visible(report, kind))
			json_str(&json, NULL, virt_worst_kind_name((enum virt_worst_kind)kind));
	if (worst->kinds >> VIRT_WORST_IRQ & 1 && !sees_irqs(report))
		json_str(&json, NULL, virt_worst_kind_name(VIRT_WORST_IRQ));
	if (worst->kinds >> VIRT_WORST_TSC & 1 && report->load->host.xen)
		json_str(&json, NULL, virt_worst_kind_name(VIRT_WORST_TSC));
	json_close(&json, ']');
	json_open(&json, "worst", '[', false);
	for (size_t i = 0; i < list.n; i++)
		if (describe(report, &list, i, &entry))
			json_entry(&json, report, &entry);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
	free_list(&list);
	return 0;
}

static void csv_number(struct output *out, int64_t value, bool known)
{
	out_char(out, ',');
	if (known)
		out_i64(out, value);
}

/** Of the culprit: the one that had most of its time. */
static void csv_task(struct output *out, const struct report *report,
		     const struct virt_moment *moment)
{
	char task[GUEST_TASK_NAME] = "";
	int64_t ns = 0;
	bool known = report_moment_task(report, moment, task, sizeof(task), &ns);

	out_char(out, ',');
	out_csv(out, task, strlen(task));
	csv_number(out, ns, known);
}

static void csv_entry(struct output *out, const struct report *report, const struct entry *entry)
{
	const struct virt_moment *moment = &entry->row.moment;
	bool migrated = moment->kind == VIRT_WORST_MIGRATION;

	out_csv(out, report->file, strlen(report->file));
	put_after(out, ",", virt_worst_kind_name(moment->kind));
	csv_number(out, entry->row.time_ns, true);
	csv_number(out, moment->cost_ns, true);
	out_char(out, ',');
	out_csv(out, entry->row.vcpu, strlen(entry->row.vcpu));
	csv_number(out, moment->pcpu, moment->pcpu >= 0);
	csv_number(out, moment->start_ns, true);
	csv_number(out, moment->end_ns, true);
	csv_number(out, moment->complete, true);
	csv_number(out, moment->entry_ns, moment->entry_ns != VIRT_NO_TIME);
	out_char(out, ',');
	out_csv(out, entry->row.what, strlen(entry->row.what));
	csv_number(out, moment->who_ns, moment->kind == VIRT_WORST_STEAL);
	csv_number(out, moment->from_pcpu, migrated);
	csv_number(out, (int64_t)moment->records, moment->kind == VIRT_WORST_LOST);
	for (int state = 0; state < VIRT_N_STATES; state++)
		csv_number(out, moment->state_ns[state], moment->kind != VIRT_WORST_LOST &&
			   moment->kind != VIRT_WORST_TSC);
	csv_number(out, moment->vector, moment->vector != VIRT_NONE);
	out_char(out, ',');
	out_csv(out, entry->event, strlen(entry->event));
	csv_number(out, entry->chain.event_ns, moment->kind == VIRT_WORST_WAKE &&
		   entry->chain.event_ns != VIRT_NO_TIME);
	csv_number(out, moment->begun, true);
	csv_number(out, moment->unasked_ns, true);
	csv_number(out, moment->unasked_vmm_ns, true);
	csv_task(out, report, moment);
	csv_number(out, moment->tsc && moment->tsc->has_before ? virt_tsc_jump(moment->tsc) : 0,
		   moment->tsc && moment->tsc->has_before);
	out_char(out, '\n');
}

int report_worst_csv(struct output *out, const struct report *report,
		     const struct ksv_vcpu_set *vcpus, const struct report_worst *worst,
		     bool first)
{
	struct entry entry;
	struct list list;
	int ret = find(report, vcpus, worst, &list);

	if (ret)
		return ret;
	if (first) {
		out_str(out, "file,kind,time_ns,cost_ns,vcpu,pcpu,start_ns,end_ns,complete,"
			"entry_ns,what,who_ns,from_pcpu,records");
		for (int state = 0; state < VIRT_N_STATES; state++) {
			put_after(out, ",", virt_state_name((enum virt_state)state));
			out_str(out, "_ns");
		}
		out_str(out, ",vector,event,event_ns,begun,unasked_ns,unasked_vmm_ns,task,"
			"task_ns,tsc_jump\n");
	}
	for (size_t i = 0; i < list.n; i++)
		if (describe(report, &list, i, &entry))
			csv_entry(out, report, &entry);
	free_list(&list);
	return 0;
}
