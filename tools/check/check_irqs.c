// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	check_irqs.c
 * @brief	Check that interrupts of a host are handled on the pCPUs that are meant for them.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "check_irqs.h"
#include "host_handlings.h"
#include "virt_window.h"

/** What was judged. */
struct sums {
	uint64_t	judged, outside, endless;
	int64_t		outside_ns;
};

/* --- what is allowed ------------------------------------------------------------------------- */

int irq_affinity_add(struct irq_affinities *list, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct irq_affinity *affinity;

	if (!equals || equals == text)
		return -EINVAL;
	if (ARRAY_GROW(list->all, list->n, list->room))
		return -ENOMEM;
	affinity = &list->all[list->n++];
	*affinity = (struct irq_affinity){
		.pattern = strndup(text, (size_t)(equals - text)), .allowed = strdup(equals + 1),
	};
	if (!affinity->pattern || !affinity->allowed)
		return -ENOMEM;
	return ksv_parse_ids(affinity->allowed, &affinity->pcpus);
}

void irq_affinities_free(struct irq_affinities *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->all[i].pattern);
		free(list->all[i].allowed);
	}
	free(list->all);
}

/** "irq", "49 virtio0", "49" or "virtio0": any of them may fit. */
static bool fits(const struct irq_affinity *affinity, const struct host_handler *handler)
{
	const char *blank = strchr(handler->name, ' ');
	char number[24] = "";

	if (blank && (size_t)(blank - handler->name) < sizeof(number))
		memcpy(number, handler->name, (size_t)(blank - handler->name));
	return !fnmatch(affinity->pattern,
			virt_handler_kind_name((enum virt_handler_kind)handler->kind), 0) ||
	       !fnmatch(affinity->pattern, handler->name, 0) ||
	       (*number && !fnmatch(affinity->pattern, number, 0)) ||
	       (blank && !fnmatch(affinity->pattern, blank + 1, 0));
}

/** What counts for each handler; NULL: nothing. Return: to be freed, or NULL without memory. */
static const struct irq_affinity **find_affinities(struct irq_affinities *list,
						   const struct host_handlings *handlings)
{
	const struct irq_affinity **of = calloc(handlings->n_handlers + 1, sizeof(*of));

	for (size_t i = 0; i < handlings->n_handlers && of; i++) {
		for (size_t j = 0; j < list->n; j++) {
			if (!fits(&list->all[j], &handlings->handlers[i]))
				continue;
			list->all[j].used = true;
			of[i] = &list->all[j];
		}
	}
	return of;
}

