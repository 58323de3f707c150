// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtTables.cpp
 * @brief	The dock's page with the tables of "kshark-virt report".
 */
#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <unistd.h>

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProcessEnvironment>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtCommand.hpp"
#include "VirtList.hpp"
#include "VirtTables.hpp"
#include "view_state.h"

namespace {

constexpr int WAIT_MS = 300;		/* the user may go on zooming */
constexpr int MOST_BYTES = 32 << 20;
constexpr int MOST_ROWS = 5000;
constexpr int NOT_FOUND = 127;		/* how a shell ends without the command */
constexpr int MOST_WIDTH = 420;		/* pixels of a column */

/** The tables, and the option of "report" that prints each. */
const struct {
	const char	*title, *option;
} tables[] = {
	{ "Tasks", " --tasks" },
	{ "Threads of VMs", " --threads" },
	{ "Disks", " --disks" },
	{ "Files", " --files" },
	{ "Locks", " --locks" },
	{ "Counters", " --counters" },
	{ "Events", " --events" },
	{ "Waits", " --waits" },
	{ "Interrupt handlers", " --handlers" },
	{ "Migrations", " --migrations" },
	{ "Idle states", " --power" },
	{ "Over time", " --over-time" },
};

enum { ROLE_NUMBER = Qt::UserRole, ROLE_STREAM, ROLE_PID };

/** Rows are sorted by numbers where there are numbers. */
class Item : public QTreeWidgetItem {
public:
	bool operator<(const QTreeWidgetItem &other) const override
	{
		int column = treeWidget()->sortColumn();
		QVariant a = data(column, ROLE_NUMBER), b = other.data(column, ROLE_NUMBER);

		if (a.isValid() != b.isValid())
			return b.isValid();
		return a.isValid() ? a.toDouble() < b.toDouble() :
				     text(column) < other.text(column);
	}
};

/** The next line of a CSV text from @at on, as cells; @at: after it. */
QStringList nextLine(const QString &text, int *at)
{
	QStringList cells(QString{});
	bool quoted = false;

	for (; *at < text.size(); ++*at) {
		QChar c = text[*at];

		if (c == '"') {
			/* within quotes, two of them stand for one */
			if (quoted && text.mid(*at + 1, 1) == "\"")
				cells.back() += text[++*at];
			else
				quoted = !quoted;
		} else if (c == ',' && !quoted) {
			cells << QString();
		} else if (c == '\n' && !quoted) {
			++*at;
			break;
		} else if (c != '\r' || quoted) {
			cells.back() += c;
		}
	}
	return cells;
}

/** A number, or one that is unknown. */
bool isNumber(const QString &cell)
{
	bool is = true;

	if (!cell.isEmpty())
		cell.toDouble(&is);
	return is;
}

QString titleOf(QString key)
{
	if (key.endsWith("_ns"))
		key.chop(3);
	return key.replace('_', ' ');
}

} // namespace

VirtTables::Process::Process()
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 0, 0)
	setChildProcessModifier([] { setpgid(0, 0); });
#endif
}

void VirtTables::Process::end()
{
	if (state() == NotRunning)
		return;
	/* the shell, and the command */
	if (processId() > 0)
		::kill(-static_cast<pid_t>(processId()), SIGKILL);
	kill();
	waitForFinished();
}

