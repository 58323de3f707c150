/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	plot_over_time.h
 * @brief	kshark-virt plot --over-time: numbers of the host over time.
 */
#ifndef KSHARK_VIRT_PLOT_OVER_TIME_H
#define KSHARK_VIRT_PLOT_OVER_TIME_H

#include "canvas.h"
#include "model_over_time.h"

/** What to draw. */
struct plot_over_time {
	const struct ksv_command *command;
	const struct model_load	*load;		/* its model is made */
	int			n_intervals;
	int64_t			from_ns, to_ns;
	double			width, height, scale;
	int			max_pixels;	/* of a side; 0: any */
	const char		*title, *output;
	bool			csv;		/* the numbers alone */
	enum canvas_format	format;
};

/** plot_over_time - Return: KSV_EXIT_OK, or an exit status after a message. */
int plot_over_time(const struct plot_over_time *what);

#endif
