// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	probe.cpp
 * @brief	Shows a test KernelShark's window. If a test asks for it, the dock or KernelShark
 *		waits, or a program that the dock starts crashes.
 *
 * Preloaded into KernelShark by the GUI tests. What a test does, it does with mouse and keys; to
 * know where to click and what the list says, it asks here, through two FIFOs: one command a line
 * from $KSV_PROBE/probe.ask; what it says is in the file probe.said when a line comes from
 * probe.answer. Fields are separated by tabs.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include <QAbstractButton>
#include <QAbstractEventDispatcher>
#include <QAbstractItemModel>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFontMetrics>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QMouseEvent>
#include <QProgressBar>
#include <QScrollArea>
#include <QScrollBar>
#include <QSocketNotifier>
#include <QStatusBar>
#include <QTableView>
#include <QTableWidget>
#include <QTextEdit>
#include <QTreeWidget>
#include <QWindow>

namespace {

int answer_fd = -1;
unsigned n_frames;
std::string command;

/** The mouse events that KernelShark has got. */
class Mouse : public QObject {
public:
	bool eventFilter(QObject *target, QEvent *event) override
	{
		/* each comes to a window first, then to a widget in it */
		if (target->isWindowType() && isMouse(event->type())) {
			auto mouse = static_cast<QMouseEvent *>(event);

			_buttons = mouse->buttons();
			_place = static_cast<QWindow *>(target)->mapToGlobal(mouse->pos());
			_released += mouse->type() == QEvent::MouseButtonRelease;
			_doubled += mouse->type() == QEvent::MouseButtonDblClick;
		}
		return false;
	}

	/** mouse: pressed buttons, x, y; how many were released, and double clicks, so far */
	QString report() const
	{
		return QString("%1\t%2\t%3\t%4\t%5\n").arg(int(_buttons)).arg(_place.x())
			.arg(_place.y()).arg(_released).arg(_doubled);
	}

private:
	static bool isMouse(QEvent::Type type)
	{
		return type == QEvent::MouseMove || type == QEvent::MouseButtonPress ||
		       type == QEvent::MouseButtonDblClick || type == QEvent::MouseButtonRelease;
	}

