// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDraw.cpp
 * @brief	Draw the results of virt_shading.c as shapes over KernelShark's graphs.
 *
 * All of a frame is one shape: KernelShark deletes it together with all other shapes when it begins
 * the next frame.
 */
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <QCursor>
#include <QTimer>

#include <KsPlotTools.hpp>
#include <KsPlugins.hpp>

#include "VirtArrows.hpp"
#include "VirtDock.hpp"
#include "VirtFact.hpp"
#include "VirtFont.hpp"
#include "VirtFlags.hpp"
#include "VirtGaps.hpp"
#include "VirtHover.hpp"
#include "VirtInside.hpp"
#include "VirtNames.hpp"
#include "VirtOverlays.hpp"
#include "VirtPath.hpp"
#include "VirtPins.hpp"
#include "VirtRows.hpp"
#include "VirtStrips.hpp"
#include "VirtTasks.hpp"
#include "VirtVeil.hpp"
#include "ks_stream.h"
#include "virt.h"
#include "virt_colors.h"
#include "virt_pairing.h"
#include "virt_shading.h"

namespace {

constexpr int MARK_SIZE = VirtStrip::MARK_SIZE;
constexpr int LABEL_MARGIN = 4;
constexpr int LABEL_GROUND = 190;	/* of 255: how much of what is below a label goes */
constexpr virt_color LINE_COLOR = { 0x20, 0x20, 0x20 };
constexpr virt_color NOTHING_COLOR = { 0xff, 0xff, 0xff };
constexpr virt_color FRAME_COLOR = { 0xc4, 0xc8, 0xce };

/** The graph of a guest's CPU: its vCPU, which the guest knows nothing of. */
struct Guest {
	VirtRect		area;
	VirtStream		host;
	int32_t			vcpu;
	virt_shade_window	window;
};

/* ---- text ---- */

/** Size of letters whose capitals leave a pixel free above and below: combos' strips are low. */
int labelSize(const VirtRect &area)
{
	int most = (area.y1 - area.y0 - 2) * VIRT_FONT_SIZE / VIRT_CAPITAL_SIZE;

	return std::min(VIRT_FONT_SIZE, most);
}

/** The whole of a frame. */
class Frame : public KsPlot::PlotObject {
public:
	Frame() { current = this; }
	~Frame() override
	{
		if (current == this)
			current = nullptr;
	}

	void add(VirtStrip &&strip) { _strips.push_back(std::move(strip)); }
	void add(VirtRow &&row) { _rows.push_back(std::move(row)); }
	void add(VirtInside &&inside) { _insides.push_back(std::move(inside)); }
	void add(Guest &&guest) { _guests.push_back(std::move(guest)); }
	VirtPath &path() { return _path; }
	VirtArrows &arrows() { return _arrows; }
	VirtFlags &flags(const KsCppArgV *argv, const VirtDock *dock);
	void addGaps(const KsCppArgV *argv, int streamId, const VirtModelRef &model);
	const VirtNames &names() const { return _names; }
	const VirtTasks &tasks() const { return _tasks; }

	double distance(int x, int y) const override;
	bool isOnStrip(int x, int y) const;
	bool factAt(int x, int y, VirtFact *fact) const;

	/** The frame that is being made: KernelShark has not deleted it yet. */
	static Frame *current;

private:
	void _draw(const KsPlot::Color &, float) const override;
	void _doubleClick() const override;

	void drawStrip(const VirtStrip &strip) const;
	void drawExits(const VirtStrip &strip) const;
	void drawLabels(const VirtStrip &strip) const;
	void drawMarks(const VirtStrip &strip) const;
	const Guest *guestAt(int x, int y) const;
	bool insideFact(int x, int y, VirtFact *fact) const;
	const VirtGaps *gapsAt(int x, int y) const;

