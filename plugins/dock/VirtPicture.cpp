// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtPicture.cpp
 * @brief	Save the graphs as a picture in a file.
 *
 * A PNG shows the visible graphs, with the dock's own legend below them. An SVG of the same would
 * only wrap these pixels, so the SVG is the figure of "kshark-virt plot", of the same time.
 */
#include <algorithm>
#include <cstring>

#include <QBuffer>
#include <QFile>
#include <QFileDialog>
#include <QImage>
#include <QLabel>
#include <QMessageBox>
#include <QOpenGLWidget>
#include <QPainter>
#include <QVBoxLayout>

#include "VirtDock.hpp"
#include "VirtLegend.hpp"
#include "VirtPicture.hpp"
#include "virt_figure.h"
#include "whole_file.h"

namespace {

constexpr int MARGIN = 8;
constexpr int LEAST_WIDTH = 800;	/* of a figure: names take some of it */
constexpr const char *PNG = "Graphs as they are seen (*.png)";
constexpr const char *SVG = "Figure of the vCPUs, as of kshark-virt plot (*.svg)";

/** Whole, or as it was before. Return: 0 or a negative errno. */
int writeWhole(const QByteArray &path, const QByteArray &data)
{
	whole_file file;
	int ret = whole_file_open(&file, path.constData(), false);

	if (ret)
		return ret;
	ret = whole_file_write(&file, data.constData(), static_cast<size_t>(data.size()));
	if (!ret)
		return whole_file_commit(&file);
	whole_file_discard(&file);
	return ret;
}

/** The legend of the dock, as wide as the graphs. */
QImage legend(int width, const QString &heading)
{
	QWidget box;
	auto layout = new QVBoxLayout(&box);
	auto head = new QLabel;

	head->setTextFormat(Qt::PlainText);
	head->setText(heading);
	virtWrapLabel(head);
	layout->setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN);
	layout->addWidget(head);
	layout->addWidget(virtStateLegend());
	layout->addWidget(virtExitLegend());
	box.setStyleSheet("background: white; color: black;");
	box.resize(width, layout->heightForWidth(width));

	QImage image(box.size(), QImage::Format_RGB32);

	image.fill(Qt::white);
	box.render(&image);
	return image;
}

} // namespace

void VirtFigureJob::work()
{
	const virt_figure figure = {
		model.get(), from, to, vcpus.get(), width, title.constData(),
	};
	char text[512];

	if (virt_figure_write(&figure, path.constData(), text, sizeof(text)))
		error = virtShown(text);
}

VirtPicture::VirtPicture(QMainWindow *window, VirtDock *dock)
: QObject(dock),
  _window(window),
  _dock(dock),
  _worker(this)
{
}

VirtPicture::~VirtPicture()
{
	_worker.finish();
}

void VirtPicture::save(int stream)
{
	QString filter, name = virtFileOf(stream), file;
	bool isFigure;

	if (virtMustWait() || _dock->view().isEmpty())
		return;
	file = QFileDialog::getSaveFileName(_window, "Save picture", name + ".png",
					    QString(PNG) + ";;" + SVG, &filter,
					    QFileDialog::DontUseNativeDialog);
	if (file.isEmpty())
		return;
	isFigure = file.endsWith(".svg", Qt::CaseInsensitive);
	if (!isFigure && !file.endsWith(".png", Qt::CaseInsensitive)) {
		isFigure = filter == SVG;
		file += isFigure ? ".svg" : ".png";
		/* the dialog has asked for the name without it */
		if (QFile::exists(file) && !mayReplace(file))
			return;
	}

	QByteArray path = file.toLocal8Bit();

	if (!isFigure) {
		complain(writeGraphs(path));
		return;
	}
	/* a stream that has been closed since has no figure */
	for (const VirtStream &open : virtStreams())
		if (open.id == stream) {
			writeFigure(open, path);
			return;
		}
	complain("No open trace has vCPUs, so there is no figure to draw");
}

