// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_waits.c
 * @brief	kshark-virt report --waits: what vCPUs waited for, and who woke them.
 */
#include <errno.h>
#include <stdio.h>

#include "json_durations.h"
#include "report_delivery.h"
#include "report_page.h"
#include "text_columns.h"
#include "virt_waits.h"

/** A machine or one of its vCPUs; the waits of all of it. */
struct subject {
	const char	*machine, *vcpu;	/* names; @vcpu NULL: all of the machine */
	const struct virt_waits *waits;
	bool		last;			/* of its machine */
};

/**
 * Each machine, and behind it each of its vCPUs, one at a time, as very many need very much memory.
 *
 * Return: 0 or -ENOMEM.
 */
static int each_subject(const struct report *report,
			void (*tell)(void *arg, const struct report *report,
				     const struct subject *subject), void *arg)
{
	const struct virt_model *model = report->load->model;

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);
		int32_t last = machine->n_vcpus - 1;

		while (last >= 0 && !virt_window_walk_wants(report->walk, machine->vcpus[last]))
			last--;
		for (int32_t i = -1; i <= last && last >= 0; i++) {
			int32_t vcpu = i < 0 ? VIRT_NONE : machine->vcpus[i];
			struct subject subject = {
				.machine = machine->name, .last = i == last,
				.vcpu = i < 0 ? NULL : virt_model_who(model, vcpu),
			};
			struct virt_waits *waits;

			if (i >= 0 && !virt_window_walk_wants(report->walk, vcpu))
				continue;
			waits = virt_waits_new(model, &report->query, m, vcpu);
			if (!waits)
				return -ENOMEM;
			subject.waits = waits;
			tell(arg, report, &subject);
			virt_waits_free(waits);
		}
	}
	return 0;
}

static const char *cause_name(int cause)
{
	return virt_wake_cause_name((enum virt_wake_cause)cause);
}

/** Is there anything of it at all? */
static bool is_there(const struct virt_waited *waited)
{
	return waited->blocked.ns || waited->blocked.count || waited->blocked.before ||
	       waited->wakes;
}

/** Of what nobody knows it is always told how much it is. */
static bool is_told(const struct virt_waited *waited, int cause)
{
	return cause == VIRT_WAKE_UNKNOWN || is_there(waited);
}

/** Wake-ups as lengths; how much of them lies in the window is told of states. */
static struct virt_stretches wakes_of(const struct virt_waited *waited)
{
	return (struct virt_stretches){
		.ns = waited->latency.ns, .count = waited->wakes, .whole = waited->latency,
	};
}

/** Its name, with what else is known of it; "" for nobody. */
static const char *who_of(const struct report *report, const struct virt_wake *wake)
{
	return wake->who == VIRT_NONE ? "" : report_who(report, wake->who);
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_causes(struct output *out, const struct subject *subject)
{
	const char *name = subject->vcpu ? subject->vcpu : subject->machine;
	const struct virt_waits *waits = subject->waits;
	static const struct virt_waited nothing;

	out_str(out, "\n  ");
	out_text(out, name);
	out_char(out, '\n');
	text_heading(out, "blocked until");
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		if (is_there(&waits->causes[cause])) {
			text_stretches(out, cause_name(cause), &waits->causes[cause].blocked,
				       waits->all.blocked.ns);
		} else if (cause == VIRT_WAKE_UNKNOWN) {
			text_name(out, cause_name(cause));
			text_duration(out, nothing.blocked.ns);
			text_share(out, 0, waits->all.blocked.ns, TEXT_SHARE);
			text_count(out, 0);
			out_char(out, '\n');
		}
	}
	text_stretches(out, "all", &waits->all.blocked, 0);
	if (!waits->all.wakes)
		return;
	text_heading(out, "then waking");
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		struct virt_stretches wakes = wakes_of(&waits->causes[cause]);

		text_stretches(out, cause_name(cause), &wakes, waits->all.latency.ns);
	}
}

/** Columns of the table of who has woken whom. */
static void text_waker(struct output *out, const struct report *report,
		       const struct virt_waker *waker)
{
	const struct virt_waited *waited = &waker->waited;
	const int64_t times[] = { waited->latency.p50, waited->latency.p99, waited->latency.max };
	char vector[64] = "";

	if (waker->wake.vector != VIRT_NONE)
		report_vector(vector, sizeof(vector), report, waker->vcpu,
			      waker->wake.vector);
	text_name(out, report_who(report, waker->vcpu));
	out_char(out, ' ');
	out_text_left(out, cause_name(waker->wake.cause), 10);
	out_text_left(out, vector, 28);
	out_text_left(out, who_of(report, &waker->wake), 24);
	text_count(out, waited->blocked.count);
	text_duration(out, waited->blocked.ns);
	text_count(out, waited->wakes);
	for (size_t i = 0; i < ARRAY_SIZE(times) && waited->latency.count; i++)
		text_duration(out, times[i]);
	out_char(out, '\n');
}

static void text_wakers(struct output *out, const struct report *report,
			const struct virt_waits *waits)
{
	static const char *const columns[] = {
		"waits", "blocked", "wake-ups", "p50", "p99", "max"
	};

	if (!waits->n_wakers)
		return;
	out_char(out, '\n');
	text_name(out, "who woke whom");
	out_char(out, ' ');
	out_text_left(out, "cause", 10);
	out_text_left(out, "vector", 28);
	out_text_left(out, "by", 24);
	text_columns(out, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < waits->n_wakers; i++)
		text_waker(out, report, &waits->wakers[i]);
}

