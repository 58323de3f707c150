/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTables.hpp
 * @brief	The dock's page with the tables of "kshark-virt report": tasks, disks, locks ...
 *
 * The command reads the trace and makes the tables, so that the window shows what it prints. It
 * runs as long as it takes; another window or table ends it.
 */
#ifndef KSHARK_VIRT_VIRTTABLES_HPP
#define KSHARK_VIRT_VIRTTABLES_HPP

#include <functional>
#include <unistd.h>
#include <vector>

#include <QByteArray>
#include <QProcess>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include "VirtFindings.hpp"

class QComboBox;
class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

class VirtTables : public QWidget {
public:
	/** @chosen: stream and pid of a row that was clicked */
	explicit VirtTables(std::function<void(int, int)> chosen);
	~VirtTables() override;

	/** Show the table of this window, unless it is shown. */
	void follow(const VirtListed &listed);

	/** Let go of what was read; end the command that reads. */
	void forget();

	/** The command line that prints what is shown; empty: there is nothing. */
	QString command() const;

	/** What the command has printed. */
	QString asCsv() const { return QString::fromUtf8(_text); }
	bool isShown() const { return !_text.isEmpty(); }

private:
	struct Column;

	/** A group of processes that end together. */
	class Process : public QProcess {
	public:
		Process();
		void end();

#if QT_VERSION < QT_VERSION_CHECK(6, 0, 0)
	protected:
		void setupChildProcess() override { setpgid(0, 0); }
#endif
	};

	QString commandWith(const QString &options) const;
	void look();
	void start();
	void stop();
	void take();
	void finish(int status);
	void fill();
	static void fillTask(const QStringList &titles, const QStringList &cells,
			     QTreeWidgetItem *item);
	void fillRow(const std::vector<Column> &columns, const QStringList &cells,
		     QTreeWidgetItem *item) const;

	std::function<void(int, int)> _chosen;
	QComboBox	*_which;
	QLabel		*_head;
	QTreeWidget	*_list;
	VirtListed	_listed = {};
	QTimer		_timer;
	Process		_process;
	QString		_running, _read;	/* commands: that runs, whose text there is */
	QByteArray	_arriving, _text;
};

#endif
