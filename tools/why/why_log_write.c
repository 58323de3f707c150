// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_log_write.c
 * @brief	Verdicts about warnings of guests' kernels, as text and JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "array.h"
#include "table.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "why_log.h"

/* --- what is known ---------------------------------------------------------------------------- */

/** States whose time is in that of a part, as the trace does not distinguish them. */
static unsigned int part_includes(const struct virt_model *model, enum virt_verdict_part part)
{
	unsigned int in = virt_model_includes(model, VIRT_HYPERVISOR);

	switch (part) {
	case VIRT_VERDICT_HYPERVISOR:
		return in & ~(1U << VIRT_POLLING);
	case VIRT_VERDICT_HALTS:
		/* KVM polls for a guest that wants to wait */
		return in & 1U << VIRT_POLLING;
	default:
		return 0;
	}
}

static bool knows_both(const struct virt_model *model, enum virt_number a, enum virt_number b)
{
	return virt_model_knows(model, a) && virt_model_knows(model, b);
}

/** Can the trace show how long a part lasted, perhaps with part_includes()? */
static bool knows_part(const struct virt_model *model, enum virt_verdict_part part)
{
	switch (part) {
	case VIRT_VERDICT_RUNS:
		return virt_model_knows(model, VIRT_NUMBER_GUEST);
	case VIRT_VERDICT_PREEMPTED:
		return virt_model_knows(model, VIRT_NUMBER_PREEMPTED);
	case VIRT_VERDICT_WAKING:
		return virt_model_knows(model, VIRT_NUMBER_WAKING);
	case VIRT_VERDICT_HYPERVISOR:
	case VIRT_VERDICT_HALTS:
		/* without switches, all time until the VM entry is in it */
		return knows_both(model, VIRT_NUMBER_HYPERVISOR, VIRT_NUMBER_PREEMPTED);
	case VIRT_VERDICT_VMM:
		return knows_both(model, VIRT_NUMBER_VMM, VIRT_NUMBER_PREEMPTED);
	case VIRT_VERDICT_POLLING:
		return virt_model_knows(model, VIRT_NUMBER_POLLING);
	case VIRT_VERDICT_ANSWER:
		/* the monitor gives it */
		return knows_both(model, VIRT_NUMBER_BLOCKED, VIRT_NUMBER_EXITS) &&
		       (virt_model_hypervisor(model) != VIRT_KVM ||
			virt_model_has_recorded(model, VIRT_RECORD_MONITOR));
	case VIRT_VERDICT_HELD:
	case VIRT_VERDICT_ASLEEP:
		/* the last VM exit shows whether the guest asked for it */
		return knows_both(model, VIRT_NUMBER_BLOCKED, VIRT_NUMBER_EXITS);
	case VIRT_VERDICT_LIMIT:
		return virt_model_knows_holds(model);
	case VIRT_VERDICT_STOPPED:
	case VIRT_VERDICT_PAUSED:
		return virt_model_knows(model, VIRT_NUMBER_OFFLINE);
	default:
		return true;
	}
}

/** The same of all parts of a side; what another part of it includes does not matter. */
static bool knows_side(const struct virt_model *model, enum virt_verdict_side side)
{
	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++) {
		enum virt_verdict_part part = (enum virt_verdict_part)i;

		/* what is not known of a limit is in other parts of the host's */
		if ((part == VIRT_VERDICT_POLLING && part_includes(model, VIRT_VERDICT_HALTS)) ||
		    part == VIRT_VERDICT_LIMIT)
			continue;
		if (virt_verdict_side_of(part) == side && !knows_part(model, part))
			return false;
	}
	return true;
}

/** Is the largest part of the host's known? A part that has half of the window is it. */
static bool knows_largest(const struct virt_model *model, const struct virt_verdict *verdict)
{
	return knows_side(model, VIRT_VERDICT_BY_HOST) ||
	       (knows_part(model, (enum virt_verdict_part)verdict->part) &&
		verdict->ns[verdict->part] > (verdict->to_ns - verdict->from_ns) / 2);
}

/** Are VM exits known, with the time of the host that they took? */
static bool knows_exits(const struct virt_model *model)
{
	return knows_part(model, VIRT_VERDICT_HYPERVISOR) && knows_part(model, VIRT_VERDICT_VMM) &&
	       knows_part(model, VIRT_VERDICT_ANSWER);
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_place(struct output *out, const struct virt_model *model,
		      const struct why_finding *finding)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, finding->vcpu);
	const char *machine = virt_model_machine(model, finding->log->machine)->name;

	out_text(out, vcpu && !finding->is_machine ? vcpu->name : machine);
	if (!vcpu && finding->warning->cpu >= 0)
		out_printf(out, " CPU %d", finding->warning->cpu);
	out_printf(out, ", %s",
		   guest_log_kind_words((enum guest_log_kind)finding->warning->kind));
	if (!finding->has_time)
		return;
	out_str(out, " at ");
	out_ns(out, finding->time_ns, 0);
	out_str(out, " s");
}

