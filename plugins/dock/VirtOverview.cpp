// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtOverview.cpp
 * @brief	Lanes of all vCPUs, and the action of a click on a lane.
 *
 * The cost of a lane is that of its columns; the cost of a machine's lane is that of the columns of
 * its vCPUs. Lanes that are scrolled away cost nothing. virt_lanes.c selects the lanes that are
 * shown, and orders them.
 */
#include <algorithm>

#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QToolTip>
#include <QVBoxLayout>

#include "VirtAxis.hpp"
#include "VirtBookmarks.hpp"
#include "VirtDock.hpp"
#include "VirtHostStrip.hpp"
#include "VirtLegend.hpp"
#include "VirtMinimap.hpp"
#include "VirtNames.hpp"
#include "VirtOverview.hpp"
#include "virt_colors.h"
#include "virt_pairing.h"

namespace {

constexpr int BAR_MARGIN = 2;		/* above and below a bar */
constexpr int INDENT = 12, SPACE = 4, LEAST_SPACE = 2;
constexpr int MOST_NAME_SHARE = 40;	/* of the width, in % */
constexpr int BADNESS_LETTERS = 8;
constexpr char WIDEST_BADNESS[] = "<0.1 %";
constexpr double LONG_SHARE = 9.95;	/* in %; there is no room for more digits */
constexpr int LEAST_LANES = 2;
constexpr int LEAST_NAME_WIDTH = 60;
constexpr int MOST_PLOTS = 500;		/* KernelShark draws them all, seen or not */
constexpr char ORDER[] = "overview/order";	/* in the settings: as in the list */

} // namespace

/* ---- which lanes ---- */

VirtLanes::VirtLanes(VirtView *view, const QWidget *graphs, Reactions reactions)
: _view(view),
  _graphs(graphs),
  _map(new VirtMinimap(this, view)),
  _ticks(new VirtTicks(this)),
  _host(new VirtHostStrip(this)),
  _reactions(std::move(reactions))
{
	setFrameShape(QFrame::StyledPanel);
	setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
	setFocusPolicy(Qt::StrongFocus);
	makeRoom();
	setAccessibleName("Overview of all vCPUs");
	viewport()->setBackgroundRole(QPalette::Base);
}

/** What is above the lanes. */
int VirtLanes::headHeight() const
{
	return _map->height() + _ticks->lineHeight() + _host->fullHeight();
}

void VirtLanes::makeRoom()
{
	setViewportMargins(0, headHeight(), 0, 0);
	setMinimumHeight(headHeight() + 2 * frameWidth() + LEAST_LANES * rowHeight());
}

bool VirtLanes::follow(const std::vector<VirtStream> &streams, int64_t from, int64_t to)
{
	std::vector<uint64_t> serials = { virt_pairing_serial() }, places;
	bool isOther;

	for (const VirtStream &stream : streams) {
		serials.push_back(stream.model.serial());
		serials.push_back(static_cast<uint64_t>(stream.offset));
	}
	isOther = serials != _serials;
	if (!isOther && from == _from && to == _to && bar() == _bar)
		return false;
	_from = from;
	_to = to;
	_streams = streams;
	_shapes.clear();
	if (isOther) {
		_serials = serials;
		rebuild();
		if (_host->load(streams))
			makeRoom();
	}
	for (virt_lane &lane : _lanes) {
		const VirtStream *stream = streamOf(lane);

		lane.bad_ns = lane.vcpu == VIRT_NONE ? 0 :
			virt_lane_badness(stream->model.get(), lane.vcpu, from - stream->offset,
					  to - stream->offset);
	}
	arrange();
	placeHead();
	if (isOther)
		_reactions.changed();
	return isOther;
}

/** All machines, each followed by its vCPUs. */
void VirtLanes::rebuild()
{
	VirtNames names;
	std::set<QString> folded;

	for (size_t i = 0; i < _lanes.size(); i++)
		if (_lanes[i].folded)
			folded.insert(QString::fromStdString(_names[i]));
	_lanes.clear();
	_names.clear();
	_selected.clear();
	for (const VirtStream &stream : _streams) {
		const virt_model *model = stream.model.get();

		for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
			const virt_machine *machine = virt_model_machine(model, m);
			QString name = names.machine(stream.id, m);

			_lanes.push_back({ stream.id, m, VIRT_NONE, nullptr, 0,
					   folded.count(name) > 0 });
			_names.push_back(name.toStdString());
			for (int32_t i = 0; i < machine->n_vcpus; i++) {
				_lanes.push_back({ stream.id, m, machine->vcpus[i], nullptr, 0,
						   false });
				name = names.vcpu(stream.id, machine->vcpus[i]);
				_names.push_back(name.toStdString());
			}
		}
	}
	for (size_t i = 0; i < _lanes.size(); i++)
		_lanes[i].name = _names[i].c_str();
}

