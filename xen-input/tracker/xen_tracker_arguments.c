// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_arguments.c
 * @brief	Find the arguments of VM exits in records of Xen's handlers between exit and entry.
 */
#include "array.h"
#include "virt_arguments.h"
#include "xen_tracker_private.h"

/** The first word has the value, or its lower half: see xen_events.def. */
static const struct argument_row {
	uint32_t	event;
	uint8_t		kind;		/* enum exit_argument_kind */
	bool		is_wide;	/* the second word is the upper half */
} rows[] = {
	{ XEN_TRC_HVM_MSR_READ, EXIT_ARGUMENT_MSR_READ, false },
	{ XEN_TRC_HVM_MSR_WRITE, EXIT_ARGUMENT_MSR_WRITE, false },
	{ XEN_TRC_HVM_IOPORT_READ, EXIT_ARGUMENT_PORT_READ, false },
	{ XEN_TRC_HVM_IOPORT_WRITE, EXIT_ARGUMENT_PORT_WRITE, false },
	{ XEN_TRC_HVM_IOMEM_READ, EXIT_ARGUMENT_MMIO_READ, false },
	{ XEN_TRC_HVM_IOMEM_READ64, EXIT_ARGUMENT_MMIO_READ, true },
	{ XEN_TRC_HVM_IOMEM_WRITE, EXIT_ARGUMENT_MMIO_WRITE, false },
	{ XEN_TRC_HVM_IOMEM_WRITE64, EXIT_ARGUMENT_MMIO_WRITE, true },
	{ XEN_TRC_HVM_NPF, EXIT_ARGUMENT_PAGE, true },
	{ XEN_TRC_HVM_CPUID, EXIT_ARGUMENT_CPUID, false },
	{ XEN_TRC_HVM_VMMCALL, EXIT_ARGUMENT_CALL_XEN, false },
	{ XEN_TRC_HVM_CR_READ, EXIT_ARGUMENT_CR_READ, false },
	{ XEN_TRC_HVM_CR_READ64, EXIT_ARGUMENT_CR_READ, false },
	{ XEN_TRC_HVM_CR_WRITE, EXIT_ARGUMENT_CR_WRITE, false },
	{ XEN_TRC_HVM_CR_WRITE64, EXIT_ARGUMENT_CR_WRITE, false },
};

/** ICR's value is the second word of MSR_WRITE; no record of Xen has that of the APIC's page. */
static enum exit_argument_kind refine(const struct xentrace_record *rec,
				      enum exit_argument_kind kind, uint64_t *value)
{
	if (kind == EXIT_ARGUMENT_PAGE)
		*value &= ~UINT64_C(0xfff);
	if (kind != EXIT_ARGUMENT_MSR_WRITE || *value != EXIT_MSR_X2APIC_ICR || rec->n_words < 2)
		return kind;
	*value = exit_argument_icr(xentrace_word(rec, 1));
	return EXIT_ARGUMENT_ICR_WRITE;
}

static void set(struct xen_tracker *tracker, const struct tracked_vcpu *v,
		enum exit_argument_kind kind, uint64_t value)
{
	if (value <= exit_argument_most(kind))
		tracker_fail(tracker, virt_model_set_argument(tracker->model, v->index, kind,
							      value));
}

/** An access to the APIC's page is emulated as one to a device. */
static void set_apic(struct xen_tracker *tracker, const struct tracked_vcpu *v,
		     enum exit_argument_kind kind, uint64_t address)
{
	if (kind == EXIT_ARGUMENT_MMIO_READ)
		set(tracker, v, EXIT_ARGUMENT_APIC_READ, address & 0xfff);
	if (kind == EXIT_ARGUMENT_MMIO_WRITE)
		set(tracker, v, EXIT_ARGUMENT_APIC_WRITE, address & 0xfff);
}

void tracker_argument(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	const struct tracked_run *run = &tracker->runs[row->rec.run];
	const struct tracked_vcpu *v = run->current >= 0 ? &tracker->vcpus[run->current] : NULL;

	/* an entry has no reason */
	if (!v || v->reason < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum exit_argument_kind kind = (enum exit_argument_kind)rows[i].kind;
		uint64_t value = xentrace_word(&row->rec, 0);

		if (rows[i].event != row->rec.event || row->rec.n_words < 1U + rows[i].is_wide)
			continue;
		if (rows[i].is_wide)
			value |= (uint64_t)xentrace_word(&row->rec, 1) << 32;
		set_apic(tracker, v, kind, value);
		kind = refine(&row->rec, kind, &value);
		set(tracker, v, kind, value);
		break;
	}
}
