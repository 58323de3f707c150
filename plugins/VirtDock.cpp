// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDock.cpp
 * @brief	The Virtualization dock.
 *
 * The draw handler says which window is seen; a timer makes one refresh of many drawings. Counting
 * runs in a thread of its own, on a counted reference to the model, and is given up when the window
 * has moved on.
 */
#include <algorithm>
#include <cstring>
#include <tuple>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QRunnable>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <KsPluginsGUI.hpp>

#include "VirtClocks.hpp"
#include "VirtDock.hpp"
#include "VirtMarkers.hpp"
#include "virt.h"
#include "virt_colors.h"
#include "virt_text.h"

namespace {

constexpr int REFRESH_MS = 60;
constexpr int BAR_WIDTH = 110;
constexpr int LEAST_GRAPH_WIDTH = 320;

/** The columns of the tree. The states follow the bar, in their order. */
enum Column {
	COLUMN_NAME,
	COLUMN_BAR,
	COLUMN_STATES,
	COLUMN_RUNS = COLUMN_STATES + VIRT_N_STATES,
	COLUMN_RUN_LENGTH,
	COLUMN_EXITS,
	COLUMN_REASONS,
	COLUMN_CULPRITS,
	COLUMN_WAKE_P50,
	COLUMN_WAKE_P99,
	COLUMN_WAKE_MAX,
	COLUMN_MIGRATIONS,
	N_COLUMNS
};

struct ColumnInfo {
	const char	*title;
	const char	*meaning;
};

/** All columns but those of the states, which the table of colours names. */
const ColumnInfo columns[N_COLUMNS] = {
	{ "vCPU", "Machine and vCPU. Click: show its graph. Double click: zoom to its longest wait"
		  " for a pCPU" },
	{ "States", "Share of each state in the visible window" },
	{}, {}, {}, {}, {}, {}, {}, {},
	{ "Runs", "Stretches on a pCPU, also those that began before" },
	{ "Mean run", "Time on a pCPU by number of runs" },
	{ "Exits/s", "VM exits per second" },
	{ "Top exits", "Exit reasons that took most time, with their counts" },
	{ "Stolen by", "Who had the pCPU while it was preempted" },
	{ "Wake p50", "Wake-up latency: half of the wake-ups took no longer" },
	{ "Wake p99", "Wake-up latency: 99 % of the wake-ups took no longer" },
	{ "Wake max", "Wake-up latency: the longest" },
	{ "Migrations", "How often it ran on another pCPU than the time before" },
};

struct OverlayInfo {
	const char	*key;
	const char	*title;
	const char	*meaning;
};

const OverlayInfo overlayInfo[VIRT_N_OVERLAYS] = {
	{ "pcpus", "CPU graphs", "Shade CPU graphs by what the vCPU that runs there does" },
	{ "vcpus", "vCPU graphs", "Shade task graphs of vCPUs by their states" },
	{ "migrations", "Migrations", "Mark migrations below task graphs of vCPUs" },
	{ "arrows", "Arrows", "Arrows between CPU graphs for migrations, if there is room" },
	{ "labels", "Names", "Write names into long stretches" },
};

bool overlayShown[VIRT_N_OVERLAYS] = { true, true, true, true, true };

QPointer<VirtDock> theDock;

QColor color(virt_color c)
{
	return QColor(c.red, c.green, c.blue);
}

QBrush stateBrush(int state)
{
	const virt_look *look = virt_state_look(static_cast<virt_state>(state));

	return look->hatched ? QBrush(color(look->hatch), Qt::BDiagPattern) :
			       QBrush(color(look->color));
}

QString duration(int64_t ns)
{
	char text[32];

	return virt_text_duration(text, sizeof(text), ns);
}

/** Seconds, to the nanosecond. */
QString timeText(int64_t ns)
{
	uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);

	return QString("%1%2.%3").arg(ns < 0 ? "-" : "").arg(size / 1000000000)
		.arg(size % 1000000000, 9, 10, QChar('0'));
}

QString percent(double share)
{
	return QString::number(share * 100, 'f', 2);
}

/* ---- items ---- */

/** What an item stands for. */
enum Role {
	ROLE_SORT = Qt::UserRole,	/* number to sort by, in each column */
	ROLE_STREAM,			/* in column 0 */
	ROLE_VCPU,			/* global index; VIRT_NONE for a machine */
	ROLE_PID,
	ROLE_MACHINE,
	ROLE_SHARES,			/* in the column with the bar */
};

