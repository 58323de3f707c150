// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtStatsText.cpp
 * @brief	Statistics of vCPUs and machines as text.
 */
#include <QStringList>

#include "VirtStatsText.hpp"
#include "virt_text.h"

QString virtDuration(int64_t ns)
{
	char text[32];

	return virt_text_duration(text, sizeof(text), ns);
}

QString virtPercent(double share)
{
	return QString::number(share * 100, 'f', 2);
}

QString virtExitReasons(const virt_model *model, const virt_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_exit_reasons; i++)
		list << QString("%1 %2").arg(virt_text_reason(model,
							      stats.exit_reasons[i].reason))
					.arg(stats.exit_reasons[i].count);
	return list.join(", ");
}

QString virtCulprits(const virt_model *model, const virt_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_culprits; i++)
		list << QString("%1 %2").arg(virt_text_vcpu(model, stats.culprits[i].vcpu),
					     virtDuration(stats.culprits[i].ns));
	return list.join(", ");
}

double virtShare(const virt_stats &stats, int state)
{
	int64_t all = stats.known_ns + (state == VIRT_UNKNOWN ? stats.ns[VIRT_UNKNOWN] : 0);

	return all ? static_cast<double>(stats.ns[state]) / static_cast<double>(all) : 0;
}

namespace {

QString stateLine(const virt_stats &stats)
{
	QStringList list;

	for (int state = 0; state < VIRT_N_STATES; state++)
		if (stats.ns[state])
			list << QString("%1 %2 % (%3)")
				.arg(QString(virt_state_name(static_cast<virt_state>(state))),
				     virtPercent(virtShare(stats, state)),
				     virtDuration(stats.ns[state]));
	return list.join(", ");
}

QString machineLine(const int64_t *ns)
{
	QStringList list;
	double sum = 0;

	for (int i = 0; i < VIRT_M_N_STATES; i++)
		sum += static_cast<double>(ns[i]);
	for (int i = 0; i < VIRT_M_N_STATES; i++)
		if (ns[i])
			list << QString(virt_machine_state_name(static_cast<virt_machine_state>(i)))
				.replace('_', ' ') + " " +
				virtPercent(static_cast<double>(ns[i]) / sum) + " %";
	return list.join(", ");
}

} // namespace

QString virtDetails(const QString &name, const VirtSubject &subject, const VirtCount::Found &found)
{
	const virt_model *model = found.stream->model.get();
	const virt_stats &stats = *found.stats;
	QStringList lines;

	lines << "<b>" + name.toHtmlEscaped() + "</b>: " + stateLine(stats);
	if (subject.vcpu == VIRT_NONE)
		lines << "together: " +
			 machineLine(found.window->machine_totals[subject.machine].ns);
	if (stats.n_exit_reasons)
		lines << QString("exits %1: %2").arg(stats.exits).arg(
			virtExitReasons(model, stats).toHtmlEscaped());
	if (stats.n_culprits)
		lines << "stolen by: " + virtCulprits(model, stats).toHtmlEscaped();
	if (stats.wakes)
		lines << QString("%1 wake-ups: p50 %2, p99 %3, max %4").arg(stats.wakes)
			.arg(virtDuration(stats.wake_p50_ns), virtDuration(stats.wake_p99_ns),
			     virtDuration(stats.wake_max_ns));
	if (stats.worst_vcpu != VIRT_NONE)
		lines << QString("longest wait for a pCPU: %1, %2")
			.arg(virt_text_vcpu(model, stats.worst_vcpu),
			     virtDuration(stats.worst_to_ns - stats.worst_from_ns));
	return lines.join("<br>");
}
