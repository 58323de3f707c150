// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_modes.c
 * @brief	Times of a host by mode, and what was not recorded.
 */
#include "array.h"
#include "model_over_time.h"
#include "report_modes.h"

void report_mode_cells(const struct report *report, const struct host_modes *modes,
		       const int64_t *ns, struct table_cell *cells)
{
	for (int mode = 0; mode < HOST_N_MODES; mode++)
		cells[mode] = model_has_mode(report->load, modes, (enum host_mode)mode) ?
			      table_number(ns[mode]) : table_unknown();
}

/* --- what was not recorded -------------------------------------------------------------------- */

/** What is unknown without some events; the bit of each row is its number. */
static const struct {
	const char	*record, *text;
	const char	*unknown[2];	/* keys of JSON */
	bool		included;	/* other modes include it */
} lacks[] = {
	{ "raw_syscalls", "raw_syscalls, or all of syscalls, was not recorded: user and system "
	  "calls are unknown", { "user_ns", "syscall_ns" }, false },
	{ "irq, irq_vectors", "irq and irq_vectors were not both recorded: interrupts are unknown; "
	  "other modes include them", { "interrupt_ns" }, true },
	{ "irq:softirq_entry, irq:softirq_exit", "irq:softirq_entry and irq:softirq_exit were not "
	  "both recorded: softirqs are unknown; other modes include them", { "softirq_ns" }, true },
	{ "exceptions:page_fault_user, exceptions:page_fault_kernel", "exceptions:page_fault_user "
	  "or page_fault_kernel was not recorded: page faults are unknown", { "faults" }, false },
};

static unsigned int lacks_of(const struct host_modes *modes)
{
	const bool has[] = {
		modes->has_calls, modes->has_interrupts, modes->has_softirqs, modes->has_faults,
	};
	unsigned int set = 0;

	for (size_t i = 0; i < ARRAY_SIZE(has); i++)
		set |= has[i] ? 0 : 1U << i;
	return set;
}

void report_modes_text(struct table_writer *to, const struct host_modes *modes)
{
	struct output *text = table_as_text(to);

	for (size_t i = 0; i < ARRAY_SIZE(lacks) && text && !to->unknown; i++)
		if (lacks_of(modes) >> i & 1)
			out_printf(text, "  unknown  %s\n", lacks[i].text);
}

void report_modes_json(struct table_writer *to, const struct host_modes *modes)
{
	struct json *json = table_as_json(to);

	if (json && to->unknown)
		json_null(json, "modes_not_recorded");
	if (!json || to->unknown)
		return;
	json_open(json, "modes_not_recorded", '[', false);
	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++) {
		if (!(lacks_of(modes) >> i & 1))
			continue;
		json_open(json, NULL, '{', true);
		json_str(json, "record", lacks[i].record);
		json_open(json, "unknown", '[', true);
		for (size_t k = 0; k < ARRAY_SIZE(lacks[i].unknown) && lacks[i].unknown[k]; k++)
			json_str(json, NULL, lacks[i].unknown[k]);
		json_close(json, ']');
		json_bool(json, "included", lacks[i].included);
		json_close(json, '}');
	}
	json_close(json, ']');
}
