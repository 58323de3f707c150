// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtKeys.cpp
 * @brief	Keys that move through a trace.
 *
 * A field in which the user types gets all keys itself. The arrow keys stay KernelShark's own.
 */
#include <QAction>
#include <QMessageBox>
#include <QShortcut>

#include "VirtDock.hpp"
#include "VirtKeys.hpp"

namespace {

constexpr double ZOOM = 2, PART = 0.25;

const struct {
	const char	*keys, *what;
} lines[] = {
	{ "W, S", "zoom in, zoom out" },
	{ "A, D", "move to earlier, to later time" },
	{ "Left, Right", "the same, after a click on the graphs" },
	{ "F", "zoom to the markers A and B" },
	{ "[, ]", "previous, next state of the selected vCPU" },
	{ "B", "bookmark of the selected time, or of that at the pointer" },
	{ "/", "search" },
	{ "F3, Shift+F3", "next, previous match" },
	{ "Shift+drag", "set the markers A and B, and show the figures between them" },
	{ "Double click", "on a strip or marker: describe it, and set A and B around it" },
	{ "?", "this list" },
};

} // namespace

VirtKeys::VirtKeys(QMainWindow *window, VirtDock *dock)
: QObject(dock),
  _window(window),
  _dock(dock),
  _action(new QAction("Keys ...", this))
{
	add("W", [this] { zoom(1 / ZOOM); });
	add("S", [this] { zoom(ZOOM); });
	add("A", [this] { pan(-PART); });
	add("D", [this] { pan(PART); });
	add("F", [this] { zoomToSelection(); });
	add("[", [this] { _dock->showNextState(false); });
	add("]", [this] { _dock->showNextState(true); });
	add("B", [this] { _dock->bookmark(); });
	add("/", [this] { _dock->search(); });
	add("?", [this] { list(); });
	connect(_action, &QAction::triggered, this, [this] { list(); });
}

void VirtKeys::add(const QString &keys, const std::function<void()> &what)
{
	connect(new QShortcut(QKeySequence(keys), _window), &QShortcut::activated, this, [what] {
		if (!virtMustWait())
			what();
	});
}

/** Around the middle of the window. */
void VirtKeys::zoom(double factor)
{
	auto [from, to] = _dock->view().visible();
	auto half = static_cast<int64_t>(static_cast<double>(to - from) * factor / 2);
	int64_t middle = from + (to - from) / 2;

	_dock->view().show(middle - half, middle + half);
}

/** The window keeps its length at both ends of the trace. */
void VirtKeys::pan(double part)
{
	VirtView &view = _dock->view();

	if (view.isEmpty())
		return;

	auto [from, to] = view.visible();
	auto [first, last] = view.rows();
	auto by = static_cast<int64_t>(static_cast<double>(to - from) * part);

	by = part < 0 ? std::max(by, std::min<int64_t>(first - from, 0)) :
			std::min(by, std::max<int64_t>(last - to, 0));
	view.show(from + by, to + by);
}

void VirtKeys::zoomToSelection()
{
	int64_t from, to;

	if (_dock->markedTime(&from, &to))
		_dock->view().showAround(from, to);
}

void VirtKeys::list()
{
	auto box = new QMessageBox(_window);
	QString text = "<table cellpadding='3'>";

	for (const auto &line : lines)
		text += QString("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(line.keys, line.what);
	box->setAttribute(Qt::WA_DeleteOnClose);
	box->setWindowTitle("Keys");
	box->setTextFormat(Qt::RichText);
	box->setText(text + "</table>");
	box->setModal(false);
	box->show();
}
