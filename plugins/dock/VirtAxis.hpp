/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtAxis.hpp
 * @brief	Time axes: one over the graphs while KernelShark's own is scrolled out of sight, and
 *		what it is made of.
 */
#ifndef KSHARK_VIRT_VIRTAXIS_HPP
#define KSHARK_VIRT_VIRTAXIS_HPP

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <QLabel>
#include <QString>

class QScrollArea;
class VirtView;

/** Times in one line. Its text has all that it shows, for users who cannot see them. */
class VirtTicks : public QLabel {
public:
	explicit VirtTicks(QWidget *parent);

	/** The time [from, to), in @columns columns from the column @left on. */
	void setTimes(int64_t from, int64_t to, int left, int columns);

	/** What it needs. */
	int lineHeight() const;

protected:
	void paintEvent(QPaintEvent *event) override;

private:
	std::vector<std::pair<int, QString>> _ticks;	/* from the left: where, and what */
};

/** Over the graphs. */
class VirtAxis : public VirtTicks {
public:
	/** @graphs: KernelShark's, in a scroll area; @view: stays */
	VirtAxis(QWidget *graphs, const VirtView *view);

	/** The time or the scroll position may be another one. */
	void follow();

	/** What is drawn over it: @area has the time that is seen. */
	void setOver(std::function<void(QPainter *painter, const QRect &area)> over)
	{
		_over = std::move(over);
	}

protected:
	void paintEvent(QPaintEvent *event) override;
	bool eventFilter(QObject *object, QEvent *event) override;

private:
	QWidget		*_graphs;
	const VirtView	*_view;
	QScrollArea	*_area = nullptr;
	std::function<void(QPainter *, const QRect &)> _over;
};

#endif
