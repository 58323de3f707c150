/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	recording.h
 * @brief	Commands that record everything needed of a host; messages show them.
 */
#ifndef KSHARK_VIRT_RECORDING_H
#define KSHARK_VIRT_RECORDING_H

#define RECORD_KVM	"trace-cmd record -e kvm -e sched_switch -e sched_wakeup " \
			"-e sched_migrate_task"
#define RECORD_XEN	"xentrace -D -e all FILE"

#endif
