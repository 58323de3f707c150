// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtHostStrip.cpp
 * @brief	Curves of what hosts' kernels counted while they were recorded.
 */
#include <algorithm>
#include <cmath>

#include <QFileInfo>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "VirtHostStrip.hpp"

namespace {

constexpr int HEIGHT = 18, MARGIN = 1;	/* of a host; above and below its columns */
constexpr int SPACE = 4;

struct Kind {
	host_sample_number	number;
	const char		*name;
	int			color;
};

constexpr Kind kinds[] = {
#define KIND(number, kind)	{ HOST_SAMPLE_##number, kind, HOST_COLOR_##number },
	HOST_SAMPLE_CPU(KIND)
#undef KIND
};

QString gigabytes(int64_t bytes)
{
	return QString::number(static_cast<double>(bytes) / 1e9, 'f', 1) + " GB";
}

} // namespace

VirtHostStrip::VirtHostStrip(QWidget *parent)
: QWidget(parent)
{
	setAccessibleName("Samples of the host");
	setVisible(false);
}

bool VirtHostStrip::load(const std::vector<VirtStream> &streams)
{
	size_t n = _hosts.size();
	kshark_context *kshark = nullptr;
	/* asked with a context, KernelShark would make a new one */
	bool isThere = kshark_instance(&kshark);

	_hosts.clear();
	for (const VirtStream &stream : streams) {
		const kshark_data_stream *data = isThere ?
			kshark_get_data_stream(kshark, stream.id) : nullptr;
		Host host = { stream.offset, QString(), {} };

		host.samples.reset(new host_samples());
		/* without samples, there is nothing to show: only record writes them */
		if (!data || !data->file || host_samples_read(host.samples.get(), data->file) ||
		    !host.samples->n)
			continue;
		host.name = virtShown(QFileInfo(data->file).fileName());
		_hosts.push_back(std::move(host));
	}
	setVisible(!_hosts.empty());
	return n != _hosts.size();
}

void VirtHostStrip::follow(int64_t from, int64_t to, int left, int columns)
{
	_from = from;
	_to = to;
	_left = left;
	_columns = columns;
	update();
}

int VirtHostStrip::fullHeight() const
{
	return HEIGHT * static_cast<int>(_hosts.size());
}

/* ---- drawing ---- */

void VirtHostStrip::paintHost(QPainter *painter, const Host &host, const QRect &area) const
{
	double length = static_cast<double>(_to - _from) / _columns;
	int last = -1;

	for (int c = 0; c < _columns; c++) {
		int64_t from = _from - host.offset + static_cast<int64_t>(c * length);
		int64_t to = _from - host.offset + static_cast<int64_t>((c + 1) * length);
		const host_sample *sample = host_samples_held(host.samples.get(), from);
		host_sample_sums sums;
		int64_t all, sum = 0;
		int y = area.bottom() + 1;

		host_samples_sum(host.samples.get(), from, std::max(to, from + 1), &sums);
		all = host_samples_cpu_ns(&sums);
		for (const Kind &kind : kinds) {
			if (all <= 0)
				break;
			sum += sums.counts[kind.number];

			/* edges are rounded, not parts: no part is lost */
			int edge = area.bottom() + 1 - static_cast<int>(sum * area.height() / all);
			virt_color color = host_cpu_color(kind.color);

			painter->fillRect(area.left() + c, edge, 1, y - edge,
					  QColor(color.red, color.green, color.blue));
			y = edge;
		}
		if (all <= 0 || !sample || sample->numbers[HOST_SAMPLE_MEMORY] <= 0 ||
		    sample->numbers[HOST_SAMPLE_AVAILABLE] < 0) {
			last = -1;
			continue;
		}

		double free = static_cast<double>(sample->numbers[HOST_SAMPLE_AVAILABLE]) /
			      static_cast<double>(sample->numbers[HOST_SAMPLE_MEMORY]);
		int line = area.top() + static_cast<int>(std::clamp(free, 0.0, 1.0) *
							 (area.height() - 1));

		painter->fillRect(area.left() + c, last < 0 ? line : std::min(line, last), 1,
				  last < 0 ? 1 : std::abs(line - last) + 1, Qt::black);
		last = line;
	}
}

