// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtLoaded.cpp
 * @brief	Show which window of a large file is loaded, with buttons to load another window.
 *
 * A small file represents each window (xen_window.h). This file never changes, because sessions
 * refer to it. Another window has another file; the stream gets its path before KernelShark loads
 * the stream again.
 */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStringList>
#include <QVBoxLayout>

#include <libkshark.h>

#include "ks_stream.h"
#include "pointer_file.h"
#include "VirtDock.hpp"
#include "VirtFlow.hpp"
#include "VirtKs.hpp"
#include "VirtLoaded.hpp"
#include "xen_trace_window.h"
#include "xen_window.h"

namespace {

constexpr int LOOK_MS = 300;

/** What a file says, if it stands for a window. */
class Window {
public:
	explicit Window(const QByteArray &path)
	{
		char error[512];

		_good = xen_window_is(path.constData()) &&
			!xen_window_read(path.constData(), &_is, error, sizeof(error));
	}
	~Window() { xen_window_free(&_is); }
	Window(const Window &) = delete;
	Window &operator=(const Window &) = delete;

	explicit operator bool() const { return _good; }
	xen_window *operator->() { return &_is; }
	xen_window *get() { return &_is; }

	/** Name of the trace, and which part of it that is. */
	QString text()
	{
		const char *slash = std::strrchr(_is.trace, '/');
		char part[256];

		xen_window_text(part, sizeof(part), &_is);
		return virtShown(slash ? slash + 1 : _is.trace) + ' ' + part;
	}

private:
	xen_window	_is = {};
	bool		_good;
};

/** Which one it is to be, next to the one that is loaded: 1 behind it, -1 before it. */
void shift(const xen_window &now, int by, int64_t *from, int64_t *to)
{
	int64_t length = now.to_ns - now.from_ns;

	if (by < 0) {
		*from = std::max(now.begin_ns, now.from_ns - length);
		*to = std::min(now.end_ns, *from + length);
	} else {
		*to = std::min(now.end_ns, now.to_ns + length);
		*from = std::max(now.begin_ns, *to - length);
	}
}

} // namespace

VirtLoaded::VirtLoaded(QMainWindow *window, VirtDock *dock)
: _window(window),
  _dock(dock),
  _layout(new QVBoxLayout(this))
{
	_layout->setContentsMargins(4, 2, 4, 2);
	_layout->setSpacing(2);
	hide();
	connect(&_timer, &QTimer::timeout, this, [this] { look(); });
	_timer.start(LOOK_MS);
}

void VirtLoaded::look()
{
	std::vector<Part> parts;

	if (virtIsLoading())
		return;
	for (int id : virtOpenStreams()) {
		QByteArray path = virtPathOf(id);
		Window window(path);
		/* what has been deleted since is still loaded */
		auto known = std::find_if(_parts.begin(), _parts.end(), [&] (const Part &part) {
			return part.stream == id && part.path == path;
		});

		if (window)
			parts.push_back({ id, path, window.text() });
		else if (known != _parts.end())
			parts.push_back(*known);
	}
	if (!std::equal(parts.begin(), parts.end(), _parts.begin(), _parts.end(),
			[] (const Part &a, const Part &b) {
				return a.stream == b.stream && a.path == b.path;
			}))
		list(parts);
	entitle();
	enable();
}

void VirtLoaded::list(const std::vector<Part> &parts)
{
	/* perhaps it is one of their buttons that has been clicked */
	for (QWidget *old : _rows) {
		old->hide();
		old->deleteLater();
	}
	_rows.clear();
	_toMarkers.clear();
	_parts = parts;
	for (const Part &part : parts)
		addPart(part);
	setVisible(!parts.empty());
}

/** KernelShark sets its title when it opens a file, which is not the trace here. */
void VirtLoaded::entitle()
{
	QStringList texts;

	if (_window->windowTitle() != _title)
		_kernelShark = _window->windowTitle();
	for (const Part &part : _parts)
		texts << part.text;
	_title = texts.isEmpty() ? QString() : "Kernel Shark (" + texts.join(", ") + ')';
	if (_window->windowTitle() != (_title.isNull() ? _kernelShark : _title))
		_window->setWindowTitle(_title.isNull() ? _kernelShark : _title);
}

