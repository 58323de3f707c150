// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtNotes.cpp
 * @brief	The dock's warnings about files.
 *
 * The reader of a stream notices problems of its file, in any thread, and leaves a note in the
 * registry. The dock looks for such notes now and then.
 */
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStatusBar>
#include <QVBoxLayout>

#include "VirtClockStreams.hpp"
#include "VirtNotes.hpp"
#include "host_notes.h"
#include "recording.h"

namespace {

constexpr int LOOK_MS = 300;
constexpr int LEAST_LINES = 3;
constexpr int PARTS = 8;		/* of the window's height; notes take one at most */

constexpr const char *NOTHING_VIRTUAL =
	"None of the open files shows virtual machines.\n"
	"KVM's host: " RECORD_KVM " -e irq; with -A NAME also what the guest records.\n"
	"Xen's host: " RECORD_XEN "\n"
	"A guest's own trace does not show when it was on a pCPU: append that of its host.";
constexpr const char *NOTHING_STATUS =
	"No virtual machines in this trace: View > Virtual machines shows what to record";

/** What there is to know of a stream; or nothing. */
QString noteOf(int streamId, virt_note note)
{
	std::unique_ptr<char, decltype(&std::free)> text(virt_registry_note(streamId, note),
							 &std::free);

	return text ? QString::fromUtf8(text.get()) : QString();
}

/** An alignment may replace the offsets that jump after the file was loaded. */
QString jumpOf(int streamId)
{
	return VirtClockStreams::hidesOffsets(streamId) ? QString() :
	       noteOf(streamId, VIRT_NOTE_JUMP) + '\n';
}

/** All facts about a file, but no details, which need too many lines; of its path, the name. */
QStringList factsOf(int streamId)
{
	QByteArray path = virtPathOf(streamId);
	QString folder = QString::fromUtf8(path.left(path.lastIndexOf('/') + 1));
	QStringList facts;

	for (const QString &fact : (jumpOf(streamId) + noteOf(streamId, VIRT_NOTE_FACTS))
				   .split('\n'))
		if (!fact.isEmpty() && !fact.startsWith(' '))
			facts << (fact.startsWith(folder) ? fact.mid(folder.size()) : fact);
	return facts;
}

/** Those that other notes do not say. */
QStringList others(QStringList facts, const QStringList &said)
{
	for (const QString &one : said)
		facts.removeAll(one);
	return facts;
}

/** Lines of a label that a low window has room for; the others can be scrolled to. */
class Lines : public QScrollArea {
public:
	Lines(QMainWindow *window, QLabel *label)
	: _window(window), _label(label)
	{
		setWidget(label);
		setWidgetResizable(true);
		setFrameShape(QFrame::NoFrame);
		setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
		setFocusPolicy(Qt::NoFocus);
		viewport()->setAutoFillBackground(false);
		window->installEventFilter(this);
	}

	bool hasHeightForWidth() const override { return true; }
	int heightForWidth(int width) const override
	{
		return std::min(_label->heightForWidth(width), most());
	}
	QSize sizeHint() const override { return { 0, heightForWidth(width()) }; }
	QSize minimumSizeHint() const override { return { 0, 0 }; }

	bool eventFilter(QObject *object, QEvent *event) override
	{
		if (object == _window && event->type() == QEvent::Resize)
			updateGeometry();
		return QScrollArea::eventFilter(object, event);
	}

private:
	int most() const
	{
		return std::max(LEAST_LINES * _label->fontMetrics().lineSpacing(),
				_window->height() / PARTS);
	}

	QMainWindow	*_window;
	QLabel		*_label;
};

} // namespace

/** A warning, and the button below it, which does what the last one with the same text is to do. */
class VirtNotes::Row : public QWidget {
public:
	explicit Row(const VirtWarning &warning)
	: _warning(warning)
	{
		auto layout = new QVBoxLayout(this);
		auto text = new QLabel(warning.text);

		text->setTextFormat(Qt::PlainText);
		virtWrapLabel(text);
		text->setTextInteractionFlags(Qt::TextSelectableByMouse);
		layout->setContentsMargins(0, 0, 0, 0);
		layout->setSpacing(2);
		layout->addWidget(text);
		if (warning.button.isEmpty())
			return;

		auto button = new QPushButton(warning.button);

		connect(button, &QPushButton::clicked, this, [this] {
			/* it may bring other warnings */
			std::function<void()> act = _warning.act;

			act();
		});
		layout->addWidget(button, 0, Qt::AlignLeft);
	}

	/** Be this warning. Return: false if the row shows another text or button. */
	bool become(const VirtWarning &warning)
	{
		if (warning.text != _warning.text || warning.button != _warning.button)
			return false;
		_warning = warning;
		return true;
	}