void VirtHostStrip::paintEvent(QPaintEvent *)
{
	QPainter painter(this);

	painter.fillRect(rect(), Qt::white);
	for (size_t i = 0; i < _hosts.size() && _to > _from; i++) {
		int y = HEIGHT * static_cast<int>(i);
		QRect name(SPACE, y, _left - 2 * SPACE, HEIGHT);
		QString text = _hosts.size() > 1 ? "CPU, memory of " + _hosts[i].name :
			       QString("CPU, memory");

		painter.setPen(Qt::black);
		painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
				 fontMetrics().elidedText(text, Qt::ElideRight, name.width()));
		paintHost(&painter, _hosts[i],
			  QRect(_left, y + MARGIN, _columns, HEIGHT - 2 * MARGIN));
	}
}

/* ---- the mouse ---- */

/** Between the two samples that a time is in. */
QString VirtHostStrip::tip(const Host &host, int64_t ns) const
{
	const host_sample *sample = host_samples_held(host.samples.get(), ns);
	const host_sample *next = sample ? sample + 1 : nullptr;
	host_sample_sums sums;
	QStringList lines;

	if (!sample)
		return "No samples of the host's counters";
	host_samples_sum(host.samples.get(), sample->time_ns, next->time_ns, &sums);
	for (const Kind &kind : kinds) {
		auto all = static_cast<double>(host_samples_cpu_ns(&sums));
		auto part = static_cast<double>(sums.counts[kind.number]);

		if (all > 0 && part > 0)
			lines << QString("%1 %2 %").arg(kind.name).arg(100 * part / all, 0, 'f', 1);
	}

	QString text = "pCPUs of the host: " + lines.join(", ");
	const int64_t *numbers = sample->numbers;
	int64_t memory = numbers[HOST_SAMPLE_MEMORY], free = numbers[HOST_SAMPLE_AVAILABLE];

	if (memory > 0 && free >= 0)
		text += QString("\nUsed memory (line): %1 of %2").arg(gigabytes(memory - free))
			.arg(gigabytes(memory));
	if (numbers[HOST_SAMPLE_RUNNABLE] >= 0)
		text += QString("\nRunnable tasks: %1").arg(numbers[HOST_SAMPLE_RUNNABLE]);
	if (numbers[HOST_SAMPLE_BLOCKED] >= 0)
		text += QString(", blocked by disks: %1").arg(numbers[HOST_SAMPLE_BLOCKED]);
	if (sums.counts[HOST_SAMPLE_SWITCHES] >= 0)
		text += QString("\nContext switches: %1 in %2 s").arg(
			sums.counts[HOST_SAMPLE_SWITCHES]).arg(
			static_cast<double>(next->time_ns - sample->time_ns) / 1e9, 0, 'f', 2);
	return text;
}

bool VirtHostStrip::event(QEvent *event)
{
	if (event->type() != QEvent::ToolTip || !_columns)
		return QWidget::event(event);

	auto help = static_cast<QHelpEvent *>(event);
	auto host = static_cast<size_t>(std::max(0, help->pos().y() / HEIGHT));
	double part = static_cast<double>(help->pos().x() - _left) / _columns;
	int64_t ns = _from + static_cast<int64_t>(part * static_cast<double>(_to - _from));

	if (host < _hosts.size())
		QToolTip::showText(help->globalPos(), virtTip(
			part < 0 || part >= 1 ? QString("The time of the host's pCPUs by kind, and"
							" its used memory (line), by samples of its"
							" kernel's counters") :
			tip(_hosts[host], ns - _hosts[host].offset)), this);
	return true;
}