/** "; db v0 had its pCPU for 12.3 s, ..."; @list: culprits or exit reasons */
static void put_list(struct output *out, const struct virt_culprit *list, size_t n,
		     const char *(*name)(const struct virt_model *model, int32_t number),
		     const struct virt_model *model, const char *before, const char *between)
{
	for (size_t i = 0; i < n; i++)
		out_sentence(out, "%s%s%s%s", i ? ", " : before, name(model, list[i].vcpu),
			     i ? " for " : between, why_duration(list[i].ns).text);
}

/** Why the host kept it from running: the largest part. */
static void put_cause(struct output *out, const struct virt_model *model,
		      const struct virt_verdict *verdict)
{
	if (!knows_largest(model, verdict)) {
		out_str(out, "; the trace does not show all of the reasons");
		return;
	}
	out_printf(out, ": %s", virt_verdict_part_words((enum virt_verdict_part)verdict->part));
	switch (verdict->part) {
	case VIRT_VERDICT_PREEMPTED:
		if (!virt_model_knows(model, VIRT_NUMBER_CULPRITS))
			break;
		put_list(out, verdict->culprits, verdict->n_culprits, virt_model_culprit, model,
			 "; ", " had its pCPU for ");
		if (verdict->n_culprits && verdict->culprits[0].vcpu == VIRT_NONE)
			out_str(out, "; so its own limit (quota, cap) or the scheduler kept it "
				"waiting");
		break;
	case VIRT_VERDICT_STOPPED:
	case VIRT_VERDICT_PAUSED:
		if (verdict->signal_ns > verdict->ns[verdict->part] / 2)
			out_str(out, ", stopped by a signal or a debugger");
		break;
	case VIRT_VERDICT_HYPERVISOR:
	case VIRT_VERDICT_VMM:
	case VIRT_VERDICT_ANSWER:
		if (!knows_exits(model))
			break;
		put_list(out, verdict->reasons, verdict->n_reasons, virt_model_reason, model,
			 "; VM exits: ", " for ");
		break;
	default:
		break;
	}
}

/** In front of the time of a side: what is not known may be more of it, or a part of that. */
static const char *bound(const struct virt_model *model, enum virt_verdict_side side)
{
	return knows_side(model, side) ? "" :
	       side == VIRT_VERDICT_BY_GUEST && virt_model_includes(model, VIRT_GUEST) ?
	       "at most " : "at least ";
}

/** "the host kept web v1 from running for 21 s of 22 s" */
static void put_kept(struct output *out, const struct virt_model *model, const char *who,
		     const struct virt_verdict *verdict)
{
	out_sentence(out, "the host kept %s from running for %s%s of %s", who,
		     bound(model, VIRT_VERDICT_BY_HOST),
		     why_duration(verdict->side_ns[VIRT_VERDICT_BY_HOST]).text,
		     why_duration(verdict->to_ns - verdict->from_ns).text);
}

/** A vCPU that runs or sleeps can wait for another one that the host keeps from running. */
static void put_others(struct output *out, const struct virt_model *model,
		       const struct virt_verdict *verdict)
{
	const struct virt_vcpu *other = virt_model_vcpu(model, verdict->other);
	int64_t matters_ns = (verdict->to_ns - verdict->from_ns) / 10;

	if (!other)
		return;
	if (verdict->others_most_ns <= matters_ns && knows_side(model, VIRT_VERDICT_BY_HOST))
		out_printf(out, ", and the host kept no other vCPU of this machine from running "
			   "for longer than %s", why_duration(verdict->others_most_ns).text);
	else if (verdict->other_ns <= matters_ns)
		out_str(out, "; the trace does not show whether the host kept another vCPU of "
			"this machine from running, for which the guest may have waited");
	else
		out_sentence(out, "; but the host kept %s from running for %s%s, for which the "
			     "guest may have waited", other->name,
			     bound(model, VIRT_VERDICT_BY_HOST),
			     why_duration(verdict->other_ns).text);
}

