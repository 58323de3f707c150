// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtFact.cpp
 * @brief	Describe places in KernelShark's graphs.
 */
#include <algorithm>

#include "VirtFact.hpp"
#include "VirtNames.hpp"
#include "virt_text.h"

VirtFact virtIntervalFact(const VirtStream &stream, const virt_shade_hit &hit)
{
	virt_name_parts parts = VirtNames().parts(stream.id, hit.vcpu);
	char text[VIRT_TEXT_SIZE];

	virt_text_interval(text, sizeof(text), stream.model.get(), &parts, hit.vcpu, &hit.interval,
			   hit.end_ns);
	return { virtShown(text), hit.interval.start_ns + stream.offset,
		 hit.end_ns + stream.offset, stream.id, hit.vcpu };
}

VirtFact virtOccupantFact(const VirtStream &stream, int32_t pcpu, const virt_occupant &occupant,
			  int64_t endNs)
{
	virt_name_parts parts = VirtNames().parts(stream.id, std::max(occupant.vcpu, 0));
	char text[VIRT_TEXT_SIZE];

	virt_text_occupant(text, sizeof(text), stream.model.get(), &parts, pcpu, &occupant, endNs);
	return { virtShown(text), occupant.start_ns + stream.offset, endNs + stream.offset,
		 VIRT_NONE, VIRT_NONE };
}

VirtFact virtMigrationFact(const VirtStream &stream, const virt_migration &migration, int n)
{
	virt_name_parts parts = VirtNames().parts(stream.id, migration.vcpu);
	char text[VIRT_TEXT_SIZE];

	virt_text_migration(text, sizeof(text), stream.model.get(), &parts, &migration);
	return { (n > 1 ? QString("%1 migrations here; the first: ").arg(n) : QString()) +
		 virtShown(text),
		 migration.time_ns - migration.gap_ns + stream.offset,
		 migration.time_ns + stream.offset, stream.id, migration.vcpu };
}

VirtFact virtWakeupFact(const VirtStream &stream, const virt_wakeup &wakeup)
{
	const virt_model *model = stream.model.get();
	virt_shade_hit hit = { wakeup.vcpu, wakeup.time_ns, wakeup.wait };
	int64_t end;
	const virt_interval *after = virt_vcpu_at(model, wakeup.vcpu, wakeup.time_ns, &end);

	if (after && after->state == VIRT_WAKING)
		hit = { wakeup.vcpu, end, *after };
	return virtIntervalFact(stream, hit);
}

VirtFact virtLossFact(const VirtStream &stream, const virt_loss &loss)
{
	virt_name_parts parts = VirtNames().parts(stream.id, 0);
	virt_moment moment = {};
	char text[VIRT_TEXT_SIZE];

	moment.kind = VIRT_WORST_LOST;
	moment.pcpu = loss.pcpu;
	moment.records = loss.records;
	moment.cost_ns = loss.to_ns - loss.from_ns;
	moment.entry_ns = VIRT_NO_TIME;
	moment.begun = moment.complete = true;
	virt_text_moment(text, sizeof(text), stream.model.get(), &parts, &moment, VIRT_NO_TIME);
	return { virtShown(text), loss.from_ns + stream.offset, loss.to_ns + stream.offset,
		 VIRT_NONE, VIRT_NONE };
}
