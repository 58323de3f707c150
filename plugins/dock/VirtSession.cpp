// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSession.cpp
 * @brief	Let sessions of KernelShark keep what is seen of the dock.
 *
 * It is a text (virt_session.h) in one of the streams (ks_memo.h). KernelShark writes sessions
 * without asking plugins, the last one when it ends, so the text follows each change.
 */
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <QDebug>
#include <QScrollArea>
#include <QScrollBar>

#include <libkshark.h>

#include "VirtKs.hpp"
#include "VirtSession.hpp"
#include "ks_memo.h"
#include "virt_session.h"

namespace {

kshark_data_stream *streamOf(int id)
{
	kshark_context *kshark = nullptr;

	return kshark_instance(&kshark) ? kshark_get_data_stream(kshark, id) : nullptr;
}

using Text = std::unique_ptr<char, decltype(&std::free)>;

Text memoOf(int id)
{
	return Text(ks_memo_get(streamOf(id)), &std::free);
}

/** Which of the open ones; or VIRT_NONE. */
int indexOf(int stream)
{
	std::vector<int> ids = virtOpenStreams();
	auto found = std::find(ids.begin(), ids.end(), stream);

	return found == ids.end() ? VIRT_NONE : static_cast<int>(found - ids.begin());
}

/** The id of one of the open ones; or VIRT_NONE. */
int streamAt(int32_t index)
{
	std::vector<int> ids = virtOpenStreams();

	return index >= 0 && static_cast<size_t>(index) < ids.size() ? ids[index] : VIRT_NONE;
}

/** The row of the table that a session names, if there is one; what it is called is not known. */
VirtSubject subjectOf(const virt_session &session)
{
	return { streamAt(session.stream), session.machine, session.vcpu, 0 };
}

/** A pCPU or a guest's task that can be. */
VirtWhose whoseOf(const virt_session &session)
{
	VirtWhose whose;
	VirtModelRef model(streamAt(session.why_stream));

	whose.guest = streamAt(session.why_guest);
	if (model && session.why_pcpu >= 0 && session.why_pcpu < virt_model_n_pcpus(model.get()))
		whose.pcpu = session.why_pcpu;
	else if (model && whose.guest != VIRT_NONE && session.why_pid > 0)
		whose.pid = session.why_pid;
	else
		return VirtWhose();
	if (whose.pcpu != VIRT_NONE)
		whose.guest = VIRT_NONE;
	whose.stream = streamAt(session.why_stream);
	return whose;
}

void adopt(const virt_session &session, VirtSeen *seen)
{
	seen->page = QString::fromUtf8(session.page ? session.page : "");
	seen->selected = subjectOf(session);
	seen->why = whoseOf(session);
	seen->isAToB = session.a_to_b;
	seen->scrolled = session.scroll;
	for (size_t i = 0; i < session.n_marks; i++) {
		const virt_session_mark &mark = session.marks[i];

		seen->bookmarks.push_back({ mark.from_ns, mark.to_ns,
					    QString::fromUtf8(mark.note ? mark.note : "") });
	}
}

QScrollBar *barOf(QWidget *graphs)
{
	for (QWidget *up = graphs; up; up = up->parentWidget())
		if (auto area = qobject_cast<QScrollArea *>(up))
			return area->verticalScrollBar();
	return nullptr;
}

} // namespace

int VirtSession::scrolled(QWidget *graphs)
{
	const QScrollBar *bar = barOf(graphs);

	return bar ? bar->value() : -1;
}

void VirtSession::onScroll(QWidget *graphs, QObject *owner, std::function<void()> scrolled)
{
	if (const QScrollBar *bar = barOf(graphs))
		QObject::connect(bar, &QScrollBar::valueChanged, owner,
				 [scrolled = std::move(scrolled)] { scrolled(); });
}

void VirtSession::scroll(QWidget *graphs, int pixels)
{
	if (QScrollBar *bar = barOf(graphs))
		bar->setValue(pixels);
}

void VirtSession::keep(const VirtSeen &seen)
{
	std::vector<int> ids = virtOpenStreams();
	QByteArray page = seen.page.toUtf8();
	virt_session session = {};
	int ret = 0;

	if (ids.empty())
		return;
	if (!page.isEmpty())
		session.page = page.data();
	session.stream = indexOf(seen.selected.stream);
	session.machine = session.stream == VIRT_NONE ? VIRT_NONE : seen.selected.machine;
	session.vcpu = session.stream == VIRT_NONE ? VIRT_NONE : seen.selected.vcpu;
	session.why_stream = indexOf(seen.why.stream);
	session.why_pcpu = seen.why.pcpu;
	session.why_guest = indexOf(seen.why.guest);
	session.why_pid = seen.why.pid > 0 ? seen.why.pid : -1;
	session.scroll = seen.scrolled;
	session.a_to_b = seen.isAToB;
	for (const VirtBookmark &one : seen.bookmarks)
		if (!ret)
			ret = virt_session_add(&session, one.from, one.to,
					       one.note.toUtf8().constData());

	Text text(ret ? nullptr : virt_session_write(&session), &std::free);

	session.page = nullptr;
	virt_session_free(&session);
	if (!text || (_kept == text.get() && memoOf(ids.front())))
		return;
	for (int id : ids)
		ks_memo_set(streamOf(id), id == ids.front() ? text.get() : nullptr);
	_kept = text.get();
}

VirtSession::Found VirtSession::look(bool areNew, VirtSeen *seen, QString *problem)
{
	std::vector<QByteArray> before = std::move(_files);
	Text text(nullptr, &std::free);
	virt_session session = {};
	char error[256] = "";

	_files.clear();
	for (int id : virtOpenStreams()) {
		_files.push_back(virtPathOf(id));
		if (!text)
			text = memoOf(id);
	}
	if (text && (areNew || _kept != text.get())) {
		_kept = text.get();
		if (!virt_session_read(text.get(), &session, error, sizeof(error)))
			adopt(session, seen);
		else
			*problem = virtShown(error);
		virt_session_free(&session);
		return problem->isEmpty() ? RESTORED : OTHERS;
	}
	return before.empty() || std::any_of(before.begin(), before.end(),
					     [this] (const QByteArray &file) {
		return std::find(_files.begin(), _files.end(), file) != _files.end();
	}) ? SAME : OTHERS;
}