	VirtNames			_names;
	VirtTasks			_tasks;
	std::vector<VirtRow>		_rows;
	std::vector<VirtStrip>		_strips;
	std::vector<Guest>		_guests;
	std::vector<VirtInside>		_insides;
	std::vector<VirtGaps>		_gaps;
	std::unique_ptr<VirtFlags>	_flags;
	VirtPath			_path;
	mutable VirtArrows		_arrows;
	mutable int			_x = 0, _y = 0;		/* of the last question */
};

Frame *Frame::current;

/** Once for all graphs of a stream. */
void Frame::addGaps(const KsCppArgV *argv, int streamId, const VirtModelRef &model)
{
	for (const VirtGaps &gaps : _gaps)
		if (gaps.streamId() == streamId)
			return;
	_gaps.emplace_back(argv, VirtStream{ streamId, ks_stream_offset(streamId), model });
	_tasks.add(argv->_histo, streamId, model.get());
}

/** Made for the first graph. */
VirtFlags &Frame::flags(const KsCppArgV *argv, const VirtDock *dock)
{
	QMainWindow *window = _flags ? nullptr : virtMainWindow();
	QWidget *graphs = window ? virtChild(window, "KsGLWidget") : nullptr;

	if (!_flags) {
		_flags = std::make_unique<VirtFlags>(argv, graphs ? graphs->height() : 0);
		if (dock)
			_flags->addBookmarks(dock->bookmarks());
	}
	return *_flags;
}

void Frame::drawStrip(const VirtStrip &strip) const
{
	/* a vCPU's lies over KernelShark's ticks, also where it has nothing to show */
	if (!strip.isPcpu) {
		glBegin(GL_QUADS);
		virtSetColor(NOTHING_COLOR);
		virtAddRect(strip.area);
		glEnd();
	}
	for (int state = 0; state < VIRT_N_STATES; state++) {
		const virt_look *look = virt_state_look_in(strip.model.get(),
							   static_cast<virt_state>(state));

		for (int pass = 0; pass < 1 + look->hatched; pass++) {
			glBegin(GL_QUADS);
			virtSetColor(pass ? look->hatch : look->color);
			for (const virt_shade_run &run : strip.runs) {
				int y = strip.area.y1;

				if (!run.parts[state])
					continue;
				for (int below = 0; below < state; below++)
					y -= run.parts[below];
				VirtRect rect = {
					strip.area.x0 + run.first, y - run.parts[state],
					strip.area.x0 + run.first + run.n, y,
				};
				pass ? virtAddHatch(rect) : virtAddRect(rect);
			}
			glEnd();
		}
	}
	drawExits(strip);
	glBegin(GL_QUADS);
	virtSetColor(FRAME_COLOR);
	virtAddRect({ strip.area.x0, strip.area.y1, strip.area.x1, strip.area.y1 + 1 });
	glEnd();
}

/** The hypervisor's time in the colours of what it does. */
void Frame::drawExits(const VirtStrip &strip) const
{
	size_t run = 0;

	glBegin(GL_QUADS);
	for (const virt_shade_exit_run &exits : strip.exits) {
		while (strip.runs[run].first + strip.runs[run].n <= exits.first)
			run++;

		int x = strip.area.x0 + exits.first;
		int y = strip.area.y1;

		for (int below = 0; below < VIRT_HYPERVISOR; below++)
			y -= strip.runs[run].parts[below];
		for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
			if (!exits.parts[i])
				continue;
			virtSetColor(virt_exit_class_color(static_cast<virt_exit_class>(i)));
			virtAddRect({ x, y - exits.parts[i], x + exits.n, y });
			y -= exits.parts[i];
		}
	}
	glEnd();
}

void Frame::drawLabels(const VirtStrip &strip) const
{
	int size = labelSize(strip.area), capital = size * VIRT_CAPITAL_SIZE / VIRT_FONT_SIZE;
	const ksplot_font *font = virtFont(size);

	if (!font)
		return;
	for (const VirtStrip::Label &label : strip.labels) {
		int room = label.x1 - label.x0 - 2 * LABEL_MARGIN;
		bool fits = virtTextWidth(font, label.text) <= room;
		const std::string &text = fits ? label.text : label.shorter;
		int width = virtTextWidth(font, text);

		if (width > room || text.empty())
			continue;

		int x = (label.x0 + label.x1 - width) / 2;

		if (label.backed) {
			glColor4ub(0, 0, 0, 110);
			glBegin(GL_QUADS);
			virtAddRect({ x - 3, strip.area.y0 + 1, x + width + 3, strip.area.y1 - 1 });
			glEnd();
		}
		virtDrawText(font, text, x,
			 (strip.area.y0 + strip.area.y1 + capital) / 2,
			 label.dark ? virt_color{ 0, 0, 0 } : virt_color{ 255, 255, 255 });
	}
}