	Qt::MouseButtons	_buttons;
	QPoint			_place;
	unsigned		_released = 0, _doubled = 0;
};

Mouse mouse;

QString flat(QString text)
{
	return text.replace('\n', "\\n").replace('\t', "\\t");
}

QString place(const QWidget *widget, const QRect &rect)
{
	QPoint corner = widget->mapToGlobal(rect.topLeft());

	return QString("%1\t%2\t%3\t%4").arg(corner.x()).arg(corner.y())
		.arg(rect.width()).arg(rect.height());
}

QString state(bool enabled, bool checked)
{
	return QString(enabled ? "on" : "off") + (checked ? ",checked" : "");
}

/** The part of a widget that is not hidden by a scroll area; empty if none is. */
QRect seen(const QWidget *widget)
{
	return widget->visibleRegion().boundingRect();
}

QString text_of(const QWidget *widget)
{
	if (auto label = qobject_cast<const QLabel *>(widget))
		return label->text();
	if (auto button = qobject_cast<const QAbstractButton *>(widget))
		return button->text();
	if (auto edit = qobject_cast<const QLineEdit *>(widget))
		return edit->text().isEmpty() ? edit->placeholderText() : edit->text();
	if (auto combo = qobject_cast<const QComboBox *>(widget))
		return combo->currentText();
	if (auto edit = qobject_cast<const QTextEdit *>(widget))
		return edit->toPlainText();
	if (auto bar = qobject_cast<const QStatusBar *>(widget))
		return bar->currentMessage();
	if (auto bar = qobject_cast<const QProgressBar *>(widget))
		return QString::number(bar->value());
	return widget->accessibleName();
}

/** The window that a user deals with: the modal one, else the active one, else the main window. */
QWidget *top_window()
{
	QWidget *top = QApplication::activeModalWidget();

	if (!top)
		top = QApplication::activeWindow();
	for (QWidget *widget : QApplication::topLevelWidgets())
		if (!top && widget->isVisible() && qobject_cast<QMainWindow *>(widget))
			top = widget;
	return top;
}

/** widgets: class, text, x, y, w, h, state of each visible one in the window in use */
QString widgets()
{
	QString out;
	QWidget *top = top_window();

	if (!top)
		return out;
	for (QWidget *widget : top->findChildren<QWidget *>()) {
		auto button = qobject_cast<QAbstractButton *>(widget);

		if (widget->isVisible() && !seen(widget).isEmpty())
			out += QString("%1\t%2\t%3\t%4\n").arg(widget->metaObject()->className(),
				flat(text_of(widget)), place(widget, seen(widget)),
				state(widget->isEnabled(), button && button->isChecked()));
	}
	return out;
}

QString tips_of(const QTreeWidgetItem *item)
{
	QString out;

	for (int i = 0; i < item->columnCount(); i++)
		out += item->toolTip(i);
	for (int i = 0; i < item->childCount(); i++)
		out += tips_of(item->child(i));
	return out;
}

/** markup TEXT: class and text of whatever has this in it and takes it for marks, not for text */
QString markup(const QString &text)
{
	QString out;

	for (QWidget *widget : QApplication::allWidgets()) {
		auto label = qobject_cast<const QLabel *>(widget);
		auto tree = qobject_cast<const QTreeWidget *>(widget);
		QString said = label ? label->text() : QString(), tips = widget->toolTip();

		if (tree)
			tips += tips_of(tree->invisibleRootItem());
		if (label && label->textFormat() != Qt::RichText &&
		    (label->textFormat() != Qt::AutoText || !Qt::mightBeRichText(said)))
			said.clear();
		if ((said + tips).contains(text))
			out += QString("%1\t%2\n").arg(widget->metaObject()->className(),
							 flat(said + tips));
	}
	return out;
}

/** windows: class, title (of a tooltip its text), x, y, w, h of each visible window */
QString windows()
{
	QString out;

	for (QWidget *widget : QApplication::topLevelWidgets())
		if (widget->isVisible())
			out += QString("%1\t%2\t%3\n").arg(widget->metaObject()->className(),
				flat(qobject_cast<QLabel *>(widget) ? text_of(widget) :
								      widget->windowTitle()),
				place(widget, widget->rect()));
	return out;
}

void append_actions(QString &out, QWidget *menu)
{
	for (QAction *action : menu->actions()) {
		QRect rect;

		if (auto popup = qobject_cast<QMenu *>(menu))
			rect = popup->actionGeometry(action);
		else
			rect = static_cast<QMenuBar *>(menu)->actionGeometry(action);
		if (!action->isSeparator() && action->isVisible())
			out += QString("%1\t%2\t%3\t%4\n").arg(menu->metaObject()->className(),
				flat(action->text()), place(menu, rect),
				state(action->isEnabled(), action->isChecked()));
	}
}

/** actions: class of the menu, text, x, y, w, h, state: of the menu bar and all open menus */
QString actions()
{
	QString out;

	for (QWidget *widget : QApplication::allWidgets())
		if (widget->isVisible() &&
		    (qobject_cast<QMenuBar *>(widget) || qobject_cast<QMenu *>(widget)))
			append_actions(out, widget);
	return out;
}

QTableView *list_view()
{
	for (QWidget *widget : QApplication::allWidgets())
		if (auto view = qobject_cast<QTableView *>(widget))
			if (view->parentWidget() &&
			    QByteArray("KsTraceViewer") ==
				    view->parentWidget()->metaObject()->className())
				return view;
	return nullptr;
}

/** In how many threads KernelShark has made its graphs, if it is one that does. */
class Painter : public QObject {
public:
	bool eventFilter(QObject *target, QEvent *event) override
	{
		if (event->type() == QEvent::Paint &&
		    !strcmp(target->metaObject()->className(), "KsGLWidget") &&
		    list_view() && list_view()->model()->rowCount())
			_threads = qMax(_threads, now());
		return false;
	}

	/** threads: the most of them so far; 0 before there was anything to be drawn */
	QString report() const
	{
		return QString("%1\n").arg(_threads);
	}

private:
	/** OpenMP's setting of the window's thread, which begins with them. */
	static int now()
	{
		void *symbol = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
		int (*most)();

		if (!symbol)
			return 1;
		memcpy(&most, &symbol, sizeof(most));
		return most();
	}

