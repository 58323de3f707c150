// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDock.cpp
 * @brief	What the window has for virtual machines.
 *
 * The draw handler reports the visible window; a timer combines many drawings into one refresh.
 * Counting runs in a thread of its own, on a counted reference to the model, and stops when the
 * window has moved on.
 */
#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include <QAction>
#include <QApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "VirtAxis.hpp"
#include "VirtBookmarks.hpp"
#include "VirtBoot.hpp"
#include "VirtClocks.hpp"
#include "VirtColumn.hpp"
#include "VirtCommand.hpp"
#include "VirtCopy.hpp"
#include "VirtDock.hpp"
#include "VirtExits.hpp"
#include "VirtFindings.hpp"
#include "VirtDrag.hpp"
#include "VirtFlow.hpp"
#include "VirtKeys.hpp"
#include "VirtLegend.hpp"
#include "VirtList.hpp"
#include "VirtListWidths.hpp"
#include "VirtLoaded.hpp"
#include "VirtMarkers.hpp"
#include "VirtNotes.hpp"
#include "VirtOverlays.hpp"
#include "VirtOverview.hpp"
#include "VirtPages.hpp"
#include "VirtPicture.hpp"
#include "VirtPointerBar.hpp"
#include "VirtSearch.hpp"
#include "VirtSection.hpp"
#include "VirtSelection.hpp"
#include "VirtSpread.hpp"
#include "VirtStatsText.hpp"
#include "VirtSteal.hpp"
#include "VirtTable.hpp"
#include "VirtTables.hpp"
#include "VirtWhy.hpp"
#include "ks_stream.h"
#include "virt.h"
#include "virt_needs.h"
#include "virt_pairing.h"

namespace {

constexpr int REFRESH_MS = 60;
/* the details' own width, and their share of the window at most, in % */
constexpr int BEST_WIDTH = 300, LEAST_WIDTH = 260, MOST_SHARE = 40;
constexpr int ROOMY_WIDTH = 1200;	/* of a window with room for details beside its graphs */
constexpr int LEAST_POINTER_HEIGHT = 640; /* of a window with room for text about the pointer */
constexpr int MOST_LANES_SHARE = 45;	/* of the upper part's height, in % */
constexpr int DETAIL_LINES = 5;

QPointer<VirtDock> theDock;

} // namespace

VirtDock *VirtDock::instance()
{
	/* A restored session loads plugins without asking them for their menus. */
	if (!theDock && virtMainWindow()) {
		virtGuardGraphs(virtMainWindow());
		virtKeepWidths(virtMainWindow());
		theDock = new VirtDock(virtMainWindow(), true);
	}
	return theDock;
}

void virt_gui_init(void *main_window)
{
	auto window = static_cast<QMainWindow *>(main_window);

	virtGuardGraphs(window);
	virtKeepWidths(window);
	if (!theDock && window)
		theDock = new VirtDock(window, false);
}

VirtDock::VirtDock(QMainWindow *window, bool isRestored)
: QDockWidget("Details", window),
  _window(window),
  _plots(window), _view(window),
  _worker(this),
  _boot(new VirtBoot(this, [this] { _view.redraw(); }))
{
	setObjectName("virtualization");
	_timer.setSingleShot(true);
	_timer.setInterval(REFRESH_MS);
	connect(&_timer, &QTimer::timeout, this, [this] { refresh(); });
	buildUi();
	_layout = std::make_unique<VirtLayout>(_window, _pages, isRestored);
	hide();
	restoreSettings();
	_window->installEventFilter(this);
	_overview->installEventFilter(this);
	if (QWidget *graphs = virtChild(_window, "KsGLWidget")) {
		graphs->installEventFilter(this);
		VirtSession::onScroll(graphs, this, [this] { schedule(); });
		new VirtDrag(graphs, &_view);
		_axis = new VirtAxis(graphs, &_view);
		_axis->setOver([this] (QPainter *painter, const QRect &area) {
			auto [from, to] = _view.visible();

			_bookmarks->paint(painter, area, from, to);
		});
	}
	addMenus();
	connect(qApp, &QApplication::aboutToQuit, this, [this] {
		saveSettings();
		keep();
	});
}

VirtDock::~VirtDock()
{
	/* The main window is half gone already: no word to it. */
	_worker.finish();
}

/* ---- the window ---- */

