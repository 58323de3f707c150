/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLoaded.hpp
 * @brief	Show which window of a large file is loaded, with buttons to load another window.
 */
#ifndef KSHARK_VIRT_VIRTLOADED_HPP
#define KSHARK_VIRT_VIRTLOADED_HPP

#include <cstdint>
#include <vector>

#include <QByteArray>
#include <QMainWindow>
#include <QTimer>
#include <QWidget>

class QPushButton;
class QVBoxLayout;
class VirtDock;

/** Visible only if there is such a stream; then the title of KernelShark's window says so, too. */
class VirtLoaded : public QWidget {
public:
	VirtLoaded(QMainWindow *window, VirtDock *dock);

private:
	/** A stream that is a window. */
	struct Part {
		int		stream;
		QByteArray	path;	/* of what stands for it */
		QString		text;	/* name of the trace, and which part it is */
	};

	void look();
	void list(const std::vector<Part> &parts);
	void addPart(const Part &part);
	void entitle();
	QPushButton *button(const Part &part, const char *text, const char *tip, int by);
	void enable();
	void move(const Part &part, int by);
	void load(const Part &part, int64_t from, int64_t to);
	void say(const QString &text);

	QMainWindow		*_window;
	VirtDock		*_dock;		/* knows where the markers are */
	QVBoxLayout		*_layout;
	std::vector<Part>	_parts;
	std::vector<QWidget *>	_rows;
	std::vector<QPushButton *>	_toMarkers;
	QString			_title, _kernelShark;	/* ours, and its own title */
	QTimer			_timer;
};

#endif