QPushButton *VirtLoaded::button(const Part &part, const char *text, const char *tip, int by)
{
	auto made = new QPushButton(text);

	made->setToolTip(tip);
	connect(made, &QPushButton::clicked, this, [this, part, by] { move(part, by); });
	return made;
}

void VirtLoaded::addPart(const Part &part)
{
	auto row = new QWidget;
	auto buttons = new VirtFlow(nullptr, 0);
	auto layout = new QVBoxLayout(row);
	Window window(part.path);
	auto text = new QLabel("Loaded: " + part.text);
	QPushButton *earlier = button(part, "Earlier", "Load the window before this one", -1);
	QPushButton *later = button(part, "Later", "Load the next window", 1);
	QPushButton *markers = button(part, "Load A to B", "Load only the time between the markers "
				      "A and B", 0);

	text->setTextFormat(Qt::PlainText);
	text->setTextInteractionFlags(Qt::TextSelectableByMouse);
	virtWrapLabel(text);
	earlier->setEnabled(window->from_ns > window->begin_ns);
	later->setEnabled(window->to_ns < window->end_ns);
	for (QPushButton *one : { earlier, later, markers })
		buttons->addWidget(one);
	_toMarkers.push_back(markers);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addWidget(text);
	layout->addLayout(buttons);
	_layout->addWidget(row);
	_rows.push_back(row);
}

/** Both markers have to be there, at different times. */
void VirtLoaded::enable()
{
	int64_t a = 0, b = 0;
	bool both = _dock->markerTime(0, &a) && _dock->markerTime(1, &b) && a != b;

	for (QPushButton *button : _toMarkers)
		button->setEnabled(both);
}

void VirtLoaded::move(const Part &part, int by)
{
	Window now(part.path);
	int64_t from = 0, to = 0;

	if (virtMustWait())
		return;
	if (!now) {
		say(QString("%1: the file that stands for this window has been deleted or changed;"
			    " open the trace again").arg(virtShown(part.path.constData())));
		return;
	}
	if (by) {
		shift(*now.get(), by, &from, &to);
	} else {
		int64_t offset = ks_stream_offset(part.stream);

		if (!_dock->markerTime(0, &from) || !_dock->markerTime(1, &to))
			return;
		if (from > to)
			std::swap(from, to);
		from -= offset;
		/* the row at the later one as well */
		to = to - offset + 1;
	}
	load(part, from, to);
}

void VirtLoaded::say(const QString &text)
{
	if (auto label = _rows.empty() ? nullptr : _rows.front()->findChild<QLabel *>())
		label->setText(text);
}

/** First it is tried: then what is shown stays if nothing can be loaded. */
void VirtLoaded::load(const Part &part, int64_t from, int64_t to)
{
	kshark_context *kshark = nullptr;
	kshark_data_stream *stream = kshark_instance(&kshark) ?
		kshark_get_data_stream(kshark, part.stream) : nullptr;
	std::unique_ptr<char, decltype(&std::free)> folder(pointer_file_cache("windows"),
							   &std::free);
	xen_trace_options options = {};
	xen_trace_span span = {};
	Window now(part.path);
	char error[1024] = "", *path = nullptr;

	if (!stream || !now)
		return;
	if (!folder) {
		say("There is no place for the file that stands for a window: set HOME");
		return;
	}
	options.reader.regular_only = true;
	xen_trace_options_from_env(&options, error, sizeof(error));
	/* on whichever axis it was when the window was written */
	span.from_ns = from - now->begin_ns;
	span.to_ns = to - now->begin_ns;
	span.since_first = true;

	xen_trace *trace = xen_trace_open_window(now->trace, &options, &span, error, sizeof(error));

	if (!trace) {
		say(virtShown(*error ? error : std::strerror(errno)));
		return;
	}
	xen_trace_close(trace);
	now->from_ns = span.from_ns;
	now->to_ns = span.to_ns;
	now->begin_ns = span.begin_ns;
	now->end_ns = span.end_ns;
	if (xen_window_write(folder.get(), now.get(), &path, error, sizeof(error))) {
		say(virtShown(error));
		return;
	}
	std::free(stream->file);
	stream->file = path;
	_dock->view().expect(span.from_ns + ks_stream_offset(part.stream),
			     span.to_ns + ks_stream_offset(part.stream));
	virtReload(_window);
}
