// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSelection.cpp
 * @brief	The dock's heading, the selection from marker A to marker B, and the line that names
 *		what is selected.
 *
 * KernelShark's class of markers has no header. The labels beside its buttons show A and B to the
 * microsecond, and the time between them to the nanosecond. Both markers are at rows; these give
 * the missing digits.
 */
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <QFrame>
#include <QHBoxLayout>
#include <QToolButton>

#include "VirtKs.hpp"
#include "VirtSelection.hpp"
#include "VirtView.hpp"

namespace {

enum { TEXT_A, TEXT_B, TEXT_DELTA, N_TEXTS };

constexpr int64_t ROUNDED_NS = 501;	/* microseconds are rounded, of a floating point number */
constexpr int DIGITS = 9;

/** Seconds with up to nine digits behind the point, as ns. */
int64_t timeOf(const QString &text)
{
	int point = text.indexOf('.');
	QString digits = text;

	digits.remove('.');
	for (int n = point < 0 ? 0 : text.size() - point - 1; n < DIGITS; n++)
		digits += '0';
	return digits.toLongLong();
}

/** The first row from a time on; or their number. */
size_t rowAt(const kshark_trace_histo *histo, int64_t ns)
{
	kshark_entry **end = histo->data + histo->data_size;

	return static_cast<size_t>(std::lower_bound(histo->data, end, ns,
		[] (const kshark_entry *entry, int64_t time) { return entry->ts < time; }) -
		histo->data);
}

/** The times of A and B. */
std::pair<int64_t, int64_t> bothOf(const kshark_trace_histo *histo, const QStringList &texts)
{
	int64_t a = timeOf(texts[TEXT_A]), delta = timeOf(texts[TEXT_DELTA]);

	for (size_t i = rowAt(histo, a - ROUNDED_NS); i < histo->data_size &&
	     histo->data[i]->ts <= a + ROUNDED_NS; i++) {
		int64_t exact = histo->data[i]->ts;
		size_t other = rowAt(histo, exact + delta);

		if (other < histo->data_size && histo->data[other]->ts == exact + delta &&
		    std::llabs(exact + delta - timeOf(texts[TEXT_B])) <= ROUNDED_NS) {
			a = exact;
			break;
		}
	}
	return { a, a + delta };
}

/** The same, in their order. */
std::pair<int64_t, int64_t> between(const kshark_trace_histo *histo, const QStringList &texts)
{
	std::pair<int64_t, int64_t> both = bothOf(histo, texts);

	return std::minmax(both.first, both.second);
}

/** Seconds to the microsecond, as KernelShark shows the markers. */
QString microseconds(int64_t ns)
{
	QString text = virtSeconds((ns + 500) / 1000 * 1000);

	text.chop(3);
	return text;
}

/** The time of a window; of one that has many of them, in microseconds. */
QString shortSpan(const VirtView &view, int64_t fromNs, int64_t toNs)
{
	QStringList words = view.span(fromNs, toNs).split(' ');

	for (QString &word : words)
		if (word.contains('.') && toNs - fromNs >= 1000000)
			word.chop(3);
	return words.join(' ');
}

/** That of one of them, while the other one is not set: of the first row that it can be. */
int64_t oneOf(const kshark_trace_histo *histo, const QString &text)
{
	int64_t rounded = timeOf(text);
	size_t row = rowAt(histo, rounded - ROUNDED_NS);

	return row < histo->data_size && histo->data[row]->ts <= rounded + ROUNDED_NS ?
	       histo->data[row]->ts : rounded;
}

} // namespace

VirtSelection::VirtSelection(QMainWindow *window, std::function<void()> changed,
			     std::function<void()> cleared)
: _window(window),
  _changed(std::move(changed)),
  _head(new VirtLine),
  _selected(new VirtLine),
  _button(new QToolButton),
  _clear(new QToolButton)
{
	auto layout = new QHBoxLayout(this);
	auto frame = new QFrame;
	auto line = new QHBoxLayout(frame);

	/* lines of one height: whatever is below them must not move under the mouse */
	_head->showFirst({ "No virtual machines in this window" });
	_selected->setObjectName("selected");
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(4);
	layout->addWidget(_head, 1);
	layout->addWidget(_button);
	line->setContentsMargins(4, 0, 0, 0);
	line->setSpacing(0);
	line->addWidget(_selected, 1);
	line->addWidget(_clear);
	layout->addWidget(frame, 1);
	frame->setStyleSheet("QFrame { background: palette(alternate-base); }");
	_clear->setText(QChar(0xd7));
	_clear->setAutoRaise(true);
	_clear->setToolTip("Select nothing, and remove the markers A and B");
	_clear->setAccessibleName("Clear the selection");
	_clear->setEnabled(false);
	_button->hide();
	connect(_button, &QToolButton::clicked, this, [this] { toggle(); });
	connect(_clear, &QToolButton::clicked, this, [this, cleared] {
		virtDropMarkers(_window);
		cleared();
		_changed();
	});
}

