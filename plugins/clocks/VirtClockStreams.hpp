/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtClockStreams.hpp
 * @brief	Look up facts about clocks in KernelShark's streams and in the pairs.
 *
 * A stream that is not open has no file and no clock.
 */
#ifndef KSHARK_VIRT_VIRTCLOCKSTREAMS_HPP
#define KSHARK_VIRT_VIRTCLOCKSTREAMS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <libkshark.h>

namespace VirtClockStreams {

kshark_data_stream *streamOf(int streamId);
std::string fileOf(int streamId);
bool isTraceDat(int streamId);

/** What is known of it beyond an offset (ks_clock.h), or nullptr. */
const int64_t *clockOf(int streamId);

bool isAligned(int streamId);

/** Is it shown without the offsets that trace-cmd has recorded for it? */
bool hidesOffsets(int streamId);

/** The file of the host whose trace a guest's stream is made of; empty if it is one of its own. */
std::string insideOf(int streamId);

/** An offset that stays alone, whatever the sidecar says. */
std::vector<int64_t> withoutAlignment(int64_t offset);

/** The stream of a host whose file has a key (ks_clock_key()); VIRT_NONE if none is open. */
int hostOf(int guest, int64_t key);

/** The stream that a guest's CPUs are paired with, or VIRT_NONE. */
int pairedHostOf(int guest);

} // namespace VirtClockStreams

#endif
