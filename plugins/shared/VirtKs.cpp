// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtKs.cpp
 * @brief	KernelShark's window and streams.
 */
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QResizeEvent>
#include <QStatusBar>
#include <QTextDocument>
#include <QTimer>

#include <libkshark.h>

#include "VirtKs.hpp"
#include "escape.h"
#include "ks_guard.h"
#include "ks_memo.h"
#include "ks_stream.h"
#include "virt_text.h"

constexpr int LEAST_CHARACTERS = 10;	/* of what a box lists */
constexpr int WAIT_TEXT_MS = 10000;	/* how long the status bar has the text */
constexpr const char *WAIT_TEXT =
	"Not done: KernelShark loads a trace. Click or press the key again when it has finished";

std::vector<VirtStream> virtStreams()
{
	std::vector<VirtStream> found;
	kshark_context *kshark = nullptr;
	int *ids;

	if (!kshark_instance(&kshark))
		return found;
	ids = kshark_all_streams(kshark);
	for (int i = 0; ids && i < kshark->n_streams; i++) {
		VirtModelRef model(ids[i]);

		if (model)
			found.push_back({ ids[i], ks_stream_offset(ids[i]), model });
	}
	free(ids);
	return found;
}

QString virtShown(const char *text)
{
	char *escaped = escape_dup(text ? text : "");
	QString shown = escaped ? QString::fromUtf8(escaped) : QString("?");

	free(escaped);
	return shown;
}

QString virtShown(const QString &text)
{
	return virtShown(text.toUtf8().constData());
}

QString virtLabel(QString text)
{
	return text.replace('&', "&&");
}

QString virtCsv(const QByteArray &text)
{
	QString field = virtShown(text.constData());

	if (text_is_formula(text.constData(), static_cast<size_t>(text.size())))
		field.prepend('\'');
	return text.contains(',') || text.contains('"') ? '"' + field.replace('"', "\"\"") + '"' :
							  field;
}

QString virtDuration(int64_t ns)
{
	char text[32];

	return virt_text_duration(text, sizeof(text), ns);
}

QString virtSeconds(int64_t ns)
{
	uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);

	return QString("%1%2.%3").arg(ns < 0 ? "-" : "").arg(size / 1000000000)
		.arg(size % 1000000000, 9, 10, QChar('0'));
}

QString virtTip(const QString &text)
{
	return text.isEmpty() ? text : "<qt>" + text.toHtmlEscaped() + "</qt>";
}

void virtWrapTips(QWidget *root)
{
	for (QWidget *widget : root->findChildren<QWidget *>())
		widget->setToolTip(virtTip(widget->toolTip()));
}

QByteArray virtPathOf(int streamId)
{
	kshark_context *kshark = nullptr;
	kshark_data_stream *stream = nullptr;

	if (kshark_instance(&kshark))
		stream = kshark_get_data_stream(kshark, streamId);
	return stream && stream->file ? QByteArray(stream->file) : QByteArray();
}

std::vector<int64_t> virtClockParts(int streamId)
{
	kshark_context *kshark = nullptr;
	const kshark_data_stream *stream = kshark_instance(&kshark) ?
					   kshark_get_data_stream(kshark, streamId) : nullptr;

	if (!stream || !stream->calib_array || !stream->calib_array_size)
		return { 0 };
	return { stream->calib_array, stream->calib_array +
				      ks_memo_at(stream->calib_array, stream->calib_array_size) };
}

QString virtFileOf(int streamId)
{
	QByteArray path = virtPathOf(streamId);

	return virtShown(path.mid(path.lastIndexOf('/') + 1).constData());
}

QString virtSettingsFile()
{
	QByteArray dir = qgetenv("KS_USER_CACHE_DIR");

	if (!dir.isEmpty())
		return QString::fromLocal8Bit(dir) + "/kshark-virt.ini";
	return QDir::homePath() + "/.config/kshark-virt/kernelshark.ini";
}

QMainWindow *virtMainWindow()
{
	for (QWidget *widget : QApplication::topLevelWidgets())
		if (!strcmp(widget->metaObject()->className(), "KsMainWindow"))
			return qobject_cast<QMainWindow *>(widget);
	return nullptr;
}

