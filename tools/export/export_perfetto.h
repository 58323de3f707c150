/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_perfetto.h
 * @brief	A window of a trace for ui.perfetto.dev.
 */
#ifndef KSHARK_VIRT_EXPORT_PERFETTO_H
#define KSHARK_VIRT_EXPORT_PERFETTO_H

#include "export_rows.h"
#include "output.h"

/** export_perfetto - all of it; errors of @out stick to it. Return: 0 or -ENOMEM. */
int export_perfetto(const struct export_job *job, struct output *out);

#endif