void VirtDock::buildUi()
{
	auto topLayout = new QVBoxLayout(_top = new QWidget(_window));

	_details = new QLabel;
	virtWrapLabel(_details);
	_details->setTextFormat(Qt::RichText);
	_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
	_details->setAlignment(Qt::AlignTop | Qt::AlignLeft);
	_pages = new VirtPages(line(), [this] { schedule(); });
	_pages->setParent(_window);
	_pages->hide();
	_pages->add("vCPUs", "Figures of machines and vCPUs", tablePage());
	_pages->add("Worst", "The worst moments, as a list", _findings = new VirtFindings(this));
	auto focus = [this] (const VirtFocus &wanted) {
		_findings->focus(wanted);
		_pages->show(_findings);
	};

	_pages->add("Histograms", "Number of moments by their cost",
		    _spread = new VirtSpread(focus));
	_pages->add("Exits", "VM exits of two machines or vCPUs beside each other",
		    _exits = new VirtExits);
	_pages->add("Steal", "Culprits of the steal of each vCPU", _steal = new VirtSteal(focus));
	_pages->add("Why", "Causes of the states of a vCPU, pCPU or task, with the culprits",
		    _why = new VirtWhy(this));
	_pages->add("Tables", "Tables of kshark-virt report: tasks, disks, locks, events ...",
		    _tables = new VirtTables([this] (int stream, int pid) {
			    /* one that the user sees anyway stays as it is */
			    if (!_plots.isShown(stream, pid) || _plots.isBrought(stream, pid))
				    bringRows({ stream, { pid }, VIRT_NONE, VIRT_CPU_IN_ORDER });
		    }));
	_pages->add("Bookmarks", "Times that you have noted something about",
		    _bookmarks = newBookmarks());
	_pages->add("Search", "Find the next long interval of a state",
		    _search = new VirtSearch(_window, this, [this] { showSearch(); }));
	virtWrapTips(_pages);
	_overlays = new VirtOverlays([this] {
		saveSettings();
		_view.redraw();
	});
	_detailArea = new VirtList<QScrollArea>;
	_detailArea->setWidget(_details);
	_detailArea->setWidgetResizable(true);
	_detailArea->setFrameShape(QFrame::NoFrame);
	_detailArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	_detailArea->setLines(DETAIL_LINES);
	topLayout->setContentsMargins(0, 0, 0, 0);
	topLayout->setSpacing(0);
	topLayout->addWidget(_notes = new VirtNotes(_window));
	topLayout->addWidget(new VirtLoaded(_window, this));
	_top->hide();
	_column = new VirtColumn;
	_column->add(_detailArea, 1);
	addSections();
	virtWrapTips(_column);
	setWidget(_column);
	setFeatures(DockWidgetMovable | DockWidgetFloatable | DockWidgetClosable);
	_overview = new VirtOverview(_window, this);
	_overview->hide();
}

/** What is seen above all pages: the time, what is selected, and buttons. */
QWidget *VirtDock::line()
{
	auto box = new QWidget;
	auto layout = new QHBoxLayout(box);
	auto details = new QToolButton;

	_selection = new VirtSelection(_window, [this] { schedule(); },
				       [this] { _table->setCurrentItem(nullptr); });
	details->setDefaultAction(toggleViewAction());
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(4);
	layout->addWidget(_selection, 1);
	layout->addWidget(details);
	layout->addWidget(copyButton());
	return box;
}

/** Empty if there is nothing to report. */
QString VirtDock::reportCommand() const
{
	return !_shown ? QString() : _pages->isOn(_findings) ? _findings->command() :
	       _pages->isOn(_tables) ? _tables->command() :
	       virtReportCommand(_shown->streams, _shown->from, _shown->to, " --full", VIRT_NONE);
}

QWidget *VirtDock::copyButton()
{
	auto button = new VirtCopy;
	auto add = [this, button] (const char *title, const std::function<QString()> &what) {
		button->add(title, [this, what] { return _shown ? what() : QString(); },
			    [this] { return _shown != nullptr; });
	};
	auto hasWhy = [this] { return why() != nullptr; };

	button->add("Report command", [this] { return reportCommand(); },
		    [this] { return !reportCommand().isEmpty(); });
	add("View command", [this] { return viewCommand(); });
	add("vCPUs as text", [this] { return _table->asText(); });
	add("Worst moments as text", [this] { return _findings->asText(); });
	add("Worst moments as CSV", [this] { return _findings->asCsv(); });
	add("Histograms as CSV", [this] { return _spread->asCsv(listed()); });
	button->add("Exits as CSV", [this] { return _exits->asCsv(); },
		    [this] { return _exits->isShown(); });
	add("Steal as CSV", [this] {
		_steal->follow(_shown);
		return _steal->asCsv();
	});
	button->add("Table as CSV", [this] { return _tables->asCsv(); },
		    [this] { return _pages->isOn(_tables) && _tables->isShown(); });
	button->add("Bookmarks as text", [this] { return _bookmarks->asText(); },
		    [this] { return !bookmarks().empty(); });
	button->add("Why as text", [this] { return _why->asText(); }, hasWhy);
	button->add("Why command", [this] { return _why->command(); }, hasWhy);
	return button;
}