class Item : public QTreeWidgetItem {
public:
	using QTreeWidgetItem::QTreeWidgetItem;

	bool operator<(const QTreeWidgetItem &other) const override
	{
		int column = treeWidget() ? treeWidget()->sortColumn() : 0;

		return data(column, ROLE_SORT).toDouble() <
		       other.data(column, ROLE_SORT).toDouble();
	}

	void set(int column, const QString &text, double sort)
	{
		setText(column, text);
		setData(column, ROLE_SORT, sort);
	}
};

/** The bar with the shares of the states. */
class BarDelegate : public QStyledItemDelegate {
public:
	using QStyledItemDelegate::QStyledItemDelegate;

	void paint(QPainter *painter, const QStyleOptionViewItem &option,
		   const QModelIndex &index) const override
	{
		QVariantList shares = index.data(ROLE_SHARES).toList();
		QRectF all = QRectF(option.rect).adjusted(3, 3, -3, -3);
		double x = all.left();

		QStyledItemDelegate::paint(painter, option, index);
		if (shares.isEmpty())
			return;
		painter->save();
		painter->fillRect(all, Qt::white);
		for (int i = 0; i < shares.size(); i++) {
			double width = shares[i].toDouble() * all.width();

			painter->fillRect(QRectF(x, all.top(), width, all.height()),
					  stateBrush(i));
			x += width;
		}
		painter->setPen(QColor(0xa0, 0xa0, 0xa0));
		painter->drawRect(all);
		painter->restore();
	}
};

/** A square with the colour of something. */
class Swatch : public QWidget {
public:
	explicit Swatch(const QBrush &brush) : _brush(brush) { setFixedSize(18, 12); }

protected:
	void paintEvent(QPaintEvent *) override
	{
		QPainter painter(this);

		painter.fillRect(rect(), Qt::white);
		painter.fillRect(rect(), _brush);
		painter.setPen(QColor(0x80, 0x80, 0x80));
		painter.drawRect(rect().adjusted(0, 0, -1, -1));
	}

private:
	QBrush	_brush;
};

QIcon stateIcon(int state)
{
	QPixmap pixmap(10, 10);

	pixmap.fill(Qt::white);
	QPainter painter(&pixmap);

	painter.fillRect(pixmap.rect(), stateBrush(state));
	painter.setPen(QColor(0x80, 0x80, 0x80));
	painter.drawRect(pixmap.rect().adjusted(0, 0, -1, -1));
	return QIcon(pixmap);
}

std::vector<uint64_t> serialsOf(const std::vector<VirtStream> &streams)
{
	std::vector<uint64_t> serials;

	for (const VirtStream &stream : streams)
		serials.push_back(stream.model.serial());
	return serials;
}

} // namespace

/* ---- counting ---- */

/** One window to be counted. */
struct VirtDock::Job {
	int64_t				from, to;	/* as KernelShark shows it */
	std::vector<VirtStream>		streams;
	std::vector<virt_window_stats *>	stats;	/* by stream */
	bool				stop = false;

	~Job()
	{
		for (virt_window_stats *s : stats)
			virt_stats_free(s);
	}

	bool isSame(const Job &other) const
	{
		if (from != other.from || to != other.to ||
		    serialsOf(streams) != serialsOf(other.streams))
			return false;
		for (size_t i = 0; i < streams.size(); i++)
			if (streams[i].offset != other.streams[i].offset)
				return false;
		return true;
	}

	void count()
	{
		for (const VirtStream &stream : streams)
			stats.push_back(virt_stats_new(stream.model.get(), from - stream.offset,
						       to - stream.offset, &stop));
	}
};

bool VirtDock::isShown(VirtOverlay overlay)
{
	return overlayShown[overlay];
}

VirtDock *VirtDock::instance()
{
	/* A restored session loads plugins without asking them for their menus. */
	if (!theDock)
		virt_gui_init(virtMainWindow());
	return theDock;
}

void virt_gui_init(void *main_window)
{
	auto window = static_cast<QMainWindow *>(main_window);

	virtGuardGraphs(window);
	if (!theDock && window)
		theDock = new VirtDock(window);
}

VirtDock::VirtDock(QMainWindow *window)
: QDockWidget("Virtualization", window),
  _window(window)
{
	setObjectName("virtualization");
	_pool.setMaxThreadCount(1);
	_timer.setSingleShot(true);
	_timer.setInterval(REFRESH_MS);
	connect(&_timer, &QTimer::timeout, this, [this] { refresh(); });
	buildUi();
	hide();
	restoreSettings();
	addMenuEntry();
	connect(qApp, &QApplication::aboutToQuit, this, [this] { saveSettings(); });
}

