// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPointerBar.cpp
 * @brief	Keeps KernelShark's text about the pointer within its bar.
 */
#include <algorithm>

#include <QEvent>
#include <QFontMetrics>
#include <QLabel>
#include <QList>
#include <QStyle>
#include <QToolBar>

#include "VirtPointerBar.hpp"

namespace {

/* Task, CPU, latency and event: the share of each of what is left for them, in percent. */
constexpr int SHARES[] = { 30, 14, 18, 38 };
constexpr int N_SHARES = sizeof(SHARES) / sizeof(SHARES[0]);
/* before them "Pointer:" and the time, behind them the info */
constexpr int FIRST = 2, N_LABELS = FIRST + N_SHARES + 1;
/* room for the info in a bar that is hidden, which no layout places */
constexpr int AMPLE = 10000;

class PointerBar : public QObject {
public:
	PointerBar(QToolBar *bar, const QList<QLabel *> &labels)
	: QObject(bar), _bar(bar), _labels(labels)
	{
		bar->installEventFilter(this);
		cut();
	}

	bool eventFilter(QObject *, QEvent *event) override
	{
		if (event->type() == QEvent::Resize)
			cut();
		return false;
	}

private:
	void cut()
	{
		QFontMetrics font(_labels.back()->font());
		/* KernelShark adds five of its average characters to the "..." */
		int info = font.horizontalAdvance(QChar(0x2026)) +
			8 * (font.horizontalAdvance("KernelShark") / 11 + 1);
		int gap = _bar->style()->pixelMetric(QStyle::PM_ToolBarSeparatorExtent) +
			2 * _bar->style()->pixelMetric(QStyle::PM_ToolBarItemSpacing) + 2;
		int left = _bar->width() - _labels[FIRST - 1]->geometry().right() - info -
			(N_SHARES + 1) * gap;

		for (int i = 0; i < N_SHARES; i++)
			_labels[FIRST + i]->setMaximumWidth(std::max(0, left * SHARES[i] / 100));
	}

	QToolBar		*_bar;
	QList<QLabel *>		_labels;
};

/** The bar among those of the graphs, and its labels; or nullptr. */
QToolBar *barOf(QWidget *graph, QList<QLabel *> *labels)
{
	for (QToolBar *bar : graph->findChildren<QToolBar *>()) {
		*labels = bar->findChildren<QLabel *>(QString(), Qt::FindDirectChildrenOnly);
		if (labels->size() == N_LABELS && labels->front()->text().startsWith("Pointer"))
			return bar;
	}
	return nullptr;
}

} // namespace

void virtKeepPointerBar(QWidget *graph)
{
	QList<QLabel *> labels;

	if (QToolBar *bar = barOf(graph, &labels))
		new PointerBar(bar, labels);
}

void virtShowPointerBar(QWidget *graph, bool isShown)
{
	QList<QLabel *> labels;

	QToolBar *bar = barOf(graph, &labels);

	if (!bar)
		return;
	bar->setVisible(isShown);
	/* KernelShark still shortens the info to what is right of the label before it */
	if (!isShown)
		bar->resize(labels[N_LABELS - 2]->geometry().right() + AMPLE, bar->height());
}
