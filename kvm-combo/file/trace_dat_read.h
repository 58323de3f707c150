/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_read.h
 * @brief	The head and the options of a trace.dat file, read without libtracecmd.
 *
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5) describe them. The code checks that each place which
 * such a file claims lies within the file, before it uses the place.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_READ_H
#define KSHARK_VIRT_TRACE_DAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Of version 7: what a section, and the option with its place, are about. */
enum dat_id {
	DAT_DONE = 0,			/* of an option, and of the section of the options */
	DAT_DATE = 1,
	DAT_CPUSTAT = 2,
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,
	DAT_UNAME = 5,
	DAT_OFFSET = 7,
	DAT_CPUCOUNT = 8,
	DAT_TRACEID = 11,
	DAT_TIME_SHIFT = 12,
	DAT_GUEST = 13,
	DAT_TSC2NSEC = 14,
	DAT_STRINGS = 15,
	DAT_HEADER_INFO = 16,		/* up to DAT_CMDLINES: data are a section's offset */
	DAT_CMDLINES = 21,
	DAT_BUFFER_TEXT = 22,
};

/** The parts of a head before its options: version 6 has them one after the other. */
enum dat_part {
	DAT_HEADERS, DAT_FTRACE, DAT_FORMATS, DAT_SYMBOLS, DAT_PRINTK, DAT_COMMS, DAT_PARTS,
};

_Static_assert(DAT_HEADER_INFO + DAT_COMMS == DAT_CMDLINES, "version 7 has an option for each");

/** Pages that the kernel can have, see its subbuf_size. */
#define DAT_LEAST_PAGE	4096
#define DAT_MOST_PAGE	(1u << 20)

#define DAT_COMPRESSED	1		/* flag of a section */
#define DAT_SECTION	16		/* size of its head */
#define DAT_CHUNK	8		/* size of the head of what is compressed in one go */

/** A part of a file that nothing else may share: it would be read as often as it is named. */
struct dat_area {
	uint64_t	offset, size;
	int64_t		cpu;			/* whose data it is; -1: no CPU's */
};

struct dat_areas {
	struct dat_area	*all;
	size_t		n, room;
};

/** A file whose head has been read. */
struct dat_file {
	FILE		*file;
	uint64_t	size;
	int		version;
	bool		big_endian;
	uint8_t		long_size;		/* 4 or 8 */
	uint64_t	page_size;
	char		compression[64];	/* "none", as before version 7 */
	char		compression_version[64];
	uint64_t	options_at;		/* version 7: where the next number is */
	uint64_t	options;		/* offset of the first section of options */
	struct dat_areas *areas;		/* receives those of the file; or NULL */
	uint64_t	*parts;			/* receives DAT_PARTS offsets of version 6, and
						 * where the last part ends; or NULL */
	char		*problem;		/* receives what is wrong, and what helps */
	size_t		problem_size;
};

struct dat_option {
	unsigned int	id;
	uint8_t		*data;			/* may be changed */
	uint32_t	size;
};

/** dat_complain - say what is wrong. Return: false. */
__attribute__((format(printf, 2, 3)))
bool dat_complain(const struct dat_file *dat, const char *format, ...);

/** dat_cut_off - complain that @what would be at @offset. Return: false. */
bool dat_cut_off(const struct dat_file *dat, const char *what, uint64_t offset);

/**
 * dat_open - open a file and read its head
 * @problem: as in struct dat_file
 *
 * Return: false after a complaint; dat_close() in any case.
 */
bool dat_open(struct dat_file *dat, const char *path, char *problem, size_t size);

/** dat_open_fd - the same of an open file, whose descriptor then belongs to @dat */
bool dat_open_fd(struct dat_file *dat, int fd, char *problem, size_t size);
void dat_close(struct dat_file *dat);

/** dat_seek - go to an offset. Return: false if it lies outside of the file. */
bool dat_seek(const struct dat_file *dat, uint64_t offset);

/** dat_number - of the file's byte order, at the place where it is. Return: false at the end. */
bool dat_number(const struct dat_file *dat, int bytes, uint64_t *value);

/** dat_get, dat_put - a number of the file's byte order in memory. */
uint64_t dat_get(const struct dat_file *dat, const uint8_t *raw, int bytes);
void dat_put(const struct dat_file *dat, uint8_t *raw, int bytes, uint64_t value);

/** The head of a section. */
struct dat_section {
	unsigned int	id, flags;
	uint32_t	text;
	uint64_t	size;			/* of what follows in the file */
};

