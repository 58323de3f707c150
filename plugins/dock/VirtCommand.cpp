// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtCommand.cpp
 * @brief	Make the command lines of "kshark-virt report" and "kshark-virt why", and parts of
 *		others.
 */
#include <cstdlib>

#include <QStringList>

#include "VirtCommand.hpp"
#include "escape.h"
#include "ks_stream.h"

QString virtQuoted(const QByteArray &text)
{
	char *word = escape_shell_dup(text.constData());
	QString shown = QString::fromUtf8(word);

	free(word);
	return shown;
}

QString virtEnvironment()
{
	QString text;

	for (const char *name : { "XEN_CPUHZ", "XEN_ABSTS", "XEN_TSC_SKEW", "XEN_MAX_INPUT" })
		if (!qgetenv(name).isEmpty())
			text += QString(name) + '=' + virtQuoted(qgetenv(name)) + ' ';
	return text;
}

namespace {

/** "kshark-virt COMMAND", of a window of a stream's own clock. */
QString commandLine(const char *command, const VirtStream &stream, const QString &options,
		    int64_t from, int64_t to)
{
	return virtEnvironment() + QString("kshark-virt %1%2 --from %3ns --to %4ns -- %5")
		.arg(command, options).arg(from).arg(to).arg(virtQuoted(virtPathOf(stream.id)));
}

} // namespace

std::set<int> virtGuestsOf(const VirtStream &stream, virt_pair_source least)
{
	const virt_model *model = stream.model.get();
	std::set<int> guests;
	virt_pair pair;

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		if (virt_pairing_of_vcpu(stream.id, virt_model_vcpu(model, i)->host_pid, &pair) &&
		    pair.guest_stream != VIRT_NONE && pair.source >= least)
			guests.insert(pair.guest_stream);
	return guests;
}

namespace {

/** Has the trace of a stream a record in the window? */
bool isIn(const VirtStream &stream, int64_t from, int64_t to)
{
	const virt_model *model = stream.model.get();

	return from < virt_model_end(model) + stream.offset &&
	       to > virt_model_begin(model) + stream.offset;
}

/** Guests of a stream that commands know, too, and theirs, if they are hosts themselves. */
void addGuests(const std::vector<VirtStream> &streams, const VirtStream &stream,
	       std::set<int> *guests)
{
	for (int guest : virtGuestsOf(stream, VIRT_PAIR_RECORDED)) {
		if (!guests->insert(guest).second)
			continue;
		for (const VirtStream &one : streams)
			if (one.id == guest)
				addGuests(streams, one, guests);
	}
}

/** Streams of guests that the command line of another stream names. */
std::set<int> findReported(const std::vector<VirtStream> &streams, int64_t from, int64_t to)
{
	std::set<int> guests;

	for (const VirtStream &stream : streams)
		if (isIn(stream, from, to))
			addGuests(streams, stream, &guests);
	return guests;
}

} // namespace

QString virtIdOf(const VirtSubject &subject)
{
	VirtModelRef model(subject.stream);
	const virt_machine *machine = virt_model_machine(model.get(), subject.machine);
	const virt_vcpu *vcpu = virt_model_vcpu(model.get(), subject.vcpu);

	return !machine ? QString() : QString("d%1").arg(machine->id) +
				      (vcpu ? QString("v%1").arg(vcpu->id) : QString());
}

QString virtVcpuOption(const VirtStream &stream, const VirtSubject &subject)
{
	QString id = virtIdOf({ stream.id, subject.machine, subject.vcpu, subject.pid });

	return id.isEmpty() ? id : " --vcpu " + id;
}

QString virtReportCommand(const std::vector<VirtStream> &streams, int64_t from, int64_t to,
			  const QString &options, int only)
{
	std::set<int> reported = findReported(streams, from, to);
	QStringList lines;

	for (const VirtStream &stream : streams) {
		std::set<int> guests;
		QString line;

		if (only != VIRT_NONE ? only != stream.id :
					!isIn(stream, from, to) || reported.count(stream.id))
			continue;
		addGuests(streams, stream, &guests);
		line = commandLine("report", stream, options, from - stream.offset,
				   to - stream.offset);
		for (int guest : guests)
			line += ' ' + virtQuoted(virtPathOf(guest));
		lines << line;
	}
	return lines.join('\n');
}

QString virtTaskOption(const QString &name)
{
	return " --task " + virtQuoted(name.toUtf8());
}

QString virtWhyCommand(const VirtStream &stream, const QString &options, int64_t from, int64_t to)
{
	QString line = commandLine("why", stream, options, from, to);

	for (int guest : virtGuestsOf(stream, VIRT_PAIR_RECORDED))
		line += ' ' + virtQuoted(virtPathOf(guest));
	return line;
}
