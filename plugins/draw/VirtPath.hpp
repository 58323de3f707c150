/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPath.hpp
 * @brief	Draw the result of the dock's page "Why" over the graphs: bands in the colours of
 *		its segments, and arrows from the waiting one to the culprit, and back.
 *
 * The bands cover the lower ends of KernelShark's boxes, where the boxes only repeat the
 * information of their upper ends.
 */
#ifndef KSHARK_VIRT_VIRTPATH_HPP
#define KSHARK_VIRT_VIRTPATH_HPP

#include <cstdint>
#include <vector>

#include <KsPlugins.hpp>

#include "VirtShapes.hpp"
#include "VirtWhy.hpp"

/** Of one frame. */
class VirtPath {
public:
	/** A graph is about to be drawn. */
	void add(const KsCppArgV *argv, const VirtWhyTree &tree, int streamId, int value,
		 int drawAction);
	void draw() const;

private:
	struct Band {
		virt_path_row			row;
		int				x0, base;
		std::vector<virt_look>		looks;	/* of each run */
		std::vector<virt_path_run>	runs;
	};

	const Band *bandOf(bool isPcpu, int32_t id) const;
	void drawBand(const Band &band) const;
	void drawLink(const virt_path_link &link) const;

	std::vector<Band>		_bands;
	std::vector<virt_path_link>	_links;
	int				_x0 = 0;
};

#endif