static void text_subject(void *arg, const struct report *report, const struct subject *subject)
{
	struct output *out = arg;

	text_causes(out, subject);
	/* of the machine, all are there */
	if (!subject->vcpu)
		text_wakers(out, report, subject->waits);
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	report_page_head(out, report, first);
	return each_subject(report, text_subject, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_waited(struct json *json, const struct virt_waited *waited)
{
	struct virt_stretches wakes = wakes_of(waited);

	json_stretches(json, "blocked", &waited->blocked);
	json_stretches(json, "wake_latency", &wakes);
}

static void json_causes(struct json *json, const struct virt_waits *waits)
{
	json_i64(json, "blocked_ns", waits->all.blocked.ns);
	json_waited(json, &waits->all);
	json_open(json, "causes", '[', false);
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		if (!is_told(&waits->causes[cause], cause))
			continue;
		json_open(json, NULL, '{', true);
		json_str(json, "cause", cause_name(cause));
		json_waited(json, &waits->causes[cause]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_wakers(struct json *json, const struct report *report,
			const struct virt_waits *waits)
{
	json_open(json, "wakers", '[', false);
	for (size_t i = 0; i < waits->n_wakers; i++) {
		const struct virt_waker *waker = &waits->wakers[i];

		json_open(json, NULL, '{', true);
		json_str(json, "vcpu", report_who(report, waker->vcpu));
		json_str(json, "cause", cause_name(waker->wake.cause));
		if (waker->wake.who != VIRT_NONE)
			json_str(json, "who", who_of(report, &waker->wake));
		if (waker->wake.vector != VIRT_NONE) {
			const char *name = virt_vector_name(report->load->model,
							    waker->vcpu, waker->wake.vector);

			json_i64(json, "vector", waker->wake.vector);
			if (name)
				json_str(json, "name", name);
		}
		json_waited(json, &waker->waited);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_subject(void *arg, const struct report *report, const struct subject *subject)
{
	struct json *json = arg;

	json_open(json, NULL, '{', false);
	json_str(json, "name", subject->vcpu ? subject->vcpu : subject->machine);
	json_causes(json, subject->waits);
	if (!subject->vcpu) {
		json_wakers(json, report, subject->waits);
		json_open(json, "vcpus", '[', false);
		return;
	}
	json_close(json, '}');
	if (!subject->last)
		return;
	/* the machine's */
	json_close(json, ']');
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	struct json json;
	int ret;

	(void)first;
	report_page_begin(&json, out, report);
	json_open(&json, "machines", '[', false);
	ret = each_subject(report, json_subject, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return ret;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_number(struct output *out, bool known, int64_t value)
{
	out_char(out, ',');
	if (known)
		out_i64(out, value);
}

static void csv_stretch(struct output *out, const struct virt_stretches *stretches)
{
	const struct virt_dist *whole = &stretches->whole;

	csv_number(out, true, stretches->ns);
	csv_number(out, true, (int64_t)stretches->count);
	csv_number(out, true, (int64_t)whole->count);
	table_csv_durations(out, whole);
}

/** @waker: whose row it is; NULL: of a cause */
static void csv_waited(struct output *out, const struct report *report,
		       const struct subject *subject, const char *cause,
		       const struct virt_waker *waker, const struct virt_waited *waited)
{
	struct virt_stretches wakes = wakes_of(waited);
	const struct virt_stretches *blocked = &waited->blocked;

	report_csv_text(out, report->file);
	report_csv_text(out, waker ? "waker" : "cause");
	report_csv_text(out, subject->machine);
	report_csv_text(out, waker ? report_who(report, waker->vcpu) : subject->vcpu);
	report_csv_text(out, cause);
	out_csv(out, waker ? who_of(report, &waker->wake) : "",
		waker ? strlen(who_of(report, &waker->wake)) : 0);
	csv_number(out, waker && waker->wake.vector != VIRT_NONE, waker ? waker->wake.vector : 0);
	csv_stretch(out, blocked);
	csv_number(out, true, (int64_t)blocked->before);
	csv_number(out, blocked->before && blocked->before_ns != VIRT_NONE, blocked->before_ns);
	csv_stretch(out, &wakes);
	out_char(out, '\n');
}

static void csv_subject(void *arg, const struct report *report, const struct subject *subject)
{
	const struct virt_waits *waits = subject->waits;
	struct output *out = arg;

	csv_waited(out, report, subject, "all", NULL, &waits->all);
	for (int cause = 0; cause < VIRT_N_WAKES; cause++)
		if (is_told(&waits->causes[cause], cause))
			csv_waited(out, report, subject, cause_name(cause), NULL,
				   &waits->causes[cause]);
	for (size_t i = 0; i < waits->n_wakers && !subject->vcpu; i++)
		csv_waited(out, report, subject, cause_name(waits->wakers[i].wake.cause),
			   &waits->wakers[i], &waits->wakers[i].waited);
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first) {
		out_str(out, "file,section,machine,vcpu,cause,who,vector,blocked_ns,count,"
			"complete");
		table_csv_statistics(out, "");
		out_str(out, ",before,before_ns,wake_ns,wake_count,wake_complete");
		table_csv_statistics(out, "wake_");
		out_char(out, '\n');
	}
	return each_subject(report, csv_subject, out);
}

const struct report_page report_waits = {
	.writers = { page_text, page_json, page_csv }, .with_guests = true,
};