void virtRedrawGraphs(QMainWindow *window)
{
	if (QWidget *graphs = virtChild(window, "KsGLWidget"))
		graphs->update();
}

QWidget *virtChild(QMainWindow *window, const char *className)
{
	for (QWidget *widget : window->findChildren<QWidget *>())
		if (!strcmp(widget->metaObject()->className(), className))
			return widget;
	return nullptr;
}

std::vector<int> virtOpenStreams()
{
	std::vector<int> streams;
	kshark_context *kshark = nullptr;

	if (!kshark_instance(&kshark))
		return streams;

	int *ids = kshark_all_streams(kshark);

	if (ids)
		streams.assign(ids, ids + kshark->n_streams);
	free(ids);
	return streams;
}

KsDataStore *virtDataStore(QMainWindow *window)
{
	for (QObject *child : window->children())
		if (!strcmp(child->metaObject()->className(), "KsDataStore"))
			return reinterpret_cast<KsDataStore *>(child);
	return nullptr;
}

void virtDropMarkers(QMainWindow *window)
{
	auto marks = reinterpret_cast<KsDualMarkerSM *>(virtChild(window, "KsDualMarkerSM"));

	if (!marks)
		return;
	marks->deselectA();
	marks->deselectB();
}

void virtDropTaskCollections()
{
	kshark_context *kshark = nullptr;
	std::vector<std::pair<int, int>> old;

	if (!kshark_instance(&kshark))
		return;
	for (const kshark_entry_collection *c = kshark->collections; c; c = c->next)
		if (c->cond == kshark_match_pid && c->n_val == 1)
			old.push_back({ c->stream_id, c->values[0] });
	for (std::pair<int, int> &task : old)
		kshark_unregister_data_collection(&kshark->collections, kshark_match_pid,
						  task.first, &task.second, 1);
}

void virtWrapLabel(QLabel *label)
{
	QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);

	label->setWordWrap(true);
	policy.setHeightForWidth(true);
	label->setSizePolicy(policy);
}

void virtNarrowBox(QComboBox *box)
{
	box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
	box->setMinimumContentsLength(LEAST_CHARACTERS);
}

static bool isProgressBar(const QWidget *widget)
{
	return widget->isVisible() && strstr(widget->metaObject()->className(), "KsProgressBar");
}

bool virtIsLoading()
{
	for (const QWidget *widget : QApplication::topLevelWidgets())
		if (isProgressBar(widget))
			return true;
	return false;
}

bool virtMustWait()
{
	QMainWindow *window = virtMainWindow();

	if (!virtIsLoading())
		return false;
	if (window)
		window->statusBar()->showMessage(WAIT_TEXT, WAIT_TEXT_MS);
	return true;
}

