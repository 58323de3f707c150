// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtHistogram.cpp
 * @brief	A histogram of the costs of moments, as bars on a logarithmic scale.
 */
#include <algorithm>
#include <cmath>
#include <utility>

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "VirtHistogram.hpp"
#include "VirtKs.hpp"
#include "virt_colors.h"

namespace {

constexpr int LEAST_BARS = 8;
constexpr int LEAST_BAR_HEIGHT = 4;	/* of one with moments */
constexpr int LEAST_LINES = 3, BEST_LINES = 7;	/* height of the bars */
constexpr int MARGIN = 3;
const QColor LINE(0x60, 0x60, 0x60), SCALE(0xd8, 0xd8, 0xd8);

/** "10 us" */
QString roundDuration(int64_t ns)
{
	static const struct {
		int64_t		ns;
		const char	*name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };

	for (const auto &unit : units)
		if (ns >= unit.ns)
			return QString("%1 %2").arg(ns / unit.ns).arg(unit.name);
	return "0";
}

/** Bars whose least costs are 10, 100, 1000 ... ns. */
bool isRound(int bar)
{
	int64_t ns = virt_spread_least(bar);

	while (ns > 1 && ns % 10 == 0)
		ns /= 10;
	return ns == 1;
}

} // namespace

VirtBars virtBarsOf(const virt_spread_row &row)
{
	VirtBars bars = { 0, 0 };

	for (int i = 0; i < VIRT_SPREAD_BARS; i++) {
		if (!row.bars[i])
			continue;
		if (bars.first == bars.second)
			bars.first = i;
		bars.second = i + 1;
	}
	if (bars.first == bars.second)
		return bars;
	while (bars.second - bars.first < LEAST_BARS) {
		bars.first = std::max(0, bars.first - 1);
		bars.second = std::min(VIRT_SPREAD_BARS, bars.second + 1);
	}
	return bars;
}

VirtBars virtBarsOf(const VirtBars &a, const VirtBars &b)
{
	if (a.first == a.second || b.first == b.second)
		return a.first == a.second ? b : a;
	return { std::min(a.first, b.first), std::max(a.second, b.second) };
}

void virtDrawBars(QPainter *painter, const QRect &rect, const virt_spread_row &row,
		  const VirtBars &bars)
{
	virt_color color = virt_worst_look(row.kind)->color;
	uint64_t most = *std::max_element(row.bars, row.bars + VIRT_SPREAD_BARS);
	int n = bars.second - bars.first;

	for (int i = bars.first; i < bars.second; i++) {
		int left = rect.left() + rect.width() * (i - bars.first) / n;
		int right = rect.left() + rect.width() * (i + 1 - bars.first) / n;
		double share = most ? static_cast<double>(row.bars[i]) /
				      static_cast<double>(most) : 0;
		int height = std::max(LEAST_BAR_HEIGHT,
				      static_cast<int>(std::lround(share * rect.height())));
		QRect bar(left, rect.bottom() + 1 - height, std::max(1, right - left), height);

		if (!row.bars[i])
			continue;
		painter->fillRect(bar, QColor(color.red, color.green, color.blue));
		painter->setPen(LINE);
		/* yellow on white; very small ones would be nothing but lines */
		if (bar.width() > 4 && bar.height() > 4)
			painter->drawRect(bar.adjusted(0, 0, -1, -1));
		else
			painter->drawLine(bar.topLeft(), bar.topRight());
	}
}

