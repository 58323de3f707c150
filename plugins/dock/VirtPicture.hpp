/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtPicture.hpp
 * @brief	Save the graphs as a picture in a file: as they are visible, or as a figure.
 */
#ifndef KSHARK_VIRT_VIRTPICTURE_HPP
#define KSHARK_VIRT_VIRTPICTURE_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include <QObject>

#include "VirtKs.hpp"
#include "VirtWorker.hpp"

class VirtDock;

/** A figure of a trace, drawn in a thread. */
struct VirtFigureJob : VirtJob {
	VirtModelRef		model;
	int64_t			from = 0, to = 0;	/* the trace's own time */
	std::unique_ptr<bool[]>	vcpus;
	int			width = 0;
	QByteArray		path, title;
	QString			error;			/* empty: it has been written */

	void work() override;
};

class VirtPicture : public QObject {
public:
	VirtPicture(QMainWindow *window, VirtDock *dock);
	~VirtPicture() override;

	/** Ask for a file, and write to it. @stream: whose figure is drawn, in one */
	void save(int stream);

private:
	QString writeGraphs(const QByteArray &path) const;
	QImage graphs() const;
	QString heading() const;
	void writeFigure(const VirtStream &stream, const QByteArray &path);
	bool mayReplace(const QString &file);
	void complain(const QString &error);

	QMainWindow	*_window;
	VirtDock	*_dock;
	VirtWorker	_worker;
};

#endif
