/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtAxis.hpp
 * @brief	A time axis over the graphs while KernelShark's own is scrolled out of sight.
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

/** Its text has all times that it shows, for users who cannot see them. */
class VirtAxis : public QLabel {
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
	std::vector<std::pair<int, QString>> _ticks;	/* from the left: where, and what */
	std::function<void(QPainter *, const QRect &)> _over;
};

#endif