	/** Perhaps it is its own button that has been clicked. */
	void leave()
	{
		hide();
		deleteLater();
	}

private:
	VirtWarning	_warning;
};

VirtNotes::VirtNotes(QMainWindow *window)
: _window(window),
  _text(new QLabel),
  _lines(new Lines(window, _text)),
  _nothing(new QLabel(NOTHING_VIRTUAL)),
  _reload(new QPushButton("Reload")),
  _layout(new QVBoxLayout(this))
{
	_layout->setContentsMargins(4, 2, 4, 2);
	_layout->setSpacing(2);
	_layout->addWidget(_lines);
	_layout->addWidget(_reload, 0, Qt::AlignLeft);
	_layout->addWidget(_nothing);
	_reload->hide();
	_nothing->hide();
	for (QLabel *label : { _text, _nothing }) {
		label->setTextFormat(Qt::PlainText);
		virtWrapLabel(label);
		label->setTextInteractionFlags(Qt::TextSelectableByMouse);
	}
	_lines->setSizePolicy(_text->sizePolicy());
	_reload->setToolTip("Read all open files anew");
	setObjectName("notes");
	setAttribute(Qt::WA_StyledBackground);
	setStyleSheet("#notes { background: #fff3b0; border: 1px solid #c9a400; }"
		      " #notes QLabel { color: black; }"
		      " #notes QScrollArea, #notes QLabel { background: transparent; }");
	hide();
	connect(_reload, &QPushButton::clicked, this, [this] { reload(); });
	connect(&_timer, &QTimer::timeout, this, [this] { look(); });
	_timer.start(LOOK_MS);
}

void VirtNotes::look()
{
	QStringList damaged, changed, sidecars, reading, facts;
	QString text;

	if (virtIsLoading())
		return;
	for (int id : virtOpenStreams()) {
		damaged << noteOf(id, VIRT_NOTE_DAMAGE);
		changed << noteOf(id, VIRT_NOTE_CHANGED);
		sidecars << noteOf(id, VIRT_NOTE_SIDECAR);
		reading << noteOf(id, VIRT_NOTE_READING);
		facts << factsOf(id);
	}
	for (QStringList *notes : { &damaged, &changed, &sidecars, &reading })
		notes->removeAll(QString());
	text = (changed + damaged + sidecars + reading + others(facts, damaged + sidecars) +
		_facts + (_session.isEmpty() ? QStringList() : QStringList(_session))).join("\n");
	if (text == _text->text())
		return;
	_text->setText(text);
	_lines->updateGeometry();
	_reload->setVisible(!changed.isEmpty());
	showOrHide();
}

void VirtNotes::setSession(const QString &problem)
{
	_session = problem;
	look();
}

void VirtNotes::setModels(const std::vector<VirtStream> &streams)
{
	trace_notes notes = {};

	for (const VirtStream &stream : streams) {
		QByteArray path = virtPathOf(stream.id), name = path.mid(path.lastIndexOf('/') + 1);

		host_note_model(stream.model.get(), name.constData(), &notes);
		host_note_lacks(stream.model.get(), name.constData(), 0, &notes);
	}
	_facts.clear();
	for (size_t i = 0; i < notes.n; i++)
		_facts << QString::fromUtf8(notes.all[i].text);
	trace_notes_free(&notes);
	look();
}

void VirtNotes::showOrHide()
{
	_lines->setVisible(!_text->text().isEmpty());
	setVisible(!_text->text().isEmpty() || !_nothing->isHidden() || !_warnings.empty());
}

void VirtNotes::setNothingVirtual(bool nothing)
{
	if (nothing == !_nothing->isHidden())
		return;
	_nothing->setVisible(nothing);
	showOrHide();
	if (!_status)
		_window->statusBar()->addPermanentWidget(_status = new QLabel(NOTHING_STATUS));
	_status->setVisible(nothing);
}

void VirtNotes::setWarnings(const std::vector<VirtWarning> &warnings)
{
	std::vector<Row *> old = std::move(_warnings);
	auto next = old.begin();
	int place = _layout->indexOf(_nothing);

	_warnings.clear();
	for (const VirtWarning &warning : warnings) {
		auto same = std::find_if(next, old.end(), [&warning] (Row *row) {
			return row->become(warning);
		});

		if (same == old.end()) {
			_warnings.push_back(new Row(warning));
			_layout->insertWidget(++place, _warnings.back());
			continue;
		}
		/* what was before it is not there any more */
		for (; next != same; ++next)
			(*next)->leave();
		_warnings.push_back(*next++);
		place = _layout->indexOf(_warnings.back());
	}
	for (; next != old.end(); ++next)
		(*next)->leave();
	showOrHide();
}

void VirtNotes::reload()
{
	if (virtReload(_window))
		look();
}
