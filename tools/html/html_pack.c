// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	html_pack.c
 * @brief	Numbers inside a page: varints, deflated, in base64.
 */
#include <errno.h>

#include "html_pack.h"

/** Three bytes make four characters. @n: how many of them there are */
static void put_three(struct output *out, const unsigned char *bytes, unsigned int n)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned int all = (unsigned int)bytes[0] << 16 | (unsigned int)bytes[1] << 8 | bytes[2];
	char text[4];

	for (unsigned int i = 0; i < 4; i++)
		text[i] = i <= n ? alphabet[all >> (18 - 6 * i) & 63] : '=';
	out_mem(out, text, sizeof(text));
}

static void put_packed(struct html_pack *pack, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pack->last[pack->rest++] = pack->packed[i];
		if (pack->rest < 3)
			continue;
		put_three(pack->out, pack->last, 3);
		pack->rest = 0;
	}
}

static void deflate_all(struct html_pack *pack, int flush)
{
	pack->stream.next_in = pack->in;
	pack->stream.avail_in = (uInt)pack->n;
	do {
		pack->stream.next_out = pack->packed;
		pack->stream.avail_out = sizeof(pack->packed);
		deflate(&pack->stream, flush);
		put_packed(pack, sizeof(pack->packed) - pack->stream.avail_out);
	} while (!pack->stream.avail_out);
	pack->n = 0;
}

int html_pack_begin(struct html_pack *pack, struct output *out)
{
	*pack = (struct html_pack){ .out = out };
	/* raw, as the page's DecompressionStream("deflate-raw") expects it */
	return deflateInit2(&pack->stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK ?
	       0 : -ENOMEM;
}

void html_pack_end(struct html_pack *pack)
{
	deflate_all(pack, Z_FINISH);
	for (unsigned int i = pack->rest; i < 3; i++)
		pack->last[i] = 0;
	if (pack->rest)
		put_three(pack->out, pack->last, pack->rest);
	deflateEnd(&pack->stream);
}

void html_pack_byte(struct html_pack *pack, unsigned int byte)
{
	pack->in[pack->n++] = (unsigned char)byte;
	if (pack->n == sizeof(pack->in))
		deflate_all(pack, Z_NO_FLUSH);
}

void html_pack_number(struct html_pack *pack, uint64_t number)
{
	for (; number > 127; number >>= 7)
		html_pack_byte(pack, (unsigned int)(number & 127) | 128);
	html_pack_byte(pack, (unsigned int)number);
}

void html_pack_signed(struct html_pack *pack, int64_t number)
{
	uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;

	html_pack_number(pack, magnitude << 1 | (number < 0));
}
