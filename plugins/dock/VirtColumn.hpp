/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtColumn.hpp
 * @brief	Widgets in a column that scrolls where there is no room for it.
 */
#ifndef KSHARK_VIRT_VIRTCOLUMN_HPP
#define KSHARK_VIRT_VIRTCOLUMN_HPP

#include <QEvent>
#include <QResizeEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

/** Widgets in a column. In a low window they scroll: else they would make it grow. */
class VirtColumn : public QScrollArea {
public:
	VirtColumn()
	: _layout(new QVBoxLayout)
	{
		auto box = new QWidget;

		box->setLayout(_layout);
		_layout->setContentsMargins(0, 0, 0, 0);
		_layout->setSpacing(3);
		setWidget(box);
		setWidgetResizable(true);
		setFrameShape(QFrame::NoFrame);
		setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
	}

	/** @stretch: its share of the room that is left; 0: it takes no more than it wants */
	void add(QWidget *part, int stretch) { _layout->addWidget(part, stretch); }

	/** Scroll to it, as soon as it has its place. */
	void reveal(QWidget *part)
	{
		_layout->activate();
		QTimer::singleShot(0, part, [this, part] { ensureWidgetVisible(part, 0, 0); });
	}

	QSize sizeHint() const override
	{
		int width = viewport()->width();

		return { widget()->minimumSizeHint().width(),
			 _layout->hasHeightForWidth() ? _layout->heightForWidth(width) :
							_layout->sizeHint().height() };
	}

	QSize minimumSizeHint() const override
	{
		return { widget()->minimumSizeHint().width() +
			 verticalScrollBar()->sizeHint().width(), LEAST_HEIGHT };
	}

protected:
	void resizeEvent(QResizeEvent *event) override
	{
		QScrollArea::resizeEvent(event);
		if (event->size().width() != event->oldSize().width())
			updateGeometry();
	}

	/** Something in it wants another size. */
	bool eventFilter(QObject *object, QEvent *event) override
	{
		if (event->type() == QEvent::LayoutRequest)
			updateGeometry();
		return QScrollArea::eventFilter(object, event);
	}

private:
	static constexpr int LEAST_HEIGHT = 60;

	QVBoxLayout	*_layout;
};

#endif