/** The table, and what is done with its current row. */
QWidget *VirtDock::tablePage()
{
	auto page = new QWidget;
	auto layout = new QVBoxLayout(page);
	auto buttons = new VirtFlow(nullptr, 0);
	auto columns = new QToolButton;

	_table = new VirtTable;
	columns->setText("Columns");
	columns->setToolTip("Which columns the table has");
	connect(columns, &QToolButton::clicked, this, [this, columns] {
		_table->columnMenu()->popup(columns->mapToGlobal(QPoint(0, columns->height())));
	});
	_markWorst = new QPushButton("Mark longest wait");
	_zoomWorst = new QPushButton("Zoom to it");

	connect(_table, &QTreeWidget::itemClicked, this,
		[this] (QTreeWidgetItem *item) { clicked(item); });
	connect(_table, &QTreeWidget::itemDoubleClicked, this,
		[this] (QTreeWidgetItem *item) { goToWorst(item, true); });
	connect(_table, &QTreeWidget::currentItemChanged, this, [this] {
		_factWindow = { 0, 0 };
		showDetails();
		follow();
	});
	connect(_markWorst, &QPushButton::clicked, this,
		[this] { goToWorst(_table->currentItem(), false); });
	connect(_zoomWorst, &QPushButton::clicked, this,
		[this] { goToWorst(_table->currentItem(), true); });
	_markWorst->setToolTip("Set the markers A and B around the longest time that the vCPU"
			       " waited for a pCPU");
	_zoomWorst->setToolTip("Mark it and show it large");

	buttons->addWidget(_markWorst);
	buttons->addWidget(_zoomWorst);
	buttons->addWidget(columns);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(3);
	layout->addWidget(_table, 1);
	layout->addLayout(buttons);
	return page;
}

/** The parts of the details that the menu shows. */
void VirtDock::addSections()
{
	auto legend = new QWidget;
	auto legendLayout = new QVBoxLayout(legend);
	auto add = [this] (const char *title, const char *key, QWidget *content) {
		_sections.push_back(new VirtSection(title, key, content,
						    [this] (VirtSection *one) {
							    want("details/visible", true);
							    _column->reveal(one);
						    }));
		_column->add(_sections.back(), 0);
	};

	legendLayout->setContentsMargins(0, 0, 0, 0);
	legendLayout->setSpacing(3);
	legendLayout->addWidget(virtStateLegend());
	legendLayout->addWidget(virtExitLegend());
	_clocks = new VirtClocks(_window, [this] (const std::vector<VirtWarning> &warnings) {
		size_t n = warnings.size();

		_notes->setWarnings(warnings);
		_sections.front()->setBadge(!n ? QString() :
					    QString(n == 1 ? "%1 warning" : "%1 warnings").arg(n));
	});
	add("Clocks", "clocks", _clocks);
	add("Overlays", "overlays", _overlays);
	add("Markers", "markers", new VirtMarkers(this));
	add("Colours", "legend", legend);
}

/** Make the window's parts ours. Not while KernelShark draws. */
void VirtDock::place()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	auto area = [&settings] (const char *key, Qt::DockWidgetArea usual) {
		return static_cast<Qt::DockWidgetArea>(settings.value(key, usual).toInt());
	};
	QWidget *graphs = virtChild(_window, "KsTraceGraph");

	_layout->build(_top);
	_layout->docks()->addDockWidget(area("details/area", Qt::RightDockWidgetArea), this);
	_layout->docks()->addDockWidget(area("lanes/area", Qt::TopDockWidgetArea), _overview);
	/*
	 * The text about the pointer makes KernelShark's graphs ask for more and more width; with a
	 * dock beside them, they would change their size under the mouse.
	 */
	if (graphs)
		virtKeepPointerBar(graphs);
}

