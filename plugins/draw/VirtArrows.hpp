/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtArrows.hpp
 * @brief	Arrows between graphs, for migrations and wake-ups of vCPUs.
 *
 * A migration is a dashed arrow between the graphs of two CPUs, at the first run on the new CPU. A
 * wake-up is an arrow from the waker's graph to the graph of the woken vCPU, straight down or up.
 * If the waker has no graph, the arrow starts at the graph of the CPU that the waker has at that
 * time. If the woken vCPU has no graph, the arrow ends at the graph of the CPU that the vCPU comes
 * to, at the time when it comes there. All arrows whose ends have graphs are drawn, or none if
 * there is no room.
 */
#ifndef KSHARK_VIRT_VIRTARROWS_HPP
#define KSHARK_VIRT_VIRTARROWS_HPP

#include <vector>

#include "VirtCount.hpp"
#include "VirtFact.hpp"
#include "VirtGraph.hpp"
#include "virt_wakeups.h"

/** Of one frame. */
class VirtArrows {
public:
	/** A graph is about to be drawn. */
	void add(const VirtGraph &graph) { _graphs.push_back(graph); }
	void draw();
	bool isAt(int x, int y) const { return arrowAt(x, y); }
	bool factAt(int x, int y, VirtFact *fact) const;

private:
	struct Arrow {
		const VirtGraph		*graph;		/* of its stream */
		const virt_migration	*migration;	/* nullptr: it is a wake-up */
		virt_wakeup		wakeup;
		int			x0, y0, x1, y1;

		int xAt(int y) const;
		int neck() const;
		int way() const { return y1 > y0 ? 1 : -1; }
	};

	std::vector<int32_t> vcpusOf(const VirtGraph &graph) const;
	void addMigrations(const VirtGraph &graph);
	void addWakeups(const VirtGraph &graph);
	void add(Arrow &&arrow, const VirtGraph *from, const VirtGraph *to);
	const VirtGraph *graphOf(int streamId, bool isPcpu, int32_t id) const;
	void drawMigration(const Arrow &arrow) const;
	void drawWakeup(const Arrow &arrow) const;
	const Arrow *arrowAt(int x, int y) const;

	std::vector<VirtGraph>	_graphs;
	std::vector<Arrow>	_arrows;
	VirtSubject		_selected = { VIRT_NONE, 0, 0, 0 };
};

#endif
