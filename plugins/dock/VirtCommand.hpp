/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtCommand.hpp
 * @brief	What the dock shows, as a command line that prints it.
 */
#ifndef KSHARK_VIRT_VIRTCOMMAND_HPP
#define KSHARK_VIRT_VIRTCOMMAND_HPP

#include "VirtCount.hpp"

/** "--vcpu d1v0" for a machine or vCPU, as the command has it. */
QString virtVcpuOption(const VirtStream &stream, const VirtSubject &subject);

/**
 * The command line that prints a window, one for each trace with machines: times are those of its
 * clock, names are quoted, and guests' traces come behind those of their hosts.
 * @options: more of them; @only: a stream's id, or VIRT_NONE for all
 */
QString virtReportCommand(const std::vector<VirtStream> &streams, int64_t from, int64_t to,
			  const QString &options, int only);

/** The one that prints why a vCPU's time went where it went. @from, @to: of the trace's clock */
QString virtWhyCommand(const VirtStream &stream, const VirtSubject &subject, int64_t from,
		       int64_t to);

#endif