bool VirtPicture::mayReplace(const QString &file)
{
	QMessageBox box(QMessageBox::Question, "Save picture", QString(),
			QMessageBox::Yes | QMessageBox::No, _window);

	box.setTextFormat(Qt::PlainText);
	box.setText(virtShown(file.toLocal8Bit().constData()) +
		    " already exists. Do you want to replace it?");
	box.setDefaultButton(QMessageBox::No);
	return box.exec() == QMessageBox::Yes;
}

void VirtPicture::complain(const QString &error)
{
	QMessageBox box(QMessageBox::Warning, "Save picture", QString(), QMessageBox::Ok, _window);

	if (error.isEmpty())
		return;
	box.setTextFormat(Qt::PlainText);
	box.setText(error);
	box.exec();
}

/* ---- as it is seen ---- */

QString VirtPicture::heading() const
{
	auto [from, to] = _dock->view().visible();
	QStringList files;

	for (int stream : virtOpenStreams())
		files << virtFileOf(stream);
	return files.join(", ") + ": " + _dock->view().span(from, to);
}

/** All graphs, those that one would have to scroll to as well. */
QImage VirtPicture::graphs() const
{
	auto widget = qobject_cast<QOpenGLWidget *>(virtChild(_window, "KsGLWidget"));
	QImage image = widget ? widget->grabFramebuffer() : QImage();

	/* OpenGL has mixed the colours, and the window shows them whatever it thinks of opacity */
	image.setDevicePixelRatio(1);
	return image.depth() == 32 && image.reinterpretAsFormat(QImage::Format_RGB32) ?
	       image : image.convertToFormat(QImage::Format_RGB32);
}

QString VirtPicture::writeGraphs(const QByteArray &path) const
{
	QImage above = graphs(), below;
	QByteArray data;
	QBuffer buffer(&data);
	int ret;

	if (above.isNull())
		return "There are no graphs";
	below = legend(above.width(), heading());

	QImage all(above.width(), above.height() + below.height(), QImage::Format_RGB32);

	if (all.isNull())
		return "The picture is too large";

	QPainter painter(&all);

	painter.drawImage(0, 0, above);
	painter.drawImage(0, above.height(), below);
	painter.end();
	buffer.open(QIODevice::WriteOnly);
	if (!all.save(&buffer, "PNG"))
		return "The picture cannot be made";
	ret = writeWhole(path, data);
	return ret ? virtShown(path.constData()) + ": cannot write: " +
		     QString::fromLocal8Bit(strerror(-ret)) : QString();
}

/* ---- a figure ---- */

void VirtPicture::writeFigure(const VirtStream &stream, const QByteArray &path)
{
	auto job = std::make_shared<VirtFigureJob>();
	const virt_model *model = stream.model.get();
	QWidget *widget = virtChild(_window, "KsGLWidget");
	auto [from, to] = _dock->view().visible();
	int32_t n = virt_model_n_vcpus(model);
	bool isAny = false;

	job->model = stream.model;
	job->from = from - stream.offset;
	job->to = to - stream.offset;
	job->path = path;
	job->title = virtPathOf(stream.id);
	job->title = job->title.mid(job->title.lastIndexOf('/') + 1);
	job->width = std::max(widget ? widget->width() : 0, LEAST_WIDTH);
	job->vcpus.reset(new bool[static_cast<size_t>(n) + 1]());
	/* those whose graphs are seen; without any, all */
	for (int32_t i = 0; i < n; i++) {
		job->vcpus[i] = _dock->plots().isShown(stream.id,
						       virt_model_vcpu(model, i)->host_pid);
		isAny |= job->vcpus[i];
	}
	for (int32_t i = 0; i < n && !isAny; i++)
		job->vcpus[i] = true;
	_worker.start(job, [this, job] { complain(job->error); });
}
