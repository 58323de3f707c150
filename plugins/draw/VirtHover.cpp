// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtHover.cpp
 * @brief	A tooltip for the item under the mouse in KernelShark's graphs.
 *
 * Qt asks a widget for its tooltip when the mouse has come to rest, with no button pressed.
 * KernelShark still gets every event that it handles itself, and moving the mouse costs nothing.
 */
#include <QApplication>
#include <QHelpEvent>
#include <QPointer>
#include <QTimer>
#include <QToolTip>

#include "VirtHover.hpp"

namespace {

constexpr int RELEASE_MS = 20;	/* between two looks whether a button is still pressed */
constexpr int SAME_PLACE = 2;	/* pixels to each side: further away, the tip is made anew */

class Hover : public QObject {
public:
	Hover(QWidget *graphs, VirtFactAt factAt)
	: QObject(graphs),
	  _factAt(factAt)
	{
		graphs->installEventFilter(this);
	}

private:
	bool eventFilter(QObject *object, QEvent *event) override
	{
		return event->type() == QEvent::ToolTip &&
		       describe(static_cast<QWidget *>(object), static_cast<QHelpEvent *>(event));
	}

	/** Return: whether something is there to describe. */
	bool describe(QWidget *graphs, QHelpEvent *help)
	{
		VirtFact fact;

		/* rows move during this */
		if (virtIsLoading() || !_factAt(help->x(), help->y(), &fact)) {
			QToolTip::hideText();
			return false;
		}
		QToolTip::showText(help->globalPos(), virtTip(fact.text), graphs,
				   { help->x() - SAME_PLACE, help->y() - SAME_PLACE,
				     2 * SAME_PLACE + 1, 2 * SAME_PLACE + 1 });
		return true;
	}

	VirtFactAt	_factAt;
};

QPointer<Hover> theHover;

} // namespace

/** Letting go of a button hides all tooltips. */
void virtShowTip(const QPoint &place, const QString &text)
{
	if (QApplication::mouseButtons())
		QTimer::singleShot(RELEASE_MS, [place, text] { virtShowTip(place, text); });
	else
		QToolTip::showText(place, virtTip(text));
}

void virtHover(VirtFactAt factAt)
{
	QMainWindow *window = theHover ? nullptr : virtMainWindow();

	if (!window)
		return;
	if (QWidget *graphs = virtChild(window, "KsGLWidget"))
		theHover = new Hover(graphs, factAt);
}
