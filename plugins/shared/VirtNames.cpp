// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtNames.cpp
 * @brief	Names of the machines and vCPUs of all open streams.
 */
#include <QFileInfo>

#include <libkshark.h>

#include "VirtNames.hpp"
#include "virt_pairing.h"

namespace {

/** The vCPU's stream and machine that a stream is the inside of, by any of its CPUs. */
void findHost(virt_name_stream *stream, int nCpus)
{
	virt_pair pair;

	for (int cpu = 0; cpu < nCpus && stream->host == VIRT_NONE; cpu++) {
		if (!virt_pairing_of_cpu(stream->id, cpu, &pair))
			continue;

		VirtModelRef model(pair.host_stream);
		const virt_vcpu *vcpu = !model ? nullptr :
			virt_model_vcpu(model.get(),
					virt_model_find_vcpu(model.get(), pair.host_pid));

		if (!vcpu)
			continue;
		stream->host = pair.host_stream;
		stream->host_machine = vcpu->machine;
	}
}

} // namespace

VirtNames::VirtNames()
{
	kshark_context *kshark = nullptr;
	std::vector<int> ids = virtOpenStreams();

	if (!kshark_instance(&kshark))
		return;
	/* their texts must not move */
	_files.reserve(ids.size());
	for (int id : ids) {
		kshark_data_stream *stream = kshark_get_data_stream(kshark, id);

		if (!stream)
			continue;
		_models.emplace_back(id);
		_files.push_back(QFileInfo(stream->file).fileName().toStdString());
		_streams.push_back({ id, _models.back().get(), _files.back().c_str(), VIRT_NONE,
				     VIRT_NONE });
		findHost(&_streams.back(), stream->n_cpus);
	}
}

QString VirtNames::machine(int stream, int32_t machine) const
{
	char name[2 * VIRT_NAME_SIZE];

	return virtShown(virt_name_machine(name, sizeof(name), _streams.data(), _streams.size(),
					   stream, machine));
}

QString VirtNames::vcpu(int stream, int32_t vcpu) const
{
	char name[2 * VIRT_NAME_SIZE];

	return virtShown(virt_name_vcpu(name, sizeof(name), _streams.data(), _streams.size(),
					stream, vcpu));
}

QString VirtNames::guestCpu(int stream, int cpu) const
{
	virt_pair pair;

	if (!virt_pairing_of_cpu(stream, cpu, &pair))
		return QString();

	VirtModelRef model(pair.host_stream);
	int32_t index = model ? virt_model_find_vcpu(model.get(), pair.host_pid) : VIRT_NONE;

	return index == VIRT_NONE ? QString() : vcpu(pair.host_stream, index);
}

virt_name_parts VirtNames::parts(int stream, int32_t vcpu) const
{
	VirtModelRef model(stream);
	const virt_vcpu *who = model ? virt_model_vcpu(model.get(), vcpu) : nullptr;
	virt_name_parts parts = { "", "" };

	if (who)
		virt_name_find_parts(_streams.data(), _streams.size(), stream, who->machine,
				     &parts);
	return parts;
}
