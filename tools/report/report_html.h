/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_html.h
 * @brief	kshark-virt report --format html: a page that stands alone.
 */
#ifndef KSHARK_VIRT_REPORT_HTML_H
#define KSHARK_VIRT_REPORT_HTML_H

#include "report_page.h"
#include "report_section.h"

/** A page of a report, and its name: its tables' ids begin with it. */
struct report_html_page {
	const char		*name, *title;
	const struct report_page *page;
};

struct report_html {
	const char	*command;	/* its arguments, for a shell, a blank before each */
	char *const	*files;		/* the arguments that name the trace */
	int		n_files;
	int		index;		/* of the trace in the page, from 0 on */
	const struct report_html_page *pages;
	size_t		n_pages;
	const int32_t	*places;	/* of vCPUs in the figure; VIRT_NONE: not there */
};

/** report_html_begin, report_html_end - the frame around all traces of a page */
void report_html_begin(struct output *out, char *const *files, int n_files);
void report_html_end(struct output *out);

/**
 * report_html_write - write the part of the page about a trace
 * @report: with all that report_build() does, and its sections built
 * @html: without places
 *
 * Return: 0 or -ENOMEM.
 */
int report_html_write(struct output *out, const struct report *report,
		      const struct ksv_vcpu_set *vcpus, const struct report_html *html);

/** report_html_figure - the figure of all vCPUs, with its intervals. Return: 0 or -ENOMEM. */
int report_html_figure(struct output *out, const struct report *report,
		       const struct report_html *html);

/** report_html_places - report_html.places, to be freed. Return: NULL without memory. */
int32_t *report_html_places(const struct report *report);

/** report_html_moments - the worst moments, and why they happened. Return: 0 or -ENOMEM. */
int report_html_moments(struct output *out, const struct report *report,
			const struct ksv_vcpu_set *vcpus, const struct report_html *html);

#endif
