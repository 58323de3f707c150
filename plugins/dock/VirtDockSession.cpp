// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtDockSession.cpp
 * @brief	The dock's bookmarks, and what sessions keep of it.
 */
#include <algorithm>

#include <QCursor>
#include <QStatusBar>

#include "VirtBookmarks.hpp"
#include "VirtDock.hpp"
#include "VirtFindings.hpp"
#include "VirtNotes.hpp"
#include "VirtOverview.hpp"
#include "VirtPages.hpp"
#include "VirtSelection.hpp"
#include "VirtTable.hpp"
#include "VirtWhy.hpp"

VirtBookmarks *VirtDock::newBookmarks()
{
	return new VirtBookmarks({
		[this] { bookmark(); },
		[this] {
			_view.redraw();
			_overview->redraw();
			schedule();
		},
		[this] (const VirtBookmark &one) { goTo(one); },
	});
}

const std::vector<VirtBookmark> &VirtDock::bookmarks() const
{
	return _bookmarks->all();
}

/** What the user means by "here": what is selected, the pointer, a marker; else the middle. */
std::pair<int64_t, int64_t> VirtDock::here() const
{
	QWidget *graphs = virtChild(_window, "KsGLWidget");
	QPoint place = graphs ? graphs->mapFromGlobal(QCursor::pos()) : QPoint();
	auto [from, to] = _view.visible();
	int64_t a, b;

	/* the markers may have changed after the last refresh */
	_selection->choose(_view.histo(), _view.visible());
	if (_selection->isUsed() && markedTime(&a, &b))
		return { a, b };
	if (graphs && graphs->visibleRegion().contains(place))
		a = _view.timeAt(place.x());
	else if (!markerTime(0, &a) && !markerTime(1, &a))
		a = from + (to - from) / 2;
	a = std::clamp(a, _view.rows().first, _view.rows().second - 1);
	return { a, a };
}

void VirtDock::bookmark()
{
	if (_view.isEmpty() || virtMustWait())
		return;

	auto [from, to] = here();

	show();
	raise();
	_pages->show(_bookmarks);
	if (!_bookmarks->add(from, to))
		_window->statusBar()->showMessage("There are as many bookmarks as a session keeps");
}

/** A time that has been selected is selected again; a moment comes to the middle. */
void VirtDock::goTo(const VirtBookmark &one)
{
	if (_view.isEmpty() || virtMustWait())
		return;

	auto [from, to] = _view.visible();
	int64_t first = _view.rows().first, last = _view.rows().second - 1;
	int64_t begin = std::clamp(one.from, first, last), end = std::clamp(one.to, first, last);
	int64_t length = std::min(to - from, last - first);

	if (one.from != one.to) {
		_view.showAround(begin, end);
		_view.mark(begin, end);
	} else {
		begin = std::clamp(begin - length / 2, first, last - length);
		_view.show(begin, begin + length);
	}
	schedule();
}

/** A session may have brought something with the models that are new. */
void VirtDock::lookAtSession(bool areNew)
{
	VirtSeen seen;
	QString problem;
	VirtSession::Found found = _session.look(areNew, &seen, &problem);

	bool isReopening = found != VirtSession::RESTORED && _reopen.isDue();

	if (found == VirtSession::SAME && !isReopening)
		return;
	if (found != VirtSession::SAME)
		_bookmarks->set(seen.bookmarks);
	if (isReopening)
		_reopen.take(&_view, &seen);
	_isReopening = isReopening;
	_notes->setSession(problem.isEmpty() ? _reopen.problem() : problem);
	_isRestoring = found == VirtSession::RESTORED || isReopening;
	if (!_isRestoring)
		return;
	_restored = seen;
	_pages->show(seen.page);
	if (!isReopening)
		_why->choose(seen.why);
	if (seen.isAToB)
		_selection->use();
}

/** It may be known only when pairs of host and guest are. */
void VirtDock::chooseWhy()
{
	QString problem;
	VirtWhose whose;

	if (!_isWhyLate)
		return;
	whose = _reopen.why(&problem);
	_isWhyLate = !problem.isEmpty();
	_notes->setSession(problem);
	if (whose.stream != VIRT_NONE)
		_why->choose(whose);
}

/** What needs the figures, and graphs that have their places. */
void VirtDock::restore()
{
	if (!_isRestoring)
		return;
	_isRestoring = false;
	_isWhyLate = _isReopening;
	chooseWhy();
	if (_isReopening && !_reopen.selected().isEmpty()) {
		_restored.selected = _table->named(_reopen.selectedStream(), _reopen.selected());
		if (_restored.selected.stream == VIRT_NONE)
			_notes->setSession("--select " + virtShown(_reopen.selected()) +
					   ": there is no such vCPU or machine");
	}
	_table->select(_restored.selected);
	if (_isReopening)
		_reopen.bringGraphs(&_plots);
	_isReopening = false;
	if (_restored.scrolled >= 0)
		QTimer::singleShot(0, this, [this] {
			VirtSession::scroll(virtChild(_window, "KsGLWidget"), _restored.scrolled);
		});
}

VirtSeen VirtDock::seen() const
{
	VirtSeen seen;

	seen.page = _pages->current();
	seen.selected = selected();
	seen.why = _why->chosen();
	seen.isAToB = _selection->isUsed();
	seen.scrolled = VirtSession::scrolled(virtChild(_window, "KsGLWidget"));
	seen.bookmarks = _bookmarks->all();
	return seen;
}

void VirtDock::keep()
{
	if (!_isRestoring && !virtIsLoading() && !_view.isEmpty())
		_session.keep(seen());
}

QString VirtDock::viewCommand() const
{
	VirtMarks marks;

	for (int i = 0; i < 2; i++)
		if (!markerTime(i, &marks.ns[i]))
			marks.ns[i] = VIEW_STATE_NO_TIME;
	return _reopen.command(_view, _plots, seen(), marks);
}
