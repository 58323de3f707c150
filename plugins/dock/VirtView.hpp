/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtView.hpp
 * @brief	The time that KernelShark's graphs show, and its markers.
 *
 * KernelShark passes its window to plugins when it draws; there is no other way to change the
 * window.
 */
#ifndef KSHARK_VIRT_VIRTVIEW_HPP
#define KSHARK_VIRT_VIRTVIEW_HPP

#include <cstdint>
#include <utility>

#include <QMainWindow>

#include <libkshark-model.h>

class VirtView {
public:
	explicit VirtView(QMainWindow *window) : _window(window) {}

	/** A graph has been drawn. @x0: its first column in the widget */
	void drawn(kshark_trace_histo *histo, int x0)
	{
		_histo = histo;
		_x0 = x0;
	}

	/** When a column of the widget begins, cut to the graphs. */
	int64_t timeAt(int x) const;

	/** The column of the widget in which a time lies that is seen. */
	int xOf(int64_t ns) const;

	/** Number of columns of the graphs, each as long as the others; 0: there are none yet. */
	int columns() const { return _histo ? _histo->n_bins : 0; }

	/** nullptr: nothing has been drawn yet */
	const kshark_trace_histo *histo() const { return _histo; }

	/** From the first row to the end of the last one; if there are any. */
	std::pair<int64_t, int64_t> rows() const
	{
		return { _histo->data[0]->ts, _histo->data[_histo->data_size - 1]->ts + 1 };
	}

	/** Are there no rows to be seen? */
	bool isEmpty() const { return !_histo || !_histo->data_size; }

	/**
	 * Other rows are about to come, of this time: KernelShark would end if none of them lay in
	 * the window that is seen.
	 */
	void expect(int64_t fromNs, int64_t toNs);

	/** From when to when; { 0, 0 } before the first drawing. */
	std::pair<int64_t, int64_t> visible() const;

	/** In words, "FROM to TO s": KernelShark's window may reach beyond the rows by a column. */
	QString span(int64_t fromNs, int64_t toNs) const;

	/**
	 * Is this window still the visible one, by and large? Where graphs come and go KernelShark
	 * counts columns anew, and its window changes by some of them, or by a ns for each.
	 */
	bool isStill(const std::pair<int64_t, int64_t> &window) const;

	/** Show this time, as far as there are rows. */
	void show(int64_t fromNs, int64_t toNs);

	/** Show it with half as much again before and after it. */
	void showAround(int64_t fromNs, int64_t toNs);

	/** Set the markers A and B to the rows next to both ends, without moving the window. */
	void mark(int64_t fromNs, int64_t toNs);

	/** The same for one of them, 0: A, 1: B. */
	void markOne(int marker, int64_t ns);

	/** Scroll to a graph with this base line, when all have been drawn. */
	void scrollTo(int base);

	/** Draw all graphs anew, soon. */
	void redraw();

private:
	QMainWindow		*_window;
	kshark_trace_histo	*_histo = nullptr;
	int			_x0 = 0;
};

#endif