/** All parts of the window that are ours come or go. */
void VirtDock::turn(bool on)
{
	VirtOneResize once(_window);

	if (on == _isOn || !_layout->isPossible())
		return;
	if (!_layout->isBuilt())
		place();
	_isOn = on;
	_everShown |= on;
	_on->setChecked(on);
	_top->setVisible(on);
	_pages->showHead(on);
	_pages->show(on ? _table->parentWidget() : _layout->list());
	showParts();
	schedule();
}

/** The user wants a part, or does not. */
void VirtDock::want(const char *key, bool on)
{
	QSettings(virtSettingsFile(), QSettings::IniFormat).setValue(key, on);
	turn(true);
	showParts();
}

/** Show what the user wants; the details, unless he says so, if there is room for them. */
void VirtDock::showParts()
{
	VirtOneResize once(_window);
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	bool isRoomy = _window->width() >= ROOMY_WIDTH;
	QWidget *graphs = virtChild(_window, "KsTraceGraph");

	if (graphs)
		virtShowPointerBar(graphs, !_isOn || _window->height() >= LEAST_POINTER_HEIGHT);

	setVisible(_isOn && settings.value("details/visible", isRoomy).toBool());
	_overview->setVisible(_isOn && settings.value("lanes/visible", true).toBool());
	fit();
	/* again, as text that now has another width may need another height */
	QTimer::singleShot(0, this, [this] { fit(); });
}

/** Make the best of the window's size, as long as the user has not said what he wants. */
void VirtDock::fit()
{
	VirtOneResize once(_window);
	int most = std::max(LEAST_WIDTH, _window->width() * MOST_SHARE / 100);
	int width = std::min(_userWidth ? _userWidth : BEST_WIDTH, most);

	if (!_isOn)
		return;
	_isFitLate = virtIsLoading();
	if (_isFitLate) {
		schedule();
		return;
	}
	VirtLayout::settle();
	_lanesHeight = _overview->fullHeight();
	_layout->fit(_overview->isVisible() && !_overview->isFloating() ?
		     _lanesHeight + _layout->separator() : 0);
	_upperHeight = _layout->upperHeight();
	_graphsHeight = _layout->mostGraphs();
	if (isVisible() && !isFloating())
		_layout->docks()->resizeDocks({ this }, { width }, Qt::Horizontal);
	if (_overview->isVisible() && !_overview->isFloating())
		_layout->docks()->resizeDocks({ _overview }, {
			_userHeight ? _userHeight :
			std::min(_lanesHeight,
				 std::max(_upperHeight * MOST_LANES_SHARE / 100,
					  _upperHeight - _layout->mostGraphs() -
					  _layout->separator())) },
			Qt::Vertical);
	VirtLayout::settle();
}

bool VirtDock::eventFilter(QObject *object, QEvent *event)
{
	if (object == _window && event->type() == QEvent::Resize && _everShown)
		showParts();
	/* what comes with the file has its place before the graphs are drawn */
	if (object == _window && virtIsLoaded(_window, event, VIRT_LOADED_PANES))
		prepare(std::make_shared<VirtCount>());
	/* who draws the edge of the lanes holds a button, and the splitter stays where it is */
	if (object == _overview) {
		if (event->type() == QEvent::Close)
			closed("lanes/visible");
		if (event->type() == QEvent::Resize && _everShown && !_overview->isFloating() &&
		    (QApplication::mouseButtons() & Qt::LeftButton) &&
		    _layout->upperHeight() == _upperHeight)
			_userHeight = _overview->height();
		return false;
	}
	/* the markers may be elsewhere now; what has not changed is not counted again */
	if (object != _window && event->type() == QEvent::Paint)
		schedule();
	return QDockWidget::eventFilter(object, event);
}

/** By the button in its title, not with the whole window. */
void VirtDock::closed(const char *key)
{
	if (_window->isVisible())
		QSettings(virtSettingsFile(), QSettings::IniFormat).setValue(key, false);
}

void VirtDock::closeEvent(QCloseEvent *event)
{
	QDockWidget::closeEvent(event);
	closed("details/visible");
}

/** A mouse button is pressed during this only if the user moves the edge of the dock. */
void VirtDock::resizeEvent(QResizeEvent *event)
{
	QDockWidget::resizeEvent(event);
	if (_everShown && !isFloating() && (QApplication::mouseButtons() & Qt::LeftButton) &&
	    event->size().width() != event->oldSize().width())
		_userWidth = width();
}

