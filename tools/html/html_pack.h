/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	html_pack.h
 * @brief	Numbers inside a page: varints, deflated, in base64.
 */
#ifndef KSHARK_VIRT_HTML_PACK_H
#define KSHARK_VIRT_HTML_PACK_H

#include <zlib.h>

#include "output.h"

struct html_pack {
	struct output	*out;
	z_stream	stream;
	size_t		n;		/* bytes of @in */
	unsigned int	rest;		/* bytes of @last, less than three, that wait for more */
	unsigned char	last[3];
	unsigned char	in[1 << 14];
	unsigned char	packed[1 << 14];
};

/** html_pack_begin - begin a stream. Return: 0; html_pack_end() must follow; or -ENOMEM. */
int html_pack_begin(struct html_pack *pack, struct output *out);
void html_pack_end(struct html_pack *pack);

void html_pack_byte(struct html_pack *pack, unsigned int byte);

/** html_pack_number - seven bits in a byte, the lowest ones first; the highest bit: more follow */
void html_pack_number(struct html_pack *pack, uint64_t number);

/** html_pack_signed - the same; the lowest bit is the sign */
void html_pack_signed(struct html_pack *pack, int64_t number);

#endif