/** Lanes have another order, or others are shown. */
void VirtLanes::arrange()
{
	int page = std::max(1, viewport()->height() / rowHeight());
	QFont bold = font();
	size_t lane = _current < _rows.size() ? _rows[_current] : 0;

	/* as wide as the widest name, bold as machines' are */
	bold.setBold(true);
	_nameWidth = 0;
	for (const std::string &name : _names)
		_nameWidth = std::max(_nameWidth, QFontMetrics(bold).horizontalAdvance(
							  QString::fromStdString(name)));
	_nameWidth += INDENT + 3 * SPACE;
	_rows.resize(_lanes.size());
	_rows.resize(virt_lanes_show(_lanes.data(), _lanes.size(), _order, _filter.c_str(),
				     _rows.data()));
	_current = std::find(_rows.begin(), _rows.end(), lane) - _rows.begin();
	if (_current >= _rows.size())
		_current = 0;
	verticalScrollBar()->setPageStep(page);
	verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(_rows.size()) - page));
	viewport()->update();
}

void VirtLanes::setOrder(virt_lane_order order)
{
	_order = order;
	arrange();
	verticalScrollBar()->setValue(0);
	_reactions.changed();
}

void VirtLanes::setFilter(const QString &filter)
{
	_filter = filter.toStdString();
	arrange();
	_reactions.changed();
}

/** All vCPUs that are shown, folded ones of shown machines, too; or none if all are. */
void VirtLanes::selectAll()
{
	std::set<size_t> all;

	for (size_t lane : _rows) {
		if (_lanes[lane].vcpu != VIRT_NONE)
			all.insert(lane);
		else if (_lanes[lane].folded && _filter.empty())
			for (size_t i = lane + 1;
			     i < _lanes.size() && _lanes[i].vcpu != VIRT_NONE; i++)
				all.insert(i);
	}
	_selected = std::includes(_selected.begin(), _selected.end(), all.begin(), all.end()) ?
		    std::set<size_t>() : all;
	viewport()->update();
	_reactions.changed();
}

VirtLanes::Numbers VirtLanes::numbers() const
{
	auto isVcpu = [this] (size_t lane) { return _lanes[lane].vcpu != VIRT_NONE; };
	Numbers numbers = { 0, 0, _selected.size() };

	for (size_t i = 0; i < _lanes.size(); i++)
		numbers.all += isVcpu(i);
	numbers.shown = std::count_if(_rows.begin(), _rows.end(), isVcpu);
	return numbers;
}

std::map<int, std::vector<int32_t>> VirtLanes::selected() const
{
	std::map<int, std::vector<int32_t>> found;
	std::set<size_t> left = _selected;

	for (size_t lane : _rows)
		if (left.erase(lane))
			found[_lanes[lane].stream].push_back(_lanes[lane].vcpu);
	/* what is folded or filtered away is selected all the same */
	for (size_t lane : left)
		found[_lanes[lane].stream].push_back(_lanes[lane].vcpu);
	return found;
}

/* ---- what is where ---- */

int VirtLanes::rowHeight() const
{
	return fontMetrics().height() + 1;
}

int VirtLanes::badnessWidth() const
{
	return fontMetrics().averageCharWidth() * BADNESS_LETTERS + SPACE;
}

/** The columns of the graphs, if all of them are above or below this. */
bool VirtLanes::placeAsGraphs(int *left, int *width) const
{
	auto [from, to] = _view->visible();

	if (!_graphs || _graphs->window() != QWidget::window() || from != _from || to != _to)
		return false;
	*left = viewport()->mapFromGlobal(_graphs->mapToGlobal(QPoint(_view->xOf(from), 0))).x();
	*width = _view->columns();
	return *left >= LEAST_NAME_WIDTH && *width > 0 && *left + *width <= viewport()->width();
}

