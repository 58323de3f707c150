/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sidecar.h
 * @brief	Find the sidecar of a trace, <trace>.meta.json, for any hypervisor.
 */
#ifndef KSHARK_VIRT_SIDECAR_H
#define KSHARK_VIRT_SIDECAR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Sidecars are small; what is larger than this is something else. */
#define SIDECAR_MAX_BYTES	(16 << 20)

/** sidecar_path - where the sidecar of a trace belongs. Return: malloc'ed path, or NULL. */
char *sidecar_path(const char *trace_path);

/**
 * sidecar_trace - the trace that a sidecar belongs to, by their names
 *
 * Return: malloc'ed path; NULL with errno ENOENT if @path is no name of a sidecar, or ENOMEM.
 */
char *sidecar_trace(const char *path);

/**
 * sidecar_find - the sidecar that is there for a trace: <trace>.meta.json, or for <name>.gz and
 * <name>.zst also <name>.meta.json
 *
 * Return: malloc'ed path, or NULL if there is none.
 */
char *sidecar_find(const char *trace_path);

#ifdef __cplusplus
}
#endif

#endif