VirtDock::~VirtDock()
{
	/* The main window is half gone already: no word to it. */
	if (_running)
		__atomic_store_n(&_running->stop, true, __ATOMIC_RELAXED);
	_pool.waitForDone();
}

/* ---- the window ---- */

namespace {

/** A colour and its meaning, as number @i of a legend with so many in a row. */
void addLegend(QGridLayout *grid, int i, int perRow, const QBrush &brush, const QString &title,
	       const QString &meaning)
{
	auto swatch = new Swatch(brush);
	auto text = new QLabel(title);
	int row = i / perRow, column = 2 * (i % perRow);

	swatch->setToolTip(meaning);
	text->setToolTip(meaning);
	grid->addWidget(swatch, row, column);
	grid->addWidget(text, row, column + 1);
	grid->setColumnStretch(column + 1, 1);
}

QGridLayout *newGrid(QWidget *box)
{
	auto grid = new QGridLayout(box);

	grid->setContentsMargins(2, 2, 2, 2);
	grid->setHorizontalSpacing(5);
	grid->setVerticalSpacing(1);
	return grid;
}

/** Widgets in a column. In a low window they scroll: else the dock would make it grow. */
QWidget *scrolling(const std::vector<QWidget *> &widgets)
{
	auto box = new QWidget;
	auto layout = new QVBoxLayout(box);
	auto area = new QScrollArea;

	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(3);
	for (QWidget *widget : widgets)
		layout->addWidget(widget);
	area->setWidget(box);
	area->setWidgetResizable(true);
	area->setFrameShape(QFrame::NoFrame);
	area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	area->setMinimumWidth(box->minimumSizeHint().width() +
			      area->verticalScrollBar()->sizeHint().width());
	area->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
	return area;
}

} // namespace

QWidget *VirtDock::buildLegend()
{
	auto box = new QWidget;
	QGridLayout *grid = newGrid(box);

	for (int state = 0; state < VIRT_N_STATES; state++) {
		const virt_look *look = virt_state_look(static_cast<virt_state>(state));

		addLegend(grid, state, 4, stateBrush(state), look->title, look->meaning);
	}
	return box;
}

/**
 * The hypervisor's colours in combos. Always there, so that the dock does not grow, and the graphs
 * are not drawn anew, while KernelShark appends a file.
 */
QWidget *VirtDock::buildExitLegend()
{
	auto box = new QWidget;
	QGridLayout *grid = newGrid(box);

	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
		auto exitClass = static_cast<virt_exit_class>(i);

		addLegend(grid, i, 5, color(virt_exit_class_color(exitClass)),
			  virt_exit_class_name(exitClass),
			  "In combos: the hypervisor works for a VM exit of this kind");
	}
	return box;
}

QWidget *VirtDock::buildOverlays()
{
	auto box = new QWidget;
	auto grid = new QGridLayout(box);
	constexpr int perRow = 3;

	grid->setContentsMargins(2, 2, 2, 2);
	grid->setVerticalSpacing(0);
	for (int i = 0; i < VIRT_N_OVERLAYS; i++) {
		auto check = new QCheckBox(overlayInfo[i].title);

		check->setObjectName(overlayInfo[i].key);
		check->setToolTip(overlayInfo[i].meaning);
		connect(check, &QCheckBox::toggled, this, [this, i] (bool on) {
			overlayShown[i] = on;
			saveSettings();
			redrawGraphs();
		});
		grid->addWidget(check, i / perRow, i % perRow);
	}
	return box;
}