/** Where the bars are, of whatever row. */
QRect VirtLanes::bar() const
{
	int left, width;

	if (!placeAsGraphs(&left, &width)) {
		left = std::min(_nameWidth, viewport()->width() * MOST_NAME_SHARE / 100);
		width = std::max(1, viewport()->width() - left - badnessWidth());
	}
	return { left, BAR_MARGIN, width, rowHeight() - 2 * BAR_MARGIN };
}

/** Also of those that are folded or filtered away: what is below does not move for that. */
int VirtLanes::fullHeight() const
{
	return headHeight() + 2 * frameWidth() +
	       rowHeight() * std::max<int>(LEAST_LANES, static_cast<int>(_lanes.size()));
}

/** What is above the lanes, and has their columns. */
void VirtLanes::placeHead()
{
	QRect area = viewport()->geometry();

	_bar = bar();
	_map->setGeometry(area.left(), frameWidth(), area.width(), _map->height());
	_ticks->setGeometry(area.left(), _map->geometry().bottom() + 1, area.width(),
			    _ticks->lineHeight());
	_map->follow(_streams, _bar.left(), _bar.width());
	_ticks->setTimes(_from, _to, _bar.left(), _bar.width());
	_host->setGeometry(area.left(), _ticks->geometry().bottom() + 1, area.width(),
			   _host->fullHeight());
	_host->follow(_from, _to, _bar.left(), _bar.width());
}

/** Columns are whole ns, and so there may be fewer than pixels. */
virt_shade_window VirtLanes::window(const VirtStream &stream) const
{
	QRect area = bar();
	int64_t column = std::max<int64_t>(1, (_to - _from + area.width() - 1) / area.width());

	return {
		.from_ns = _from - stream.offset,
		.column_ns = column,
		.n_columns = static_cast<int>(std::max<int64_t>(1, (_to - _from + column - 1) /
								   column)),
		.n_parts = std::min(area.height(), VIRT_SHADE_MAX_PARTS),
	};
}

const VirtStream *VirtLanes::streamOf(const virt_lane &lane) const
{
	for (const VirtStream &stream : _streams)
		if (stream.id == lane.stream)
			return &stream;
	return nullptr;
}

const std::vector<virt_shade_run> &VirtLanes::shape(size_t index)
{
	std::vector<virt_shade_run> &runs = _shapes[index];

	if (runs.empty()) {
		const virt_lane &lane = _lanes[index];
		const VirtStream *stream = streamOf(lane);
		virt_shade_window where = window(*stream);
		int n;

		runs.resize(where.n_columns);
		n = lane.vcpu == VIRT_NONE ?
			virt_shade_machine(stream->model.get(), lane.machine, &where, runs.data()) :
			virt_shade_vcpu(stream->model.get(), lane.vcpu, &where, runs.data());
		runs.resize(std::max(n, 0));
	}
	return runs;
}

bool VirtLanes::find(const QPoint &at, Place *place)
{
	QRect area = bar();
	size_t row = static_cast<size_t>(std::max(0, at.y() / rowHeight() +
						     verticalScrollBar()->value()));

	if (at.y() < 0 || row >= _rows.size())
		return false;

	const VirtStream *stream = streamOf(_lanes[_rows[row]]);
	int columns = window(*stream).n_columns;
	int part = area.bottom() - at.y() % rowHeight();

	*place = { row, (at.x() - area.left()) * columns / area.width(), VIRT_SHADE_NOTHING };
	if (at.x() < area.left() || place->column >= columns)
		place->column = -1;
	for (const virt_shade_run &run : shape(_rows[row]))
		if (place->column >= run.first && place->column < run.first + run.n)
			place->state = virt_shade_at(&run, std::max(part, 0));
	return true;
}

VirtChosen VirtLanes::chosen(const Place &place) const
{
	const virt_lane &lane = _lanes[_rows[place.row]];
	const VirtStream *stream = streamOf(lane);
	virt_shade_window where = window(*stream);
	int64_t from = where.from_ns + std::max(place.column, 0) * where.column_ns;

	return { *stream, lane.vcpu, from,
		 place.column < 0 ? from : from + where.column_ns, place.state };
}

/* ---- drawing ---- */

/** Share of the window in which it wanted to run and did not. */
QString VirtLanes::badness(const virt_lane &lane) const
{
	double all = static_cast<double>(std::max<int64_t>(_to - _from, 1));
	double share = 100 * static_cast<double>(lane.bad_ns) / all;

	return lane.vcpu == VIRT_NONE || !lane.bad_ns ? QString() :
	       share < 0.1 ? QString(WIDEST_BADNESS) :
	       QString::number(share, 'f', share < LONG_SHARE) + " %";
}

