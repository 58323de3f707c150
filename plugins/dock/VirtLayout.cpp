// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtLayout.cpp
 * @brief	KernelShark's graphs and list among our panes.
 *
 * The graphs get another parent within the same window, which keeps what they are drawn with. The
 * list is destroyed before the splitter, by KernelShark's window, of which both are members; then
 * it leaves the page that it is in.
 */
#include <algorithm>

#include <QCoreApplication>
#include <QScrollArea>
#include <QSplitter>
#include <QStyle>
#include <QVBoxLayout>

#include "VirtKs.hpp"
#include "VirtLayout.hpp"
#include "VirtPages.hpp"

namespace {

constexpr int GRAPHS_SHARE = 60;	/* of the height, in % */
constexpr int LEAST_GRAPH_WIDTH = 320, LEAST_PAGES_HEIGHT = 60, SMALL_PAGES_HEIGHT = 90;
constexpr int MOST_SMALL_LANES = 120;	/* height of lanes, if there is no room for more */
constexpr int LEAST_LINES = 18;		/* of text, for the graphs, their buttons and a warning */
constexpr int PAGES_LINES = 12;		/* that the pages keep: names, eight rows, buttons */
constexpr int SLACK = 2;		/* KernelShark 2.4 needs a pixel more than it says */
constexpr int FEW_LINES = 2;		/* of these, that they give for all graphs to be seen */

} // namespace

VirtLayout::VirtLayout(QMainWindow *window, VirtPages *pages, bool isRestored)
: QObject(window),
  _window(window),
  _pages(pages),
  _splitter(qobject_cast<QSplitter *>(window->centralWidget())),
  _graphs(virtChild(window, "KsTraceGraph")),
  _list(virtChild(window, "KsTraceViewer")),
  _isMoved(isRestored)
{
}

bool VirtLayout::isPossible() const
{
	return _graphs && _list && _splitter &&
	       (_docks || (_splitter->count() == 2 && _splitter->widget(0) == _graphs &&
			   _splitter->widget(1) == _list));
}

void VirtLayout::build(QWidget *top)
{
	auto upper = new QWidget;
	auto layout = new QVBoxLayout(upper);
	QList<int> sizes = _splitter->sizes();

	_docks = new QMainWindow(upper);
	_docks->setWindowFlags(Qt::Widget);	/* it is a window otherwise */
	/* each step would have KernelShark make its graphs anew */
	_docks->setAnimated(false);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(0);
	layout->addWidget(top);
	layout->addWidget(_docks, 1);
	_docks->setContextMenuPolicy(Qt::PreventContextMenu);
	_docks->setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
	_docks->setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
	/* KernelShark has pointers to both, and none to what they are in */
	_splitter->insertWidget(0, upper);
	_docks->setCentralWidget(_graphs);
	_splitter->insertWidget(1, _pages);
	_pages->addFirst("Events", "KernelShark's list of events", _list);
	/* in a splitter it is as high as there is room, in a layout it would not be */
	_list->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
	_pages->setMinimumHeight(LEAST_PAGES_HEIGHT);
	for (QWidget *widget : { static_cast<QWidget *>(_pages), _graphs,
				 static_cast<QWidget *>(_docks), upper })
		widget->setVisible(true);
	_graphs->setMinimumWidth(LEAST_GRAPH_WIDTH);
	/* KernelShark limits its height to that of all graphs, and forgets the frame around them */
	for (QScrollArea *area : _graphs->findChildren<QScrollArea *>())
		area->setFrameShape(QFrame::NoFrame);
	_splitter->setSizes(sizes);
	connect(_splitter, &QSplitter::splitterMoved, this, [this] { _isMoved = true; });
}

bool VirtLayout::isUsers() const
{
	return _isMoved || virtHasRestored(_window);
}

int VirtLayout::upperHeight() const
{
	return _splitter->sizes()[0];
}

int VirtLayout::separator() const
{
	return _docks->style()->pixelMetric(QStyle::PM_DockWidgetSeparatorExtent, nullptr, _docks);
}

void VirtLayout::settle()
{
	QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
}

void VirtLayout::fit(int lanes)
{
	int all = _splitter->height(), line = _graphs->fontMetrics().height();
	int share = all * GRAPHS_SHARE / 100;
	int most = mostGraphs() + SLACK;
	int wanted = std::min(std::max(share, std::min(share, most) + lanes),
			      all - PAGES_LINES * line);
	/* in a low window, that is most of it; KernelShark 2.4 itself asks for less */
	int graphs = std::max(_graphs->minimumHeight(), LEAST_LINES * line);
	int least = std::min(std::min(lanes, MOST_SMALL_LANES) + graphs, all - SMALL_PAGES_HEIGHT);
	int upper = std::max(wanted, least), whole = most + lanes;

	if (upper < whole && whole - upper <= FEW_LINES * line && all - whole >= SMALL_PAGES_HEIGHT)
		upper = whole;
	if (isUsers() || (_isKept && all == _fitHeight))
		return;
	_fitHeight = all;
	_splitter->setSizes({ upper, all - upper });
}