void VirtDock::addMenus()
{
	auto view = new QMenu("View", _window);
	auto picture = new QAction("Save picture ...", this);
	auto keys = new VirtKeys(_window, this);
	auto setting = [this] (QAction *action, const char *title, const char *key) {
		action->setText(title);
		connect(action, &QAction::triggered, this,
			[this, key] (bool on) { want(key, on); });
	};

	_on = new QAction("Virtual machines", this);
	_on->setCheckable(true);
	_on->setToolTip("Show what the trace knows about virtual machines");
	_picture = new VirtPicture(_window, this);
	setting(_overview->toggleViewAction(), "Lanes", "lanes/visible");
	setting(toggleViewAction(), "Details", "details/visible");
	view->addActions({ _on, _overview->toggleViewAction(), toggleViewAction() });
	view->addSeparator();
	for (VirtSection *section : _sections)
		view->addAction(section->action());
	for (QMenu *menu : _window->menuBar()->findChildren<QMenu *>()) {
		if (menu->menuAction()->text() == "Plots")
			menu->addActions({ picture, keys->action() });
		if (menu->menuAction()->text() == "Tools")
			_window->menuBar()->insertMenu(menu->menuAction(), view);
	}
	connect(picture, &QAction::triggered, this, [this] {
		int chosen = listed().subject.stream;
		std::vector<VirtStream> open = virtStreams();

		/* whose row is chosen in the table, else the first one's */
		if (std::none_of(open.begin(), open.end(), [chosen] (const VirtStream &one) {
			return one.id == chosen;
		    }))
			chosen = open.empty() ? VIRT_NONE : open.front().id;
		_picture->save(chosen);
	});
	connect(_on, &QAction::triggered, this, [this] (bool on) {
		QSettings(virtSettingsFile(), QSettings::IniFormat)
			.setValue("dock/visible", on);
		turn(on);
	});
}

void VirtDock::restoreSettings()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	_overlays->restore(settings);
	_isFirstTime = !settings.value("dock/explained", false).toBool();
	_userWidth = settings.value("details/user_width", 0).toInt();
	_userHeight = settings.value("lanes/user_height", 0).toInt();
	_table->restore(settings);
}

void VirtDock::saveSettings()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	_overlays->save(&settings);
	_table->save(&settings);
	if (_everShown)
		settings.setValue("dock/explained", true);
	if (_layout->isBuilt() && !_overview->isFloating())
		settings.setValue("lanes/area",
				  static_cast<int>(_layout->docks()->dockWidgetArea(_overview)));
	if (_layout->isBuilt() && !isFloating())
		settings.setValue("details/area",
				  static_cast<int>(_layout->docks()->dockWidgetArea(this)));
	if (_userWidth)
		settings.setValue("details/user_width", _userWidth);
	if (_userHeight)
		settings.setValue("lanes/user_height", _userHeight);
}

/* ---- following the window ---- */

void VirtDock::graphDrawn(kshark_trace_histo *histo, int streamId, bool isTask, int id, int x0,
			  int base)
{
	_view.drawn(histo, x0);
	_clocks->graphDrawn(histo);
	if (isTask && _reveal == std::make_pair(streamId, id)) {
		_reveal = { -1, -1 };
		QTimer::singleShot(0, this, [this, base] { _view.scrollTo(base); });
	}
	schedule();
}

void VirtDock::schedule()
{
	if (!_timer.isActive())
		_timer.start();
}

/** There is something to show for the first time. */
void VirtDock::appear()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	_everShown = true;
	turn(settings.value("dock/visible", true).toBool());
}

/** No file is open any more. */
void VirtDock::empty()
{
	VirtCount nothing;

	if (_running)
		_running->stop = true;
	_again = false;
	_shown.reset();
	_serials = nothing.serials();
	_why->forget();
	_spread->forget();
	_exits->forget();
	_steal->forget();
	_tables->forget();
	_table->adopt(nothing);
	_findings->follow(listed());
	_search->follow({});
	_overview->follow({}, 0, 0);
	_selection->showFigures(_view, false, 0, 0);
	_selection->showSelected(_view, QString());
	showDetails();
}

/** Other models have come: what is not seen lets go of the old ones until it is. */
void VirtDock::forget()
{
	_layout->keep(false);
	_why->forget();
	if (!_isOn || !_pages->isOn(_spread))
		_spread->forget();
	if (!_isOn || !_pages->isOn(_exits))
		_exits->forget();
	if (!_isOn || !_pages->isOn(_steal))
		_steal->forget();
	if (!_isOn || !_pages->isOn(_tables))
		_tables->forget();
	if (_isOn)
		return;
	if (_running)
		_running->stop = _again = true;
	_shown.reset();
	_table->adopt(VirtCount());
	_findings->follow(listed());
	_search->follow({});
	showDetails();
}