VirtTables::VirtTables(std::function<void(int, int)> chosen)
: _chosen(std::move(chosen)),
  _which(new QComboBox),
  _head(new QLabel),
  _list(new VirtList<QTreeWidget>)
{
	auto layout = new QVBoxLayout(this);
	auto head = new QHBoxLayout;

	for (const auto &table : tables)
		_which->addItem(table.title, QString(table.option));
	_which->setToolTip("Which table of kshark-virt report");
	_head->setTextFormat(Qt::PlainText);
	virtWrapLabel(_head);
	_list->setUniformRowHeights(true);
	_list->setAlternatingRowColors(true);
	_list->header()->setStretchLastSection(false);
	_list->setToolTip("Click a task: its graph");
	head->addWidget(_which);
	head->addWidget(_head, 1);
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_list, 1);
	_timer.setSingleShot(true);
	_timer.setInterval(WAIT_MS);
	connect(_which, QOverload<int>::of(&QComboBox::currentIndexChanged), this,
		[this] { look(); });
	connect(_list, &QTreeWidget::itemClicked, this, [this] (const QTreeWidgetItem *item) {
		QVariant pid = item->data(0, ROLE_PID);

		if (pid.isValid())
			_chosen(item->data(0, ROLE_STREAM).toInt(), pid.toInt());
	});
	connect(&_timer, &QTimer::timeout, this, [this] { start(); });
	connect(&_process, &QProcess::readyReadStandardOutput, this, [this] { take(); });
	connect(&_process, QOverload<int, QProcess::ExitStatus>::of(&QProcess::finished), this,
		[this] (int status, QProcess::ExitStatus how) {
			finish(how == QProcess::NormalExit ? status : -1);
		});
	connect(&_process, &QProcess::errorOccurred, this, [this] (QProcess::ProcessError error) {
		if (error == QProcess::FailedToStart)
			finish(NOT_FOUND);
	});
}

VirtTables::~VirtTables()
{
	stop();
}

QString VirtTables::commandWith(const QString &options) const
{
	return virtReportCommand(_listed.streams, _listed.from, _listed.to,
				 options + _which->currentData().toString(), VIRT_NONE);
}

QString VirtTables::command() const
{
	return commandWith(QString());
}

void VirtTables::follow(const VirtListed &listed)
{
	_listed = listed;
	look();
}

void VirtTables::forget()
{
	stop();
	_listed = {};
	_read.clear();
	_text.clear();
	_list->clear();
	_head->clear();
}

/** Read it, unless it is read or being read. */
void VirtTables::look()
{
	QString wanted = commandWith(" --quiet --format csv");

	if (wanted == (_running.isEmpty() ? _read : _running))
		return;
	stop();
	_running = wanted;
	if (wanted.isEmpty()) {
		_text.clear();
		_list->clear();
		_head->setText("No trace has records at this time");
		return;
	}
	_head->setText("Reading the trace");
	_timer.start();
}

/** Afterwards, nothing comes from a command that ran. */
void VirtTables::stop()
{
	const QSignalBlocker blocker(&_process);

	_timer.stop();
	_running.clear();
	_arriving.clear();
	_process.end();
}

void VirtTables::start()
{
	QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
	QString folder = QString::fromLocal8Bit(qgetenv(VIEW_FOLDER));

	/* the command that began KernelShark is of the same version as this plugin */
	if (!folder.isEmpty())
		variables.insert("PATH", folder + ':' + variables.value("PATH"));
	variables.insert("LC_ALL", "C.UTF-8");
	_process.setProcessEnvironment(variables);
	_process.setStandardInputFile(QProcess::nullDevice());
	/* one line for each host */
	_process.start("bash", { "-e", "-c", _running });
}

void VirtTables::take()
{
	_arriving += _process.readAllStandardOutput();
	if (_arriving.size() <= MOST_BYTES)
		return;
	stop();
	_head->setText(QString("More than %1 MB: choose a shorter time").arg(MOST_BYTES >> 20));
}

void VirtTables::finish(int status)
{
	QStringList said = QString::fromUtf8(_process.readAllStandardError())
			   .split('\n', Qt::SkipEmptyParts);

	_arriving += _process.readAllStandardOutput();
	_read = _running;
	_running.clear();
	_text.clear();
	_list->clear();
	if (status) {
		_head->setText(status == NOT_FOUND ?
				       QString("kshark-virt or bash is not in PATH: install them") :
			       said.isEmpty() ? QString("kshark-virt report failed") :
						virtShown(said.last()));
		_arriving.clear();
		return;
	}
	_text.swap(_arriving);
	fill();
}

/** Its place in the text, whether it has numbers, and these in ns. */
struct VirtTables::Column {
	int	at;
	bool	isNumber, isTime;
};

