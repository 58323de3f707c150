// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPins.cpp
 * @brief	Markers of the worst moments as shapes.
 *
 * Below the base line of a graph, KernelShark leaves a gap; the strip of the next graph begins
 * below the markers. The graph of a guest's CPU in a combo has its own time that it cannot see
 * marked above its boxes, where KernelShark draws nothing either.
 */
#include <limits>
#include <map>

#include <QCursor>
#include <QTimer>

#include <KsPlotTools.hpp>

#include "VirtHover.hpp"
#include "VirtMarkers.hpp"
#include "VirtPins.hpp"
#include "ks_stream.h"
#include "virt_colors.h"
#include "virt_pairing.h"

namespace {

constexpr int HALF = VIRT_MARKER_SIZE / 2;
/** What a guest does not get and cannot see. */
constexpr unsigned int UNSEEN = 1u << VIRT_WORST_STEAL | 1u << VIRT_WORST_LOST |
				1u << VIRT_WORST_OFFLINE;
constexpr virt_color LINE_COLOR = { 0x20, 0x20, 0x20 };

/** A graph's own window, and which of its moments are marked. */
struct Pins {
	VirtStream			stream;
	int				x0, y;		/* of column 0; of the heads */
	int				width;
	bool				isGuest;	/* no stem, but a bar: how long */
	int64_t				columnNs;
	std::vector<virt_marker>	markers;
	virt_worst_hit			selected;
	virt_worst_hit			before;		/* a guest's, from before the window */
	int64_t				beforeNs;	/* how much of it lies in the window */

	int x(const virt_marker &marker) const { return x0 + marker.column; }
};

void setColor(virt_color color)
{
	glColor3ub(color.red, color.green, color.blue);
}

/** Rectangles of one colour; OpenGL's polygons would be smoothed. */
void addRect(int x0, int y0, int x1, int y1)
{
	glVertex2i(x0, y0);
	glVertex2i(x1, y0);
	glVertex2i(x1, y1);
	glVertex2i(x0, y1);
}

/** Pixels of a glyph, in one of its two colours, row by row. */
void addGlyph(const char *const *glyph, char which, int x, int y)
{
	for (int row = 0; row < VIRT_MARKER_SIZE; row++)
		for (int i = 0; i < VIRT_MARKER_SIZE;) {
			int end = i;

			while (end < VIRT_MARKER_SIZE && glyph[row][end] == which)
				end++;
			if (end > i)
				addRect(x - HALF + i, y + row, x - HALF + end, y + row + 1);
			i = end > i ? end : i + 1;
		}
}

/** All markers of a frame: one shape, made before the one with the strips, is drawn above it. */
class PinFrame : public KsPlot::PlotObject {
public:
	PinFrame() { current = this; }
	~PinFrame() override
	{
		if (current == this)
			current = nullptr;
	}

	void add(Pins &&pins) { _graphs.push_back(std::move(pins)); }

	double distance(int x, int y) const override;
	bool factAt(int x, int y, VirtFact *fact) const;

	/** The frame that is being made: KernelShark has not deleted it yet. */
	static PinFrame *current;

private:
	void _draw(const KsPlot::Color &, float) const override;
	void _doubleClick() const override;

