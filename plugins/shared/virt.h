/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt.h
 * @brief	Declarations that the parts of the plugin share.
 */
#ifndef KSHARK_VIRT_VIRT_H
#define KSHARK_VIRT_VIRT_H

#include <libkshark-plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** virt_draw - the draw handler: one graph (VirtDraw.cpp). */
void virt_draw(struct kshark_cpp_argv *argv, int stream_id, int value, int draw_action);

/** virt_gui_init - make the dock in KernelShark's main window (VirtDock.cpp). */
void virt_gui_init(void *main_window);

#ifdef __cplusplus
}
#endif
#endif
