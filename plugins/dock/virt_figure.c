// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_figure.c
 * @brief	The figure that "kshark-virt plot" draws, of a model that is in memory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "figure.h"
#include "options.h"
#include "virt_figure.h"

/** The thread's last error message. */
static _Thread_local char message[512];

/** Where the command writes to stderr, a window has to show it. */
void ksv_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	message[text_cut(message, strlen(message))] = '\0';
}

int virt_figure_write(const struct virt_figure *wanted, const char *path, char *error,
		      size_t error_size)
{
	int64_t begin = virt_model_begin(wanted->model), end = virt_model_end(wanted->model);
	struct figure_options options = {
		.model = wanted->model,
		.by_vcpu = true,
		.from_ns = wanted->from_ns > begin ? wanted->from_ns : begin,
		.to_ns = wanted->to_ns < end ? wanted->to_ns : end,
		.vcpus = wanted->vcpus,
		.width = wanted->width,
		.title = wanted->title,
	};
	bool *pcpus = calloc((size_t)virt_model_n_pcpus(wanted->model) + 1, sizeof(*pcpus));
	struct figure *figure = NULL;
	int n = 0, ret = 0;

	*error = message[0] = '\0';
	options.pcpus = pcpus;
	if (options.from_ns >= options.to_ns) {
		free(pcpus);
		text_format(error, error_size, "Nothing of this trace is visible");
		return -EINVAL;
	}
	for (int32_t i = 0; i < virt_model_n_vcpus(wanted->model); i++)
		n += wanted->vcpus[i];
	if (n > FIGURE_MAX_ROWS) {
		free(pcpus);
		text_format(error, error_size, "A figure has room for %d vCPUs, not for %d: show "
			    "the graphs of those that you want", FIGURE_MAX_ROWS, n);
		return -EINVAL;
	}
	if (pcpus)
		figure = figure_new(&options, error, error_size);
	if (!figure)
		ret = pcpus && errno == EINVAL ? -EINVAL : -ENOMEM;
	else if (figure_write(figure, CANVAS_SVG, path, 1))
		ret = -EIO;
	figure_free(figure);
	free(pcpus);
	if (ret && !*error)
		text_format(error, error_size, "%s", *message ? message : strerror(-ret));
	return ret;
}