void Frame::drawMarks(const VirtStrip &strip) const
{
	const ksplot_font *font = virtFont(VIRT_FONT_SIZE);

	glBegin(GL_TRIANGLES);
	virtSetColor(LINE_COLOR);
	for (const VirtStrip::Mark &mark : strip.marks) {
		glVertex2i(mark.x, mark.y);
		glVertex2i(mark.x - MARK_SIZE, mark.y + 2 * MARK_SIZE - 1);
		glVertex2i(mark.x + MARK_SIZE + 1, mark.y + 2 * MARK_SIZE - 1);
	}
	glEnd();
	for (size_t i = 0; font && i < strip.marks.size(); i++) {
		const VirtStrip::Mark &mark = strip.marks[i];
		int x = mark.x + MARK_SIZE + 3;
		int end = i + 1 < strip.marks.size() ? strip.marks[i + 1].x - MARK_SIZE :
						       strip.area.x1 + MARK_SIZE;
		int width = virtTextWidth(font, mark.label);

		for (const virt_shade_taken &pin : strip.pins)
			if (strip.area.x0 + pin.column > mark.x)
				end = std::min(end, strip.area.x0 + pin.column - MARK_SIZE);
		if (x + width >= end)
			continue;
		/* in a combo, it is over boxes of any colour */
		if (strip.isCombo) {
			glColor4ub(255, 255, 255, LABEL_GROUND);
			glBegin(GL_QUADS);
			virtAddRect({ x - 2, mark.y - 2, x + width + 1, mark.y + 2 * MARK_SIZE });
			glEnd();
		}
		virtDrawText(font, mark.label, x, mark.y + 2 * MARK_SIZE, LINE_COLOR);
	}
}

void Frame::_draw(const KsPlot::Color &, float) const
{
	/* Smoothing would mix the colours of neighbours. */
	glDisable(GL_POLYGON_SMOOTH);
	for (const VirtStrip &strip : _strips) {
		/* the base line stays */
		virtDrawVeil(strip.veil, strip.area.x0, strip.area.y1, strip.base - 1);
		drawStrip(strip);
	}
	for (const VirtInside &inside : _insides)
		inside.draw();
	_arrows.draw();
	if (_flags)
		_flags->draw();
	for (const VirtGaps &gaps : _gaps)
		gaps.draw();
	_path.draw();
	glEnable(GL_POLYGON_SMOOTH);
	for (const VirtRow &row : _rows)
		row.draw();
	for (const VirtStrip &strip : _strips) {
		drawLabels(strip);
		drawMarks(strip);
	}
	for (const VirtInside &inside : _insides)
		if (VirtOverlays::isShown(VIRT_OVERLAY_LABELS))
			inside.drawNames();
}

/* ---- double click: KernelShark asks for the distance, then calls the nearest shape ---- */

double Frame::distance(int x, int y) const
{
	_x = x;
	_y = y;
	for (const VirtStrip &strip : _strips) {
		if (strip.area.contains(x, y))
			return 0;
		for (const VirtStrip::Mark &mark : strip.marks)
			if (mark.area.contains(x, y))
				return 0;
	}
	VirtFact unused;

	if (gapsAt(x, y) || insideFact(x, y, &unused) ||
	    (_flags && _flags->factAt(x, y, &unused)))
		return 0;
	return _arrows.isAt(x, y) || guestAt(x, y) ? 1 : std::numeric_limits<double>::max();
}

/** The state that is drawn at a place of a strip. */
int stateAt(const VirtStrip &strip, int x, int y)
{
	for (const virt_shade_run &run : strip.runs)
		if (x - strip.area.x0 >= run.first && x - strip.area.x0 < run.first + run.n)
			return virt_shade_at(&run, strip.area.y1 - 1 - y);
	return VIRT_SHADE_NOTHING;
}

/** The same, and what the guest did in that time, as far as it runs. */
VirtFact vcpuFact(const VirtStream &stream, const VirtTasks &tasks, const virt_shade_hit &hit)
{
	VirtFact fact = virtIntervalFact(stream, hit);
	const virt_vcpu *vcpu = virt_model_vcpu(stream.model.get(), hit.vcpu);

	if (vcpu && (virt_state_on_pcpu(hit.interval.state) ||
		     hit.interval.state == VIRT_PREEMPTED))
		fact.text += tasks.words(stream.id, vcpu->host_pid, fact.from, fact.to);
	if (vcpu && hit.interval.state == VIRT_PREEMPTED)
		fact.text += tasks.culpritWords(stream, hit.vcpu, hit.interval, hit.end_ns);
	return fact;
}

