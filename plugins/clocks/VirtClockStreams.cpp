// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtClockStreams.cpp
 * @brief	Look up facts about clocks in KernelShark's streams and in the pairs.
 */
#include <libkshark.h>
#include <libkshark-tepdata.h>

#include "VirtClockStreams.hpp"
#include "VirtKs.hpp"
#include "ks_clock.h"
#include "virt_pairing.h"

namespace VirtClockStreams {

kshark_data_stream *streamOf(int streamId)
{
	kshark_context *kshark = nullptr;

	return kshark_instance(&kshark) ? kshark_get_data_stream(kshark, streamId) : nullptr;
}

std::string fileOf(int streamId)
{
	kshark_data_stream *stream = streamOf(streamId);

	return stream && stream->file ? stream->file : "";
}

const int64_t *clockOf(int streamId)
{
	return ks_clock_of(streamOf(streamId));
}

bool isAligned(int streamId)
{
	const int64_t *parts = clockOf(streamId);

	return parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED);
}

bool hidesOffsets(int streamId)
{
	return isAligned(streamId) && (clockOf(streamId)[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES);
}

bool isTraceDat(int streamId)
{
	kshark_data_stream *stream = streamOf(streamId);

	return stream && kshark_is_tep(stream);
}

std::string insideOf(int streamId)
{
	virt_inside *inside = virt_registry_inside(streamId);
	const char *host = inside ? virt_inside_host(inside) : nullptr;
	std::string path = host ? host : "";

	virt_inside_put(inside);
	return path;
}

std::vector<int64_t> withoutAlignment(int64_t offset)
{
	std::vector<int64_t> parts(KS_CLOCK_TIDS);

	parts[KS_CLOCK_OFFSET] = offset;
	parts[KS_CLOCK_MAGIC] = KS_CLOCK_IS_OURS;
	return parts;
}

int hostOf(int guest, int64_t key)
{
	for (int id : virtOpenStreams())
		if (id != guest && fileOf(id) != fileOf(guest) &&
		    ks_clock_is_key(streamOf(id), key))
			return id;
	return VIRT_NONE;
}

int pairedHostOf(int guest)
{
	kshark_data_stream *stream = streamOf(guest);
	virt_pair pair;

	for (int cpu = 0; stream && cpu < stream->n_cpus; cpu++)
		if (virt_pairing_of_cpu(guest, cpu, &pair))
			return pair.host_stream;
	return VIRT_NONE;
}

} // namespace VirtClockStreams