void VirtTables::fillRow(const std::vector<Column> &columns, const QStringList &cells,
			 QTreeWidgetItem *item) const
{
	for (size_t i = 0; i < columns.size(); i++) {
		const Column &column = columns[i];
		QString cell = cells.value(column.at);
		int to = static_cast<int>(i);

		if (!column.isNumber) {
			item->setText(to, virtShown(cell));
			continue;
		}
		item->setTextAlignment(to, Qt::AlignRight | Qt::AlignVCenter);
		if (!cell.isEmpty())
			item->setData(to, ROLE_NUMBER, cell.toDouble());
		item->setText(to, cell.isEmpty() ? "-" : !column.isTime ? cell :
						   virtDuration(cell.toLongLong()));
	}
}

/** Which task of which open file a row is about, if it is about one. */
void VirtTables::fillTask(const QStringList &titles, const QStringList &cells,
			  QTreeWidgetItem *item)
{
	int trace = static_cast<int>(titles.indexOf(titles.contains("trace") ? "trace" : "file"));
	int pid = cells.value(static_cast<int>(titles.indexOf("pid"))).toInt();
	QByteArray path = cells.value(trace).toUtf8();

	for (int id : virtOpenStreams()) {
		if (pid <= 0 || virtPathOf(id) != path)
			continue;
		item->setData(0, ROLE_STREAM, id);
		item->setData(0, ROLE_PID, pid);
	}
}

/** Columns that are empty in all rows, or are the same file in all, are left out. */
void VirtTables::fill()
{
	QString text = QString::fromUtf8(_text);
	std::map<QString, QTreeWidgetItem *> sections;
	std::vector<QStringList> rows;
	std::vector<Column> columns;
	QStringList shown;
	int at = 0;
	QStringList titles = nextLine(text, &at);
	int section = static_cast<int>(titles.indexOf("section"));

	while (at < text.size()) {
		rows.push_back(nextLine(text, &at));
		/* each host has a head of its own */
		if (rows.back() == titles)
			rows.pop_back();
	}
	for (int i = 0; i < titles.size(); i++) {
		std::set<QString> values;

		for (const QStringList &row : rows)
			values.insert(row.value(i));
		if (i == section || values.empty() ||
		    (values.size() == 1 && (values.begin()->isEmpty() || titles[i] == "file" ||
					    titles[i] == "trace")))
			continue;
		columns.push_back({ i, std::all_of(values.begin(), values.end(), isNumber),
				    titles[i].endsWith("_ns") });
		shown << titleOf(titles[i]);
	}
	_list->setUpdatesEnabled(false);
	_list->setSortingEnabled(false);
	_list->setColumnCount(std::max(1, static_cast<int>(shown.size())));
	_list->setHeaderLabels(shown.isEmpty() ? QStringList(QString()) : shown);
	for (size_t i = 0; i < std::min<size_t>(rows.size(), MOST_ROWS); i++) {
		QString name = section < 0 ? QString() : rows[i].value(section);
		QTreeWidgetItem *&above = sections[name];
		auto item = new Item;

		if (!above) {
			above = new Item;
			above->setText(0, section < 0 ? _which->currentText() : titleOf(name));
			above->setFirstColumnSpanned(true);
			_list->addTopLevelItem(above);
		}
		fillRow(columns, rows[i], item);
		fillTask(titles, rows[i], item);
		above->addChild(item);
	}
	_list->expandAll();
	for (int i = 0; i < _list->columnCount(); i++) {
		_list->resizeColumnToContents(i);
		_list->setColumnWidth(i, std::min(_list->columnWidth(i), MOST_WIDTH));
	}
	/* as printed, until a head is clicked */
	_list->header()->setSortIndicator(-1, Qt::DescendingOrder);
	_list->setSortingEnabled(true);
	_list->setUpdatesEnabled(true);
	_head->setText(rows.empty() ? QString("The trace has no records of this at this time") :
		       rows.size() > MOST_ROWS ?
			       QString("The first %1 of %2 rows").arg(MOST_ROWS).arg(rows.size()) :
			       QString(rows.size() == 1 ? "%1 row" : "%1 rows").arg(rows.size()));
}
