/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtNotes.hpp
 * @brief	The dock's warnings about files: damaged ones, and ones that changed after they were
 *		loaded.
 */
#ifndef KSHARK_VIRT_VIRTNOTES_HPP
#define KSHARK_VIRT_VIRTNOTES_HPP

#include <vector>

#include <QMainWindow>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include "VirtKs.hpp"
#include "VirtWarning.hpp"

class QLabel;
class QPushButton;
class QVBoxLayout;

/** Seen only if there is something to be said. */
class VirtNotes : public QWidget {
public:
	explicit VirtNotes(QMainWindow *window);

	/**
	 * Whether files are open, but none shows virtual machines: the notes say what to record.
	 * The window's status bar says where they are, as the dock does not come by itself then.
	 */
	void setNothingVirtual(bool nothing);

	/** What the models of the open files know about these. */
	void setModels(const std::vector<VirtStream> &streams);

	/** What is wrong with a session; empty: nothing is. */
	void setSession(const QString &problem);

	/**
	 * Show these warnings, in this order, instead of the last ones. Those that stay keep their
	 * buttons, one of which may be pressed at this moment.
	 */
	void setWarnings(const std::vector<VirtWarning> &warnings);

private:
	class Row;

	void look();
	void showOrHide();
	void reload();

	QMainWindow	*_window;
	QLabel		*_text;
	QWidget		*_lines;		/* shows it */
	QLabel		*_nothing;
	QStringList	_facts;			/* of models */
	QString		_session;		/* what is wrong with it */
	QLabel		*_status = nullptr;	/* in the status bar, from its first use on */
	QPushButton	*_reload;
	QVBoxLayout	*_layout;
	std::vector<Row *>	_warnings;	/* of others */
	QTimer		_timer;
};

#endif