static void put_verdict(struct output *out, const struct virt_model *model,
			const struct why_finding *finding)
{
	const struct virt_verdict *verdict = &finding->verdict;
	const char *who = virt_model_vcpu(model, verdict->vcpu)->name;
	struct why_duration all = why_duration(verdict->to_ns - verdict->from_ns);
	struct why_duration ran = why_duration(verdict->side_ns[VIRT_VERDICT_BY_GUEST]);

	switch (verdict->word) {
	case VIRT_VERDICT_HOST:
		put_kept(out, model, who, verdict);
		put_cause(out, model, verdict);
		break;
	case VIRT_VERDICT_RAN:
		out_sentence(out, "%s executed guest code for %s%s of %s", who,
			     bound(model, VIRT_VERDICT_BY_GUEST), ran.text, all.text);
		put_others(out, model, verdict);
		break;
	case VIRT_VERDICT_SLEPT:
		out_sentence(out, "%s slept for %s%s of %s, as its guest asked", who,
			     bound(model, VIRT_VERDICT_BY_WISH),
			     why_duration(verdict->side_ns[VIRT_VERDICT_BY_WISH]).text, all.text);
		put_others(out, model, verdict);
		break;
	case VIRT_VERDICT_BOTH:
		put_kept(out, model, who, verdict);
		put_cause(out, model, verdict);
		out_printf(out, "; it executed guest code for %s%s",
			   bound(model, VIRT_VERDICT_BY_GUEST), ran.text);
		break;
	case VIRT_VERDICT_NOT_HOST:
		put_kept(out, model, who, verdict);
		out_str(out, ", and no vCPU of this machine for more than a tenth of that: look "
			"for a lock or a request to a device that the guest waits for");
		break;
	default:
		out_printf(out, "the trace does not cover it: %s of %s are not known",
			   why_duration(verdict->side_ns[VIRT_VERDICT_BY_UNKNOWN]).text, all.text);
		break;
	}
}

/** Why there is no verdict. */
static const char *const problems[] = {
	[WHY_LOG_NO_TIME] = "the line has no time",
	[WHY_LOG_NO_PLACE] =
	("the place of this line on the time axis of the trace is not known; --log-offset sets "
	 "it, or an aligned trace of the guest with the clock perf"),
	[WHY_LOG_OTHER_BOOT] =
	("the guest booted again later in the log, and the place on the time axis of the trace "
	 "is known since then"),
	[WHY_LOG_NO_SPAN] = "the message does not say for how long",
	[WHY_LOG_NO_VCPU] = "the trace does not have this vCPU",
};

static void put_share(struct output *out, int64_t ns, int64_t all_ns, const char *words)
{
	out_printf(out, "%20s  %5.1f %%  %s\n", why_duration(ns).text,
		   100.0 * (double)ns / (double)all_ns, words);
}

static void put_part(struct output *out, const struct virt_model *model,
		     const struct virt_verdict *verdict, enum virt_verdict_part part)
{
	char words[256], names[VIRT_STATE_NAMES];
	unsigned int in = part_includes(model, part);

	snprintf(words, sizeof(words), "%s%s%s", virt_verdict_part_words(part),
		 in ? "; includes " : "", virt_state_names(in, " and ", names, sizeof(names)));
	if (!knows_part(model, part))
		out_printf(out, "%20s  %7s  %s\n", "-", "-", words);
	else if (verdict->ns[part])
		put_share(out, verdict->ns[part], verdict->to_ns - verdict->from_ns, words);
}

/** The parts of the window, which add up to it. */
static void put_parts(struct output *out, const struct virt_model *model,
		      const struct virt_verdict *verdict, bool is_default)
{
	int64_t all_ns = verdict->to_ns - verdict->from_ns;

	out_str(out, "              length    share  from ");
	out_ns(out, verdict->from_ns, 0);
	out_str(out, " to ");
	out_ns(out, verdict->to_ns, 0);
	out_str(out, is_default ? " s, the default of Linux, as the message has no time\n" :
				  " s, as the message says\n");
	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++)
		put_part(out, model, verdict, (enum virt_verdict_part)i);
	put_share(out, all_ns, all_ns, "in all");
}

static void put_line(void *arg, const struct why_line *line)
{
	why_put_line(arg, line);
}

