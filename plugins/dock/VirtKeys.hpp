/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtKeys.hpp
 * @brief	Keys that move through a trace, in KernelShark's window.
 */
#ifndef KSHARK_VIRT_VIRTKEYS_HPP
#define KSHARK_VIRT_VIRTKEYS_HPP

#include <functional>

#include <QMainWindow>
#include <QObject>

class QAction;
class VirtDock;

class VirtKeys : public QObject {
public:
	VirtKeys(QMainWindow *window, VirtDock *dock);

	/** A menu's entry that lists the keys. */
	QAction *action() const { return _action; }

private:
	void add(const QString &keys, const std::function<void()> &what);
	void zoom(double factor);
	void pan(double part);
	void zoomToSelection();
	void list();

	QMainWindow	*_window;
	VirtDock	*_dock;
	QAction		*_action;
};

#endif