void VirtDock::buildUi()
{
	auto box = new QWidget;
	auto layout = new QVBoxLayout(box);
	auto buttons = new QHBoxLayout;

	_head = new QLabel("No virtual machines in sight");
	_tree = new QTreeWidget;
	_details = new QLabel;
	_markWorst = new QPushButton("Mark longest wait");
	_zoomWorst = new QPushButton("Zoom to it");

	_tree->setColumnCount(N_COLUMNS);
	for (int i = 0; i < N_COLUMNS; i++) {
		int state = i - COLUMN_STATES;
		bool isState = state >= 0 && state < VIRT_N_STATES;
		const virt_look *look =
			isState ? virt_state_look(static_cast<virt_state>(state)) : nullptr;

		_tree->headerItem()->setText(i, look ? QString(look->title) + " %" :
							columns[i].title);
		if (look)
			_tree->headerItem()->setIcon(i, stateIcon(state));
		_tree->headerItem()->setToolTip(i, look ? look->meaning : columns[i].meaning);
		if (look && look->hatched)
			_tree->headerItem()->setToolTip(i, QString(look->meaning) + "; share of the"
				" whole window. All other shares are those of the rest");
	}
	_tree->setItemDelegateForColumn(COLUMN_BAR, new BarDelegate(_tree));
	_tree->setAlternatingRowColors(true);
	_tree->setSortingEnabled(true);
	_tree->sortByColumn(COLUMN_NAME, Qt::AscendingOrder);
	_tree->setIndentation(12);
	_tree->header()->setStretchLastSection(false);
	_tree->header()->resizeSection(COLUMN_BAR, BAR_WIDTH);
	_tree->setExpandsOnDoubleClick(false);
	connect(_tree, &QTreeWidget::itemClicked, this,
		[this] (QTreeWidgetItem *item) { clicked(item); });
	connect(_tree, &QTreeWidget::itemDoubleClicked, this,
		[this] (QTreeWidgetItem *item) { goToWorst(item, true); });
	connect(_tree, &QTreeWidget::currentItemChanged, this, [this] {
		_toldWindow = { 0, 0 };
		showDetails();
	});
	connect(_markWorst, &QPushButton::clicked, this,
		[this] { goToWorst(_tree->currentItem(), false); });
	connect(_zoomWorst, &QPushButton::clicked, this,
		[this] { goToWorst(_tree->currentItem(), true); });

	_details->setWordWrap(true);
	_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
	_details->setAlignment(Qt::AlignTop | Qt::AlignLeft);
	_details->setMinimumHeight(QFontMetrics(font()).lineSpacing() * 7);
	_markWorst->setToolTip("Set the markers A and B around the longest time that the vCPU"
			       " waited for a pCPU");
	_zoomWorst->setToolTip("Mark it and show it large");

	buttons->addWidget(_markWorst);
	buttons->addWidget(_zoomWorst);
	buttons->addStretch();
	layout->setContentsMargins(4, 2, 4, 2);
	layout->setSpacing(3);
	layout->addWidget(_head);
	layout->addWidget(_tree, 3);
	layout->addLayout(buttons);
	layout->addWidget(_details, 1);
	_clocks = new VirtClocks(_window);
	layout->addWidget(scrolling({ _clocks, buildLegend(), buildExitLegend(),
				      buildOverlays(), new VirtMarkers(this) }));
	setWidget(box);
	setFeatures(DockWidgetMovable | DockWidgetFloatable | DockWidgetClosable);
	_window->addDockWidget(Qt::RightDockWidgetArea, this);
}

void VirtDock::addMenuEntry()
{
	QAction *action = toggleViewAction();

	action->setText("Virtualization dock");
	for (QMenu *menu : _window->menuBar()->findChildren<QMenu *>())
		if (menu->menuAction()->text() == "Plots")
			menu->addAction(action);
	connect(action, &QAction::triggered, this, [this] (bool on) {
		_everShown = true;
		QSettings(virtSettingsFile(), QSettings::IniFormat)
			.setValue("dock/visible", on);
		schedule();
	});
}

void VirtDock::restoreSettings()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	QByteArray header = settings.value("dock/header").toByteArray();

	for (int i = 0; i < VIRT_N_OVERLAYS; i++) {
		auto check = findChild<QCheckBox *>(overlayInfo[i].key);

		overlayShown[i] = settings.value(QString("overlays/") + overlayInfo[i].key,
						 true).toBool();
		check->blockSignals(true);
		check->setChecked(overlayShown[i]);
		check->blockSignals(false);
	}
	if (!header.isEmpty())
		_tree->header()->restoreState(header);
	_window->addDockWidget(static_cast<Qt::DockWidgetArea>(
		settings.value("dock/area", Qt::RightDockWidgetArea).toInt()), this);
}

void VirtDock::saveSettings()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	for (int i = 0; i < VIRT_N_OVERLAYS; i++)
		settings.setValue(QString("overlays/") + overlayInfo[i].key,
				  overlayShown[i]);
	settings.setValue("dock/header", _tree->header()->saveState());
	if (_everShown && !isFloating()) {
		settings.setValue("dock/area", static_cast<int>(_window->dockWidgetArea(this)));
		settings.setValue("dock/width", width());
	}
}

/* ---- following the window ---- */

