/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtStatsText.hpp
 * @brief	Statistics of vCPUs and machines as text.
 */
#ifndef KSHARK_VIRT_VIRTSTATSTEXT_HPP
#define KSHARK_VIRT_VIRTSTATSTEXT_HPP

#include <cstdint>

#include <QString>

#include "VirtCount.hpp"

/** The statistics of a distribution that the dock shows. */
constexpr virt_stat VIRT_SHOWN_STATS[] = { VIRT_STAT_P50, VIRT_STAT_P99, VIRT_STAT_MAX };
constexpr int VIRT_N_SHOWN_STATS = sizeof(VIRT_SHOWN_STATS) / sizeof(*VIRT_SHOWN_STATS);

/** These as text, commas between; @dist is not empty. */
QString virtShownStats(const virt_dist &dist);

/** Of a share between 0 and 1, without the sign. */
QString virtPercent(double share);

/** Exit reasons that took most time, with their counts. */
QString virtExitReasons(const virt_model *model, const virt_window_stats &stats);

/** Who had the pCPU during waits, and how long. */
QString virtCulprits(const virt_model *model, const virt_window_stats &stats);

/** How many begin in the window, and "+ 1" for one that goes on when it begins. */
QString virtNumber(const virt_stretches &stretches);

/** A state's share, see virt_share_base(). */
double virtShare(const virt_window_stats &stats, int state);

/** Can a trace show the time in a state, be it together with that in others? */
bool virtKnowsState(const virt_model *model, int state);

/** All about a vCPU or machine that has been counted, as rich text. */
QString virtDetails(const QString &name, const VirtSubject &subject, const VirtCount::Found &found);

#endif
