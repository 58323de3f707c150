/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtCommand.hpp
 * @brief	Make command lines that print the contents of the dock.
 */
#ifndef KSHARK_VIRT_VIRTCOMMAND_HPP
#define KSHARK_VIRT_VIRTCOMMAND_HPP

#include <set>

#include "VirtCount.hpp"
#include "virt_pairing.h"

/** The streams of a stream's guests, as far as a source of this value or more says so. */
std::set<int> virtGuestsOf(const VirtStream &stream, virt_pair_source least = VIRT_PAIR_GUESSED);

/** "d1v0" or "d1", as commands name a vCPU or a machine; empty if it is not there. */
QString virtIdOf(const VirtSubject &subject);

/** "--vcpu d1v0" for a machine or vCPU, as the command has it. */
QString virtVcpuOption(const VirtStream &stream, const VirtSubject &subject);

/**
 * The command line that prints a window, one for each host's trace with records in it: times are
 * those of its clock, names are quoted, and the traces of guests and of their guests come after it.
 * @options: more of them; @only: a stream's id, or VIRT_NONE for all
 *
 * Return: empty if no trace has records in the window.
 */
QString virtReportCommand(const std::vector<VirtStream> &streams, int64_t from, int64_t to,
			  const QString &options, int only);

/** A word of a command line. */
QString virtQuoted(const QByteArray &text);

/** The variables that control how KernelShark reads xentrace files, for commands as well. */
QString virtEnvironment();

/** "--task web:412" for a task of a guest. */
QString virtTaskOption(const QString &name);

/**
 * The one that prints why time went where it went, with the guests' traces.
 * @from, @to: of the trace's clock
 */
QString virtWhyCommand(const VirtStream &stream, const QString &options, int64_t from, int64_t to);

#endif