/**
 * Show what the open files bring, and what is known without counting.
 * Return: is there something to count?
 */
bool VirtDock::prepare(const std::shared_ptr<VirtCount> &job)
{
	if (_axis)
		_axis->follow();
	_boot->look();
	job->streams = virtStreams();
	_notes->setNothingVirtual(job->streams.empty() && !_view.isEmpty());
	if (_serials != job->serials()) {
		_notes->setModels(job->streams);
		forget();
	}
	if (!_everShown && !job->streams.empty())
		appear();
	if (_view.isEmpty()) {
		/* as after a file that cannot be read */
		if (job->streams.empty() && _shown)
			empty();
		return false;
	}
	lookAtSession(job->isApartFrom(_serials));
	chooseWhy();
	keep();
	std::tie(job->from, job->to) = _view.visible();
	_overview->follow(job->streams, job->from, job->to);
	/* the user has not set the markers of a restored session now */
	if (_serials != job->serials())
		_selection->setByDock();
	_serials = job->serials();
	if (!_isOn)
		return false;
	if (_isFitLate || _lanesHeight != _overview->fullHeight() ||
	    _graphsHeight != _layout->mostGraphs())
		fit();
	return true;
}

/** Begin to count, unless the window is the one that is shown or being counted. */
void VirtDock::refresh()
{
	auto job = std::make_shared<VirtCount>();

	if (virtIsLoading()) {
		_timer.start();
		return;
	}
	if (!prepare(job))
		return;
	std::tie(job->from, job->to) = _selection->choose(_view.histo(), _view.visible());
	std::tie(job->rowsFrom, job->rowsTo) = _view.rows();
	if (_running) {
		if (_running->isSame(*job))
			return;
		_running->stop = true;
		_again = true;
		return;
	}
	if (_shown && _shown->isSame(*job)) {
		follow();
		return;
	}
	_running = job;
	_worker.start(job, [this, job] { adopt(job); });
}

void VirtDock::adopt(const std::shared_ptr<VirtCount> &job)
{
	bool again = _again;

	_running.reset();
	_again = false;
	if (again)
		schedule();
	if (job->stop || !job->isComplete())
		return;
	_shown = job;
	_selection->showFigures(_view, !job->streams.empty(), job->from, job->to);
	_table->adopt(*job);
	follow();
	showDetails();
	if (_view.isStill(_factWindow))
		_details->setText(_factText);
	restore();
}

/** The window that has been counted, and who is chosen in the table. */
VirtListed VirtDock::listed() const
{
	const QTreeWidgetItem *item = _table->currentItem();

	if (!_shown)
		return { 0, 0, {}, { VIRT_NONE, 0, 0, 0 }, {}, false };
	return {
		_shown->from, _shown->to, _shown->streams,
		item ? VirtTable::subject(item) : VirtSubject{ VIRT_NONE, 0, 0, 0 },
		item ? VirtTable::nameOf(item) : QString(), _selection->isUsed(),
	};
}

/** What follows the window that has been counted, and the table's current row. */
void VirtDock::follow()
{
	if (!_shown)
		return;
	_selection->showSelected(_view, listed().name);
	_findings->follow(listed());
	_search->follow(_shown->streams);
	if (_pages->isOn(_spread))
		_spread->follow(listed());
	if (_pages->isOn(_exits))
		_exits->follow(listed());
	if (_pages->isOn(_steal))
		_steal->follow(_shown);
	_pages->isOn(_tables) ? _tables->follow(listed()) : _tables->forget();
	_pages->isOn(_why) ? _why->follow(listed()) : _why->forget();
}

bool VirtDock::markerTime(int marker, int64_t *ns) const
{
	return _selection->markerTime(_view.histo(), marker, ns);
}

bool VirtDock::markedTime(int64_t *fromNs, int64_t *toNs) const
{
	int64_t a, b;

	if (!markerTime(0, &a) || !markerTime(1, &b))
		return false;
	*fromNs = std::min(a, b);
	*toNs = std::max(a, b);
	return true;
}

const VirtWhyTree *VirtDock::why() const
{
	return _isOn ? _why->tree().get() : nullptr;
}

/* ---- one vCPU or machine ---- */

