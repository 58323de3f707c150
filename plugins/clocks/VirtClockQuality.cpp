// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtClockQuality.cpp
 * @brief	The dock's part about clocks: how well guests' clocks fit, what is wrong, and what
 *		would fit.
 */
#include <algorithm>

#include <QDebug>

#include <libkshark.h>

#include "VirtClockJobs.hpp"
#include "VirtClockStreams.hpp"
#include "VirtClocks.hpp"
#include "VirtKs.hpp"
#include "ks_stream.h"
#include "virt_irqs.h"
#include "virt_pairing.h"

using namespace VirtClockStreams;

namespace {

constexpr int DIGITS = 3;		/* of percentages */
constexpr uint64_t STRAY_SHARE = 100;	/* at the ends of a trace, 1 in this is nothing */

} // namespace

/** Say of all streams what must not be overseen; once, until it changes. */
void VirtClocks::warn()
{
	std::vector<VirtWarning> warnings;
	QStringList texts;

	for (const auto &entry : _known) {
		if (!entry.second.bad || !streamOf(entry.first))
			continue;
		warnings.push_back({ virtFileOf(entry.first) + ": " + entry.second.quality,
				     entry.second.offer.empty() ? "" : "Use this pairing",
				     [this, id = entry.first] { takeOffers(id); } });
		texts << warnings.back().text;
	}
	if (texts == _warned)
		return;
	_warned = texts;
	_warn(warnings);
}

/** Judge the next pair that has not been judged as it is now. */
void VirtClocks::judgeNext()
{
	for (auto &entry : _known) {
		int id = entry.first, host = pairedHostOf(id);
		VirtModelRef model(host == VIRT_NONE ? -1 : host);
		Known &known = entry.second;
		Parts state = virtClockParts(id);

		if (_judging)
			return;
		/* what is made of the host's trace has its clock */
		if (!model || !insideOf(id).empty()) {
			known.quality.clear();
			known.bad = false;
			known.offer.clear();
			_deliveries.judged(id, false);
			continue;
		}
		state.push_back(host);
		state.push_back(ks_stream_offset(host));
		state.push_back(static_cast<int64_t>(model.serial()));
		state.push_back(static_cast<int64_t>(virt_pairing_serial()));
		state.push_back(static_cast<int64_t>(_histo->data_size));
		if (state == known.judged)
			continue;
		known.judged = state;
		judge(id, host, model);
	}
}

void VirtClocks::judge(int streamId, int host, const VirtModelRef &model)
{
	auto job = std::make_shared<Judge>();
	kshark_data_stream *stream = streamOf(streamId);
	virt_pair pair;

	job->streamId = streamId;
	job->host = host;
	job->offset = -ks_stream_offset(host);
	job->model = model;
	job->times.resize(static_cast<size_t>(std::max(stream->n_cpus, 0)));
	for (int cpu = 0; cpu < stream->n_cpus; cpu++) {
		bool known = virt_pairing_of_cpu(streamId, cpu, &pair) && pair.host_stream == host;

		job->cpus.push_back({ known ? virt_model_find_vcpu(model.get(), pair.host_pid) :
				      VIRT_NONE, nullptr, 0 });
	}
	for (size_t i = 0; i < _histo->data_size; i++) {
		const kshark_entry *row = _histo->data[i];

		if (row->stream_id == streamId && row->event_id != KS_EVENT_OVERFLOW &&
		    row->cpu >= 0 && row->cpu < stream->n_cpus)
			job->times[static_cast<size_t>(row->cpu)].push_back(row->ts);
	}
	_judging = job;
	_worker.start(job, [this, job] { adoptQuality(job); });
}

/** Other vCPUs that explain the rows of a guest. Return: what is said about them. */
QString VirtClocks::adoptOffer(const Judge &job, std::vector<virt_pair> &offer) const
{
	const virt_model *model = job.model.get();
	char text[512];

	for (size_t cpu = 0; cpu < job.otherVcpus.size(); cpu++) {
		const virt_vcpu *vcpu = virt_model_vcpu(model, job.otherVcpus[cpu]);

		if (!vcpu)
			continue;
		offer.push_back({ job.host, vcpu->host_pid, job.streamId, static_cast<int32_t>(cpu),
				  VIRT_PAIR_CHOSEN });
	}
	align_pairing_text(model, job.machine(), &job.other,
			   static_cast<int32_t>(job.otherVcpus.size()), text, sizeof(text));
	return QString("It is paired with %1, %2 % against %3 %").arg(virtShown(text),
		QString::number(job.other.alignment.explained_percent, 'f', DIGITS),
		QString::number(job.alignment.explained_percent, 'f', DIGITS));
}

/** Pair a guest with what explains its rows; so all others of its host: two may be swapped. */
void VirtClocks::takeOffers(int streamId)
{
	if (!_known.count(streamId) || _known[streamId].offer.empty() || virtMustWait())
		return;

	int host = _known[streamId].offer.front().host_stream;

	for (const auto &entry : _known)
		for (const virt_pair &pair : entry.second.offer)
			if (pair.host_stream == host && virt_pairing_set(&pair))
				qWarning("kshark-virt: a pair could not be set");
	virtRedrawGraphs(_window);
	_timer.start(LOOK_MS);
}

void VirtClocks::adoptQuality(const std::shared_ptr<Judge> &job)
{
	const virt_clock_alignment &found = job->alignment;
	auto known = _known.find(job->streamId);
	uint64_t judged = found.inside + found.outside;

	_judging.reset();
	_timer.start(LOOK_MS);
	if (known == _known.end())
		return;

	QString before = known->second.quality;

	known->second.offer.clear();
	_deliveries.judged(job->streamId, !job->ret && virt_irqs_is_aligned(&found));
	known->second.bad = !job->ret && (!judged || found.explained_percent <
						       VIRT_CLOCK_DOUBT_PERCENT);
	if (job->ret || !judged)
		known->second.quality = "No overlap in time with the host's trace. Align its clock";
	else if (known->second.bad && job->hasOther)
		known->second.quality = adoptOffer(*job, known->second.offer);
	else if (known->second.bad)
		known->second.quality = QString("Its clock is wrong: only %1 % of its %2 events"
						" fall while the guest was running, and one is"
						" %3 outside. Align it")
			.arg(found.explained_percent, 0, 'f', DIGITS).arg(judged)
			.arg(virtDuration(found.worst));
	else
		known->second.quality = QString("%1 events fall while the guest was running%2%3")
			.arg(found.outside ? QString("%1 % of its %2")
			     .arg(found.explained_percent, 0, 'f', DIGITS).arg(judged) :
			     QString("All %1").arg(judged))
			.arg(!found.worst ? QString() :
			     QString("; one is %1 outside").arg(virtDuration(found.worst)))
			.arg(found.unknown <= judged / STRAY_SHARE ? QString() :
			     QString("; %1 more could not be checked").arg(found.unknown));
	if (known->second.bad && known->second.quality != before)
		qWarning().noquote() << "kshark-virt:" << virtFileOf(job->streamId) + ":"
				     << known->second.quality;
	showStream();
}
