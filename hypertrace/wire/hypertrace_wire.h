/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/**
 * @file	hypertrace_wire.h
 * @brief	Encode events as hypercalls of our kernel module, and decode these.
 *
 * docs/hypertrace-format.md describes the format. Only this code writes or reads it. It needs no
 * library, allocates no memory, keeps nothing except the data that the caller gives it, and trusts
 * nothing: for any bits of a call, the result shows what they are worth.
 *
 * A call is nr and a0..a3, as in KVM's event kvm_hypercall. Under Xen (HVMOP_xentrace), nr is the
 * number of the record within its class, and the last 4 of the 32 bytes are missing.
 */
#ifndef KSHARK_VIRT_HYPERTRACE_WIRE_H
#define KSHARK_VIRT_HYPERTRACE_WIRE_H

#include "hypertrace_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HT_VERSION		1

/** nr: HT_MAGIC in bits 16..31, then version (4 bits), sort of call (4), sequence number (8). */
#define HT_MAGIC		0x4854
#define HT_NR_MAGIC_SHIFT	16
#define HT_NR_VERSION_SHIFT	12
#define HT_NR_SORT_SHIFT	8
#define HT_NR_SEQUENCE		0xff
#define HT_XEN_NR_BITS		12	/* Xen takes no more of nr: neither magic nor version */

#define HT_N_REGISTERS		4
#define HT_KVM_BYTES		32
#define HT_XEN_BYTES		28

/** In the upper half of a0 of a control call: "HTRC". */
#define HT_CONTROL_MAGIC	0x43525448u

/** The most events of a packed call: its 4 bytes of header, then 2 bytes or more for each. */
#define HT_MAX_EVENTS		14
#define HT_MAX_FIELDS		6
#define HT_TEXT_SIZE		16	/* as Linux's comm, ended by 0 unless it is full */
#define HT_MAX_SHIFT		31	/* of cycles, see struct ht_clock */

/** Which sort of call: numbers that no published dialect has within Xen's 12 bits. */
enum ht_sort {
	HT_CONTROL = 4,
	HT_PLAIN = 5,		/* one event */
	HT_PACKED = 6,		/* events as bytes */
};

/** What a control call says. */
enum ht_control {
	HT_START = 1,		/* the vCPU begins: sequence number 0 */
	HT_CLOCK = 2,		/* HT_START again, for receivers that have missed it */
	HT_STOP = 3,		/* the last call of the vCPU */
	HT_N_CONTROLS
};

/** What happened. Fields in this order, in struct ht_event as in packed calls. */
enum ht_kind {
	HT_PADDING = 0,		/* what is left of a packed call; never an event */
	HT_SWITCH = 1,		/* HT_SWITCH_PREV_PID ... */
	HT_SWITCH_ON = 2,	/* in packed calls: from the task that the last one was to */
	HT_WAKEUP = 3,		/* pid, prio, target CPU */
	HT_IRQ_ENTRY = 4,	/* irq */
	HT_IRQ_EXIT = 5,	/* irq, handled (1) or not (0) */
	HT_SOFTIRQ_ENTRY = 6,	/* vector */
	HT_SOFTIRQ_EXIT = 7,	/* vector */
	HT_SYSCALL_ENTRY = 8,	/* number */
	HT_SYSCALL_EXIT = 9,	/* number, what it returned */
	HT_INITCALL_LEVEL = 10,	/* level, see ht_level_name() */
	HT_INITCALL_START = 11,	/* address */
	HT_INITCALL_FINISH = 12, /* address, what it returned */
	HT_FUNCTION_ENTRY = 13,	/* address */
	HT_FUNCTION_EXIT = 14,	/* address */
	HT_TASK_NAME = 15,	/* pid; text */
	HT_LOST = 16,		/* how many events before this one could not be sent */
	HT_USER = 17,		/* id, value: whatever the user means by it */
	HT_PHASE = 18,		/* enum ht_phase */
	HT_N_KINDS
};

