// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_frequencies.c
 * @brief	The time at each frequency, by pCPU, and by the vCPU or task that had the pCPU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "host_tasks.h"
#include "key_map.h"
#include "report_frequencies.h"
#include "text_columns.h"
#include "virt_power.h"

/** In text, of vCPUs and tasks. */
#define MAX_ROWS	30

/** Who has no number of the model. */
enum { WHO_IDLE = -1, WHO_UNKNOWN = -2 };

/** A frequency of a pCPU, or of a vCPU or task while it had pCPUs. */
struct sum {
	int32_t		who;		/* pCPU, number of the model, or WHO_... */
	int32_t		khz;		/* or VIRT_POWER_UNKNOWN */
	int64_t		ns;
	uint64_t	changes;	/* to it, while it had the pCPU */
	int64_t		whole_ns;	/* of @who, at all frequencies */
};

struct sums {
	struct key_map	map;
	struct sum	*all;
	uint32_t	room;
};

struct page {
	const struct report *report;
	struct sums	by_pcpu, by_who;
};

/* --- sums ------------------------------------------------------------------------------------ */

/** Return: 0 or -ENOMEM. */
static int add(struct sums *sums, int32_t who, int32_t khz, int64_t ns, bool has_changed)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, (uint64_t)(uint32_t)who << 32 | (uint32_t)khz,
				    sums->all, sums->room);

	if (i < 0)
		return -ENOMEM;
	sums->all[i].who = who;
	sums->all[i].khz = khz;
	sums->all[i].ns += ns;
	sums->all[i].changes += has_changed;
	return 0;
}

/** The frequencies of a pCPU in a time in which the same one has it. */
static int add_piece(struct page *page, int32_t pcpu, int32_t who, int64_t from_ns, int64_t to_ns)
{
	const struct virt_model *model = page->report->load->model;
	struct virt_power_piece piece;
	int ret = 0;

	for (int64_t at_ns = from_ns; at_ns < to_ns && !ret &&
	     virt_pcpu_power(model, VIRT_FREQUENCY, pcpu, at_ns, &piece); at_ns = piece.to_ns) {
		int64_t end_ns = piece.to_ns < to_ns ? piece.to_ns : to_ns;
		bool has_changed = piece.begins && piece.from_ns == at_ns &&
				   piece.value != VIRT_POWER_UNKNOWN;

		ret = add(&page->by_pcpu, pcpu, piece.value, end_ns - at_ns, has_changed);
		if (!ret)
			ret = add(&page->by_who, who, piece.value, end_ns - at_ns, has_changed);
	}
	return ret;
}

static int add_pcpu(struct page *page, int32_t pcpu)
{
	const struct report *report = page->report;
	const struct virt_model *model = report->load->model;
	int64_t from_ns = report->from_ns < virt_model_begin(model) ? virt_model_begin(model) :
			  report->from_ns;
	int64_t end_ns = report->to_ns > virt_model_end(model) ? virt_model_end(model) :
			 report->to_ns, at_ns = from_ns;
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, end_ns);
	int ret = 0;

	/* before the first one, it is unknown who has the pCPU */
	for (size_t i = 0; i <= range.n && at_ns < end_ns && !ret; i++) {
		const struct virt_occupant *last = i ? &range.first[i - 1] : NULL;
		int64_t to_ns = i == range.n ? end_ns : range.first[i].start_ns;
		int32_t who = !last || !last->known ? WHO_UNKNOWN :
			      last->vcpu == VIRT_NONE ? WHO_IDLE : last->vcpu;

		to_ns = to_ns > end_ns ? end_ns : to_ns;
		if (to_ns > at_ns) {
			ret = add_piece(page, pcpu, who, at_ns, to_ns);
			at_ns = to_ns;
		}
	}
	return ret;
}

/** Most time first; of one, from low to high frequencies, and unknown ones last. */
static int compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->whole_ns != y->whole_ns)
		return x->whole_ns < y->whole_ns ? 1 : -1;
	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	return ((uint32_t)x->khz > (uint32_t)y->khz) - ((uint32_t)x->khz < (uint32_t)y->khz);
}

static int compare_who(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->who > y->who) - (x->who < y->who);
}

static void finish(struct sums *sums)
{
	uint32_t n = sums->map.n_keys, first = 0;

	if (n)
		qsort(sums->all, n, sizeof(*sums->all), compare_who);
	for (uint32_t i = 0; i < n; i++) {
		int64_t ns = 0;

		if (i + 1 < n && sums->all[i + 1].who == sums->all[i].who)
			continue;
		for (uint32_t k = first; k <= i; k++)
			ns += sums->all[k].ns;
		for (; first <= i; first++)
			sums->all[first].whole_ns = ns;
	}
	if (n)
		qsort(sums->all, n, sizeof(*sums->all), compare);
}

/* --- rows ------------------------------------------------------------------------------------ */