	int	_threads = 0;
};

Painter painter;

/**
 * How long the window has let its user wait: the longest way round in its event loop, inner loops
 * included, by the time on a CPU of its thread, which a busy machine does not change.
 */
class Rounds {
public:
	void follow(QAbstractEventDispatcher *loop)
	{
		QObject::connect(loop, &QAbstractEventDispatcher::aboutToBlock, [this] { pass(); });
		QObject::connect(loop, &QAbstractEventDispatcher::awake, [this] { pass(); });
	}

	/** round: ms of the longest one since this was last asked for */
	QString report()
	{
		QString text = QString("%1\n").arg(_longest);

		_longest = 0;
		return text;
	}

private:
	void pass()
	{
		struct timespec time;
		long now;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
		/* what comes before the first one is the start */
		if (_began >= 0)
			_longest = qMax(_longest, now - _began);
		_began = now;
	}

	long	_began = -1, _longest = 0;
};

Rounds rounds;

QString row_text(const QAbstractItemModel *model, int row, int columns)
{
	QStringList cells;

	for (int column = 0; column < columns; column++)
		cells << flat(model->data(model->index(row, column)).toString());
	return cells.join('\t') + "\n";
}

/** count: rows of the event list */
QString count()
{
	QTableView *view = list_view();

	return QString("%1\n").arg(view ? view->model()->rowCount() : -1);
}

/** rows FROM N [COLUMNS]: rows of the event list as text, or the first cells of them: faster */
QString rows(long from, long n, int columns)
{
	QTableView *view = list_view();
	QString out;

	if (!view)
		return out;
	if (!columns)
		columns = view->model()->columnCount();
	for (long row = from; row < from + n && row < view->model()->rowCount(); row++)
		out += row_text(view->model(), row, columns);
	return out;
}

/** of STREAM N COLUMNS: the first cells of the first N rows of a stream, if there are several */
QString of(const QString &stream, long n, int columns)
{
	QTableView *view = list_view();
	QString out;

	for (int row = 0; view && n > 0 && row < view->model()->rowCount(); row++) {
		if (view->model()->data(view->model()->index(row, 0)).toString() != stream)
			continue;
		out += row_text(view->model(), row, columns);
		n--;
	}
	return out;
}

/** header: the columns of the event list */
QString header()
{
	QTableView *view = list_view();
	QStringList names;

	for (int i = 0; view && i < view->model()->columnCount(); i++)
		names << view->model()->headerData(i, Qt::Horizontal).toString();
	return names.join('\t') + "\n";
}

/** widths [own]: of the columns of the event list; own: as KernelShark itself sets them */
QString widths(bool own)
{
	QTableView *view = list_view();
	QWidget *list = view ? view->parentWidget() : nullptr;
	QStringList all;

	if (own && list) {
		QResizeEvent event(list->size(), list->size());

		/* past all filters of events */
		static_cast<QObject *>(list)->event(&event);
	}
	for (int i = 0; view && i < view->model()->columnCount(); i++)
		all << QString::number(view->columnWidth(i));
	return all.join('\t') + "\n";
}

/** selected: number and text of the selected row of the event list */
QString selected()
{
	QTableView *view = list_view();

	if (!view || !view->selectionModel()->hasSelection())
		return QString();
	int row = view->selectionModel()->selectedRows().value(0).row();
	return QString("%1\t").arg(row) +
		row_text(view->model(), row, view->model()->columnCount());
}

/** shown: number and x, y, w, h of the rows of the event list that are on the screen */
QString shown()
{
	QTableView *view = list_view();
	int n = view ? view->model()->rowCount() : 0;
	QString out;

	for (int row = view ? view->rowAt(0) : -1; row >= 0 && row < n; row++) {
		QRect rect = view->visualRect(view->model()->index(row, 0));

		if (rect.bottom() > view->viewport()->height())
			break;
		out += QString("%1\t%2\n").arg(row).arg(place(view->viewport(), rect));
	}
	return out;
}

void append_items(QString &out, QTreeWidget *tree, QTreeWidgetItem *item)
{
	QStringList cells;

	QRect rect = tree->visualItemRect(item);

	rect.setWidth(20);	/* the check box */
	for (int i = 0; i < tree->columnCount(); i++)
		cells << flat(item->text(i));
	out += QString("%1\t%2\t%3\n").arg(cells.join(" | "),
		place(tree->viewport(), rect),
		state(!item->isDisabled(), item->checkState(0) == Qt::Checked));
	for (int i = 0; i < item->childCount(); i++)
		append_items(out, tree, item->child(i));
}

/**
 * items: text, x, y, w, h, state of the items of the tables and trees of
 * the window in use; for a table's row the check box in it, and the colour of its second cell
 */
QString items()
{
	QString out;
	QWidget *top = top_window();

	if (!top)
		return out;
	for (QTreeWidget *tree : top->findChildren<QTreeWidget *>())
		for (int i = 0; tree->isVisible() && i < tree->topLevelItemCount(); i++)
			append_items(out, tree, tree->topLevelItem(i));
	for (QTableWidget *table : top->findChildren<QTableWidget *>())
		for (int row = 0; table->isVisible() && row < table->rowCount(); row++) {
			QStringList cells;
			QAbstractButton *button = nullptr;
			QRect rect = table->visualRect(table->model()->index(row, 0));

			for (int i = 0; i < table->columnCount(); i++) {
				QWidget *cell = table->cellWidget(row, i);

				if (cell && !button)
					button = cell->findChild<QAbstractButton *>();
				if (table->item(row, i))
					cells << flat(table->item(row, i)->text());
			}
			if (button)
				rect = QRect(button->mapTo(table->viewport(), QPoint(0, 0)),
					     button->size());
			out += QString("%1\t%2\t%3\t%4\n").arg(cells.join(" | "),
				place(table->viewport(), rect),
				state(table->isEnabled(), button && button->isChecked()),
				table->item(row, 1)->background().color().name());
		}
	return out;
}

void append_cells(QString &out, const QTableWidget *table)
{
	int columns = table->columnCount();

	for (int i = 0; i < table->rowCount() * columns; i++) {
		QTableWidgetItem *item = table->item(i / columns, i % columns);
		QRect rect = item ? table->visualItemRect(item) : QRect();

		if (rect.intersects(table->viewport()->rect()))
			out += QString("%1\t%2\t%3\t%4\n").arg(item->row()).arg(item->column())
				.arg(flat(item->text()), place(table->viewport(), rect));
	}
}

/** cells: row, column, text, x, y, w, h of the cells that are seen of the window's tables */
QString cells()
{
	QString out;
	QWidget *top = top_window();

	if (!top)
		return out;
	for (QTableWidget *table : top->findChildren<QTableWidget *>())
		if (table->isVisible())
			append_cells(out, table);
	return out;
}

/** sections: text, x, y, w, h of the headers' sections that are seen of the window's trees */
QString sections()
{
	QString out;
	QWidget *top = top_window();

	if (!top)
		return out;
	for (QTreeWidget *tree : top->findChildren<QTreeWidget *>())
		for (int i = 0; tree->isVisible() && i < tree->columnCount(); i++) {
			QHeaderView *header = tree->header();
			QRect rect(header->sectionViewportPosition(i), 0, header->sectionSize(i),
				   header->height());

			if (rect.width() && header->viewport()->rect().contains(rect.center()))
				out += QString("%1\t%2\n").arg(flat(tree->headerItem()->text(i)),
					place(header->viewport(), rect));
		}
	return out;
}

/** choices: text, x, y, w, h of the lines of the open combo box */
QString choices()
{
	QString out;
	QWidget *popup = QApplication::activePopupWidget();
	auto view = popup ? popup->findChild<QAbstractItemView *>() : nullptr;

	for (int row = 0; view && row < view->model()->rowCount(); row++) {
		QModelIndex index = view->model()->index(row, 0);

		out += QString("%1\t%2\ton\n").arg(flat(index.data().toString()),
			place(view->viewport(), view->visualRect(index)));
	}
	return out;
}

/** graphs: height of all graphs of KernelShark's, those that one would have to scroll to as well */
QString graphs()
{
	for (QWidget *widget : QApplication::allWidgets())
		if (!strcmp(widget->metaObject()->className(), "KsGLWidget"))
			return QString("%1\n").arg(widget->height());
	return QString();
}

/** The bar that scrolls KernelShark's graphs. */
QScrollBar *graphs_bar()
{
	QWidget *up = nullptr;

	for (QWidget *widget : QApplication::allWidgets())
		if (!strcmp(widget->metaObject()->className(), "KsGLWidget"))
			up = widget;
	for (; up; up = up->parentWidget())
		if (auto area = qobject_cast<QScrollArea *>(up))
			return area->verticalScrollBar();
	return nullptr;
}

/** scrolled: how far KernelShark's graphs are, in pixels */
QString scrolled()
{
	QScrollBar *bar = graphs_bar();

	return bar ? QString("%1\n").arg(bar->value()) : QString();
}

/** up: scroll KernelShark's graphs to the first one */
QString up()
{
	if (QScrollBar *bar = graphs_bar())
		bar->setValue(0);
	return scrolled();
}

/** frames: how often KernelShark has drawn its graphs */
QString frames()
{
	return QString("%1\n").arg(n_frames);
}

/** font: height of a line of text; KernelShark measures its graphs by it */
QString font()
{
	return QString("%1\n").arg(QFontMetrics(QFont()).height());
}

/** window: what the dock's figures are of, to the nanosecond: KernelShark's window, or A to B */
QString window()
{
	for (QWidget *widget : QApplication::allWidgets()) {
		QString of = widget->accessibleDescription();

		if (widget->isVisible() && qobject_cast<QLabel *>(widget) && of.contains(" ns to "))
			return of + "\n";
	}
	return QString();
}

/** clipboard: what has been copied, if it is text */
QString clipboard()
{
	QString text = QApplication::clipboard()->text();

	return text.isEmpty() || text.endsWith('\n') ? text : text + "\n";
}

/** pid: of KernelShark itself, not of the program that started it */
QString pid()
{
	return QString("%1\n").arg(getpid());
}

/** What can be asked for without a number. */
const struct {
	const char	*name;
	QString		(*answer)();
} questions[] = {
	{ "windows", windows },
	{ "widgets", widgets },
	{ "actions", actions },
	{ "items", items },
	{ "cells", cells },
	{ "sections", sections },
	{ "choices", choices },
	{ "clipboard", clipboard },
	{ "font", font },
	{ "frames", frames },
	{ "graphs", graphs },
	{ "window", window },
	{ "header", header },
	{ "count", count },
	{ "pid", pid },
	{ "scrolled", scrolled },
	{ "selected", selected },
	{ "shown", shown },
	{ "up", up },
};

QString ask(const QString &name)
{
	for (const auto &question : questions)
		if (name == question.name)
			return question.answer();
	return "no such command: " + name + "\n";
}

bool fits(const QString &text, const QString &glob)
{
	return fnmatch(glob.toUtf8(), text.toUtf8(), 0) == 0;
}

/** find COMMAND<tab>CLASS<tab>TEXT: x y w h state of the first of its lines that fits both globs */
QString find(const QString &what)
{
	QStringList word = what.split('\t');

	if (word.size() != 3)
		return "no such command: find " + what + "\n";
	for (const QString &line : ask(word[0]).split('\n')) {
		QStringList field = line.split('\t');

		if (word[0] == "items")
			field.prepend("-");	/* these have no class */
		if (field.size() >= 7 && fits(field[0], word[1]) && fits(field[1], word[2]))
			return field.mid(2, 5).join(' ') + "\n";
	}
	return QString();
}

QString answer(const QString &line)
{
	QStringList word = line.split(' ');

	if (word[0] == "find")
		return find(line.mid(5));
	if (word[0] == "markup")
		return markup(line.mid(7));
	if (word[0] == "rows")
		return rows(word.value(1).toLong(), word.value(2).toLong(),
			    word.value(3).toInt());
	if (word[0] == "widths")
		return widths(word.value(1) == "own");
	if (word[0] == "of")
		return of(word.value(1), word.value(2).toLong(), word.value(3).toInt());
	if (word[0] == "mouse")
		return mouse.report();
	if (word[0] == "round")
		return rounds.report();
	if (word[0] == "threads")
		return painter.report();
	return ask(line);
}

/** The file of that name beside the FIFOs. */
std::string beside(const char *name)
{
	const char *directory = getenv("KSV_PROBE");

	return std::string(directory ? directory : "/nowhere") + "/" + name;
}

/** Is the code at this address plugin-virt's? KernelShark itself reads files, too. */
bool is_of_dock(const void *code)
{
	Dl_info info;

	return dladdr(code, &info) && info.dli_fname && strstr(info.dli_fname, "plugin-virt.so");
}

void obey(const std::string &line)
{
	const std::string said = std::string(getenv("KSV_PROBE")) + "/probe.said";
	QByteArray text = answer(QString::fromStdString(line)).toUtf8();
	FILE *file = fopen((said + ".new").c_str(), "w");

	if (!file)
		return;
	fwrite(text.constData(), 1, text.size(), file);
	fclose(file);
	/* a reader may still have the last answer open */
	if (rename((said + ".new").c_str(), said.c_str()) || write(answer_fd, ".\n", 2) < 0)
		perror("KSV_PROBE");
}

void listen(int fd)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));
	size_t end;

	if (n > 0)
		command.append(buf, n);
	while ((end = command.find('\n')) != std::string::npos) {
		std::string line = command.substr(0, end);

		command.erase(0, end + 1);
		obey(line);
	}
}

