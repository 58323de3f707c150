/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_combo.h
 * @brief	Shared by the parts of the plugin.
 */
#ifndef KSHARK_VIRT_KVM_COMBO_H
#define KSHARK_VIRT_KVM_COMBO_H

#include <libkshark-plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** kvm_combo_draw - the draw handler: one graph (KvmCombo.cpp). */
void kvm_combo_draw(struct kshark_cpp_argv *argv, int stream_id, int value, int draw_action);

/** kvm_combo_gui_init - make the menu entry in KernelShark's main window (KvmCombos.cpp). */
void kvm_combo_gui_init(void *main_window);

#ifdef __cplusplus
}
#endif
#endif
