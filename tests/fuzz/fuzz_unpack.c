/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_unpack.c
 * @brief	Any bytes as gzip, zstd or zlib data: the same comes out in whatever pieces.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "memory_file.h"
#include "xentrace_unpack.h"

/* Its functions are for libtracecmd alone, which takes them by this one. */
#include "kvm_zlib.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What is more is no concern here. */
#define MAX_BYTES	(1u << 20)

/** Of a zstd frame (RFC 8878, 3.1.1.1.2): for more, the sanitizer takes seconds to allocate it. */
#define MAX_WINDOW	(14 << 3)

static struct tracecmd_compression_proto zlib;

int tracecmd_compress_proto_register(struct tracecmd_compression_proto *proto)
{
	zlib = *proto;
	return 0;
}

bool tracecmd_compress_is_supported(const char *name, const char *version)
{
	(void)name;
	(void)version;
	return false;
}

/** What comes out, and how it ends. */
struct unpacked {
	uint8_t		*data;
	size_t		n;
	int		ret;
};

static struct unpacked unpack_all(const uint8_t *data, size_t size, size_t in_size, size_t piece)
{
	struct memory_file file = memory_file(data, size);
	struct xentrace_source *source = xentrace_source_new(file.fd, in_size);
	struct unpacked all = { .data = malloc(MAX_BYTES + piece) };
	ssize_t got = 0;

	if (!source || !all.data)
		abort();
	while (all.n < MAX_BYTES) {
		got = xentrace_source_read(source, all.data + all.n, piece);
		if (got <= 0)
			break;
		if ((size_t)got > piece)
			abort();
		all.n += (size_t)got;
	}
	all.ret = got < 0 ? (int)got : 0;
	if (xentrace_source_total(source) > size ||
	    (!got && xentrace_source_total(source) != size))
		abort();
	if (!xentrace_source_packed(source) && all.n < MAX_BYTES &&
	    (all.n != size || memcmp(all.data, data, size) != 0))
		abort();
	xentrace_source_free(source);
	close(file.fd);
	return all;
}

static void check_source(const uint8_t *data, size_t size)
{
	struct unpacked whole = unpack_all(data, size, size + 16, 65536);
	/* the beginning of each piece must show what it is: eight bytes at least */
	struct unpacked parts = unpack_all(data, size, 8 + size % 13, 1 + size % 4093);
	size_t n = whole.n < parts.n ? whole.n : parts.n;

	if (memcmp(whole.data, parts.data, n) != 0)
		abort();
	/* how much of a block can be taken before it turns out to be damaged is zstd's matter */
	if (whole.n < MAX_BYTES && parts.n < MAX_BYTES &&
	    (whole.ret != parts.ret || (!whole.ret && whole.n != parts.n)))
		abort();
	free(whole.data);
	free(parts.data);
}

static void check_zlib(const uint8_t *data, size_t size)
{
	static uint8_t out[65536], back[65536];
	int room = size ? data[0] << 8 | data[size - 1] : 0;
	int n = zlib.uncompress(NULL, data, (int)size, out, room), again;

	if (n > room)
		abort();
	if (size > sizeof(back))
		size = sizeof(back);
	n = zlib.compress(NULL, data, (int)size, out, sizeof(out));
	if (n < 0)
		return;
	again = zlib.uncompress(NULL, out, n, back, sizeof(back));
	if (again < 0 || (size_t)again != size || memcmp(back, data, size) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *frame = data, *end = data + size;

	while ((frame = memmem(frame, (size_t)(end - frame), "\x28\xb5\x2f\xfd", 4))) {
		frame += 4;
		if (end - frame >= 2 && !(frame[0] & 0x20) && frame[1] > MAX_WINDOW)
			return 0;
	}
	check_source(data, size);
	check_zlib(data, size);
	return 0;
}