void start()
{
	const char *directory = getenv("KSV_PROBE");
	int ask;

	unsetenv("LD_PRELOAD");
	if (!directory)
		return;
	/* both ways, so that opening never waits and there is never an end of file */
	const std::string name = std::string(directory) + "/probe.";

	ask = open((name + "ask").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	answer_fd = open((name + "answer").c_str(), O_RDWR | O_CLOEXEC);
	if (ask < 0 || answer_fd < 0) {
		perror("KSV_PROBE");
		return;
	}
	qApp->installEventFilter(&mouse);
	qApp->installEventFilter(&painter);
	rounds.follow(QAbstractEventDispatcher::instance());
	auto notifier = new QSocketNotifier(ask, QSocketNotifier::Read, qApp);

	QObject::connect(notifier, &QSocketNotifier::activated, qApp, [ask] { listen(ask); });
}

} // namespace

/** As long as there is a file of this name, this waits. The file "held" shows that it does. */
static void hold(const char *name)
{
	FILE *held = nullptr;

	while (!access(beside(name).c_str(), F_OK)) {
		if (!held)
			held = fopen(beside("held").c_str(), "w");
		usleep(2000);
	}
	if (held)
		fclose(held);
}

/**
 * plugin-virt has another program read a trace.dat. It waits while there is a file "hold", so that
 * a test can do something else while the dock works. If there is a file "crash", that program
 * crashes.
 */