void VirtDock::graphDrawn(kshark_trace_histo *histo, int streamId, bool isTask, int id, int base)
{
	_histo = histo;
	_clocks->graphDrawn(histo);
	if (isTask)
		_tasks.insert({ streamId, id });
	if (isTask && _reveal == std::make_pair(streamId, id)) {
		_reveal = { -1, -1 };
		QTimer::singleShot(0, this, [this, base] {
			QWidget *widget = virtChild(_window, "KsGLWidget");

			for (QWidget *up = widget; up; up = up->parentWidget())
				if (auto area = qobject_cast<QScrollArea *>(up))
					area->ensureVisible(0, base, 0, 50);
			if (!widget)
				return;

			/* A wider label has moved the graphs; only a resize counts columns anew. */
			QResizeEvent event(widget->size(), widget->size());

			QApplication::sendEvent(widget, &event);
		});
	}
	schedule();
}

void VirtDock::schedule()
{
	if (!_timer.isActive())
		_timer.start();
}

/** Begin to count, unless the window is the one that is shown or being counted. */
void VirtDock::refresh()
{
	auto job = std::make_shared<Job>();

	if (virtIsLoading()) {
		_timer.start();
		return;
	}
	_tasksBefore.swap(_tasks);
	_tasks.clear();
	job->streams = virtStreams();
	if (!_everShown && !job->streams.empty()) {
		QSettings settings(virtSettingsFile(), QSettings::IniFormat);

		_everShown = true;
		/*
		 * The text about the pointer makes KernelShark's graphs ask for more and more
		 * width; with a dock beside them, they would change their size under the mouse.
		 */
		if (_window->centralWidget())
			_window->centralWidget()->setMinimumWidth(LEAST_GRAPH_WIDTH);
		setVisible(settings.value("dock/visible", true).toBool());
		_window->resizeDocks({ this }, { settings.value("dock/width", 460).toInt() },
				     Qt::Horizontal);
	}
	if (!_histo || !_histo->data_size || isHidden())
		return;
	std::tie(job->from, job->to) = visible();
	if (_running) {
		if (_running->isSame(*job))
			return;
		__atomic_store_n(&_running->stop, true, __ATOMIC_RELAXED);
		_again = true;
		return;
	}
	if (_shown && _shown->isSame(*job))
		return;
	_running = job;

	class Work : public QRunnable {
	public:
		Work(VirtDock *dock, const std::shared_ptr<Job> &work) : _dock(dock), _job(work) {}
		void run() override
		{
			VirtDock *dock = _dock;
			std::shared_ptr<Job> done = _job;

			_job->count();
			QMetaObject::invokeMethod(dock, [dock, done] { dock->adopt(done); },
						  Qt::QueuedConnection);
		}

	private:
		VirtDock		*_dock;		/* waits for its threads */
		std::shared_ptr<Job>	_job;
	};

	_pool.start(new Work(this, job));
}

void VirtDock::adopt(const std::shared_ptr<Job> &job)
{
	bool again = _again;

	_running.reset();
	_again = false;
	if (again)
		schedule();
	if (job->stats.size() != job->streams.size() ||
	    std::count(job->stats.begin(), job->stats.end(), nullptr))
		return;
	_shown = job;

	bool rebuilt = _serials != serialsOf(job->streams);

	if (rebuilt)
		rebuildTree(job->streams);

	double seconds = static_cast<double>(job->to - job->from) * 1e-9;

	_head->setText(job->streams.empty() ? "No virtual machines in this trace" :
		       QString("Visible: <b>%1</b>, %2 s to %3 s")
		       .arg(duration(job->to - job->from), timeText(job->from),
			    timeText(job->to)));
	_tree->setUpdatesEnabled(false);
	_tree->setSortingEnabled(false);
	for (QTreeWidgetItemIterator it(_tree); *it; ++it) {
		int vcpu = (*it)->data(COLUMN_NAME, ROLE_VCPU).toInt();
		int machine = (*it)->data(COLUMN_NAME, ROLE_MACHINE).toInt();
		int id = (*it)->data(COLUMN_NAME, ROLE_STREAM).toInt();

		for (size_t i = 0; i < job->streams.size(); i++)
			if (job->streams[i].id == id)
				fillItem(*it, job->streams[i], vcpu == VIRT_NONE ?
					 job->stats[i]->machines[machine] :
					 job->stats[i]->vcpus[vcpu], seconds);
	}
	_tree->setSortingEnabled(true);
	for (int i = 0; i < N_COLUMNS && rebuilt; i++)
		if (i != COLUMN_BAR)
			_tree->resizeColumnToContents(i);
	_tree->setUpdatesEnabled(true);
	showDetails();
	if (_toldWindow == visible())
		_details->setText(_told);
}

