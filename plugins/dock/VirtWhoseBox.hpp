/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWhoseBox.hpp
 * @brief	The box that chooses the subject of the page "Why".
 */
#ifndef KSHARK_VIRT_VIRTWHOSEBOX_HPP
#define KSHARK_VIRT_VIRTWHOSEBOX_HPP

#include <vector>

#include "VirtBox.hpp"
#include "VirtFindings.hpp"
#include "VirtLives.hpp"
#include "VirtPlots.hpp"
#include "VirtWhose.hpp"

class VirtWhoseBox : public VirtBox {
public:
	explicit VirtWhoseBox(const VirtPlots &plots);

	/**
	 * What there is to choose from in a window: pCPUs, and tasks of guests. What was chosen
	 * stays so as long as its trace is there.
	 */
	void fill(const VirtListed &listed, VirtLives &lives);

	/** Choose a pCPU, or a task of a guest, from now on; the stream is VIRT_NONE: neither. */
	void choose(const VirtWhose &whose);

	/** The stream is VIRT_NONE: of the vCPU that is chosen in the table. */
	VirtWhose chosen() const;

private:
	std::vector<int> tasksOf(const VirtStream &stream, int guest, const VirtListed &listed,
				 VirtLives &lives) const;

	const VirtPlots	&_plots;
};

#endif