VirtHistogram::VirtHistogram(std::function<void(int)> chosen)
: _chosen(std::move(chosen))
{
	setTextFormat(Qt::PlainText);
	fit();
	setAlignment(Qt::AlignTop | Qt::AlignLeft);
	setMouseTracking(true);
	setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void VirtHistogram::show(const QString &title, const virt_spread_row &row)
{
	_row = row;
	_bars = virtBarsOf(row);
	setText(title);
	fit();
	update();
}

void VirtHistogram::clear()
{
	_bars = { 0, 0 };
	setText(QString());
	fit();
	update();
}

/** All of the title is seen, and the bars have some room. */
void VirtHistogram::fit()
{
	setMinimumHeight(minimumSizeHint().height());
}

void VirtHistogram::resizeEvent(QResizeEvent *event)
{
	QLabel::resizeEvent(event);
	if (event->size().width() != event->oldSize().width())
		fit();
}

int VirtHistogram::titleHeight() const
{
	return fontMetrics().boundingRect(0, 0, width(), QWIDGETSIZE_MAX, Qt::TextWordWrap,
					  text()).height();
}

QSize VirtHistogram::minimumSizeHint() const
{
	int line = fontMetrics().lineSpacing();

	return { 40, (LEAST_LINES + 1) * line + std::max(line, titleHeight()) };
}

QSize VirtHistogram::sizeHint() const
{
	return { 200, (BEST_LINES + 2) * fontMetrics().lineSpacing() };
}

/** Between the text and the scale. */
QRect VirtHistogram::chart() const
{
	int line = fontMetrics().lineSpacing();

	return rect().adjusted(MARGIN, titleHeight() + MARGIN, -MARGIN, -line);
}

int VirtHistogram::barAt(const QPoint &place) const
{
	QRect all = chart();
	int n = _bars.second - _bars.first;

	for (int i = 0; i < n; i++)
		if (place.x() >= all.left() + all.width() * i / n &&
		    place.x() < all.left() + all.width() * (i + 1) / n)
			return _row.bars[_bars.first + i] ? _bars.first + i : -1;
	return -1;
}

/** Where a cost is; within a bar, by its logarithm, too. */
double VirtHistogram::xOf(int64_t ns) const
{
	int bar = virt_spread_bar(ns), n = _bars.second - _bars.first;
	double least = static_cast<double>(std::max<int64_t>(1, virt_spread_least(bar)));
	double next = static_cast<double>(virt_spread_least(bar + 1));
	double part = std::log(std::max(1., static_cast<double>(ns)) / least) /
		      std::log(next / least);

	return chart().left() + chart().width() * (bar - _bars.first + part) / n;
}

void VirtHistogram::drawScale(QPainter *painter) const
{
	QRect all = chart();
	int n = _bars.second - _bars.first, end = -1;

	for (int i = _bars.first; i < _bars.second; i++) {
		int x = all.left() + all.width() * (i - _bars.first) / n;
		QString text = roundDuration(virt_spread_least(i));
		int width = fontMetrics().horizontalAdvance(text);

		if (!isRound(i))
			continue;
		painter->setPen(SCALE);
		painter->drawLine(x, all.top(), x, all.bottom() + 3);
		if (x - width / 2 <= end || x + width / 2 > this->rect().right())
			continue;
		painter->setPen(palette().color(QPalette::WindowText));
		painter->drawText(x - width / 2, rect().bottom() - fontMetrics().descent(), text);
		end = x + width / 2 + MARGIN;
	}
	painter->setPen(LINE);
	painter->drawLine(all.left(), all.bottom() + 1, all.right(), all.bottom() + 1);
}

void VirtHistogram::paintEvent(QPaintEvent *event)
{
	QPainter painter(this);
	QRect all = chart();

	if (_bars.first == _bars.second) {
		painter.end();
		QLabel::paintEvent(event);
		return;
	}
	painter.drawText(rect().adjusted(0, 0, 0, all.top() - MARGIN - height()),
			 Qt::TextWordWrap, text());
	painter.fillRect(all, Qt::white);
	drawScale(&painter);
	virtDrawBars(&painter, all, _row, _bars);
	painter.setPen(QPen(Qt::black, 1, Qt::DashLine));
	for (virt_stat stat : { VIRT_STAT_P50, VIRT_STAT_P99 }) {
		double x = xOf(virt_dist_stat(&_row.dist, stat));

		painter.drawLine(QPointF(x, all.top()), QPointF(x, all.bottom()));
	}
}

void VirtHistogram::mouseMoveEvent(QMouseEvent *event)
{
	int bar = barAt(event->pos());

	setCursor(bar >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
	if (bar < 0) {
		QToolTip::hideText();
		return;
	}
	QToolTip::showText(mapToGlobal(event->pos()), virtTip(
		QString("%1 to %2: %3, %4 % of them. Click: the moments")
		.arg(virtDuration(virt_spread_least(bar)),
		     virtDuration(virt_spread_least(bar + 1))).arg(_row.bars[bar])
		.arg(100. * static_cast<double>(_row.bars[bar]) /
		     static_cast<double>(_row.dist.count), 0, 'f', 2)), this);
}

void VirtHistogram::mouseReleaseEvent(QMouseEvent *event)
{
	int bar = barAt(event->pos());

	if (event->button() == Qt::LeftButton && bar >= 0)
		_chosen(bar);
}