void VirtDock::rebuildTree(const std::vector<VirtStream> &streams)
{
	_serials = serialsOf(streams);
	_tree->clear();
	for (const VirtStream &stream : streams) {
		const virt_model *model = stream.model.get();

		for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
			const virt_machine *machine = virt_model_machine(model, m);
			auto top = new Item(_tree);

			QString name = machine->name;

			if (streams.size() > 1)
				name += " (" + virtFileOf(stream.id) + ")";
			top->set(COLUMN_NAME, name, stream.id * 1e6 + machine->id);
			top->setData(COLUMN_NAME, ROLE_STREAM, stream.id);
			top->setData(COLUMN_NAME, ROLE_VCPU, VIRT_NONE);
			top->setData(COLUMN_NAME, ROLE_MACHINE, m);
			for (int32_t i = 0; i < machine->n_vcpus; i++) {
				const virt_vcpu *vcpu = virt_model_vcpu(model, machine->vcpus[i]);
				auto item = new Item(top);

				item->set(COLUMN_NAME, vcpu->name, vcpu->id);
				item->setData(COLUMN_NAME, ROLE_STREAM, stream.id);
				item->setData(COLUMN_NAME, ROLE_VCPU, machine->vcpus[i]);
				item->setData(COLUMN_NAME, ROLE_PID, vcpu->host_pid);
				item->setData(COLUMN_NAME, ROLE_MACHINE, m);
			}
			top->setExpanded(true);
		}
	}
	hideEmptyColumns(streams);
}

/** States that no vCPU of any trace ever has need no column. */
void VirtDock::hideEmptyColumns(const std::vector<VirtStream> &streams)
{
	virt_totals totals;
	int64_t sums[VIRT_N_STATES] = {};

	for (const VirtStream &stream : streams)
		for (int32_t i = 0; i < virt_model_n_vcpus(stream.model.get()); i++) {
			virt_vcpu_totals(stream.model.get(), i, INT64_MIN, INT64_MAX, &totals);
			for (int state = 0; state < VIRT_N_STATES; state++)
				sums[state] += totals.ns[state];
		}
	for (int state = 0; state < VIRT_N_STATES; state++)
		_tree->setColumnHidden(COLUMN_STATES + state, !sums[state]);
}

namespace {

QString exitReasons(const virt_model *model, const virt_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_exit_reasons; i++)
		list << QString("%1 %2").arg(virt_text_reason(model,
							      stats.exit_reasons[i].reason))
					.arg(stats.exit_reasons[i].count);
	return list.join(", ");
}

QString culprits(const virt_model *model, const virt_stats &stats)
{
	QStringList list;

	for (size_t i = 0; i < stats.n_culprits; i++)
		list << QString("%1 %2").arg(virt_text_vcpu(model, stats.culprits[i].vcpu),
					     duration(stats.culprits[i].ns));
	return list.join(", ");
}

/** A state's share: UNKNOWN's of everything, the others' of what is known. */
double share(const virt_stats &stats, int state)
{
	int64_t all = stats.known_ns + (state == VIRT_UNKNOWN ? stats.ns[VIRT_UNKNOWN] : 0);

	return all ? static_cast<double>(stats.ns[state]) / static_cast<double>(all) : 0;
}

} // namespace

