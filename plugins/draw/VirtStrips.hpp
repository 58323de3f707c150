/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtStrips.hpp
 * @brief	The overlay of one of KernelShark's graphs: its strip of states, names and marks.
 *
 * KernelShark keeps the boxes and ticks of a graph in the lower seven tenths of its height, and a
 * gap between two graphs. The strip with the states goes above the ticks. The strip of a vCPU also
 * covers their upper part, which only repeats the information of the lower part; so the strip is at
 * least half of the graph. The marks of migrations go below the base line.
 */
#ifndef KSHARK_VIRT_VIRTSTRIPS_HPP
#define KSHARK_VIRT_VIRTSTRIPS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "VirtGraph.hpp"
#include "VirtNames.hpp"
#include "VirtTasks.hpp"
#include "VirtShapes.hpp"
#include "virt_shading.h"
#include "virt_veil.h"

/** The strip of a graph and what belongs to it; its window has a part for each row of pixels. */
struct VirtStrip : VirtGraph {
	static constexpr int MARK_SIZE = 4;	/* half the width of a mark's triangle */

	/** A name in a part of a strip. */
	struct Label {
		int		x0, x1;
		std::string	text;
		std::string	shorter;	/* if that does not fit */
		bool		dark;		/* black text */
		bool		backed;		/* over several colours: darken what is below */
	};

	/** The mark of one or more migrations, below a graph. */
	struct Mark {
		virt_shade_mark	mark;
		std::string	label;
		VirtRect	area;
		int		x, y;
	};

	VirtRect			area;
	std::vector<virt_shade_run>	runs;
	std::vector<virt_shade_exit_run>	exits;	/* of a combo's vCPU */
	std::vector<virt_veil_run>	veil;		/* of a vCPU, below the strip */
	std::vector<Label>		labels;
	std::vector<Mark>		marks;
	std::vector<virt_shade_taken>	pins;		/* of the worst moments, beside the marks */
};

/**
 * virtMakeStrip - the strip of a graph
 * @names: how vCPUs and tasks are called
 * @tasks: what vCPUs execute
 * @pins: where markers of moments are below it
 *
 * Return: false if the model knows nothing of it.
 */
bool virtMakeStrip(VirtGraph &&graph, const VirtNames &names, const VirtTasks &tasks,
		   std::vector<virt_shade_taken> &&pins, VirtStrip &strip);

#endif