void VirtLanes::paintBar(QPainter *painter, size_t lane, const QRect &area)
{
	const VirtStream *stream = streamOf(_lanes[lane]);
	int columns = window(*stream).n_columns;

	for (const virt_shade_run &run : shape(lane)) {
		int x0 = area.left() + run.first * area.width() / columns;
		int x1 = area.left() + (run.first + run.n) * area.width() / columns;
		int y = area.bottom() + 1;

		for (int state = 0; state < VIRT_N_STATES; state++) {
			const virt_look *look = virt_state_look_in(stream->model.get(),
								   static_cast<virt_state>(state));

			if (!run.parts[state])
				continue;
			y -= run.parts[state];
			painter->fillRect(x0, y, x1 - x0, run.parts[state],
					  QColor(look->color.red, look->color.green,
						 look->color.blue));
			if (look->hatched)
				painter->fillRect(x0, y, x1 - x0, run.parts[state],
						  virtStateBrush(VIRT_UNKNOWN));
		}
	}
}

void VirtLanes::paintLane(QPainter *painter, size_t row, int y)
{
	size_t index = _rows[row];
	const virt_lane &lane = _lanes[index];
	bool isMachine = lane.vcpu == VIRT_NONE;
	QRect area = bar().translated(0, y);
	int left = isMachine || _order == VIRT_LANES_BY_BADNESS ? 0 : INDENT;
	int indent = isMachine ? INDENT : LEAST_SPACE;
	QRect name(left + indent, y, area.left() - left - indent - LEAST_SPACE, rowHeight());
	QRect whole(0, y, viewport()->width(), rowHeight());
	QRect bad(area.right() + 1, y, whole.right() - area.right() - 2, rowHeight());
	QString shown = QString::fromUtf8(lane.name), worse = badness(lane);
	QFont font = painter->font();

	font.setBold(isMachine);
	/* beside the columns of the graphs may be no room for any, and names come first */
	if (bad.width() < fontMetrics().horizontalAdvance(WIDEST_BADNESS)) {
		bad = name.adjusted(QFontMetrics(font).horizontalAdvance(shown) + SPACE, 0, 0, 0);
		if (bad.width() < fontMetrics().horizontalAdvance(worse))
			worse.clear();
	}
	if (_selected.count(index))
		painter->fillRect(whole, palette().color(QPalette::Highlight).lighter(170));
	if (row == _current && hasFocus()) {
		painter->setPen(palette().color(QPalette::Highlight));
		painter->drawRect(whole.adjusted(0, 0, -1, -1));
	}
	painter->setPen(Qt::black);
	if (isMachine)
		painter->drawText(QRect(0, y, INDENT, rowHeight()), Qt::AlignCenter,
				  QString(QChar(lane.folded && _filter.empty() ? 0x25b8 : 0x25be)));
	painter->setFont(font);
	painter->drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
			  QFontMetrics(font).elidedText(shown, Qt::ElideMiddle, name.width()));
	font.setBold(false);
	painter->setFont(font);
	painter->drawText(bad, Qt::AlignRight | Qt::AlignVCenter, worse);
	paintBar(painter, index, area);
}

void VirtLanes::paintEvent(QPaintEvent *)
{
	QPainter painter(viewport());
	size_t first = static_cast<size_t>(verticalScrollBar()->value());

	painter.fillRect(viewport()->rect(), Qt::white);
	for (size_t row = first; row < _rows.size(); row++) {
		int y = static_cast<int>(row - first) * rowHeight();

		if (y >= viewport()->height())
			break;
		paintLane(&painter, row, y);
	}
	if (_over)
		_over(&painter, QRect(bar().left(), 0, bar().width(), viewport()->height()));
}

void VirtLanes::resizeEvent(QResizeEvent *)
{
	_shapes.clear();
	arrange();
	placeHead();
}

/* ---- mouse and keys ---- */

void VirtLanes::fold(size_t row, bool folded)
{
	_lanes[_rows[row]].folded = folded;
	arrange();
	_reactions.changed();
}

