/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_guard.h
 * @brief	Protect KernelShark from crashes in its graphs, for the initializers of plugins.
 */
#ifndef KSHARK_VIRT_KS_GUARD_H
#define KSHARK_VIRT_KS_GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ks_guard_graphs_soon - have virtGuardGraphs() called in the window's thread, before it draws
 *
 * From any thread. A session loads plugins without asking them for their menus, and draws its
 * graphs before any of them is asked for anything in that thread.
 */
void ks_guard_graphs_soon(void);

#ifdef __cplusplus
}
#endif
#endif
