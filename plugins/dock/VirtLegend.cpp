// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtLegend.cpp
 * @brief	The colours of states and of kinds of VM exits, and what they mean.
 */
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QVBoxLayout>

#include "VirtFlow.hpp"
#include "VirtKs.hpp"
#include "VirtLegend.hpp"
#include "virt_colors.h"

namespace {

constexpr int STATES_IN_ROW = 4, EXITS_IN_ROW = 5;

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

/** A colour and its meaning, as the next one of a legend. */
void addLegend(VirtFlow *legend, const QBrush &brush, const QString &title, const QString &meaning)
{
	auto entry = new QWidget;
	auto layout = new QHBoxLayout(entry);
	auto swatch = new Swatch(brush);
	auto text = new QLabel(title);

	swatch->setToolTip(meaning);
	text->setToolTip(meaning);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(5);
	layout->addWidget(swatch);
	layout->addWidget(text);
	legend->addWidget(entry);
}

QBrush brushOf(const virt_look &look)
{
	return look.hatched ? QBrush(color(look.hatch), Qt::BDiagPattern) :
			      QBrush(color(look.color));
}

} // namespace

QBrush virtStateBrush(int state)
{
	return brushOf(*virt_state_look(static_cast<virt_state>(state)));
}

QIcon virtStateIcon(int state)
{
	return virtLookIcon(*virt_state_look(static_cast<virt_state>(state)));
}

QIcon virtLookIcon(const virt_look &look)
{
	QPixmap pixmap(10, 10);

	pixmap.fill(Qt::white);
	QPainter painter(&pixmap);

	painter.fillRect(pixmap.rect(), brushOf(look));
	painter.setPen(QColor(0x80, 0x80, 0x80));
	painter.drawRect(pixmap.rect().adjusted(0, 0, -1, -1));
	return QIcon(pixmap);
}

namespace {

/** A block of a legend, with its name above it. */
QWidget *newBlock(const QString &name, int inRow, VirtFlow **legend)
{
	auto box = new QWidget, colours = new QWidget;
	auto layout = new QVBoxLayout(box);
	auto head = new QLabel("<b>" + name + "</b>");
	QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);

	*legend = new VirtFlow(colours, inRow);
	policy.setHeightForWidth(true);
	colours->setSizePolicy(policy);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(1);
	virtWrapLabel(head);
	layout->addWidget(head);
	layout->addWidget(colours);
	return box;
}

} // namespace

QString virtStatesInWords()
{
	QString words;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		const virt_look *look = virt_state_look(static_cast<virt_state>(state));
		QColor square = color(look->hatched ? look->hatch : look->color);

		words += QString("<br><span style='color: %1'>%2</span> <b>%3</b>: %4")
			.arg(square.name(), look->hatched ? "\u25a8" : "\u25a0", look->title,
			     look->meaning);
	}
	return words;
}

QWidget *virtStateLegend()
{
	VirtFlow *legend;
	QWidget *box = newBlock("States of vCPUs", STATES_IN_ROW, &legend);

	for (int state = 0; state < VIRT_N_STATES; state++) {
		const virt_look *look = virt_state_look(static_cast<virt_state>(state));

		addLegend(legend, virtStateBrush(state), look->title, look->meaning);
	}
	return box;
}

QWidget *virtExitLegend()
{
	VirtFlow *legend;
	QWidget *box = newBlock("Hypervisor in combos, by VM exit", EXITS_IN_ROW, &legend);

	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
		auto exitClass = static_cast<virt_exit_class>(i);

		addLegend(legend, color(virt_exit_class_color(exitClass)),
			  virt_exit_class_name(exitClass),
			  "In combos: the hypervisor works for a VM exit of this kind");
	}
	return box;
}
