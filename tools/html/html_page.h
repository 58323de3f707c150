/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	html_page.h
 * @brief	A page of HTML that stands alone: its frame, style and script.
 *
 * The page loads nothing. Its Content Security Policy permits only the script and the style sheet
 * that are built in, by their hashes, so that a browser executes nothing else, whatever names a
 * trace has.
 */
#ifndef KSHARK_VIRT_HTML_PAGE_H
#define KSHARK_VIRT_HTML_PAGE_H

#include "output.h"

/** The files report.css and report.js, and their hashes in base64. */
extern const char html_style[], html_script[];
extern const char html_style_hash[], html_script_hash[];

/** html_page_begin - the frame up to the content; html_page_end() must follow. @title: as it is */
void html_page_begin(struct output *out, const char *title);
void html_page_end(struct output *out);

#endif