/** With Ctrl one more is selected or one less, with Shift all up to here, else this one alone. */
void VirtLanes::choose(size_t row, Qt::KeyboardModifiers keys)
{
	size_t lane = _rows[row];

	if (!(keys & (Qt::ControlModifier | Qt::ShiftModifier)))
		_selected.clear();
	if (keys & Qt::ShiftModifier) {
		for (size_t i = std::min(row, _current); i <= std::max(row, _current); i++)
			if (_lanes[_rows[i]].vcpu != VIRT_NONE)
				_selected.insert(_rows[i]);
	} else if (_lanes[lane].vcpu != VIRT_NONE && !_selected.insert(lane).second) {
		_selected.erase(lane);
	}
	_current = row;
	viewport()->update();
	_reactions.changed();
}

void VirtLanes::mousePressEvent(QMouseEvent *event)
{
	Place place;

	if (event->button() != Qt::LeftButton || !find(event->pos(), &place))
		return;
	if (_lanes[_rows[place.row]].vcpu == VIRT_NONE) {
		_current = place.row;
		fold(place.row, !_lanes[_rows[place.row]].folded);
		return;
	}
	choose(place.row, event->modifiers());
	if (!(event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)))
		_reactions.chosen(chosen(place), false);
}

void VirtLanes::mouseDoubleClickEvent(QMouseEvent *event)
{
	Place place;

	if (event->button() == Qt::LeftButton && find(event->pos(), &place) &&
	    _lanes[_rows[place.row]].vcpu != VIRT_NONE)
		_reactions.chosen(chosen(place), true);
}

void VirtLanes::keyPressEvent(QKeyEvent *event)
{
	int key = event->key(), page = verticalScrollBar()->pageStep();
	size_t row = _current;

	if (event->matches(QKeySequence::SelectAll)) {
		selectAll();
		return;
	}
	if (_rows.empty()) {
		QAbstractScrollArea::keyPressEvent(event);
		return;
	}
	if (key == Qt::Key_Up || key == Qt::Key_PageUp) {
		row -= std::min<size_t>(row, key == Qt::Key_Up ? 1 : page);
	} else if (key == Qt::Key_Down || key == Qt::Key_PageDown) {
		row = std::min(row + (key == Qt::Key_Down ? 1 : page), _rows.size() - 1);
	} else if ((key == Qt::Key_Left || key == Qt::Key_Right) &&
		   _lanes[_rows[row]].vcpu == VIRT_NONE) {
		fold(row, key == Qt::Key_Left);
	} else if ((key == Qt::Key_Return || key == Qt::Key_Enter) &&
		   _lanes[_rows[row]].vcpu != VIRT_NONE) {
		_reactions.chosen(chosen({ row, -1, VIRT_SHADE_NOTHING }), false);
	} else {
		QAbstractScrollArea::keyPressEvent(event);
		return;
	}
	if (row != _current)
		choose(row, event->modifiers() & Qt::ShiftModifier);
	verticalScrollBar()->setValue(std::min(verticalScrollBar()->value(),
					       static_cast<int>(row)));
	verticalScrollBar()->setValue(std::max(verticalScrollBar()->value(),
					       static_cast<int>(row) - page + 1));
}

QString VirtLanes::tip(const Place &place) const
{
	VirtChosen at = chosen(place);
	virt_shade_hit hit;

	if (place.state >= VIRT_N_STATES || at.vcpu == VIRT_NONE ||
	    !virt_shade_pick_vcpu(at.stream.model.get(), at.vcpu, at.fromNs, at.toNs, place.state,
				  &hit))
		return QString::fromUtf8(_lanes[_rows[place.row]].name);
	return virtIntervalFact(at.stream, hit).text;
}

bool VirtLanes::viewportEvent(QEvent *event)
{
	Place place;

	if (event->type() == QEvent::ToolTip) {
		auto help = static_cast<QHelpEvent *>(event);

		if (find(help->pos(), &place))
			QToolTip::showText(help->globalPos(), virtTip(tip(place)), viewport());
		return true;
	}
	return QAbstractScrollArea::viewportEvent(event);
}

/* ---- the dock ---- */