#define COLUMNS(heading, of_pcpu) {							\
	{ .key = "kind", .not_json = (of_pcpu) },					\
	{ .key = "machine" },								\
	{ .key = "vcpu" },								\
	{ .key = "pcpu", .type = TABLE_COUNT },						\
	{ .key = "name" },								\
	{ .title = heading, .width = TEXT_NAME },					\
	{ .key = "khz", .type = TABLE_COUNT },						\
	{ .title = "frequency", .width = TEXT_NUMBER, .type = TABLE_NAME },		\
	{ .key = "what", .not_json = true },						\
	{ .key = "changes", .type = TABLE_COUNT, .not_csv = true, .title = "changes" },	\
	{ .key = "count", .type = TABLE_COUNT, .not_json = true },			\
	{ .key = "total_ns", .type = TABLE_NS, .title = "total" },			\
	{ .type = TABLE_SHARE, .title = "share", .width = TEXT_NUMBER },		\
}

static const struct table_column of_pcpus[] = COLUMNS("pCPU", true);
static const struct table_column of_who[] = COLUMNS("vCPU or task", false);

static const struct table table = {
	.rows = { .key = "pcpu_frequencies", TABLE_COLUMNS(of_pcpus), .apart = true },
};

static const struct table_rows who_rows = {
	.key = "frequencies", TABLE_COLUMNS(of_who), .apart = true,
};

/** What a row is about. */
struct subject {
	const char	*kind, *machine, *vcpu, *name;
	const char	*shown;		/* in text */
	int32_t		pcpu;
};

static void row(struct table_writer *to, const struct sum *sum, const struct subject *subject)
{
	bool is_known = sum->khz != VIRT_POWER_UNKNOWN;
	char text[24] = "unknown";

	if (is_known)
		snprintf(text, sizeof(text), "%.3f GHz", sum->khz / 1e6);
	table_row(to, (const struct table_cell[ARRAY_SIZE(of_who)]){
		table_name(subject->kind), table_optional_name(subject->machine),
		table_optional_name(subject->vcpu),
		table_optional(subject->pcpu >= 0, subject->pcpu),
		table_optional_name(subject->name),
		table_name(subject->shown),
		is_known ? table_number(sum->khz) : table_unknown(), table_name(text),
		table_name("at a frequency"), table_number((int64_t)sum->changes),
		table_number((int64_t)sum->changes), table_number(sum->ns),
		table_share(sum->ns, sum->whole_ns),
	});
}

static void pcpu_row(struct table_writer *to, const struct sum *sum)
{
	char name[16];

	snprintf(name, sizeof(name), "p%d", sum->who);
	row(to, sum, &(const struct subject){ .kind = "pcpu", .shown = name, .pcpu = sum->who });
}

static void who_row(struct table_writer *to, const struct report *report, const struct sum *sum)
{
	const struct virt_model *model = report->load->model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, sum->who);
	const struct virt_task *task = virt_model_task(model, sum->who);
	int32_t machine = vcpu ? vcpu->machine : task ? host_task_machine(model, task->pid) :
			  VIRT_NONE;
	struct subject subject = {
		.kind = sum->who == WHO_UNKNOWN ? "unknown" : sum->who == WHO_IDLE ? "idle" :
			vcpu ? "vcpu" : "task",
		.machine = machine == VIRT_NONE ? NULL : virt_model_machine(model, machine)->name,
		.pcpu = VIRT_NONE,
	};

	if (vcpu ? !report_wants_machine(report, machine) : !report_wants_work(report, machine))
		return;
	subject.shown = sum->who < 0 ? subject.kind : virt_model_who(model, sum->who);
	*(vcpu ? &subject.vcpu : &subject.name) = sum->who < 0 ? NULL : subject.shown;
	row(to, sum, &subject);
}

int report_frequencies(struct table_writer *to, const struct report *report)
{
	struct page page = { .report = report };
	int ret = 0;

	for (int32_t pcpu = 0; pcpu < report->count->n_pcpus && !ret &&
	     virt_model_has_power(report->load->model, VIRT_FREQUENCY); pcpu++)
		ret = add_pcpu(&page, pcpu);
	finish(&page.by_pcpu);
	finish(&page.by_who);
	if (!ret) {
		table_next(to, &table);
		table_group(to, NULL);
		for (uint32_t i = 0; i < page.by_pcpu.map.n_keys; i++)
			pcpu_row(to, &page.by_pcpu.all[i]);
		table_rows(to, &who_rows);
		for (uint32_t i = 0; i < page.by_who.map.n_keys; i++)
			if (!table_as_text(to) || to->n_rows < MAX_ROWS)
				who_row(to, report, &page.by_who.all[i]);
		table_group_end(to);
	}
	key_map_destroy(&page.by_pcpu.map);
	key_map_destroy(&page.by_who.map);
	free(page.by_pcpu.all);
	free(page.by_who.all);
	return ret;
}
