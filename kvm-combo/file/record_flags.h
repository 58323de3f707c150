/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_flags.h
 * @brief	common_flags of a record, by enum trace_flag_type of Linux (linux/trace_events.h).
 */
#ifndef KSHARK_VIRT_RECORD_FLAGS_H
#define KSHARK_VIRT_RECORD_FLAGS_H

enum record_flag {
	RECORD_IRQS_OFF = 0x01,
	RECORD_IRQS_UNKNOWN = 0x02,
	RECORD_NEED_RESCHED = 0x04,
	RECORD_IN_HARDIRQ = 0x08,
	RECORD_IN_SOFTIRQ = 0x10,
	RECORD_IN_NMI = 0x40,
};

/** Contexts in which a record is none of the thread that has the CPU. */
#define RECORD_IN_INTERRUPT	(RECORD_IN_HARDIRQ | RECORD_IN_SOFTIRQ | RECORD_IN_NMI)

#endif
