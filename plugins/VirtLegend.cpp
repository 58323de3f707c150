// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtLegend.cpp
 * @brief	The colours of states and of kinds of VM exits, and what they mean.
 */
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPixmap>

#include "VirtLegend.hpp"
#include "virt_colors.h"

namespace {

QColor color(virt_color c)
{
	return QColor(c.red, c.green, c.blue);
}

/** A square with the colour of something. */
class Swatch : public QWidget {
public:
	explicit Swatch(const QBrush &brush) : _brush(brush) { setFixedSize(18, 12); }

protected:
	void paintEvent(QPaintEvent *) override
	{
		QPainter painter(this);

		painter.fillRect(rect(), Qt::white);
		painter.fillRect(rect(), _brush);
		painter.setPen(QColor(0x80, 0x80, 0x80));
		painter.drawRect(rect().adjusted(0, 0, -1, -1));
	}

private:
	QBrush	_brush;
};

/** A colour and its meaning, as number @i of a legend with so many in a row. */
void addLegend(QGridLayout *grid, int i, int perRow, const QBrush &brush, const QString &title,
	       const QString &meaning)
{
	auto swatch = new Swatch(brush);
	auto text = new QLabel(title);
	int row = i / perRow, column = 2 * (i % perRow);

	swatch->setToolTip(meaning);
	text->setToolTip(meaning);
	grid->addWidget(swatch, row, column);
	grid->addWidget(text, row, column + 1);
	grid->setColumnStretch(column + 1, 1);
}

QGridLayout *newGrid(QWidget *box)
{
	auto grid = new QGridLayout(box);

	grid->setContentsMargins(2, 2, 2, 2);
	grid->setHorizontalSpacing(5);
	grid->setVerticalSpacing(1);
	return grid;
}

} // namespace

QBrush virtStateBrush(int state)
{
	const virt_look *look = virt_state_look(static_cast<virt_state>(state));

	return look->hatched ? QBrush(color(look->hatch), Qt::BDiagPattern) :
			       QBrush(color(look->color));
}

QIcon virtStateIcon(int state)
{
	QPixmap pixmap(10, 10);

	pixmap.fill(Qt::white);
	QPainter painter(&pixmap);

	painter.fillRect(pixmap.rect(), virtStateBrush(state));
	painter.setPen(QColor(0x80, 0x80, 0x80));
	painter.drawRect(pixmap.rect().adjusted(0, 0, -1, -1));
	return QIcon(pixmap);
}

QWidget *virtStateLegend()
{
	auto box = new QWidget;
	QGridLayout *grid = newGrid(box);

	for (int state = 0; state < VIRT_N_STATES; state++) {
		const virt_look *look = virt_state_look(static_cast<virt_state>(state));

		addLegend(grid, state, 4, virtStateBrush(state), look->title, look->meaning);
	}
	return box;
}

QWidget *virtExitLegend()
{
	auto box = new QWidget;
	QGridLayout *grid = newGrid(box);

	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
		auto exitClass = static_cast<virt_exit_class>(i);

		addLegend(grid, i, 5, color(virt_exit_class_color(exitClass)),
			  virt_exit_class_name(exitClass),
			  "In combos: the hypervisor works for a VM exit of this kind");
	}
	return box;
}