VirtOverview::VirtOverview(QMainWindow *window, VirtDock *dock)
: QDockWidget("Lanes", window),
  _dock(dock)
{
	setObjectName("virtualization-overview");
	_note = new QLabel;
	_filter = new QLineEdit;
	_order = new QComboBox;
	_lanes = new VirtLanes(&_dock->view(), virtChild(window, "KsGLWidget"),
			       { [this] { showNumbers(); },
				 [this] (const VirtChosen &chosen, bool again) {
		_dock->bring(chosen, again);
	} });
	_lanes->setOver([this] (QPainter *painter, const QRect &area) {
		auto [from, to] = _dock->view().visible();

		_dock->bookmarksPage().paint(painter, area, from, to);
	});
	_note->setTextFormat(Qt::PlainText);
	_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
	_filter->setPlaceholderText("Filter");
	_filter->setClearButtonEnabled(true);
	_filter->setToolTip("Only vCPUs and machines with all these words in their names");
	_order->addItems({ "by machine", "worst first" });
	_order->setToolTip("Worst: by the share of the visible window in which it waited for a"
			   " pCPU, shown beside the lane");
	_lanes->setToolTip(virtTip("Click: the graphs of its pCPU, the vCPU, the culprit that took"
				   " the pCPU and the guest's CPU. Double click: zoom to this"
				   " state"));
	connect(_filter, &QLineEdit::textChanged, this,
		[this] (const QString &text) { _lanes->setFilter(text); });
	connect(_order, QOverload<int>::of(&QComboBox::currentIndexChanged), this, [this] (int i) {
		QSettings(virtSettingsFile(), QSettings::IniFormat).setValue(ORDER, i);
		_lanes->setOrder(i ? VIRT_LANES_BY_BADNESS : VIRT_LANES_BY_MACHINE);
	});
	_order->setCurrentIndex(
		QSettings(virtSettingsFile(), QSettings::IniFormat).value(ORDER).toInt() == 1);
	setTitleBarWidget(head());
	virtWrapTips(titleBarWidget());
	virtWrapTips(_lanes);
	setWidget(_lanes);
	setFeatures(DockWidgetMovable | DockWidgetFloatable | DockWidgetClosable);
}

/** One row. Where nothing else takes the mouse, it drags the dock. */
QWidget *VirtOverview::head()
{
	auto box = new QWidget;
	auto layout = new QHBoxLayout(box);
	auto add = [this, layout] (const char *title, const char *tip, auto clicked) {
		auto button = new QPushButton(title);

		button->setToolTip(tip);
		button->setAutoDefault(false);
		layout->addWidget(button);
		connect(button, &QPushButton::clicked, this, clicked);
	};

	layout->setContentsMargins(4, 0, 4, 0);
	layout->setSpacing(3);
	layout->addWidget(_filter, 1);
	layout->addWidget(_order);
	add("Select all", "Select all vCPUs that the filter leaves, or none (Ctrl+A)",
	    [this] { _lanes->selectAll(); });
	add("Plot", "Add the graphs of the selected vCPUs",
	    [this] { plot(false); });
	add("Plot only", "Show the graphs of the selected vCPUs, no other ones of vCPUs or tasks",
	    [this] { plot(true); });
	add("Pin", "Keep the graphs of the last click at the top",
	    [this] { _note->setText(QString("Graphs pinned: %1").arg(_dock->plots().keep())); });
	layout->addWidget(_note, 2);
	return box;
}

int VirtOverview::fullHeight() const
{
	int others = isVisible() ? height() - _lanes->height() :
				   titleBarWidget()->sizeHint().height();

	return others + _lanes->fullHeight();
}

void VirtOverview::follow(const std::vector<VirtStream> &streams, int64_t from, int64_t to)
{
	_lanes->follow(streams, from, to);
}

void VirtOverview::showNumbers()
{
	VirtLanes::Numbers n = _lanes->numbers();

	_note->setText(QString("%1 vCPUs, %2 shown, %3 selected").arg(n.all).arg(n.shown)
		       .arg(n.selected));
}

void VirtOverview::plot(bool only)
{
	std::map<int, std::vector<int32_t>> selected = _lanes->selected();
	int n = 0;

	for (const VirtStream &stream : virtStreams()) {
		std::vector<int> pids;

		for (int32_t vcpu : selected[stream.id])
			if (n++ < MOST_PLOTS)
				pids.push_back(virt_model_vcpu(stream.model.get(), vcpu)->host_pid);
		if (only)
			_dock->plots().only(stream.id, pids);
		else if (!pids.empty())
			_dock->plots().add(stream.id, pids);
	}
	_note->setText(!n ? QString("Nothing is selected") : n == 1 ? QString("1 graph") :
		       n <= MOST_PLOTS ? QString("%1 graphs").arg(n) :
		       QString("%1 of %2 graphs").arg(MOST_PLOTS).arg(n));
}
