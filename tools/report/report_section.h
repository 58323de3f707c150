/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_section.h
 * @brief	Sections of kshark-virt report: one file each, and a line of the table.
 */
#ifndef KSHARK_VIRT_REPORT_SECTION_H
#define KSHARK_VIRT_REPORT_SECTION_H

#include "facts.h"
#include "report_delivery.h"
#include "report_hypertrace.h"

/** What is counted while the records go by; a section that needs more has it here. */
struct report_section;

#define REPORT_MOST_SECTIONS	16

struct report_counted {
	struct model_load	load;
	struct report_count	count;		/* of all sections */
	struct report_kvm	kvm;
	struct report_delivery	delivery;
	struct report_hypertrace hypertrace;
	/* sections that look at records of KVM, up to NULL; found with the first one */
	const struct report_section *takers[REPORT_MOST_SECTIONS + 1];
	bool			has_takers;
};

/**
 * A section. What it does not do is NULL.
 *
 * @rows, @record: count what goes by, of Xen and of KVM, also outside of the window
 * @build: compute the section when all has gone by, and add it to the report; 0 or -ENOMEM
 * @text: write it for people; nothing if there is nothing to write
 * @facts: state it for all other formats
 */
struct report_section {
	void	(*rows)(struct report_counted *counted, const struct xen_trace_row *rows,
			size_t n);
	void	(*record)(struct report_counted *counted, const struct kvm_trace_record *record);
	int	(*build)(struct report_counted *counted, struct report *report,
			 const struct ksv_vcpu_set *vcpus);
	void	(*free)(struct report_counted *counted);
	void	(*text)(struct output *out, const struct report *report);
	void	(*facts)(struct facts *to, const struct report *report);
};

extern const struct report_section report_head;
extern const struct report_section report_machines;
extern const struct report_section report_pcpus;
extern const struct report_section report_steal;
extern const struct report_section report_polling;
extern const struct report_section report_tasks;
extern const struct report_section report_interrupts;
extern const struct report_section report_losses;
extern const struct report_section report_losses_list;
extern const struct report_section report_volume;
extern const struct report_section report_contradictions;
extern const struct report_section report_hypertrace;
extern const struct report_section report_functions;
extern const struct report_section report_boot;

/** report_sections_... - the same for all of them. */
void report_sections_rows(struct report_counted *counted, const struct xen_trace_row *rows,
			  size_t n);
void report_sections_record(struct report_counted *counted,
			    const struct kvm_trace_record *record);
int report_sections_build(struct report_counted *counted, struct report *report,
			  const struct ksv_vcpu_set *vcpus);
void report_sections_free(struct report_counted *counted);

/** Writers. @first: this is the first file of the output. */
void report_text(struct output *out, const struct report *report, bool first);
void report_json(struct output *out, const struct report *report, bool first);
void report_csv(struct output *out, const struct report *report, bool first);

/** report_html_facts - all sections but the head, as tables */
void report_html_facts(struct html_tables *tables, const struct report *report);

#endif