enum ht_switch_field {
	HT_SWITCH_PREV_PID,
	HT_SWITCH_PREV_PRIO,
	HT_SWITCH_PREV_STATE,	/* as in Linux's event: 0 R, 1 S, 2 D ...; 0x100 R+ */
	HT_SWITCH_NEXT_PID,
	HT_SWITCH_NEXT_PRIO,
};

/** Where the guest is, when it begins. */
enum ht_phase {
	HT_PHASE_MODULE = 1,	/* the module has been loaded */
	HT_PHASE_USER = 2,	/* the first program */
	HT_PHASE_RESTART = 3,	/* it goes down, to begin anew; */
	HT_PHASE_HALT = 4,	/* to halt; */
	HT_PHASE_POWER_OFF = 5,	/* to be switched off */
	HT_PHASE_PANIC = 6,
	HT_N_PHASES
};

/** A call, as registers. */
struct ht_call {
	uint64_t	nr;
	uint64_t	a[HT_N_REGISTERS];
	uint8_t		bytes;	/* of @a that are there: HT_KVM_BYTES or HT_XEN_BYTES */
	bool		xen;	/* nr is HVMOP_xentrace's: 12 bits */
};

/** An event. Signed fields are kept as 64 bits in two's complement. */
struct ht_event {
	uint64_t	tsc;	/* encoder: the guest's TSC; decoder: see struct ht_decoded */
	uint64_t	field[HT_MAX_FIELDS]; /* what @kind has; the rest is 0 */
	char		text[HT_TEXT_SIZE];
	uint8_t		kind;	/* enum ht_kind, or another number: one that is unknown here */
	uint8_t		n;	/* decoder: fields that are known and there */
};

/** What HT_START and HT_CLOCK contain, and HT_STOP in part. */
struct ht_clock {
	uint64_t	tsc;	/* the guest's TSC at the call */
	uint32_t	khz;	/* its frequency, as the guest believes; 0: it does not know */
	uint32_t	vcpu;	/* number of the CPU in the guest */
	uint32_t	kinds;	/* set of 1 << enum ht_kind: the kinds that may come */
	uint8_t		shift;	/* time is in units of 1 << shift cycles */
	bool		packed;	/* which sort of calls will come */
};

/* ---- writing ---- */

/** Of each vCPU one; all zero before ht_encode_start(). */
struct ht_encoder {
	struct ht_clock	clock;	/* of the last start */
	bool		xen;
	uint8_t		sequence;
	uint64_t	calls;	/* since the start */
	/* the packed call that is being filled */
	uint8_t		size, used;	/* bytes of it, header included; 0 used: none */
	uint8_t		n_events;
	uint64_t	first, last;	/* when its first and last event was: TSC >> shift */
	uint64_t	next_pid, next_prio; /* of its last switch, if @chained */
	bool		chained;
	uint8_t		bytes[HT_KVM_BYTES];
};

/**
 * ht_encode_start - begin
 * @clock: what to send; all calls after it are in its units
 * @call: receives the first call
 */
void ht_encode_start(struct ht_encoder *encoder, const struct ht_clock *clock, bool xen,
		     struct ht_call *call);

/** ht_encode_clock - send the clock again, at @tsc. What is not flushed yet stays. */
void ht_encode_clock(struct ht_encoder *encoder, uint64_t tsc, struct ht_call *call);

/** ht_encode_stop - the last call. @lost: events that were never sent, for people. */
void ht_encode_stop(struct ht_encoder *encoder, uint64_t tsc, uint32_t lost,
		    struct ht_call *call);

/** ht_encode_plain - a call of one event. Return: false if it is of no kind that is known. */
bool ht_encode_plain(struct ht_encoder *encoder, const struct ht_event *event,
		     struct ht_call *call);

/**
 * ht_encode_add - add an event to the call that is being filled
 *
 * Events come in order of time; one that is before the last is taken to be at the same time.
 *
 * Return: 1 if it is in, 0 if there is no room (flush, then add it again), -1 if it is of no kind
 * that is known.
 */