void why_put_finding(const struct why_writing *writing, const struct virt_model *model,
		     const struct why_finding *finding, const struct why_answer *answer,
		     bool first)
{
	struct output *out = writing->out;

	out_str(out, first ? "" : "\n");
	out_style(out, OUT_HEAD);
	out_text(out, writing->file);
	out_str(out, ": ");
	put_place(out, model, finding);
	out_style(out, OUT_PLAIN);
	out_str(out, "\n  ");
	out_text(out, finding->log->path);
	out_printf(out, ":%" PRIu64 ": ", finding->warning->line);
	out_text(out, finding->warning->text);
	if (finding->warning->clock == GUEST_LOG_JOURNAL)
		out_str(out, "\n  time: when the journal got the line, which can be later");
	out_str(out, "\n  verdict: ");
	if (finding->problem != WHY_LOG_JUDGED) {
		out_printf(out, "none: %s\n", problems[finding->problem]);
		return;
	}
	put_verdict(out, model, finding);
	if (finding->is_machine && finding->verdict.word == VIRT_VERDICT_NOT_COVERED)
		out_sentence(out, " (the warning names no CPU: the host can have kept %s longest)",
			     virt_model_vcpu(model, finding->verdict.vcpu)->name);
	else if (finding->is_machine && finding->verdict.word != VIRT_VERDICT_NOT_HOST)
		out_str(out, " (the warning names no CPU: the host kept this one longest)");
	out_char(out, '\n');
	put_parts(out, model, &finding->verdict, finding->warning->is_default);
	if (!answer)
		return;
	out_str(out, "          from [s]           length  the longest time at once that the host "
		"kept it, and the records that show it\n");
	why_each_line(&answer->why, put_line, (void *)writing);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const struct table_column culprit_columns[] = {
	{ .key = "who" },
	{ .key = "total_ns", .type = TABLE_NS },
};

static const struct table_column exit_columns[] = {
	{ .key = "reason" },
	{ .key = "total_ns", .type = TABLE_NS },
};

/** What has cost time: its name, and how much. */
enum { N_COST = ARRAY_SIZE(culprit_columns) };

static const struct table_column verdict_columns[] = {
	{ .key = "window_ns", .type = TABLE_RANGE },
	{ .key = "verdict" },
	{ .key = "largest_part" },
	{ .key = "guest_ns", .type = TABLE_NS },
	{ .key = "host_ns", .type = TABLE_NS },
	{ .key = "asleep_ns", .type = TABLE_NS },
	{ .key = "unknown_ns", .type = TABLE_NS },
	{ .type = TABLE_MEMBERS, .key = "parts" },
	{ .key = "signal_ns", .type = TABLE_NS },
	{ .key = "hypervisor_includes" },
	{ .key = "halt_includes" },
	{ .key = "other" },
	{ .key = "other_host_ns", .type = TABLE_NS },
	{ .key = "culprits", .type = TABLE_LIST, .list = culprit_columns, .n_list = N_COST,
	  .lines = true },
	{ .key = "exits", .type = TABLE_LIST, .list = exit_columns, .n_list = N_COST,
	  .lines = true },
};

static struct table_cell name_or_unknown(const char *name)
{
	return name ? table_name(name) : table_unknown();
}

/** A duration, if it is known. */
static struct table_cell ns_cell(int64_t ns, bool known)
{
	return known ? table_number(ns) : table_unknown();
}

static struct table_cell side_cell(const struct virt_model *model,
				   const struct virt_verdict *verdict, enum virt_verdict_side side)
{
	return ns_cell(verdict->side_ns[side], knows_side(model, side));
}

static struct table_cell includes_cell(const struct virt_model *model, enum virt_verdict_part part,
				       char names[VIRT_STATE_NAMES])
{
	unsigned int in = part_includes(model, part);

	if (!in || !knows_part(model, part))
		return table_absent();
	return table_name(virt_state_names(in, "+", names, VIRT_STATE_NAMES));
}

/** @cells: room for those of the list */
static struct table_cell cost_list(struct table_cell *cells, const struct virt_culprit *list,
				   size_t n,
				   const char *(*name)(const struct virt_model *model,
						       int32_t number),
				   const struct virt_model *model)
{
	for (size_t i = 0; i < n; i++) {
		cells[N_COST * i] = name_or_unknown(name(model, list[i].vcpu));
		cells[N_COST * i + 1] = table_number(list[i].ns);
	}
	return table_list(cells, n);
}

/** A finding, and the trace that it is about. */
struct judged {
	const struct virt_model	*model;
	const struct virt_verdict *verdict;
};

static void parts_members(struct json *json, const void *of)
{
	const struct judged *judged = of;
	struct table_column columns[VIRT_VERDICT_N_PARTS];
	struct table_cell cells[VIRT_VERDICT_N_PARTS];
	char keys[VIRT_VERDICT_N_PARTS][32];

	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++) {
		enum virt_verdict_part part = (enum virt_verdict_part)i;

		snprintf(keys[i], sizeof(keys[i]), "%s_ns", virt_verdict_part_name(part));
		columns[i] = (struct table_column){ .key = keys[i], .type = TABLE_NS };
		cells[i] = ns_cell(judged->verdict->ns[i], knows_part(judged->model, part));
	}
	json_open(json, "parts", '{', false);
	table_json_members(json, columns, VIRT_VERDICT_N_PARTS, cells);
	json_close(json, '}');
}