void VirtDock::fillItem(QTreeWidgetItem *treeItem, const VirtStream &stream,
			const virt_stats &stats, double seconds)
{
	auto item = static_cast<Item *>(treeItem);
	const virt_model *model = stream.model.get();
	double all = static_cast<double>(stats.known_ns + stats.ns[VIRT_UNKNOWN]);
	double exits = seconds > 0 ? static_cast<double>(stats.exits) / seconds : 0;
	int64_t run = stats.runs ? stats.run_ns / static_cast<int64_t>(stats.runs) : 0;
	QVariantList bar;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		double part = share(stats, state);

		bar << (all > 0 ? static_cast<double>(stats.ns[state]) / all : 0);
		item->set(COLUMN_STATES + state, stats.ns[state] ? percent(part) : "", part);
	}
	item->setData(COLUMN_BAR, ROLE_SHARES, bar);
	item->setData(COLUMN_BAR, ROLE_SORT, bar[VIRT_GUEST]);
	item->set(COLUMN_RUNS, QString::number(stats.runs), static_cast<double>(stats.runs));
	item->set(COLUMN_RUN_LENGTH, stats.runs ? duration(run) : "", static_cast<double>(run));
	item->set(COLUMN_EXITS, stats.exits ? QString::number(exits, 'f', exits < 10 ? 2 : 0) : "",
		  exits);
	item->set(COLUMN_REASONS, exitReasons(model, stats), static_cast<double>(stats.exits));
	item->set(COLUMN_CULPRITS, culprits(model, stats),
		  static_cast<double>(stats.ns[VIRT_PREEMPTED]));
	item->set(COLUMN_WAKE_P50, stats.wakes ? duration(stats.wake_p50_ns) : "",
		  static_cast<double>(stats.wake_p50_ns));
	item->set(COLUMN_WAKE_P99, stats.wakes ? duration(stats.wake_p99_ns) : "",
		  static_cast<double>(stats.wake_p99_ns));
	item->set(COLUMN_WAKE_MAX, stats.wakes ? duration(stats.wake_max_ns) : "",
		  static_cast<double>(stats.wake_max_ns));
	item->set(COLUMN_MIGRATIONS, QString::number(stats.migrations),
		  static_cast<double>(stats.migrations));
	for (int i = COLUMN_STATES; i < N_COLUMNS; i++)
		if (i != COLUMN_REASONS && i != COLUMN_CULPRITS)
			item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
}

/* ---- one vCPU or machine ---- */

namespace {

/** Statistics of an item, and its stream. */
struct Found {
	const VirtStream		*stream = nullptr;
	const virt_window_stats		*window = nullptr;
	const virt_stats		*stats = nullptr;
};

QString stateLine(const virt_stats &stats)
{
	QStringList list;

	for (int state = 0; state < VIRT_N_STATES; state++)
		if (stats.ns[state])
			list << QString("%1 %2 % (%3)")
				.arg(QString(virt_state_name(static_cast<virt_state>(state))),
				     percent(share(stats, state)), duration(stats.ns[state]));
	return list.join(", ");
}

QString machineLine(const int64_t *ns)
{
	QStringList list;
	double sum = 0;

	for (int i = 0; i < VIRT_M_N_STATES; i++)
		sum += static_cast<double>(ns[i]);
	for (int i = 0; i < VIRT_M_N_STATES; i++)
		if (ns[i])
			list << QString(virt_machine_state_name(static_cast<virt_machine_state>(i)))
				.replace('_', ' ') + " " +
				percent(static_cast<double>(ns[i]) / sum) + " %";
	return list.join(", ");
}

} // namespace

void VirtDock::showDetails()
{
	QTreeWidgetItem *item = _tree->currentItem();
	QStringList lines;
	Found found;
	int vcpu = VIRT_NONE, machine = 0;

	for (size_t i = 0; item && _shown && i < _shown->streams.size(); i++)
		if (_shown->streams[i].id == item->data(COLUMN_NAME, ROLE_STREAM).toInt()) {
			found.stream = &_shown->streams[i];
			found.window = _shown->stats[i];
		}
	if (found.window) {
		vcpu = item->data(COLUMN_NAME, ROLE_VCPU).toInt();
		machine = item->data(COLUMN_NAME, ROLE_MACHINE).toInt();
		found.stats = vcpu == VIRT_NONE ? &found.window->machines[machine] :
						  &found.window->vcpus[vcpu];
	}
	_markWorst->setEnabled(found.stats && found.stats->worst_vcpu != VIRT_NONE);
	_zoomWorst->setEnabled(_markWorst->isEnabled());
	if (!found.stats) {
		_details->setText("<i>Click on a machine or a vCPU to see all about it here; double"
				  " click on a coloured strip, on a marker or on the mark of a"
				  " migration to be told what it is.</i>");
		return;
	}

	const virt_model *model = found.stream->model.get();
	const virt_stats &stats = *found.stats;

	lines << "<b>" + item->text(COLUMN_NAME).toHtmlEscaped() + "</b>: " + stateLine(stats);
	if (vcpu == VIRT_NONE)
		lines << "together: " + machineLine(found.window->machine_totals[machine].ns);
	if (stats.n_exit_reasons)
		lines << QString("exits %1: %2").arg(stats.exits).arg(
			exitReasons(model, stats).toHtmlEscaped());
	if (stats.n_culprits)
		lines << "stolen by: " + culprits(model, stats).toHtmlEscaped();
	if (stats.wakes)
		lines << QString("%1 wake-ups: p50 %2, p99 %3, max %4").arg(stats.wakes)
			.arg(duration(stats.wake_p50_ns), duration(stats.wake_p99_ns),
			     duration(stats.wake_max_ns));
	if (stats.worst_vcpu != VIRT_NONE)
		lines << QString("longest wait for a pCPU: %1, %2")
			.arg(virt_text_vcpu(model, stats.worst_vcpu),
			     duration(stats.worst_to_ns - stats.worst_from_ns));
	_details->setText(lines.join("<br>"));
}