/** dat_section - read one's head. Return: false if it does not lie within the file. */
bool dat_section(const struct dat_file *dat, uint64_t offset, struct dat_section *section);

/** dat_add_area - take note of one, if that is wanted. Return: false after a complaint. */
bool dat_add_area(const struct dat_file *dat, int64_t cpu, uint64_t offset, uint64_t size);

/** dat_add_data - the same of the data of a CPU, which must lie within the file. */
bool dat_add_data(const struct dat_file *dat, uint64_t cpu, uint64_t offset, uint64_t size);

/** dat_areas_apart - does none of the areas share bytes with another? They are sorted. */
bool dat_areas_apart(const struct dat_file *dat);

/** dat_is_possible - can the file's compression have packed this much into that little? */
bool dat_is_possible(const struct dat_file *dat, uint64_t packed, uint64_t unpacked);

/** dat_can_unpack - is the file compressed by zlib or zstd, or not at all? */
bool dat_can_unpack(const struct dat_file *dat);

struct trace_dat_scale;

/** dat_scale - Return: false if an option is no DAT_TSC2NSEC. A scale whose mult is 0 is none. */
bool dat_scale(const struct dat_file *dat, const struct dat_option *option,
	       struct trace_dat_scale *scale);

/** The contents of a DAT_BUFFER or DAT_BUFFER_TEXT of version 7. */
struct dat_buffer {
	uint8_t		*offset;		/* 8 bytes: of its section */
	const char	*name, *clock;
	uint64_t	page_size;
	uint8_t		*cpus;			/* DAT_BUFFER_CPU bytes each: 4 for the number, 8
						 * for the offset of its data, 8 for their size */
	uint32_t	n_cpus;			/* DAT_BUFFER_TEXT: 0 */
};

#define DAT_BUFFER_CPU	20

/** dat_buffer - Return: false if an option is not of that form. */
bool dat_buffer(const struct dat_file *dat, const struct dat_option *option,
		struct dat_buffer *buffer);

/** The data of a CPU in a buffer. */
struct dat_cpu {
	uint32_t	cpu;
	uint64_t	offset, size, page;
};

/** dat_buffer_cpu - of one of the CPUs of a buffer */
struct dat_cpu dat_buffer_cpu(const struct dat_file *dat, const struct dat_buffer *buffer,
			      uint32_t i);

/**
 * dat_find_buffer - a DAT_BUFFER whose records are to be "split" or "merged"
 *
 * Return: false after a complaint, also about version 6, which has other options.
 */
bool dat_find_buffer(const struct dat_file *dat, const struct dat_option *option, const char *what,
		     struct dat_buffer *buffer);

/** dat_check_cpu - do the data lie within the file, in possible pages? Or complain. */
bool dat_check_cpu(const struct dat_file *dat, const struct dat_cpu *cpu);

/** Takes an option. Return: false to stop, after a complaint. */
typedef bool (*dat_option_fn)(void *arg, const struct dat_file *dat, struct dat_option *option);

/**
 * dat_options - go through all options, in the order in which libtracecmd does
 *
 * Of version 6, what comes before them is gone through, too. Options that are compressed by
 * anything else than zlib or zstd are left out.
 *
 * Return: false after a complaint.
 */
bool dat_options(const struct dat_file *dat, dat_option_fn take, void *arg);

/**
 * Writes the pages of the next CPU of a buffer at an offset of the output.
 * @end: receives where they end
 *
 * Return: 0 or a negative errno.
 */
typedef int (*dat_cpu_fn)(void *arg, uint64_t at, uint64_t *end);

/**
 * dat_copy - copy a file of version 7 that is not compressed, with other records
 *
 * Return: 0, -EILSEQ if the file is damaged, or another negative errno.
 */
int dat_copy(const struct dat_file *dat, int fd, dat_cpu_fn write_cpu, void *arg);

/** dat_unpack_check - can trace_dat_unpack() work? Return: false after a complaint. */
bool dat_unpack_check(const struct dat_file *dat);

/**
 * dat_inflate - unpack a part that zlib or zstd has packed
 * @packed, @size: what it claims
 * @take: receives the pieces; returns a negative errno to stop
 *
 * Return: 0, -EILSEQ if it is damaged or not as large as it claims, -ENOMEM, or what @take
 * returned.
 */
int dat_inflate(const struct dat_file *dat, uint64_t packed, uint64_t size,
		int (*take)(void *arg, const void *data, size_t n), void *arg);

#endif
