// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	html_page.c
 * @brief	The frame of a page of HTML that stands alone.
 */
#include "html_page.h"

void html_page_begin(struct output *out, const char *title)
{
	out_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'sha256-");
	out_str(out, html_script_hash);
	out_str(out, "'; style-src 'sha256-");
	out_str(out, html_style_hash);
	out_str(out, "'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	out_html(out, title);
	out_str(out, "</title>\n<style>");
	out_str(out, html_style);
	out_str(out, "</style>\n</head>\n<body>\n"
		"<header class=\"bar\"><span class=\"name\">kshark-virt report</span>"
		"<label>Filter tables <input type=\"search\" id=\"filter\" "
		"placeholder=\"vCPU, machine, exit reason\"></label>"
		"<button type=\"button\" id=\"theme\">Dark</button></header>\n<main>\n");
}

void html_page_end(struct output *out)
{
	out_str(out, "</main>\n<div id=\"said\" class=\"hidden\" role=\"status\" "
		"aria-live=\"polite\"></div>\n<script>");
	out_str(out, html_script);
	out_str(out, "</script>\n</body>\n</html>\n");
}