	std::vector<Pins>		_graphs;
	mutable const Pins		*_pins = nullptr;	/* of the last question */
	mutable const virt_marker	*_marker = nullptr;
};

PinFrame *PinFrame::current;

void drawBar(const Pins &pins, int column, int64_t ns, virt_worst_kind kind)
{
	int64_t columns = ns / pins.columnNs;
	int left = pins.width - column;
	int x = pins.x0 + column, y = pins.y + HALF - 1;
	int n = columns < left ? static_cast<int>(columns) : left;

	setColor(LINE_COLOR);
	addRect(x, y - 1, x + n + 1, y + 4);
	setColor(virt_worst_look(kind)->color);
	addRect(x, y, x + n, y + 3);
}

/** Of a guest's graph: how long each moment was. */
void drawBars(const Pins &pins)
{
	if (pins.beforeNs > 0)
		drawBar(pins, 0, pins.beforeNs, pins.before.kind);
	for (const virt_marker &marker : pins.markers)
		drawBar(pins, marker.column, marker.hit.cost_ns, marker.hit.kind);
}

void drawMarker(const Pins &pins, const virt_marker &marker)
{
	const char *const *glyph = virt_marker_glyph(marker.hit.kind);
	/* the one that is selected has its colours exchanged */
	bool isSelected = virt_marker_same(&marker.hit, &pins.selected);
	int x = pins.x(marker);

	setColor(LINE_COLOR);
	if (!pins.isGuest)
		addRect(x, pins.y - VIRT_MARKER_STEM, x + 1, pins.y);
	addGlyph(glyph, isSelected ? 'o' : '#', x, pins.y);
	setColor(virt_worst_look(marker.hit.kind)->color);
	addGlyph(glyph, isSelected ? '#' : 'o', x, pins.y);
}

void PinFrame::_draw(const KsPlot::Color &, float) const
{
	glDisable(GL_POLYGON_SMOOTH);
	glBegin(GL_QUADS);
	for (const Pins &pins : _graphs) {
		if (pins.isGuest)
			drawBars(pins);
		for (const virt_marker &marker : pins.markers)
			drawMarker(pins, marker);
	}
	glEnd();
	glEnable(GL_POLYGON_SMOOTH);
}

double PinFrame::distance(int x, int y) const
{
	_marker = nullptr;
	for (const Pins &pins : _graphs) {
		if (y < pins.y - VIRT_MARKER_STEM || y >= pins.y + VIRT_MARKER_SIZE)
			continue;
		for (const virt_marker &marker : pins.markers)
			if (x >= pins.x(marker) - HALF && x <= pins.x(marker) + HALF) {
				_pins = &pins;
				_marker = &marker;
			}
	}
	return _marker ? 0 : std::numeric_limits<double>::max();
}

/** The text before the facts of a moment. */
QString before(const Pins &pins)
{
	return pins.isGuest ? "Unseen by the guest: " : "";
}

bool PinFrame::factAt(int x, int y, VirtFact *fact) const
{
	return !distance(x, y) &&
	       VirtMarkers::describe(_pins->stream, _marker->hit, before(*_pins), fact);
}

/** Later: marking draws anew, which deletes this shape. */
void PinFrame::_doubleClick() const
{
	QPoint place = QCursor::pos();

	if (!_marker)
		return;
	QTimer::singleShot(0, [place, words = before(*_pins), stream = _pins->stream,
			       hit = _marker->hit] {
		virtShowTip(place, VirtMarkers::show(stream, hit, words));
	});
}

/** What is marked of a stream in the window that is seen. */
struct Limits {
	uint64_t			worstSerial = 0, rulesSerial = 0;
	virt_worst_query		query = {};
	std::vector<virt_marked>	marked;
};

/** Worked out once per frame and stream. Return: nullptr without memory. */
const Limits *limitsOf(const VirtStream &stream, const virt_shade_window &window)
{
	static std::map<int, Limits> known;
	Limits &limits = known[stream.id];
	const virt_worst *worst = stream.model.worst(false);
	int64_t to = window.from_ns + window.column_ns * window.n_columns;
	ssize_t n;

	if (!worst)
		return nullptr;
	if (limits.worstSerial == stream.model.worstSerial() &&
	    limits.rulesSerial == VirtMarkers::rulesSerial() &&
	    limits.query.from_ns == window.from_ns && limits.query.to_ns == to)
		return &limits;
	limits.worstSerial = 0;
	limits.query.from_ns = window.from_ns;
	limits.query.to_ns = to;
	limits.marked.resize(VIRT_MARKED_ROOM);
	n = virt_marker_limits(worst, &VirtMarkers::rules(), &limits.query, limits.marked.data());
	if (n < 0)
		return nullptr;
	limits.marked.resize(n);
	limits.worstSerial = stream.model.worstSerial();
	limits.rulesSerial = VirtMarkers::rulesSerial();
	return &limits;
}

/** Does another graph follow without a gap? So it is in a combo if a guest is a host, too. */
bool isInnerHost(const VirtStream &stream, int drawAction)
{
	if (!(drawAction & KSHARK_HOST_DRAW))
		return false;
	for (int cpu = 0; cpu < virt_model_n_pcpus(stream.model.get()); cpu++)
		if (virt_pairing_of_cpu(stream.id, cpu, nullptr))
			return true;
	return false;
}

/** Whose moments a graph shows. */
struct Subject {
	VirtStream	stream;
	int32_t		id;		/* pCPU or vCPU; negative: none */
	bool		isPcpu;
	bool		isGuest;	/* a guest's CPU: what its vCPU did not get */
};

Subject subjectOf(int streamId, int value, int drawAction)
{
	bool isCpu = drawAction & KSHARK_CPU_DRAW;
	Subject subject = { { streamId, ks_stream_offset(streamId), {} }, VIRT_NONE, isCpu, false };
	virt_pair pair;

	if (isCpu && (drawAction & KSHARK_GUEST_DRAW)) {
		if (!virt_pairing_of_cpu(streamId, value, &pair))
			return subject;
		subject.stream = { pair.host_stream, ks_stream_offset(pair.host_stream), {} };
		subject.isGuest = true;
		subject.isPcpu = false;
		value = pair.host_pid;
	}
	subject.stream.model = VirtModelRef(subject.stream.id);
	if (!subject.stream.model)
		return subject;
	if (!subject.isPcpu)
		subject.id = virt_model_find_vcpu(subject.stream.model.get(), value);
	else if (value < virt_model_n_pcpus(subject.stream.model.get()))
		subject.id = value;
	return subject;
}

/** A vCPU that is preempted as the window begins has no marker, but its bar reaches into it. */
void addBefore(Pins &pins, int32_t vcpu, virt_worst_query query)
{
	int64_t from = query.from_ns;

	query.kinds &= 1u << VIRT_WORST_STEAL;
	query.from_ns = INT64_MIN;
	query.of = &vcpu;
	query.n_of = 1;
	if (query.kinds && virt_worst_prev(pins.stream.model.worst(false), &query, from,
					   &pins.before))
		pins.beforeNs = pins.before.time_ns + pins.before.cost_ns - from;
}

/** Is it marked in this graph, if there is room? */
bool belongsTo(const virt_worst_hit &hit, const Subject &subject)
{
	virt_moment moment;

	if (hit.kind == VIRT_WORST_N_KINDS || (subject.isGuest && !(UNSEEN & 1u << hit.kind)))
		return false;
	if (!subject.isPcpu)
		return hit.vcpu == subject.id;
	return virt_worst_describe(subject.stream.model.worst(false), &hit, &moment) &&
	       moment.pcpu == subject.id;
}

} // namespace