int ht_encode_add(struct ht_encoder *encoder, const struct ht_event *event);

/** ht_encode_flush - what has been added becomes a call, at @tsc. Return: false if it is empty. */
bool ht_encode_flush(struct ht_encoder *encoder, uint64_t tsc, struct ht_call *call);

/* ---- reading ---- */

enum ht_result {
	HT_OK = 0,
	HT_FOREIGN,		/* not a call of this format */
	HT_UNKNOWN_VERSION,	/* of this format, but a version, or a sort of call, to come */
	HT_TRUNCATED,		/* ends within an event; those before it are given */
	HT_BAD,			/* no encoder makes it; events before the fault are given */
	HT_N_RESULTS
};

/** Of each vCPU one; all zero at first. */
struct ht_decoder {
	struct ht_clock	clock;	/* of the last HT_START or HT_CLOCK, if @has_clock */
	bool		has_clock;
	bool		has_sequence;
	uint8_t		sequence;	/* that the next call should have */
	bool		whole;		/* HT_START has been seen; then */
	uint64_t	calls;		/* how many have come since, with it */
	/*
	 * Xen, where others may have the same numbers: a control call has been seen, or the reader
	 * knows from elsewhere that this vCPU speaks the format, and sets it.
	 */
	bool		ours;
	bool		unknown;	/* Xen: the last start was of another version */
};

/** What is in a call. */
struct ht_decoded {
	uint8_t		sort;		/* enum ht_sort */
	uint8_t		sequence;
	/*
	 * Calls that are missing before this one, modulo 256. More than 128 may also mean that it
	 * is out of order, or there twice.
	 */
	uint8_t		missing;
	uint8_t		control;	/* enum ht_control; 0: it is none */
	struct ht_clock	clock;		/* of a control call; of HT_STOP, tsc alone */
	uint64_t	stop_calls;	/* HT_STOP: calls of the vCPU before this one */
	uint32_t	stop_lost;	/* HT_STOP: as in ht_encode_stop() */
	uint8_t		shift;		/* packed: cycles are multiples of 1 << shift */
	uint8_t		n;		/* events, in order of time */
	/*
	 * In tsc, how many cycles of the guest's TSC the event was before the call: 0 if it is
	 * plain. Ages of 2^22 units and more are rounded up, by less than 2^-21 of themselves.
	 */
	struct ht_event	events[HT_MAX_EVENTS];
};

/**
 * ht_is_ours - could a call be of this format, whatever its version?
 *
 * Under Xen only the sort of call shows it: a stream is ours once HT_START or HT_CLOCK was seen.
 */
bool ht_is_ours(const struct ht_call *call);

/**
 * ht_decode - read a call, the next one of its vCPU
 * @decoder: changed by every call that is of this format
 * @decoded: receives what is in it; complete for HT_OK, up to the fault for HT_TRUNCATED, HT_BAD
 *
 * Each call is understood without those before it, so that a lost one takes no other along.
 */
enum ht_result ht_decode(struct ht_decoder *decoder, const struct ht_call *call,
			 struct ht_decoded *decoded);

/* ---- names ---- */

/** ht_kind_name - "sched_switch", as Linux calls the event; NULL: unknown. */
const char *ht_kind_name(unsigned int kind);

/** ht_field_name - "prev_pid"; NULL if the kind has fewer fields. */
const char *ht_field_name(unsigned int kind, unsigned int field);

/** ht_kind_fields - how many fields a kind has; 0 of an unknown one. */
unsigned int ht_kind_fields(unsigned int kind);

/** ht_level_name - of initcalls: "early", "pure" ...; NULL. ht_level_of: its number, or -1. */
const char *ht_level_name(uint64_t level);
int ht_level_of(const char *name);

/** ht_phase_name - "user space" ...; NULL. */
const char *ht_phase_name(uint64_t phase);

/** ht_result_name - "ok", "truncated" ... */
const char *ht_result_name(enum ht_result result);

#ifdef __cplusplus
}
#endif
#endif