bool stripFact(const VirtStrip &strip, const VirtTasks &tasks, int x, int y, VirtFact *fact)
{
	int64_t from = strip.window.from_ns + (x - strip.area.x0) * strip.window.column_ns;
	int64_t to = from + strip.window.column_ns, end;
	VirtStream stream = { strip.streamId, strip.offset, strip.model };
	const virt_model *model = strip.model.get();
	int state = stateAt(strip, x, y);
	virt_occupant occupant;
	virt_shade_hit hit;

	if (state < VIRT_N_STATES &&
	    (strip.isPcpu ? virt_shade_pick_pcpu(model, strip.id, from, to, state, &hit) :
			    virt_shade_pick_vcpu(model, strip.id, from, to, state, &hit)))
		*fact = vcpuFact(stream, tasks, hit);
	else if (strip.isPcpu &&
		 virt_shade_pick_other(model, strip.id, from, to, state, &occupant, &end))
		*fact = virtOccupantFact(stream, strip.id, occupant, end);
	else
		return false;
	return true;
}

const Guest *Frame::guestAt(int x, int y) const
{
	for (const Guest &guest : _guests)
		if (guest.area.contains(x, y))
			return &guest;
	return nullptr;
}

bool Frame::insideFact(int x, int y, VirtFact *fact) const
{
	return std::any_of(_insides.begin(), _insides.end(), [&] (const VirtInside &inside) {
		return inside.factAt(x, y, fact);
	});
}

const VirtGaps *Frame::gapsAt(int x, int y) const
{
	for (const VirtGaps &gaps : _gaps)
		if (gaps.contains(x, y))
			return &gaps;
	return nullptr;
}

/** What the vCPU does for the longest part of a column. */
bool guestFact(const Guest &guest, const VirtTasks &tasks, int x, VirtFact *fact)
{
	int64_t from = guest.window.from_ns + (x - guest.area.x0) * guest.window.column_ns;
	virt_shade_hit hit;

	if (!virt_shade_pick_vcpu(guest.host.model.get(), guest.vcpu, from,
				  from + guest.window.column_ns, VIRT_NONE, &hit))
		return false;
	*fact = vcpuFact(guest.host, tasks, hit);
	return true;
}

/** The text of a migration's triangle or arrow. */
bool migrationFact(const VirtStrip &strip, const virt_migration *one, int n, VirtFact *fact)
{
	*fact = virtMigrationFact({ strip.streamId, strip.offset, strip.model }, *one, n);
	return true;
}

bool Frame::isOnStrip(int x, int y) const
{
	for (const VirtStrip &strip : _strips) {
		if (strip.area.contains(x, y))
			return true;
		for (const VirtStrip::Mark &mark : strip.marks)
			if (mark.area.contains(x, y))
				return true;
	}
	return false;
}

bool Frame::factAt(int x, int y, VirtFact *fact) const
{
	for (const VirtStrip &strip : _strips)
		for (const VirtStrip::Mark &mark : strip.marks)
			if (mark.area.contains(x, y))
				return migrationFact(strip, mark.mark.migration, mark.mark.n, fact);
	for (const VirtStrip &strip : _strips)
		if (strip.area.contains(x, y))
			return stripFact(strip, _tasks, x, y, fact);

	const VirtGaps *gaps = gapsAt(x, y);
	const Guest *guest = guestAt(x, y);

	if (gaps)
		return gaps->factAt(x, y, fact);
	if (_flags && _flags->factAt(x, y, fact))
		return true;
	if (insideFact(x, y, fact) || _arrows.factAt(x, y, fact))
		return true;
	return guest && guestFact(*guest, _tasks, x, fact);
}

/** Later: marking draws anew, which deletes this shape. */
void Frame::_doubleClick() const
{
	QPoint place = QCursor::pos();
	VirtFact fact;

	if (!factAt(_x, _y, &fact))
		return;
	QTimer::singleShot(0, [fact, place] {
		if (VirtDock *dock = VirtDock::instance())
			dock->showFact(fact);
		virtShowTip(place, fact.text);
	});
}

/** Return: false if its vCPU is unknown. */
bool guestOf(const KsCppArgV *argv, int streamId, int cpu, Guest *guest)
{
	const KsPlot::Graph *graph = argv->_graph;
	int x0 = graph->bin(0)._base.x(), base = graph->base();
	virt_pair pair;

	if (!virt_pairing_of_cpu(streamId, cpu, &pair))
		return false;
	guest->host = { pair.host_stream, ks_stream_offset(pair.host_stream),
			VirtModelRef(pair.host_stream) };
	guest->vcpu = guest->host.model ?
		virt_model_find_vcpu(guest->host.model.get(), pair.host_pid) : VIRT_NONE;
	guest->area = { x0, base - graph->height(), x0 + graph->size(), base };
	guest->window = {
		.from_ns = argv->_histo->min - guest->host.offset,
		.column_ns = static_cast<int64_t>(argv->_histo->bin_size),
		.n_columns = graph->size(),
		.n_parts = 1,
	};
	return guest->vcpu != VIRT_NONE;
}

