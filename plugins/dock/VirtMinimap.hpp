/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtMinimap.hpp
 * @brief	The whole trace in one line, and which part of it the graphs show.
 */
#ifndef KSHARK_VIRT_VIRTMINIMAP_HPP
#define KSHARK_VIRT_VIRTMINIMAP_HPP

#include <array>
#include <cstdint>
#include <vector>

#include <QWidget>

#include "VirtKs.hpp"
#include "virt_shading.h"

class VirtView;

/** A press or drag moves the graphs to that time. */
class VirtMinimap : public QWidget {
public:
	/** @view: stays */
	VirtMinimap(QWidget *parent, VirtView *view);

	/** Show these, in @columns columns from the left one on. */
	void follow(const std::vector<VirtStream> &streams, int left, int columns);

protected:
	void paintEvent(QPaintEvent *event) override;
	void mousePressEvent(QMouseEvent *event) override { go(event); }
	void mouseMoveEvent(QMouseEvent *event) override { go(event); }

private:
	using Column = std::array<int, VIRT_N_STATES>;	/* pixels of each state, from below */

	void go(const QMouseEvent *event);
	void shade(const std::vector<VirtStream> &streams);
	int xOf(int64_t ns) const;

	VirtView		*_view;
	std::vector<int64_t>	_key;		/* what the columns have been made of */
	std::vector<Column>	_columns;
	int64_t			_from = 0, _to = 0;	/* of the rows */
	int			_left = 0;
};

#endif