/** What KernelShark says of A, of B and of what lies between; empty: not set. */
QStringList VirtSelection::texts() const
{
	QStringList found;

	/* the labels come behind the buttons, and have a description between them */
	for (QWidget *widget : _window->findChildren<QWidget *>()) {
		auto label = qobject_cast<QLabel *>(widget);

		if (!strcmp(widget->metaObject()->className(), "KsMarkerButton"))
			found << QString();
		else if (label && !found.isEmpty() && found.last().isNull())
			found.last() = QString("") + label->text().remove(' ');
		else if (label && found.size() == TEXT_DELTA && label->text().contains("Delta"))
			found << QString();
		if (found.size() == N_TEXTS && !found.last().isNull())
			break;
	}
	return found;
}

std::pair<int64_t, int64_t> VirtSelection::choose(const kshark_trace_histo *histo,
						  std::pair<int64_t, int64_t> visible)
{
	QStringList now = texts();
	bool isSet = now.size() == N_TEXTS && !now.contains("");

	if (now != _seen || _isWanted) {
		_seen = now;
		if (!isSet)
			_isUsed = false;
		else if (_isWanted || now != _byDock)
			_range = between(histo, now);
		if (isSet && (_isWanted || now != _byDock))
			_isUsed = _range.first < _range.second;
		_isWanted = false;
		updateButton();
	}
	return _isUsed ? _range : visible;
}

bool VirtSelection::markerTime(const kshark_trace_histo *histo, int marker, int64_t *ns) const
{
	if (_seen.size() != N_TEXTS || _seen[marker].isEmpty() || !histo)
		return false;
	if (_seen.contains(""))
		*ns = oneOf(histo, _seen[marker]);
	else
		*ns = marker == TEXT_A ? bothOf(histo, _seen).first : bothOf(histo, _seen).second;
	return true;
}

void VirtSelection::toggle()
{
	_isWanted = !_isUsed;
	_isUsed = false;
	updateButton();
	_changed();
}

void VirtSelection::updateButton()
{
	_button->setVisible(_seen.size() == N_TEXTS && !_seen.contains(""));
	_button->setText(_isUsed ? "Visible" : "A to B");
	_button->setToolTip(virtTip(_isUsed ? "Show the figures of the visible window again" :
					      "Show the figures between the markers A and B"));
}

void VirtSelection::showFigures(const VirtView &view, bool isAny, int64_t fromNs, int64_t toNs)
{
	QString shortest = QString("<b>%1</b>").arg(virtDuration(toNs - fromNs));
	QString length = QString(_isUsed ? "A to B: " : "Visible: ") + shortest;

	if (isAny)
		_head->showFirst({ length + ", " + view.span(fromNs, toNs),
				   length + ", " + shortSpan(view, fromNs, toNs), length,
				   shortest });
	else
		_head->showFirst({ "No virtual machines in this trace" });
	_head->setToolTip(virtTip(isAny ? view.span(fromNs, toNs) : QString()));
	_head->setAccessibleDescription(QString("%1 ns to %2 ns").arg(fromNs).arg(toNs));
}

void VirtSelection::showSelected(const VirtView &view, const QString &name)
{
	int64_t a = 0, b = 0;
	bool isSpan = markerTime(view.histo(), TEXT_A, &a) && markerTime(view.histo(), TEXT_B, &b);
	QString subject = name.isEmpty() ? QString() : "<b>" + name.toHtmlEscaped() + "</b>";
	QString text = subject, shorter = subject;

	if (isSpan) {
		QString before = subject.isEmpty() ? QString() : subject + ", ";
		QString length = virtDuration(std::llabs(b - a));

		text = before + QString("%1 to %2 s, %3").arg(microseconds(std::min(a, b)),
							      microseconds(std::max(a, b)), length);
		shorter = before + length;
	}
	_selected->setToolTip(text.isEmpty() ? "Click a vCPU, or drag over the graphs with Shift" :
					       "<qt>" + text + "</qt>");
	if (text.isEmpty())
		_selected->showFirst({ "<i>Nothing selected</i>", "<i>No selection</i>",
				       "<i>None</i>" });
	else
		_selected->showFirst({ text, shorter, subject.isEmpty() ? shorter : subject });
	_clear->setEnabled(!text.isEmpty());
}