/** What the dock shows of this stream or its host; nullptr: not shown, or of another model. */
const VirtWhyTree *whyOf(const VirtDock *dock, int streamId)
{
	const VirtWhyTree *tree = dock && VirtOverlays::isShown(VIRT_OVERLAY_WHY) ? dock->why() :
									      nullptr;

	if (!tree || (tree->stream.id != streamId &&
		      !(tree->lives && tree->lives->guestOf(streamId) >= 0)))
		return nullptr;
	if (tree->stream.model.serial() != VirtModelRef(tree->stream.id).serial())
		return nullptr;
	return tree;
}

/** What a graph has over it whose stream has a model. */
void addModel(const KsCppArgV *argv, VirtGraph &&graph, std::vector<virt_shade_taken> &&pins)
{
	Frame &frame = *Frame::current;
	VirtStrip strip = {};

	frame.addGaps(argv, graph.streamId, graph.model);
	frame.arrows().add(graph);
	if (VirtOverlays::isShown(graph.isPcpu ? VIRT_OVERLAY_PCPUS : VIRT_OVERLAY_VCPUS) &&
	    virtMakeStrip(std::move(graph), frame.names(), frame.tasks(), std::move(pins), strip))
		frame.add(std::move(strip));
}

/** What a double click would show. */
bool factAt(int x, int y, VirtFact *fact)
{
	VirtDock *dock = VirtDock::instance();

	/* without rows nothing is drawn anew: what is left is of a trace that was closed */
	if (!dock || dock->view().isEmpty() || !Frame::current)
		return false;
	/* what lies above: a strip, a marker, an arrow */
	if (Frame::current->isOnStrip(x, y))
		return Frame::current->factAt(x, y, fact);
	return virtPinFact(x, y, fact) || Frame::current->factAt(x, y, fact);
}

} // namespace

void virt_draw(struct kshark_cpp_argv *argv_c, int streamId, int value, int drawAction)
{
	KsCppArgV *argv = KS_ARGV_TO_CPP(argv_c);
	bool isPcpu = drawAction & KSHARK_CPU_DRAW;
	VirtModelRef model(streamId);
	VirtDock *dock = VirtDock::instance();
	std::vector<virt_shade_taken> pins;

	if (!argv->_graph || argv->_graph->size() < 1 || argv->_histo->bin_size < 1)
		return;
	if (dock)
		dock->graphDrawn(argv->_histo, streamId, !isPcpu, value,
				 argv->_graph->bin(0)._base.x(), argv->_graph->base());
	pins = virtDrawPins(argv, streamId, value, drawAction);
	if (!Frame::current) {
		argv->_shapes->push_front(new Frame);
		virtHover(factAt);
		if (dock)
			dock->plots().frameBegins();
	}
	if (dock)
		dock->plots().graphDrawn(streamId, isPcpu, value,
					 drawAction & (KSHARK_HOST_DRAW | KSHARK_GUEST_DRAW));
	if (VirtOverlays::isShown(VIRT_OVERLAY_LABELS))
		Frame::current->add(virtRow(argv, Frame::current->names(), streamId, value,
					    drawAction));

	if (model)
		addModel(argv, virtGraph(argv, streamId, value, drawAction, std::move(model)),
			 std::move(pins));
	if (const VirtWhyTree *tree = whyOf(dock, streamId))
		Frame::current->path().add(argv, *tree, streamId, value, drawAction);

	VirtInsideRef inside(streamId);
	VirtFlags &flags = Frame::current->flags(argv, dock);

	if (inside && VirtOverlays::isShown(VIRT_OVERLAY_INSIDE))
		flags.addBoot(streamId, inside.get());
	if (inside && isPcpu && VirtOverlays::isShown(VIRT_OVERLAY_INSIDE))
		Frame::current->add(VirtInside(argv, streamId, value, drawAction,
					       std::move(inside)));

	Guest guest;

	if (isPcpu && VirtOverlays::isShown(VIRT_OVERLAY_PCPUS) &&
	    guestOf(argv, streamId, value, &guest))
		Frame::current->add(std::move(guest));
}
