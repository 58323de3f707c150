// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtArrows.cpp
 * @brief	Arrows between graphs, for migrations and wake-ups of vCPUs.
 */
#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "VirtArrows.hpp"
#include "VirtDock.hpp"
#include "VirtOverlays.hpp"
#include "VirtShapes.hpp"
#include "virt_colors.h"

namespace {

constexpr int HEAD = 4;			/* half the width of an arrow's head */
constexpr int DISTANCE = 24;		/* between two arrows, on average */
constexpr int WAIT_DISTANCE = 4;	/* between ends of waits, with arrow or without */
constexpr int DASH = 3;
constexpr virt_color LINE_COLOR = { 0x20, 0x20, 0x20 };

int columnOf(const VirtGraph &graph, int64_t ns)
{
	return graph.x0 + static_cast<int>((ns - graph.window.from_ns) / graph.window.column_ns);
}

int64_t endOf(const VirtGraph &graph)
{
	return graph.window.from_ns + graph.window.column_ns * graph.window.n_columns;
}

/** A head that ends at a place, @size to either side. */
void addHead(int x, int y, int way, int size)
{
	glVertex2i(x - size, y - way * 2 * size);
	glVertex2i(x + size + 1, y - way * 2 * size);
	glVertex2i(x, y);
}

} // namespace

/** Where the head begins. */
int VirtArrows::Arrow::neck() const
{
	return y1 - way() * 2 * HEAD;
}

/** Of the line, which ends at the middle of the head's broad side. */
int VirtArrows::Arrow::xAt(int y) const
{
	int length = neck() - y0, past = y - y0;

	if (past * way() <= 0)
		return x0;
	return past * way() >= length * way() ? x1 : x0 + (x1 - x0) * past / length;
}

/** That of a stream; rather one that is no part of a combo. */
const VirtGraph *VirtArrows::graphOf(int streamId, bool isPcpu, int32_t id) const
{
	const VirtGraph *found = nullptr;

	for (const VirtGraph &graph : _graphs)
		if (graph.streamId == streamId && graph.isPcpu == isPcpu && graph.id == id &&
		    id != VIRT_NONE && (!found || found->isCombo > graph.isCombo))
			found = &graph;
	return found;
}

void VirtArrows::add(Arrow &&arrow, const VirtGraph *from, const VirtGraph *to)
{
	if (!from || !to || from == to)
		return;

	bool isDown = from->base < to->base;

	if (arrow.migration) {
		arrow.y0 = isDown ? from->base + 1 : from->top - 1;
		arrow.y1 = isDown ? to->top - 1 : to->base + 2;
	} else {
		/* from strip to strip: to where a wait begins to be one for a pCPU */
		arrow.y0 = isDown ? from->bottom : from->top;
		arrow.y1 = isDown ? to->top : to->bottom;
	}
	_arrows.push_back(std::move(arrow));
}

/** The vCPUs of a stream whose arrows are drawn: all, or the selected ones. */
std::vector<int32_t> VirtArrows::vcpusOf(const VirtGraph &graph) const
{
	const virt_model *model = graph.model.get();
	std::vector<int32_t> all;

	if (VirtOverlays::isShown(VIRT_OVERLAY_SELECTED))
		return _selected.stream == graph.streamId ? _selected.vcpus(model) : all;
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		all.push_back(i);
	return all;
}

/** The migrations of a stream, between graphs of CPUs that are no part of a combo. */
void VirtArrows::addMigrations(const VirtGraph &graph)
{
	const virt_model *model = graph.model.get();
	int64_t from = graph.window.from_ns, to = endOf(graph);
	std::vector<int32_t> of = vcpusOf(graph);
	size_t n = 0;

	for (int32_t i : of)
		n += virt_vcpu_migrations(model, i, from, to).n;
	if (!n || n > static_cast<size_t>(graph.window.n_columns / DISTANCE))
		return;
	for (int32_t i : of) {
		virt_migration_range range = virt_vcpu_migrations(model, i, from, to);

		for (size_t m = 0; m < range.n; m++) {
			const virt_migration *one = &range.first[m];
			int x = columnOf(graph, one->time_ns);

			add({ &graph, one, {}, x, 0, x, 0 },
			    graphOf(graph.streamId, true, one->from),
			    graphOf(graph.streamId, true, one->to));
		}
	}
}

