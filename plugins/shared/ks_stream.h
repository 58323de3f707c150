/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_stream.h
 * @brief	Operations of our plugins on any of KernelShark's data streams.
 */
#ifndef KSHARK_VIRT_KS_STREAM_H
#define KSHARK_VIRT_KS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <libkshark.h>

#include "virt_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The data format of what a monitor traced of itself; KernelShark keeps 14 characters. */
#define KS_STREAM_MONITOR	"qemu"

/** ks_stream_has_cpus - whether CPUs of its own are behind its graphs, as of hosts and guests. */
bool ks_stream_has_cpus(const struct kshark_data_stream *stream);

/** ks_stream_offset - what KernelShark adds to the stream's own times. */
int64_t ks_stream_offset(int stream_id);

/**
 * ks_stream_attach_plugins - attach the user's plugins, which KernelShark does for its first file
 *
 * For the initializer of an appended stream. Plugins that the stream has already are left alone.
 */
void ks_stream_attach_plugins(struct kshark_data_stream *stream);

/**
 * ks_stream_note - let the dock say this of the stream
 * @text: NULL or empty: nothing any more. Of a path in front of it, only the name is shown
 */
void ks_stream_note(const struct kshark_data_stream *stream, enum virt_note note,
		    const char *text);

/**
 * ks_stream_note_clock - show the frequency of a stream's cycles, which are shown in ns
 * @hz: 0: times are no cycles, or nothing is known of them
 * @source: "from its sidecar", "assumed"
 */
void ks_stream_note_clock(const struct kshark_data_stream *stream, uint64_t hz,
			  const char *source);

#ifdef __cplusplus
}
#endif
#endif
