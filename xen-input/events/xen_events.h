/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_events.h
 * @brief	Describe the events in a xentrace file: names, fields, symbols, text.
 *
 * All facts are in xen_events.def; everything here is derived from that one table.
 * Payload words are numbered from 0, after the optional TSC; a 64-bit field occupies two words,
 * low word first. Field values are returned as int64_t; a 64-bit field keeps its bit pattern.
 *
 * All functions are pure and may be called from any number of threads.
 *
 * Source of the record format and the event ids: xen/include/public/trace.h; of every payload:
 * the place in Xen that emits it, named in xen_events.def.
 */
#ifndef KSHARK_VIRT_XEN_EVENTS_H
#define KSHARK_VIRT_XEN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xentrace_record;

/** Instruction set whose exit codes a trace's VM exits carry. */
enum xen_isa {
	XEN_ISA_UNKNOWN = 0,
	XEN_ISA_VMX,
	XEN_ISA_SVM,
};

/** How the value of a field is shown. The raw number is always available through field access. */
enum xen_field_kind {
	XEN_FIELD_DEC = 0,	/* unsigned decimal */
	XEN_FIELD_SDEC,		/* signed decimal, sign-extended from the field's width */
	XEN_FIELD_HEX,
	XEN_FIELD_BOOL,		/* 0 / 1, shown as no / yes */
	XEN_FIELD_NS,		/* a duration or time in ns */
	XEN_FIELD_CYCLES,	/* TSC cycles */
	XEN_FIELD_VCPU,		/* 32 bits, domid << 16 | vcpu, shown as d1v0 */
	XEN_FIELD_DOMID,	/* shown as d1; d[idle], d[xen] ... for the reserved ones */
	XEN_FIELD_RUNSTATE,	/* running runnable blocked offline */
	XEN_FIELD_EXIT_REASON,	/* VMX or SVM, by the trace's instruction set */
	XEN_FIELD_VMX_REASON,
	XEN_FIELD_SVM_REASON,
	XEN_FIELD_HYPERCALL,	/* 37 -> 37 (domctl) */
	XEN_FIELD_HYPERCALL_ARGS,/* TRC_PV_HYPERCALL_V2's packed arguments: a0=.. a1=.. */
	XEN_FIELD_TRAP,		/* x86 exception vector: 14 -> 14 (page_fault) */
	XEN_FIELD_VECTOR,	/* interrupt vector, hex */
	XEN_FIELD_PORT,		/* I/O port, hex */
	XEN_FIELD_MSR,		/* hex, with the name of the well-known ones */
	XEN_FIELD_CR,		/* control register number: 3 -> cr3 */
	XEN_FIELD_DR,		/* debug register number */
	XEN_FIELD_PF_ERROR,	/* page-fault error code: 0x6 -> 0x6 (write user) */
	XEN_FIELD_GUEST_LEVELS,	/* shadow paging: guest levels 2 3 4 */
	XEN_FIELD_SHADOW_FLAGS,	/* bits of TRC_SHADOW_* fixup/emulate flags */
	XEN_FIELD_PAGE_ORDER,
	XEN_FIELD_DOM_SHUTDOWN,	/* poweroff reboot suspend crash watchdog soft_reset */
	XEN_FIELD_N_KINDS
};

/** Take the bits from the record's 28-bit event id instead of from a payload word. */
#define XEN_FIELD_FROM_ID	0xff

/** One field of a payload. */
struct xen_field {
	const char	*name;	/* C identifier; NULL ends a list */
	uint8_t		word;	/* first payload word, or XEN_FIELD_FROM_ID */
	uint8_t		shift;	/* lowest bit inside that word; 0 for 64-bit fields */
	uint8_t		width;	/* bits: 1..32, or 64 for two words */
	uint8_t		kind;	/* enum xen_field_kind */
};

/** One payload layout of an event; the number of payload words selects the layout. */
struct xen_layout {
	int8_t			n_words;/* payload words that Xen emits; -1 ends a list */
	const char		*versions; /* Xen versions that emit it: "4.4-", "4.4-4.12" */
	const struct xen_field	*fields; /* in the order that Xen emits them; NULL-name ended */
};

/** One event id. */
struct xen_event {
	uint32_t		id;	/* exactly as recorded, 28 bits */
	const char		*symbol; /* of trace.h without TRC_, e.g. SCHED_SWITCH */
	const char		*name;	/* as shown; unique in the table */
	const char		*help;	/* one sentence: when Xen emits it */
	const struct xen_layout	*layouts;
};

/** Symbolic ids, XEN_TRC_<symbol>, from the table. */
enum xen_event_symbol {
#define XEN_EVENT(symbol_, id_, name_, help_, ...) XEN_TRC_##symbol_ = id_,
#include "xen_events.def"
};

#define XEN_TRC_ID_MASK		0x0fffffffu

/** Classes, XEN_TRC_CLASS_<symbol>: the bits 27..16 of an id. */
enum xen_event_class_symbol {
#define XEN_CLASS(symbol_, bits_, name_) XEN_TRC_CLASS_##symbol_ = bits_,
#include "xen_events.def"
};

#define XEN_TRC_CLASS_SHIFT	16

/** Subclasses, XEN_TRC_<symbol>: the bits 27..12, what xentrace -e can leave out. */
enum xen_event_subclass {
#define XEN_SUBCLASS(symbol_, bits_) XEN_TRC_##symbol_ = bits_,
#include "xen_events.def"
};

#define XEN_TRC_SUBCLASS_SHIFT	12

