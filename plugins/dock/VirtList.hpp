/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtList.hpp
 * @brief	A list, table or text that is content with little room.
 */
#ifndef KSHARK_VIRT_VIRTLIST_HPP
#define KSHARK_VIRT_VIRTLIST_HPP

#include <QSize>

/** A view of Qt's: it takes the room that is left, but some lines are always visible. */
template <typename View> class VirtList : public View {
public:
	QSize sizeHint() const override { return { View::sizeHint().width(), least() }; }
	QSize minimumSizeHint() const override
	{
		return { View::minimumSizeHint().width(), least() };
	}

	/** @lines are always visible. */
	void setLines(int lines)
	{
		_lines = lines;
		View::updateGeometry();
	}

private:
	int least() const { return _lines * View::fontMetrics().lineSpacing(); }

	int	_lines = 6;	/* a head, three rows, what scrolls it sideways */
};

#endif