extern "C" int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const argv[],
			   char *const envp[])
{
	void *symbol = dlsym(RTLD_NEXT, "posix_spawn");
	bool ours = is_of_dock(__builtin_return_address(0));
	decltype(&posix_spawn) real;
	int ret;

	memcpy(&real, &symbol, sizeof(real));
	if (ours)
		hold("hold");
	ret = real(pid, path, actions, attributes, argv, envp);
	if (ours && !ret && !access(beside("crash").c_str(), F_OK))
		kill(*pid, SIGSEGV);
	return ret;
}

/** KernelShark draws its graphs. */
extern "C" void _ZN10KsGLWidget7paintGLEv(QWidget *graphs)
{
	void *symbol = dlsym(RTLD_NEXT, "_ZN10KsGLWidget7paintGLEv");
	decltype(&_ZN10KsGLWidget7paintGLEv) real;

	memcpy(&real, &symbol, sizeof(real));
	n_frames++;
	real(graphs);
}

/** KernelShark appends a file in a thread, which waits while there is a file "hold_append". */
extern "C" ssize_t kshark_append_all_entries(struct kshark_context *kshark,
					     struct kshark_entry **rows, ssize_t n, int first,
					     struct kshark_entry ***merged)
{
	void *symbol = dlsym(RTLD_NEXT, "kshark_append_all_entries");
	decltype(&kshark_append_all_entries) real;

	memcpy(&real, &symbol, sizeof(real));
	hold("hold_append");
	return real(kshark, rows, n, first, merged);
}

Q_COREAPP_STARTUP_FUNCTION(start)
