/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtHistogram.hpp
 * @brief	A histogram of the costs of moments, as bars on a logarithmic scale.
 */
#ifndef KSHARK_VIRT_VIRTHISTOGRAM_HPP
#define KSHARK_VIRT_VIRTHISTOGRAM_HPP

#include <functional>
#include <utility>

#include <QLabel>

#include "virt_spread.h"

class QPainter;

/** Bars [first, last) of a spread. */
using VirtBars = std::pair<int, int>;

/** Those that are not empty, and some more if they are very few. */
VirtBars virtBarsOf(const virt_spread_row &row);

/** Both of them. */
VirtBars virtBarsOf(const VirtBars &a, const VirtBars &b);

/** Bars side by side; of those with moments, the lowest ones are seen, too. */
void virtDrawBars(QPainter *painter, const QRect &rect, const virt_spread_row &row,
		  const VirtBars &bars);

/** Its text is above the bars. */
class VirtHistogram : public QLabel {
public:
	/** @chosen: a bar with moments has been clicked */
	explicit VirtHistogram(std::function<void(int bar)> chosen);

	void show(const QString &title, const virt_spread_row &row);
	void clear();

	QSize minimumSizeHint() const override;
	QSize sizeHint() const override;

protected:
	void paintEvent(QPaintEvent *event) override;
	void mouseMoveEvent(QMouseEvent *event) override;
	void mouseReleaseEvent(QMouseEvent *event) override;
	void resizeEvent(QResizeEvent *event) override;

private:
	void fit();
	int titleHeight() const;
	QRect chart() const;
	int barAt(const QPoint &place) const;
	double xOf(int64_t ns) const;
	void drawScale(QPainter *painter) const;

	std::function<void(int bar)>	_chosen;
	virt_spread_row			_row = {};
	VirtBars			_bars = { 0, 0 };	/* none: nothing is shown */
};

#endif
