/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtArrows.hpp
 * @brief	Arrows from graph to graph: where vCPUs migrate, and who wakes whom.
 *
 * A migration is a dashed arrow between the graphs of two CPUs, at the first run on the new one. A
 * wake-up is one from the waker's graph to that of the vCPU that it wakes, straight down or up.
 * Where either has none, it is the graph of the CPU that the waker has, or that the woken vCPU
 * comes to, at the time when it does. All that have graphs are drawn, or none if there is no room.
 */
#ifndef KSHARK_VIRT_VIRTARROWS_HPP
#define KSHARK_VIRT_VIRTARROWS_HPP

#include <vector>

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

	void addMigrations(const VirtGraph &graph);
	void addWakeups(const VirtGraph &graph);
	void add(Arrow &&arrow, const VirtGraph *from, const VirtGraph *to);
	const VirtGraph *graphOf(int streamId, bool isPcpu, int32_t id) const;
	void drawMigration(const Arrow &arrow) const;
	void drawWakeup(const Arrow &arrow) const;
	const Arrow *arrowAt(int x, int y) const;

	std::vector<VirtGraph>	_graphs;
	std::vector<Arrow>	_arrows;
};

#endif
