/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtDrag.hpp
 * @brief	Shift and dragging over KernelShark's graphs selects a time.
 */
#ifndef KSHARK_VIRT_VIRTDRAG_HPP
#define KSHARK_VIRT_VIRTDRAG_HPP

#include <QObject>
#include <QRubberBand>

class QMouseEvent;
class VirtView;

/**
 * Sets the markers A and B around the dragged time. KernelShark itself zooms where the mouse is
 * dragged without Shift.
 */
class VirtDrag : public QObject {
public:
	/** Belongs to the graphs. @view: is used as long as the graphs exist */
	VirtDrag(QWidget *graphs, VirtView *view);

protected:
	bool eventFilter(QObject *object, QEvent *event) override;

private:
	bool handle(QEvent::Type type, const QMouseEvent *event);
	void grow(int x);

	QWidget		*_graphs;
	VirtView	*_view;
	QRubberBand	*_band;
	int		_begin = 0;		/* column where the button was pressed */
	bool		_isDragged = false;
};

#endif