namespace {

constexpr const char *GUARD_NAME = "kshark-virt-guard";
constexpr const char *RESTORED = "kshark-virt-restored";	/* a property of its window */
constexpr const char *HELD = "kshark-virt-held";	/* of its graphs: how often they are */

constexpr int LOADING_MS = 50;		/* between two looks whether it still loads */

/** What KernelShark's progress bar says while it restores a session. */
constexpr const char *SESSION_LABEL = "Loading session";

/**
 * A session that is restored: KernelShark has emptied the graphs before, and then sets its
 * markers in those that it has drawn since (KsSession::loadDualMarker()); it must draw, or
 * there are none to be marked.
 */
bool isOfSession(const QWidget *progress)
{
	for (const QLabel *label : progress->findChildren<QLabel *>())
		if (label->text().startsWith(SESSION_LABEL))
			return true;
	return false;
}

/** KernelShark moves rows that its graphs still show. */
bool isMovingRows()
{
	for (const QWidget *widget : QApplication::topLevelWidgets())
		if (isProgressBar(widget) && !isOfSession(widget))
			return true;
	return false;
}

/** What a user does with mouse and keyboard. */
bool isInput(QEvent::Type type)
{
	switch (type) {
	case QEvent::KeyPress:
	case QEvent::KeyRelease:
	case QEvent::MouseButtonPress:
	case QEvent::MouseButtonRelease:
	case QEvent::MouseButtonDblClick:
	case QEvent::MouseMove:
	case QEvent::Wheel:
	case QEvent::ContextMenu:
	case QEvent::Drop:
	case QEvent::Shortcut:
		return true;
	default:
		return false;
	}
}

/** "+", "-", ">" and so on beside the graphs. */
QAbstractButton *navigationButton(QObject *object)
{
	auto *button = qobject_cast<QAbstractButton *>(object);

	for (const QObject *parent = button; parent; parent = parent->parent())
		if (parent->inherits("KsTraceGraph"))
			return button;
	return nullptr;
}

/**
 * Is it for a message that KernelShark waits for? Qt does not know those of errors as modal:
 * KsMainWindow::_error() shows them before it calls exec().
 */
bool isForMessage(const QObject *object)
{
	const QWidget *modal = QApplication::activeModalWidget();

	for (; object; object = object->parent())
		if (object == modal || object->inherits("QErrorMessage") ||
		    object->inherits("QMessageBox"))
			return true;
	return false;
}

/**
 * Drops what would make KernelShark draw, and makes up for it when the progress bar is gone. After
 * a file was appended, KernelShark then sets its markers anew (KsMainWindow::appendDataFile()), in
 * graphs that it may not have made yet, with us or without; they are made here.
 *
 * KernelShark handles events while it loads, in the midst of a function: to open another file from
 * there crashes it. It does the same while a key or a button is held, and zooms. The loop of
 * another press inside of that one would take the release that the outer one waits for, which then
 * never ends. It never ends either if the release comes before the loop begins, as that of a quick
 * click does: KernelShark shows first that it works, and handles events for that. Then the release
 * is repeated.
 */
class Guard : public QObject {
public:
	Guard(QMainWindow *window, QWidget *graphs)
	: QObject(graphs), _window(window), _graphs(graphs)
	{
		setObjectName(GUARD_NAME);
		/* of the graphs, and of the window of a progress bar, as it comes */
		qApp->installEventFilter(this);
		_timer.setInterval(LOADING_MS);
		connect(&_timer, &QTimer::timeout, this, [this] {
			if (isMovingRows() || isHeld())
				return;
			_timer.stop();
			resize();
			_graphs->update();
		});
	}

private:
	/**
	 * A session sets its own markers in the end, and draws those of before once more until
	 * then, which are numbers of rows: there may be fewer of them now.
	 */
	void watch(QWidget *progress)
	{
		showBusy(progress);
		if (isOfSession(progress)) {
			virtMainWindow()->setProperty(RESTORED, true);
			virtDropMarkers(virtMainWindow());
			return;
		}
		connect(progress, &QObject::destroyed, this, [this] {
			reinterpret_cast<KsGLWidget *>(_graphs)->render();
			/* before the first frame, but not within a function of KernelShark */
			QMetaObject::invokeMethod(this, [this] { place(); }, Qt::QueuedConnection);
		});
	}

	/** All that comes with a file gets its place, and then the graphs their size. */
	void place()
	{
		VirtOneResize once(_window);

		/* the next file */
		if (virtIsLoading())
			return;
		_window->setProperty(VIRT_LOADED, VIRT_LOADED_GRAPHS);
		_window->setProperty(VIRT_LOADED, VIRT_LOADED_PANES);
		/* they have other labels in any case */
		_resized = true;
		_graphs->update();
	}

	bool isHeld() const { return _graphs->property(HELD).toInt() > 0; }

	/** The pointer shows that the window takes no input. A bar may be shown twice. */
	static void showBusy(QWidget *progress)
	{
		if (progress->property(GUARD_NAME).toBool())
			return;
		progress->setProperty(GUARD_NAME, true);
		QApplication::setOverrideCursor(Qt::BusyCursor);
		connect(progress, &QObject::destroyed, qApp,
			[] { QApplication::restoreOverrideCursor(); });
	}