/* --- output ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .key = "kind" },
	{ .key = "interrupt" },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "length_ns", .type = TABLE_NS },
	{ .key = "allowed" },
};

const struct table check_irqs_table = { .rows = { TABLE_COLUMNS(columns) } };

static void put_handling(const struct check_irqs *check, const struct host_handler *handler,
			 const struct host_handling *handling, const struct irq_affinity *affinity)
{
	const char *kind = virt_handler_kind_name((enum virt_handler_kind)handler->kind);
	bool ends = handling->end_ns != HOST_HANDLING_NO_TIME;
	struct output *out = check->out;

	if (check->csv) {
		table_row(check->csv, (const struct table_cell[]){
			table_name(kind), table_name(handler->name),
			table_number(handling->begin_ns), table_number(handling->cpu),
			table_optional(ends, ends ? handling->end_ns - handling->begin_ns : 0),
			table_name(affinity->allowed),
		});
		return;
	}
	out_text_right(out, kind, 8);
	out_char(out, ' ');
	out_text_left(out, handler->name, 24);
	out_str(out, " [");
	out_u64_zeros(out, (uint64_t)handling->cpu, 3);
	out_str(out, "] ");
	out_ns(out, handling->begin_ns, 16);
	if (ends) {
		out_str(out, ": handled for ");
		out_ns(out, handling->end_ns - handling->begin_ns, 0);
		out_str(out, " s, allowed: ");
	} else {
		out_str(out, ": handled, its end is unknown; allowed: ");
	}
	out_text(out, affinity->allowed);
	out_char(out, '\n');
}

static void print_sums(const struct check_irqs *check, const struct sums *sums, bool has_losses)
{
	struct output *out = check->out;

	out_style(out, sums->outside ? OUT_BAD : has_losses ? OUT_WARNING : OUT_GOOD);
	out_u64(out, sums->outside);
	out_str(out, " of ");
	out_u64(out, sums->judged);
	out_str(out, " interrupts outside");
	if (sums->outside > sums->endless) {
		out_str(out, ", for ");
		out_ns(out, sums->outside_ns, 0);
		out_str(out, " s in total");
	}
	if (sums->endless)
		out_printf(out, "; the ends of %llu are unknown",
			   (unsigned long long)sums->endless);
	if (has_losses)
		out_str(out, "; records are lost, interrupts of that time are unknown");
	out_style(out, OUT_PLAIN);
	out_char(out, '\n');
}

static void note_kinds(const struct check_irqs *check, const struct host_handlings *handlings)
{
	static const char *const events[VIRT_HANDLER_N_KINDS] = {
		[VIRT_HANDLER_IRQ] = "irq:irq_handler_entry: interrupts of devices",
		[VIRT_HANDLER_SOFTIRQ] = "irq:softirq_entry: softirqs",
		[VIRT_HANDLER_VECTOR] = "irq_vectors: local timers and IPIs",
	};

	for (int kind = 0; kind < VIRT_HANDLER_N_KINDS && !check->quiet; kind++)
		if (events[kind] && !handlings->known[kind])
			ksv_note("%s: not recorded, and not judged: %s", check->load->path,
				 events[kind]);
	for (size_t i = 0; i < check->affinities->n && !check->quiet; i++)
		if (!check->affinities->all[i].used)
			ksv_note("%s: no interrupt of it fits --irq-affinity %s=%s",
				 check->load->path, check->affinities->all[i].pattern,
				 check->affinities->all[i].allowed);
}

/* --- judging --------------------------------------------------------------------------------- */

static void judge(const struct check_irqs *check, const struct host_handlings *handlings,
		  const struct irq_affinity *const *of, struct sums *sums)
{
	for (size_t i = 0; i < handlings->n; i++) {
		const struct host_handling *handling = &handlings->all[i];
		const struct irq_affinity *affinity = of[handling->handler];

		if (!affinity ||
		    !virt_begins_in(handling->begin_ns, check->from_ns, check->to_ns))
			continue;
		sums->judged++;
		if (ksv_id_in_set(&affinity->pcpus, (unsigned int)handling->cpu))
			continue;
		sums->outside++;
		if (handling->end_ns != HOST_HANDLING_NO_TIME)
			sums->outside_ns += handling->end_ns - handling->begin_ns;
		else
			sums->endless++;
		put_handling(check, &handlings->handlers[handling->handler], handling, affinity);
	}
}

int check_irqs_run(const struct check_irqs *check)
{
	struct kvm_trace *trace = check->load->host.kvm;
	struct host_handlings handlings = { .n = 0 };
	const struct irq_affinity **of = NULL;
	struct sums sums = { 0 };
	int ret = trace ? host_handlings_read(&handlings, trace) : 0, status = KSV_EXIT_UNKNOWN;
	bool has_losses = virt_model_losses_from(check->load->model, check->from_ns,
						 check->to_ns).n;

	if (!ret) {
		of = find_affinities(check->affinities, &handlings);
		ret = of ? 0 : -ENOMEM;
	}
	if (ret) {
		ksv_error("%s: %s", check->load->path, host_trace_problem(ret));
		status = KSV_EXIT_FILE;
		goto end;
	}
	if (check->csv)
		table_flat(check->csv, true);
	judge(check, &handlings, of, &sums);
	if (check->csv)
		table_flat_end(check->csv);
	else if (sums.judged)
		print_sums(check, &sums, has_losses);
	if (sums.judged)
		status = sums.outside ? KSV_EXIT_FINDINGS : KSV_EXIT_OK;
	else
		ksv_error("%s: nothing to judge: the window has no records of such interrupts; "
			  "record the events irq and irq_vectors of a KVM host",
			  check->load->path);
	note_kinds(check, &handlings);
end:
	free(of);
	host_handlings_free(&handlings);
	return status;
}