void VirtDock::clicked(QTreeWidgetItem *item)
{
	std::pair<int, int> task = { item->data(COLUMN_NAME, ROLE_STREAM).toInt(),
				     item->data(COLUMN_NAME, ROLE_PID).toInt() };

	if (item->data(COLUMN_NAME, ROLE_VCPU).toInt() == VIRT_NONE)
		return;
	_reveal = task;
	/* KernelShark never ends its work on a plot that is there already. */
	if (_tasksBefore.count(task) || _tasks.count(task)) {
		redrawGraphs();
		return;
	}
	if (QWidget *graph = virtChild(_window, "KsTraceGraph"))
		reinterpret_cast<KsTraceGraph *>(graph)->addTaskPlot(task.first, task.second);
}

void VirtDock::goToWorst(QTreeWidgetItem *item, bool zoom)
{
	for (size_t i = 0; item && _shown && i < _shown->streams.size(); i++) {
		const VirtStream &stream = _shown->streams[i];
		int vcpu = item->data(COLUMN_NAME, ROLE_VCPU).toInt();
		int machine = item->data(COLUMN_NAME, ROLE_MACHINE).toInt();
		const virt_stats &stats = vcpu == VIRT_NONE ? _shown->stats[i]->machines[machine] :
							      _shown->stats[i]->vcpus[vcpu];
		int64_t from = stats.worst_from_ns + stream.offset;
		int64_t to = stats.worst_to_ns + stream.offset;

		if (stream.id != item->data(COLUMN_NAME, ROLE_STREAM).toInt() ||
		    stats.worst_vcpu == VIRT_NONE)
			continue;
		if (zoom)
			setWindow(from - (to - from) / 2, to + (to - from) / 2);
		mark(from, to);
		return;
	}
}

/* ---- KernelShark ---- */

std::pair<int64_t, int64_t> VirtDock::visible() const
{
	if (!_histo)
		return { 0, 0 };
	return { _histo->min, _histo->min +
			      static_cast<int64_t>(_histo->bin_size) * _histo->n_bins };
}

/** Mark the rows next to both ends, without moving the window. */
void VirtDock::mark(int64_t fromNs, int64_t toNs)
{
	kshark_entry entry = {};
	int64_t min, max;
	ssize_t row[2];

	if (!_histo || !_histo->data_size)
		return;
	min = _histo->min;
	max = _histo->max;
	row[0] = kshark_find_entry_by_time(fromNs, _histo->data, 0, _histo->data_size - 1);
	row[1] = kshark_find_entry_by_time(toNs, _histo->data, 0, _histo->data_size - 1);
	for (ssize_t &r : row) {
		if (r == BSEARCH_ALL_GREATER)
			r = 0;
		if (r == BSEARCH_ALL_SMALLER)
			r = static_cast<ssize_t>(_histo->data_size) - 1;
	}
	entry.ts = _histo->data[row[1]]->ts;
	markEntryB(_window, &entry);
	entry.ts = _histo->data[row[0]]->ts;
	markEntryA(_window, &entry);
	if (min != _histo->min || max != _histo->max)
		setWindow(min, max);
}

void VirtDock::setWindow(int64_t fromNs, int64_t toNs)
{
	int64_t least;

	if (!_histo || !_histo->data_size || !_histo->n_bins)
		return;
	fromNs = std::max(fromNs, _histo->data[0]->ts);
	toNs = std::min(toNs, _histo->data[_histo->data_size - 1]->ts);
	/* A bin cannot be shorter than a nanosecond. */
	least = _histo->n_bins;
	if (toNs - fromNs < least)
		toNs = fromNs + least;
	ksmodel_set_bining(_histo, _histo->n_bins, fromNs, toNs);
	ksmodel_fill(_histo, _histo->data, _histo->data_size);
	redrawGraphs();
}

void VirtDock::redrawGraphs()
{
	if (QWidget *widget = virtChild(_window, "KsGLWidget"))
		widget->update();
}

void VirtDock::tell(const QString &text, int64_t fromNs, int64_t toNs)
{
	_told = "<b>" + text.toHtmlEscaped() + "</b>";
	_details->setText(_told);
	mark(fromNs, toNs);
	_toldWindow = visible();
}