bool virtPinFact(int x, int y, VirtFact *fact)
{
	return PinFrame::current && PinFrame::current->factAt(x, y, fact);
}

std::vector<virt_shade_taken> virtDrawPins(const KsCppArgV *argv, int streamId, int value,
					   int drawAction)
{
	const KsPlot::Graph *graph = argv->_graph;
	std::vector<virt_shade_taken> columns;
	Subject subject = { {}, VIRT_NONE, false, false };
	int base = graph->base(), n;

	if (!PinFrame::current)
		argv->_shapes->push_front(new PinFrame);
	if (VirtMarkers::rules().kinds)
		subject = subjectOf(streamId, value, drawAction);
	if (subject.id < 0)
		return columns;

	virt_marker_graph wanted = {};
	Pins pins = { subject.stream, graph->bin(0)._base.x(), base + 1 + VIRT_MARKER_STEM,
		      graph->size(), subject.isGuest,
		      static_cast<int64_t>(argv->_histo->bin_size), {}, {}, {}, 0 };

	wanted.window.from_ns = argv->_histo->min - subject.stream.offset;
	wanted.window.column_ns = pins.columnNs;
	wanted.window.n_columns = graph->size();

	const Limits *limits = limitsOf(subject.stream, wanted.window);

	/* the worst few of all are known already: no series is looked at */
	wanted.worst = subject.stream.model.worst(subject.isPcpu && VirtMarkers::rules().absolute);
	if (!limits || !wanted.worst)
		return columns;

	std::vector<virt_worst_hit> hits(limits->marked.size());
	unsigned int kinds = subject.isGuest ? UNSEEN : VIRT_WORST_ALL_KINDS;

	wanted.query = limits->query;
	wanted.query.kinds &= VirtMarkers::rules().absolute ? kinds : 0;
	wanted.query.of = &subject.id;
	wanted.query.n_of = 1;
	wanted.more = hits.data();
	wanted.n_more = virt_marker_pick(subject.stream.model.get(), subject.isPcpu, subject.id,
					 kinds, limits->marked.data(), hits.size(), hits.data());
	pins.selected = VirtMarkers::selected(subject.stream.model);
	wanted.selected = pins.selected;
	if (!belongsTo(pins.selected, subject))
		wanted.selected.kind = VIRT_WORST_N_KINDS;
	if (subject.isGuest) {
		pins.y = base - graph->height();
		addBefore(pins, subject.id, limits->query);
	} else if (isInnerHost(subject.stream, drawAction)) {
		pins.y = base - VIRT_MARKER_SIZE;
	}
	pins.markers.resize(virt_marker_count(graph->size()));
	n = virt_marker_place(&wanted, pins.markers.data());
	pins.markers.resize(n > 0 ? n : 0);
	for (const virt_marker &marker : pins.markers)
		columns.push_back({ marker.column,
				    marker.hit.kind == VIRT_WORST_MIGRATION });
	PinFrame::current->add(std::move(pins));
	return columns;
}