/** The number of a hypercall in the first word of PV_HYPERCALL_V2 and PV_HYPERCALL_SUBCALL */
#define XEN_TRC_HYPERCALL_MASK	0xfffffu
/** __HYPERVISOR_multicall of Xen's public/xen.h */
#define XEN_TRC_MULTICALL	13

/**
 * Runstate changes: one id for each pair of states, TRC_SCHED_RUNSTATE_CHANGE | old << 8 | new << 4
 * (xen/common/sched/core.c, trace_runstate_change()), states as in enum xen_runstate.
 */
enum xen_runstate {
	XEN_RUNSTATE_RUNNING = 0,
	XEN_RUNSTATE_RUNNABLE,
	XEN_RUNSTATE_BLOCKED,
	XEN_RUNSTATE_OFFLINE,
};

/** xen_event_is_runstate_change - is this one of them? */
static inline bool xen_event_is_runstate_change(uint32_t id)
{
	return (id & ~0x330u) == 0x00021001u;
}

/** xen_runstate_old - the state that a runstate change leaves. */
static inline enum xen_runstate xen_runstate_old(uint32_t id)
{
	return (enum xen_runstate)(id >> 8 & 3);
}

/** xen_runstate_new - the state that a runstate change leads to. */
static inline enum xen_runstate xen_runstate_new(uint32_t id)
{
	return (enum xen_runstate)(id >> 4 & 3);
}

/** Number of events in the table; their indices are 0 .. count - 1. */
int xen_events_count(void);

/**
 * xen_event_at - the table's entry at an index
 * @index: 0 .. xen_events_count() - 1
 *
 * Return: the entry (static storage), or NULL if there is no such index.
 */
const struct xen_event *xen_event_at(int index);

/**
 * xen_event_index - the index of a recorded event id, in constant time
 *
 * Return: the index, or -1 for an id that the table does not have.
 */
int xen_event_index(uint32_t id);

/** xen_event_find - the index of the event with this name, or -1. */
int xen_event_find(const char *name);

/** Room for any event's name. */
#define XEN_EVENT_NAME_SIZE	64

/**
 * xen_event_name - the name of a recorded event id, or unknown_0x0002f123
 *
 * Return: as snprintf().
 */
int xen_event_name(char *buf, size_t size, uint32_t id);

/** xen_event_class - short name of an id's class: gen sched dom0op hvm mem pv shadow hw guest. */
const char *xen_event_class(uint32_t id);

/**
 * xen_event_layout - the layout that fits a payload of @n_words words
 *
 * Versions of Xen differ in the order of fields, too, so a layout of another length does not
 * describe these words: an unknown version of Xen has written them, or the record is cut. Only a
 * layout that ends with the arguments of a hypercall also fits more words.
 *
 * Return: the layout, or NULL if none fits; then the words have no names.
 */
const struct xen_layout *xen_event_layout(const struct xen_event *event, unsigned int n_words);

/** Called once per field that a record really has, in the order of the layout. */
typedef int (*xen_field_fn)(void *arg, const char *name, enum xen_field_kind kind,
			    unsigned int width, uint64_t value);

/**
 * xen_record_fields - visit all fields that are present in a record
 * @rec: any record; one with an unknown id has fields w0 .. w6 (its payload words)
 * @fn: returns 0 to go on, anything else to stop
 *
 * Words beyond the layout are visited as extra<n>, packed hypercall arguments as a0 .. a5.
 *
 * Return: 0, or what @fn returned to stop.
 */
int xen_record_fields(const struct xentrace_record *rec, xen_field_fn fn, void *arg);

/**
 * xen_record_field - the value of one field by name
 *
 * Return: 0, or -ENOENT when this record does not have such a field.
 */
int xen_record_field(const struct xentrace_record *rec, const char *name, int64_t *value);

/**
 * xen_event_word - which payload word is a field of 32 bits, for callers that read many records
 * @n_words: words of the payload, which select the layout
 *
 * Return: the number of the word, or -1 when such a record does not have such a field.
 */
int xen_event_word(uint32_t id, unsigned int n_words, const char *name);

/**
 * xen_field_text - a value as people read it, e.g. "d1v0" or "HLT"
 * @isa: used for XEN_FIELD_EXIT_REASON alone
 *
 * Return: as snprintf().
 */
int xen_field_text(char *buf, size_t size, enum xen_field_kind kind, unsigned int width,
		   uint64_t value, enum xen_isa isa);

/**
 * xen_record_info - the record's payload as text: name=value pairs separated by blanks
 *
 * Return: as snprintf(); an event without payload gives an empty text.
 */
int xen_record_info(char *buf, size_t size, const struct xentrace_record *rec, enum xen_isa isa);

/*
 * Symbol tables: each function returns a static string, or NULL for a number without a name.
 */

/** xen_vmx_exit_name - a VMX basic exit reason (the low 16 bits of the exit reason). */
const char *xen_vmx_exit_name(uint32_t reason);

/** xen_svm_exit_name - an SVM exit code. */
const char *xen_svm_exit_name(uint64_t code);

/** xen_hypercall_name - a hypercall without the prefix __HYPERVISOR_. */
const char *xen_hypercall_name(uint32_t nr);

/** xen_trap_name - an x86 exception vector. */
const char *xen_trap_name(uint32_t vector);

/** xen_msr_name - one of the well-known x86 MSRs. */
const char *xen_msr_name(uint32_t msr);

/** xen_runstate_name - a value of enum xen_runstate. */
const char *xen_runstate_name(uint32_t runstate);

/** xen_isa_from_exit - what an exit code of the shared id TRC_HVM_VMX_EXIT says about the CPU. */
enum xen_isa xen_isa_from_exit(uint32_t event_id, uint32_t exit_code);

#ifdef __cplusplus
}
#endif
#endif