/** Those of a stream, as far as both ends have a graph; or none, if these are too many. */
void VirtArrows::addWakeups(const VirtGraph &graph)
{
	std::vector<virt_wakeup> found(static_cast<size_t>(graph.window.n_columns / WAIT_DISTANCE));
	std::vector<int32_t> of = vcpusOf(graph);
	size_t before = _arrows.size();
	int n = of.empty() ? 0 :
		virt_wakeups(graph.model.get(), of.data(), of.size(), graph.window.from_ns,
			     endOf(graph), found.data(), static_cast<int>(found.size()));

	for (int i = 0; i < n; i++) {
		const virt_wakeup &one = found[static_cast<size_t>(i)];
		const VirtGraph *from = graphOf(graph.streamId, false, one.who);
		const VirtGraph *to = graphOf(graph.streamId, false, one.vcpu);
		int x = columnOf(graph, one.time_ns), end = x;

		if (!from)
			from = graphOf(graph.streamId, true, one.from);
		if (!to && one.to != VIRT_NONE && one.run_ns < endOf(graph)) {
			to = graphOf(graph.streamId, true, one.to);
			end = columnOf(graph, one.run_ns);
		}
		add({ &graph, nullptr, one, x, 0, end, 0 }, from, to);
	}
	if (_arrows.size() - before > static_cast<size_t>(graph.window.n_columns / DISTANCE))
		_arrows.resize(before);
}

void VirtArrows::drawMigration(const Arrow &arrow) const
{
	int way = arrow.way(), neck = arrow.neck();

	virtSetColor(LINE_COLOR);
	glBegin(GL_QUADS);
	for (int y = arrow.y0; (neck - y) * way > 0; y += 2 * DASH * way) {
		int end = (neck - y) * way < DASH ? neck : y + DASH * way;

		virtAddRect({ arrow.x0, std::min(y, end), arrow.x0 + 1, std::max(y, end) });
	}
	glEnd();
	glBegin(GL_TRIANGLES);
	addHead(arrow.x0, arrow.y1, way, HEAD);
	glEnd();
}

/** In the colour of the wait for a pCPU, which it begins, with an edge. */
void VirtArrows::drawWakeup(const Arrow &arrow) const
{
	int way = arrow.way(), neck = arrow.neck();

	for (int edge = 1; edge >= 0; edge--) {
		virtSetColor(edge ? LINE_COLOR : virt_state_look(VIRT_WAKING)->color);
		glBegin(GL_QUADS);
		for (int y = arrow.y0; (neck - y) * way > 0; y += way) {
			int x = arrow.xAt(y), next = arrow.xAt(y + way);

			virtAddRect({ std::min(x, next) - edge, y - edge,
				      std::max(x, next) + 1 + edge, y + 1 + edge });
		}
		virtAddRect({ arrow.x0 - 1 - edge, arrow.y0 - 1 - edge, arrow.x0 + 2 + edge,
			      arrow.y0 + 2 + edge });
		glEnd();
		glBegin(GL_TRIANGLES);
		addHead(arrow.x1, arrow.y1 - (edge ? 0 : 2 * way), way, HEAD - (edge ? 0 : 2));
		glEnd();
	}
}

void VirtArrows::draw()
{
	VirtDock *dock = VirtDock::instance();
	std::set<int> done;

	_selected = dock ? dock->selected() : VirtSubject{ VIRT_NONE, 0, 0, 0 };
	_arrows.clear();
	for (const VirtGraph &graph : _graphs) {
		if (!done.insert(graph.streamId).second)
			continue;
		if (VirtOverlays::isShown(VIRT_OVERLAY_ARROWS))
			addMigrations(graph);
		if (VirtOverlays::isShown(VIRT_OVERLAY_WAKEUPS))
			addWakeups(graph);
	}
	for (const Arrow &arrow : _arrows)
		arrow.migration ? drawMigration(arrow) : drawWakeup(arrow);
}

const VirtArrows::Arrow *VirtArrows::arrowAt(int x, int y) const
{
	const Arrow *nearest = nullptr;

	for (const Arrow &arrow : _arrows)
		if (y >= std::min(arrow.y0, arrow.y1) && y <= std::max(arrow.y0, arrow.y1) &&
		    std::abs(x - arrow.xAt(y)) <= HEAD &&
		    (!nearest || std::abs(x - arrow.xAt(y)) < std::abs(x - nearest->xAt(y))))
			nearest = &arrow;
	return nearest;
}

bool VirtArrows::factAt(int x, int y, VirtFact *fact) const
{
	const Arrow *arrow = arrowAt(x, y);

	if (!arrow)
		return false;

	VirtStream stream = { arrow->graph->streamId, arrow->graph->offset, arrow->graph->model };

	*fact = arrow->migration ? virtMigrationFact(stream, *arrow->migration, 1) :
				   virtWakeupFact(stream, arrow->wakeup);
	return true;
}