static void verdict_members(struct json *json, const void *of)
{
	const struct judged *judged = of;
	const struct virt_model *model = judged->model;
	const struct virt_verdict *verdict = judged->verdict;
	const struct virt_vcpu *other = virt_model_vcpu(model, verdict->other);
	struct table_cell culprits[N_COST * ARRAY_SIZE(verdict->culprits)];
	struct table_cell exits[N_COST * ARRAY_SIZE(verdict->reasons)];
	char names[2][VIRT_STATE_NAMES];

	table_json_members(json, verdict_columns, ARRAY_SIZE(verdict_columns),
			   (const struct table_cell[ARRAY_SIZE(verdict_columns)]){
		table_range(verdict->from_ns, verdict->to_ns),
		table_name(virt_verdict_name((enum virt_verdict_word)verdict->word)),
		name_or_unknown(verdict->ns[verdict->part] && knows_largest(model, verdict) ?
				virt_verdict_part_name((enum virt_verdict_part)verdict->part) :
				NULL),
		side_cell(model, verdict, VIRT_VERDICT_BY_GUEST),
		side_cell(model, verdict, VIRT_VERDICT_BY_HOST),
		side_cell(model, verdict, VIRT_VERDICT_BY_WISH),
		side_cell(model, verdict, VIRT_VERDICT_BY_UNKNOWN),
		table_members(parts_members, judged),
		ns_cell(verdict->signal_ns, knows_part(model, VIRT_VERDICT_PAUSED)),
		includes_cell(model, VIRT_VERDICT_HYPERVISOR, names[0]),
		includes_cell(model, VIRT_VERDICT_HALTS, names[1]),
		table_optional_name(other ? other->name : NULL),
		!other ? table_absent() :
		ns_cell(verdict->other_ns, knows_side(model, VIRT_VERDICT_BY_HOST)),
		!virt_model_knows(model, VIRT_NUMBER_CULPRITS) ? table_unknown() :
		cost_list(culprits, verdict->culprits, verdict->n_culprits, virt_model_who, model),
		!knows_exits(model) ? table_unknown() :
		cost_list(exits, verdict->reasons, verdict->n_reasons, virt_model_reason, model),
	});
}

static const struct table_column finding_columns[] = {
	{ .key = "machine" },
	{ .key = "subject" },
	{ .key = "log" },
	{ .key = "line", .type = TABLE_COUNT },
	{ .key = "text" },
	{ .key = "warning" },
	{ .key = "cpu", .type = TABLE_COUNT },
	{ .key = "clock" },
	{ .key = "guest_time_ns", .type = TABLE_TIME },
	{ .key = "span_ns", .type = TABLE_TIME },
	{ .key = "span_is_default", .type = TABLE_FLAG },
	{ .key = "placed_by" },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "problem" },
	{ .key = "verdict", .type = TABLE_MEMBERS },
};

void why_json_finding(const struct why_writing *writing, const struct virt_model *model,
		      const struct why_finding *finding, const struct why_answer *answer,
		      bool first)
{
	const struct guest_log_warning *warning = finding->warning;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, finding->vcpu);
	const struct judged judged = { model, &finding->verdict };
	struct json *json = why_json_document();

	(void)first;
	json_open(json, NULL, '{', false);
	table_json_members(json, finding_columns, ARRAY_SIZE(finding_columns),
			   (const struct table_cell[ARRAY_SIZE(finding_columns)]){
		table_name(virt_model_machine(model, finding->log->machine)->name),
		name_or_unknown(vcpu ? vcpu->name : NULL), table_name(finding->log->path),
		table_number((int64_t)warning->line), table_name(warning->text),
		table_name(guest_log_kind_name((enum guest_log_kind)warning->kind)),
		ns_cell(warning->cpu, warning->cpu >= 0),
		table_name(guest_log_clock_name((enum guest_log_clock)warning->clock)),
		table_optional(warning->clock != GUEST_LOG_NO_CLOCK, warning->time_ns),
		table_number(warning->span_ns), table_number(warning->is_default),
		name_or_unknown(finding->has_time ? why_log_source_name(finding->log->source) :
				NULL),
		table_optional(finding->has_time, finding->time_ns),
		name_or_unknown(why_log_problem_name(finding->problem)),
		finding->problem == WHY_LOG_JUDGED ? table_members(verdict_members, &judged) :
		table_absent(),
	});
	if (answer)
		why_write_json_of(writing, "longest", answer);
	json_close(json, '}');
}
