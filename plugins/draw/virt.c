// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt.c
 * @brief	KernelShark plotting plugin: virtual CPUs of any hypervisor, from their model.
 *
 * The loader of a stream provides its model (virt_registry.h); a stream without a model stays as it
 * is. This file keeps no data per stream, so reloading and switching the plugin on and off is
 * simple.
 */
#include <libkshark.h>
#include <libkshark-plugin.h>

#include "ks_clock.h"
#include "ks_guard.h"
#include "virt.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream);
EXPORT int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream);
EXPORT void *KSHARK_MENU_PLUGIN_INITIALIZER(void *gui_ptr);

int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream)
{
	if (!stream || stream->stream_id < 0)
		return 0;
	ks_guard_graphs_soon();
	/* a session may have brought an alignment */
	ks_clock_prepare(stream);
	kshark_register_draw_handler(stream, virt_draw);
	return 1;
}

int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream)
{
	/* KernelShark calls this without a stream as well when it exits */
	if (!stream || stream->stream_id < 0)
		return 0;
	kshark_unregister_draw_handler(stream, virt_draw);
	return 1;
}

void *KSHARK_MENU_PLUGIN_INITIALIZER(void *gui_ptr)
{
	virt_gui_init(gui_ptr);
	/* The dock belongs to the main window; what is returned here would be deleted twice. */
	return NULL;
}
