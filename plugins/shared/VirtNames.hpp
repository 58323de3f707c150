/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtNames.hpp
 * @brief	Names of the machines and vCPUs of all open streams: one name everywhere.
 */
#ifndef KSHARK_VIRT_VIRTNAMES_HPP
#define KSHARK_VIRT_VIRTNAMES_HPP

#include <string>
#include <vector>

#include <QString>

#include "VirtKs.hpp"
#include "virt_names.h"

/** As they are now: to be made anew for each frame or list. */
class VirtNames {
public:
	VirtNames();

	/** Names to be shown. @vcpu: a global index, or whatever else can have a pCPU. */
	QString machine(int stream, int32_t machine) const;
	QString vcpu(int stream, int32_t vcpu) const;

	/** The vCPU that a guest's CPU is; empty if it is not known to be one. */
	QString guestCpu(int stream, int cpu) const;

	/** What is added to the names of a vCPU's machine, for texts about it. */
	virt_name_parts parts(int stream, int32_t vcpu) const;

private:
	std::vector<virt_name_stream>	_streams;
	std::vector<VirtModelRef>	_models;	/* that they are of */
	std::vector<std::string>	_files;
};

#endif
