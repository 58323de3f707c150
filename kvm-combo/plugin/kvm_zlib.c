// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_zlib.c
 * @brief	Let KernelShark read trace.dat files that zlib has compressed, too.
 *
 * Debian builds libtracecmd without zlib, but other code can add compressions to libtracecmd.
 * KernelShark opens *.dat by itself, so that the file keeps its name, its sidecar, and its place in
 * sessions.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Of libtracecmd, which libkshark has loaded, without being in its headers; since version 1.2. */
struct tracecmd_compression_proto {
	int		weight;		/* the least one is taken for writing */
	const char	*name, *version;
	int		(*compress)(void *context, const void *in, int n, void *out, int size);
	int		(*uncompress)(void *context, const void *in, int n, void *out, int size);
	unsigned int	(*compress_size)(void *context, unsigned int n);
	bool		(*is_supported)(const char *name, const char *version);
	void		*(*new_context)(void);
	void		(*free_context)(void *context);
};

int tracecmd_compress_proto_register(struct tracecmd_compression_proto *proto)
	__attribute__((weak));
bool tracecmd_compress_is_supported(const char *name, const char *version) __attribute__((weak));

/** Last of all: KernelShark writes no trace.dat, and what is written should be what it was. */
#define WEIGHT	INT_MAX

static int pack(void *context, const void *in, int n, void *out, int size)
{
	uLongf written = (uLongf)size;

	(void)context;
	return n >= 0 && size >= 0 && compress(out, &written, in, (uLong)n) == Z_OK &&
	       written <= INT_MAX ? (int)written : -1;
}

static int unpack(void *context, const void *in, int n, void *out, int size)
{
	uLongf written = (uLongf)size;

	(void)context;
	return n >= 0 && size >= 0 && uncompress(out, &written, in, (uLong)n) == Z_OK &&
	       written <= INT_MAX ? (int)written : -1;
}

static unsigned int pack_size(void *context, unsigned int n)
{
	(void)context;
	return (unsigned int)compressBound(n);
}

static bool is_supported(const char *name, const char *version)
{
	return name && !strcmp(name, "zlib") &&
	       (!version || atoi(version) <= atoi(zlibVersion()));
}

/** As soon as the plugin is there: a session opens its files before anything else is called. */
__attribute__((constructor))
static void add_zlib(void)
{
	struct tracecmd_compression_proto proto = {
		.weight = WEIGHT, .name = "zlib", .version = zlibVersion(),
		.compress = pack, .uncompress = unpack, .compress_size = pack_size,
		.is_supported = is_supported,
	};

	if (tracecmd_compress_proto_register && tracecmd_compress_is_supported &&
	    !tracecmd_compress_is_supported("zlib", NULL))
		tracecmd_compress_proto_register(&proto);
}
