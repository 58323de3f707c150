/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtRows.hpp
 * @brief	Label graphs with the machine and the vCPU that they belong to.
 */
#ifndef KSHARK_VIRT_VIRTROWS_HPP
#define KSHARK_VIRT_VIRTROWS_HPP

#include <string>

#include <KsPlugins.hpp>

#include "VirtNames.hpp"

/** The label of a graph in two lines, in place of KernelShark's own. */
struct VirtRow {
	int		x, y, room, height;	/* upper left corner */
	std::string	name;			/* whose it is; empty: KernelShark's is kept */
	std::string	other;			/* what KernelShark calls it */

	void draw() const;
};

/** virtRow - the label of a graph; takes KernelShark's away if there is a better one. */
VirtRow virtRow(const KsCppArgV *argv, const VirtNames &names, int streamId, int value,
		int drawAction);

#endif