	/** Make up for what was dropped. */
	void resize()
	{
		QResizeEvent event(_graphs->size(), _graphs->size());

		if (!_resized)
			return;
		_isMadeUp = true;
		QCoreApplication::sendEvent(_graphs, &event);
		_isMadeUp = false;
		_timer.stop();
	}

	bool eventFilter(QObject *object, QEvent *event) override
	{
		if (event->type() == QEvent::Show && object->isWidgetType() &&
		    isProgressBar(static_cast<QWidget *>(object)))
			watch(static_cast<QWidget *>(object));
		if (isInput(event->type()) && isRefused(object, event)) {
			refuse(object, event->type());
			return true;
		}
		if (object == _graphs && event->type() == QEvent::KeyRelease)
			_isKeyDown &= static_cast<QKeyEvent *>(event)->isAutoRepeat();
		if (object == _graphs && event->type() == QEvent::KeyPress) {
			handleKey(event);
			return true;
		}
		if (isPress(event) && navigationButton(object)) {
			handleButton(navigationButton(object), event);
			return true;
		}
		if (object == _window && event->type() == QEvent::Resize && !_isPlacing) {
			placeWith(event);
			return true;
		}
		return object == _graphs && isHandledForGraphs(event);
	}

	bool isHandledForGraphs(QEvent *event)
	{
		if (event->type() == QEvent::DynamicPropertyChange && !isHeld() && !isMovingRows())
			resize();
		if (isDropped(event))
			return true;
		if (event->type() != QEvent::Resize || _isResizing)
			return false;
		resizeWith(event);
		return true;
	}

	/** The window gets another size; what is in it may move more than once. */
	void placeWith(QEvent *event)
	{
		VirtOneResize once(_window);

		_isPlacing = true;
		QCoreApplication::sendEvent(_window, event);
		_isPlacing = false;
	}

	/**
	 * KernelShark knows how wide its labels are, and how many columns fit beside them, once it
	 * has made the graphs. Qt would also draw them as soon as they get another size, though
	 * KernelShark asks for the next frame then: they would be drawn twice.
	 */
	void resizeWith(QEvent *event)
	{
		_isDrawnLater = hasRows();
		if (_isDrawnLater)
			reinterpret_cast<KsGLWidget *>(_graphs)->render();
		_isResizing = true;
		QCoreApplication::sendEvent(_graphs, event);
		_isResizing = false;
		if (_isDrawnLater)
			_graphs->update();
		_isDrawnLater = false;
	}

	/** Are there rows? Without any, there are no graphs that could be made. */
	bool hasRows() const
	{
		const QWidget *list = virtChild(_window, "KsTraceViewer");
		const auto *table = list ? list->findChild<QAbstractItemView *>() : nullptr;

		return table && table->model() && table->model()->rowCount();
	}

	/** Is it no time for what the user wants? */
	bool isRefused(QObject *object, const QEvent *event) const
	{
		bool begins = event->type() == QEvent::Shortcut ||
			      event->type() == QEvent::KeyPress || isPress(event);

		if (!object->isWidgetType() && event->type() != QEvent::Shortcut)
			return false;
		return (virtIsLoading() && !isForMessage(object)) || (_isHandled && begins);
	}

	/** The user learns it, and no button stays pressed. */
	static void refuse(QObject *object, QEvent::Type type)
	{
		if (type == QEvent::MouseButtonRelease) {
			if (auto *button = qobject_cast<QAbstractButton *>(object))
				button->setDown(false);
		} else if (type != QEvent::MouseMove && type != QEvent::KeyRelease) {
			virtMustWait();
		}
	}

	static bool isPress(const QEvent *event)
	{
		return event->type() == QEvent::MouseButtonPress ||
		       event->type() == QEvent::MouseButtonDblClick;
	}

	/**
	 * As Qt would, which asks the widgets around for what is not accepted.
	 * @release: is called from time to time until KernelShark has handled the press
	 */
	template<typename Release> void handle(QObject *object, QEvent *event, Release release)
	{
		QPointer<Guard> self = this;
		QTimer timer;

		QObject::connect(&timer, &QTimer::timeout, release);
		timer.start(LOADING_MS);
		_isHandled = true;
		object->event(event);
		if (self)
			_isHandled = false;
	}

