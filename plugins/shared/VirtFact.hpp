/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtFact.hpp
 * @brief	The description of a place in a graph, for a double click and for a tooltip.
 */
#ifndef KSHARK_VIRT_VIRTFACT_HPP
#define KSHARK_VIRT_VIRTFACT_HPP

#include <cstdint>

#include <QString>

#include "VirtKs.hpp"
#include "virt_shading.h"
#include "virt_wakeups.h"

struct VirtFact {
	QString	text;			/* to be shown */
	int64_t	from = 0, to = 0;	/* as KernelShark shows it */
	int	stream = VIRT_NONE;	/* of the vCPU */
	int32_t	vcpu = VIRT_NONE;	/* that it is about; VIRT_NONE: about none */
};

/** What a vCPU does in an interval. */
VirtFact virtIntervalFact(const VirtStream &stream, const virt_shade_hit &hit);

/** What a pCPU does without a vCPU. */
VirtFact virtOccupantFact(const VirtStream &stream, int32_t pcpu, const virt_occupant &occupant,
			  int64_t endNs);

/** @n: number of migrations with one mark; this is the first. */
VirtFact virtMigrationFact(const VirtStream &stream, const virt_migration &migration, int n);

/** The wait for a pCPU that a wake-up begins; if there is none, the one that it ends. */
VirtFact virtWakeupFact(const VirtStream &stream, const virt_wakeup &wakeup);

/** What is missing. */
VirtFact virtLossFact(const VirtStream &stream, const virt_loss &loss);

#endif
