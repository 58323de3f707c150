// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtStatsText.cpp
 * @brief	Statistics of vCPUs and machines as text.
 */
#include <QStringList>

#include "VirtKs.hpp"
#include "VirtStatsText.hpp"
#include "virt_needs.h"
#include "virt_text.h"

namespace {

/** Exit reasons and culprits that are named. */
constexpr size_t MOST = 3;

/** Migrations of which each is looked at. */
constexpr uint64_t MOST_SPLIT = 100000;

} // namespace

QString virtPercent(double share)
{
	return QString::number(share * 100, 'f', 2);
}

QString virtExitReasons(const virt_model *model, const virt_window_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_reasons && i < MOST; i++)
		list << virtShown(virt_text_reason(model, stats.reasons[i].reason)) + ' ' +
			QString::number(stats.reasons[i].count);
	return list.join(", ");
}

QString virtCulprits(const virt_model *model, const virt_window_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_culprits && i < MOST; i++)
		list << QString("%1 %2").arg(virtShown(virt_text_vcpu(model,
								   stats.culprits[i].vcpu)),
					     virtDuration(stats.culprits[i].ns));
	return list.join(", ");
}

double virtShare(const virt_window_stats &stats, int state)
{
	int64_t all = virt_window_share_base(&stats, state);

	return all ? static_cast<double>(stats.states[state].ns) / static_cast<double>(all) : 0;
}

bool virtKnowsState(const virt_model *model, int state)
{
	auto which = static_cast<virt_state>(state);

	return virt_model_includes(model, which) ||
	       virt_model_knows(model, virt_number_of_state(which));
}

QString virtNumber(const virt_stretches &stretches)
{
	QString number = QString::number(stretches.count);

	return stretches.before ? number + QString(" + %1").arg(stretches.before) : number;
}

namespace {

/** The name of a state, and those of others whose time is in it. */
QString stateName(const virt_model *model, int state)
{
	unsigned int in = virt_model_includes(model, static_cast<virt_state>(state));
	char names[VIRT_STATE_NAMES];

	return virt_state_names(in | 1U << state, "+", names, sizeof(names));
}

QString stateLine(const virt_model *model, const virt_window_stats &stats)
{
	QStringList list;

	for (int state = 0; state < VIRT_N_STATES; state++)
		if (!virtKnowsState(model, state))
			list << stateName(model, state) + " -";
		else if (stats.states[state].ns)
			list << QString("%1 %2 % (%3%4)")
				.arg(stateName(model, state), virtPercent(virtShare(stats, state)),
				     virtDuration(stats.states[state].ns),
				     stats.unsplit_ns[state] ? ", not split" : "");
	return list.join(", ");
}

QString machineLine(const virt_window_machine &machine)
{
	QStringList list;

	for (int i = 0; i < VIRT_M_N_STATES; i++) {
		int64_t ns = machine.states[i].ns;
		int64_t all = virt_machine_share_base(&machine, i);

		if (ns)
			list << QString(virt_machine_state_name(static_cast<virt_machine_state>(i)))
				.replace('_', ' ') + " " +
				virtPercent(static_cast<double>(ns) / static_cast<double>(all)) +
				" %";
	}
	return list.join(", ");
}

/** Wake-ups that begin in the window; one that is in progress then is listed separately. */
QString wakeLine(const virt_stretches &wakes)
{
	QString line = QString(wakes.count == 1 ? "%1 wake-up" : "%1 wake-ups").arg(wakes.count);

	if (wakes.whole.count)
		line += ": " + virtShownStats(wakes.whole);
	if (wakes.before)
		line += QString("; %1 more before the window").arg(wakes.before);
	if (wakes.before && wakes.before_ns != VIRT_NONE)
		line += QString(", for %1 by then").arg(virtDuration(wakes.before_ns));
	return line;
}

/** How many, and what the vCPU did until each of them: woken or preempted, it was moved. */
QString migrationLine(const VirtCount::Found &found, const VirtSubject &subject)
{
	const virt_model *model = found.stream->model.get();
	uint64_t before[VIRT_N_STATES] = {}, n = found.stats->migrations;
	QString line = QString(n == 1 ? "%1 migration" : "%1 migrations").arg(n);
	QStringList list;

	for (int32_t vcpu : n <= MOST_SPLIT ? subject.vcpus(model) : std::vector<int32_t>()) {
		virt_migration_range moves = virt_vcpu_migrations(model, vcpu,
								  found.window->from_ns,
								  found.window->to_ns);

		for (size_t i = 0; i < moves.n; i++) {
			const virt_interval *at = virt_vcpu_at(model, vcpu,
							       moves.first[i].time_ns - 1,
							       nullptr);

			before[at ? static_cast<int>(at->state) : VIRT_UNKNOWN]++;
		}
	}
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (before[state])
			list << QString("%1 %2").arg(stateName(model, state)).arg(before[state]);
	return list.isEmpty() ? line : line + ", until then " + list.join(", ");
}

} // namespace

QString virtShownStats(const virt_dist &dist)
{
	QStringList list;

	for (virt_stat stat : VIRT_SHOWN_STATS)
		list << QString(virt_stat_look(stat)->name) + ' ' +
			virtDuration(virt_dist_stat(&dist, stat));
	return list.join(", ");
}

QString virtDetails(const QString &name, const VirtSubject &subject, const VirtCount::Found &found)
{
	const virt_model *model = found.stream->model.get();
	const virt_window_stats &stats = *found.stats;
	auto knows = [model] (virt_number number) { return virt_model_knows(model, number); };
	QStringList lines;

	lines << "<b>" + name.toHtmlEscaped() + "</b>: " + stateLine(model, stats);
	if (subject.vcpu == VIRT_NONE)
		lines << "all vCPUs at once: " + (knows(VIRT_NUMBER_TOGETHER) ?
			 machineLine(found.window->machines[subject.machine]) : "-");
	if (!knows(VIRT_NUMBER_EXITS))
		lines << "exits -";
	else if (stats.n_reasons)
		lines << QString("exits %1: %2").arg(stats.exits).arg(
			virtExitReasons(model, stats).toHtmlEscaped());
	if (!knows(VIRT_NUMBER_CULPRITS))
		lines << "culprits: -";
	else if (stats.n_culprits)
		lines << "culprits: " + virtCulprits(model, stats).toHtmlEscaped();
	if (!knows(VIRT_NUMBER_WAKING))
		lines << "wake-ups -";
	else if (stats.states[VIRT_WAKING].count || stats.states[VIRT_WAKING].before)
		lines << wakeLine(stats.states[VIRT_WAKING]);
	if (!knows(VIRT_NUMBER_MIGRATIONS))
		lines << "migrations -";
	else if (stats.migrations)
		lines << migrationLine(found, subject);
	if (!knows(VIRT_NUMBER_RUNNABLE))
		lines << "longest wait for a pCPU: -";
	else if (stats.longest_vcpu != VIRT_NONE)
		lines << QString("longest wait for a pCPU: %1, %2")
			.arg(virtShown(virt_text_vcpu(model, stats.longest_vcpu)).toHtmlEscaped(),
			     virtDuration(stats.longest_to_ns - stats.longest_from_ns));
	return lines.join("<br>");
}
