/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtNotes.hpp
 * @brief	The dock's warnings about files: damaged, or not what was loaded any more.
 */
#ifndef KSHARK_VIRT_VIRTNOTES_HPP
#define KSHARK_VIRT_VIRTNOTES_HPP

#include <QMainWindow>
#include <QTimer>
#include <QWidget>

class QLabel;
class QPushButton;

/** Seen only if there is something to be said. */
class VirtNotes : public QWidget {
public:
	explicit VirtNotes(QMainWindow *window);

private:
	void look();
	void reload();

	QMainWindow	*_window;
	QLabel		*_text;
	QPushButton	*_reload;
	QTimer		_timer;
};

#endif
