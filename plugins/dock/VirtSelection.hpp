/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtSelection.hpp
 * @brief	The dock's heading: the time that its figures cover, either the visible time or from
 *		A to B; and below it what is selected.
 *
 * Markers that a user sets are a selection. Markers that the dock sets to show a moment are not, so
 * a walk along moments keeps the figures of the window in which they were found. Markers that a
 * session restores are not a selection either.
 */
#ifndef KSHARK_VIRT_VIRTSELECTION_HPP
#define KSHARK_VIRT_VIRTSELECTION_HPP

#include <cstdint>
#include <functional>
#include <utility>

#include <QMainWindow>
#include <QStringList>
#include <QWidget>

#include <libkshark-model.h>

#include "VirtLine.hpp"

class QToolButton;
class VirtView;

class VirtSelection : public QWidget {
public:
	/**
	 * @changed: the user wants figures of another time
	 * @cleared: the user wants nothing to be selected
	 */
	VirtSelection(QMainWindow *window, std::function<void()> changed,
		      std::function<void()> cleared);

	/** What is to be counted: @visible, or from A to B. Looks at KernelShark's markers. */
	std::pair<int64_t, int64_t> choose(const kshark_trace_histo *histo,
					   std::pair<int64_t, int64_t> visible);

	/**
	 * Where a marker was when choose() looked last, 0: A, 1: B. For one, KernelShark gives
	 * microseconds only: then it is the first row that this can mean. Return: false if it is
	 * not set.
	 */
	bool markerTime(const kshark_trace_histo *histo, int marker, int64_t *ns) const;

	/** Let it be from A to B, if these are set. */
	void use() { _isWanted = true; }

	/** Is it from A to B? */
	bool isUsed() const { return _isUsed; }

	/** The markers are where the dock or a session has set them. */
	void setByDock() { _byDock = texts(); }

	/** Show the window that the figures are of. */
	void showFigures(const VirtView &view, bool isAny, int64_t fromNs, int64_t toNs);

	/** Name the selected vCPU or machine and the time from A to B in one line. */
	void showSelected(const VirtView &view, const QString &name);

private:
	QStringList texts() const;
	void toggle();
	void updateButton();

	QMainWindow			*_window;
	std::function<void()>		_changed;
	VirtLine			*_head, *_selected;
	QToolButton			*_button, *_clear;
	QStringList			_seen, _byDock;	/* what KernelShark says of its markers */
	std::pair<int64_t, int64_t>	_range = { 0, 0 };
	bool				_isUsed = false, _isWanted = false;
};

#endif