/** What has been counted of a row; nothing without one. */
VirtCount::Found VirtDock::find(const QTreeWidgetItem *item) const
{
	return item && _shown ? _shown->find(VirtTable::subject(item)) : VirtCount::Found();
}

void VirtDock::showDetails()
{
	const QTreeWidgetItem *item = _table->currentItem();
	VirtCount::Found found = find(item);

	_markWorst->setEnabled(found.stats && found.stats->longest_vcpu != VIRT_NONE &&
			       virt_model_knows(found.stream->model.get(), VIRT_NUMBER_RUNNABLE));
	_zoomWorst->setEnabled(_markWorst->isEnabled());
	_details->setText(found.stats ?
			  virtDetails(VirtTable::nameOf(item), VirtTable::subject(item), found) :
			  "<i>Select a machine or vCPU for details. Hover over a strip or"
			  " marker to identify it; double-click to set A and B around it.</i>" +
			  (_isFirstTime ? "<p>The colours of the strips:" + virtStatesInWords() :
			   QString()));
}

void VirtDock::clicked(const QTreeWidgetItem *item)
{
	VirtSubject subject = VirtTable::subject(item);

	if (subject.vcpu == VIRT_NONE)
		return;
	_layout->keep(true);
	_reveal = { subject.stream, subject.pid };
	if (_plots.isShown(subject.stream, subject.pid))
		_view.redraw();
	else
		_plots.add(subject.stream, { subject.pid });
}

VirtSubject VirtDock::selected() const
{
	return listed().subject;
}

void VirtDock::select(int streamId, int32_t vcpu)
{
	VirtSubject now = selected();

	if (vcpu != VIRT_NONE && (now.stream != streamId || now.vcpu != vcpu))
		_table->select({ streamId, VIRT_NONE, vcpu, 0 });
}

/* ---- graphs beside each other ---- */

int VirtDock::pidOf(const virt_model *model, int32_t who)
{
	const virt_vcpu *vcpu = virt_model_vcpu(model, who);
	const virt_task *task = virt_model_task(model, who);

	return vcpu ? vcpu->host_pid : task ? task->pid : 0;
}

void VirtDock::bringRows(const VirtWish &rows)
{
	_layout->keep(true);
	_plots.bring(rows);
	if (rows.pids.empty())
		return;
	/* not before all are there: until then there may be another graph of it, in a combo */
	_reveal = { rows.stream, rows.pids[0] };
	_view.redraw();
}

void VirtDock::bring(const VirtStream &stream, const virt_moment &moment)
{
	const virt_model *model = stream.model.get();
	int pid = pidOf(model, moment.vcpu);
	int who = pidOf(model, moment.who);
	VirtWish rows = { stream.id, { pid }, moment.pcpu, VIRT_CPU_IN_ORDER };

	select(stream.id, moment.vcpu);
	/* those that the user sees anyway stay as they are */
	if (pid <= 0 || (_plots.isShown(stream.id, pid) && !_plots.isBrought(stream.id, pid)))
		return;
	if (who > 0)
		rows.pids.push_back(who);
	bringRows(rows);
}

void VirtDock::bring(const VirtChosen &chosen, bool again)
{
	const virt_model *model = chosen.stream.model.get();
	VirtWish rows = { chosen.stream.id, { pidOf(model, chosen.vcpu) }, VIRT_NONE,
			  VIRT_CPU_LAST };
	virt_shade_hit hit;
	bool isHit = chosen.state < VIRT_N_STATES &&
		     virt_shade_pick_vcpu(model, chosen.vcpu, chosen.fromNs, chosen.toNs,
					  chosen.state, &hit);
	const virt_interval *at = isHit ? &hit.interval :
		virt_vcpu_at(model, chosen.vcpu, chosen.fromNs, nullptr);
	int culprit = culpritPid(chosen, isHit ? &hit : nullptr);

	select(chosen.stream.id, chosen.vcpu);
	if (isHit && again) {
		showInterval(chosen, hit);
		return;
	}
	if (at)
		rows.pcpu = at->pcpu;
	if (culprit > 0)
		rows.pids.push_back(culprit);
	bringGuest(chosen);
	bringRows(rows);
}