	void handleKey(QEvent *event)
	{
		_isKeyDown = true;
		handle(_graphs, event, [this] {
			if (!_isKeyDown)
				QMetaObject::invokeMethod(_graphs, "stopUpdating");
		});
	}

	void handleButton(QAbstractButton *button, QEvent *event)
	{
		handle(button, event, [button] {
			if (!button->isDown())
				QMetaObject::invokeMethod(button, "released");
		});
	}

	/**
	 * While Qt paints, the graphs must not get another size: it knows the picture of the old
	 * one (in Qt 6 a QRhiTexture, listed before painting), which goes with that size.
	 */
	bool isDropped(const QEvent *event)
	{
		bool isResize = event->type() == QEvent::Resize;

		if (event->type() != QEvent::Paint && !isResize)
			return false;
		if (((isMovingRows() || (isResize && isHeld())) && !_isMadeUp) ||
		    (_resized && !isResize)) {
			_resized |= isResize;
			if (!_timer.isActive())
				_timer.start();
			return true;
		}
		if (isResize)
			_resized = false;
		return !isResize && _isResizing && _isDrawnLater;
	}

	QMainWindow	*_window;
	QWidget		*_graphs;
	QTimer		_timer;
	bool	_isPlacing = false;	/* the window is just getting another size */
	bool	_resized = false;	/* they have another size, and do not know it yet */
	bool	_isMadeUp = false;	/* they are just learning it */
	bool	_isResizing = false;	/* they are just getting another one */
	bool	_isDrawnLater = false;	/* and are drawn with it in the next frame */
	bool	_isHandled = false;	/* a press, which may last until the release */
	bool	_isKeyDown = false;	/* the key of the last press on the graphs */
};

} // namespace

/**
 * KernelShark 2.4 makes graphs in several threads of OpenMP, which append those of a combo to the
 * same list, and register what they find of tasks in another, without a lock
 * (KsGLWidget::_makeGraphs()). How many threads these are is a setting of the thread that begins
 * with it, the window's.
 */
static void makeGraphsOneByOne()
{
	void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
	void (*setThreads)(int n);

	if (!symbol)
		return;
	memcpy(&setThreads, &symbol, sizeof(setThreads));
	setThreads(1);
}

VirtOneResize::VirtOneResize(QMainWindow *window)
: _graphs(virtChild(window, "KsGLWidget"))
{
	hold(1);
}

VirtOneResize::~VirtOneResize()
{
	hold(-1);
}

/* By a property, as each plugin has its own copy of this code. */
void VirtOneResize::hold(int n)
{
	if (_graphs)
		_graphs->setProperty(HELD, _graphs->property(HELD).toInt() + n);
}

bool virtIsLoaded(QObject *window, const QEvent *event, int what)
{
	return event->type() == QEvent::DynamicPropertyChange &&
	       static_cast<const QDynamicPropertyChangeEvent *>(event)->propertyName() ==
	       VIRT_LOADED && window->property(VIRT_LOADED).toInt() == what;
}

bool virtHasRestored(const QMainWindow *window)
{
	return window->property(RESTORED).toBool();
}

void virtGuardGraphs(QMainWindow *window)
{
	QWidget *graphs = window ? virtChild(window, "KsGLWidget") : nullptr;

	if (!graphs || graphs->findChild<QObject *>(GUARD_NAME, Qt::FindDirectChildrenOnly))
		return;
	makeGraphsOneByOne();
	new Guard(window, graphs);
}

void ks_guard_graphs_soon(void)
{
	if (qApp)
		QMetaObject::invokeMethod(qApp, [] { virtGuardGraphs(virtMainWindow()); },
					  Qt::QueuedConnection);
}

bool virtReload(QMainWindow *window)
{
	KsDataStore *data = virtDataStore(window);

	if (!data || virtMustWait())
		return false;
	/* KernelShark remembers rows by their numbers: there may be fewer of them now */
	virtDropMarkers(window);
	virtDropTaskCollections();
	data->reload();
	return true;
}
