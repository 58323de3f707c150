// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_combo.c
 * @brief	KernelShark plotting plugin: hosts and guests, one above the other.
 *
 * It has the name of a plugin of KernelShark's own, which it replaces: KernelShark attaches that
 * name to every trace.dat file, appended ones included. Files of any kind can be host or guest.
 */
#include <stdio.h>

#include <libkshark.h>
#include <libkshark-plugin.h>
#include <libkshark-tepdata.h>

#include "escape.h"
#include "ks_guard.h"
#include "ks_stream.h"
#include "kvm_combo.h"
#include "kvm_stream.h"
#include "virt_pairing.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream);
EXPORT int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream);
EXPORT void *KSHARK_MENU_PLUGIN_INITIALIZER(void *gui_ptr);

int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream)
{
	if (!stream || stream->stream_id < 0)
		return 0;
	ks_guard_graphs_soon();
	if (kshark_is_tep(stream)) {
		ks_stream_attach_plugins(stream);
		if (kvm_stream_attach(stream) < 0)
			escape_print(stderr, "kshark-virt: ", "%s: not enough memory for the vCPUs",
				     stream->file);
	}
	kshark_register_draw_handler(stream, kvm_combo_draw);
	return 1;
}

int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream)
{
	/* KernelShark calls this without a stream as well when it exits */
	if (!stream || stream->stream_id < 0)
		return 0;
	kshark_unregister_draw_handler(stream, kvm_combo_draw);
	kvm_stream_detach(stream);
	virt_pairing_drop_stream(stream->stream_id);
	return 1;
}

void *KSHARK_MENU_PLUGIN_INITIALIZER(void *gui_ptr)
{
	kvm_combo_gui_init(gui_ptr);
	/* The dialog belongs to the main window; what is returned here would be deleted twice. */
	return NULL;
}