/** The guest's own graph of a vCPU, in the guest's trace, unless it is seen, as in a combo. */
void VirtDock::bringGuest(const VirtChosen &chosen)
{
	virt_pair pair;

	if (virt_pairing_of_vcpu(chosen.stream.id, pidOf(chosen.stream.model.get(), chosen.vcpu),
				 &pair) &&
	    pair.guest_stream != VIRT_NONE && !_plots.isCpuShown(pair.guest_stream, pair.guest_cpu))
		_plots.bring({ pair.guest_stream, {}, pair.guest_cpu, VIRT_CPU_FIRST });
}

/** What took its pCPU there; else what took it most in the whole window, if that is counted. */
int VirtDock::culpritPid(const VirtChosen &chosen, const virt_shade_hit *hit) const
{
	const virt_model *model = chosen.stream.model.get();
	virt_culprit first;

	if (hit && hit->interval.state == VIRT_PREEMPTED)
		return virt_vcpu_culprits(model, chosen.vcpu, hit->interval.start_ns, hit->end_ns,
					  &first, 1) ? pidOf(model, first.vcpu) : 0;
	for (size_t i = 0; _shown && i < _shown->streams.size(); i++) {
		if (_shown->streams[i].model.serial() != chosen.stream.model.serial())
			continue;

		const virt_window_stats &stats = _shown->windows[i]->vcpus[chosen.vcpu];

		for (size_t c = 0; c < stats.n_culprits; c++)
			if (pidOf(model, stats.culprits[c].vcpu) > 0)
				return pidOf(model, stats.culprits[c].vcpu);
	}
	return 0;
}

/** The second click of two: the first has brought the graphs. */
void VirtDock::showInterval(const VirtChosen &chosen, const virt_shade_hit &hit)
{
	VirtFact fact = virtIntervalFact(chosen.stream, hit);

	_view.showAround(fact.from, fact.to);
	showFact(fact);
}

void VirtDock::goToWorst(const QTreeWidgetItem *item, bool zoom)
{
	VirtCount::Found found = find(item);
	int64_t from, to;

	if (!found.stats || found.stats->longest_vcpu == VIRT_NONE ||
	    !virt_model_knows(found.stream->model.get(), VIRT_NUMBER_RUNNABLE))
		return;
	from = found.stats->longest_from_ns + found.stream->offset;
	to = found.stats->longest_to_ns + found.stream->offset;
	if (zoom)
		_view.showAround(from, to);
	mark(from, to);
}

/** Markers are at rows. The interval that a fact has marked begins and ends between two of them. */
void VirtDock::showNextState(bool forward)
{
	VirtSubject whose = selected();
	VirtModelRef model(whose.stream);
	auto [from, to] = _view.visible();
	bool isFact = _stateOf == std::make_pair(whose.stream, whose.vcpu) &&
		      _view.isStill(_factWindow);
	int64_t offset, begin, end;

	if (whose.vcpu == VIRT_NONE || !model || _view.isEmpty())
		return;
	/* KernelShark's window may begin before the first row */
	from = std::max(from, _view.rows().first);
	to = std::min(to, _view.rows().second);
	offset = ks_stream_offset(whose.stream);
	if (isFact)
		std::tie(begin, end) = _stateSpan;
	else if (!markedTime(&begin, &end))
		begin = end = forward ? from : to;

	const virt_interval *at = virt_vcpu_at(model.get(), whose.vcpu,
					       (forward ? end : begin - 1) - offset, &end);

	if (!at)
		return;

	VirtFact fact = virtIntervalFact({ whose.stream, offset, model },
					 { whose.vcpu, end, *at });

	if (fact.to - fact.from > to - from)
		_view.showAround(fact.from, fact.to);
	else if (fact.from < from || fact.to > to)
		_view.show((fact.from + fact.to - (to - from)) / 2,
			   (fact.from + fact.to + (to - from)) / 2);
	showFact(fact);
	_stateOf = { whose.stream, whose.vcpu };
	_stateSpan = { fact.from, fact.to };
}

void VirtDock::showSearch()
{
	turn(true);
	_pages->show(_search);
}

void VirtDock::search()
{
	showSearch();
	_search->begin();
}

/** What the dock marks is no selection of the user's. */
void VirtDock::mark(int64_t fromNs, int64_t toNs)
{
	_view.mark(fromNs, toNs);
	_selection->setByDock();
}

void VirtDock::showFact(const VirtFact &fact)
{
	select(fact.stream, fact.vcpu);
	_factText = "<b>" + fact.text.toHtmlEscaped() + "</b>";
	_details->setText(_factText);
	_stateOf = { VIRT_NONE, VIRT_NONE };
	mark(fact.from, fact.to);
	_factWindow = _view.visible();
}
