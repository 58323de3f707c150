// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat.c
 * @brief	Check trace.dat files (trace-cmd.dat.v7(5)), and list the guests in a host's file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "regular_file.h"
#include "trace_dat.h"
#include "trace_dat_read.h"

const char trace_dat_magic[10] = "\x17\x08\x44tracing";

bool trace_dat_is(const char *path)
{
	char head[sizeof(trace_dat_magic)];
	int fd = held_file_open(path);
	bool is;

	/* nothing may be taken from a pipe here */
	if (fd < 0)
		return false;
	is = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	     !memcmp(head, trace_dat_magic, sizeof(head));
	close(fd);
	return is;
}

/** Does the libtracecmd that KernelShark uses know a compression? */
static bool is_supported(const char *name, const char *version)
{
	void *library;
	bool (*ask)(const char *name, const char *version) = NULL;
	void *symbol;
	bool yes;

	if (!strcmp(name, "none"))
		return true;
	library = dlopen("libtracecmd.so.1", RTLD_NOW | RTLD_LOCAL);
	symbol = library ? dlsym(library, "tracecmd_compress_is_supported") : NULL;
	memcpy(&ask, &symbol, sizeof(ask));
	/* Without that library it is unknown, and KernelShark does not start anyway. */
	yes = !ask || ask(name, version);
	if (library)
		dlclose(library);
	return yes;
}

/* --- options --------------------------------------------------------------------------------- */

/** What the options say about times. */
struct seen {
	char		clock[32];	/* of the buffer that is read, which has no name */
	bool		has_clock;	/* the kernel's list of clocks is there; the chosen one: */
	char		chosen_clock[TRACE_DAT_CLOCK];
	bool		is_counter;	/* it counts events */
	bool		is_shifted;
	int		n_instances;
	char		first_clock[32];	/* of the buffers with records */
	char		other_clock[32];	/* of one that has another */
	bool		has_scale;	/* to ns, which libtracecmd applies: */
	struct trace_dat_scale scale;
	uint64_t	jump;		/* of offsets to another file's times, before that */
	struct trace_dat_symbols symbols;
};

/** Does the text end within @size bytes? Return: its size with the end, or 0. */
static size_t text_size(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\0', size);

	return end ? (size_t)(end - data) + 1 : 0;
}

/** Times of two clocks have no common order. */
static void see_clock(const struct dat_file *dat, const struct dat_buffer *buffer,
		      struct seen *seen)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < buffer->n_cpus; i++)
		size += dat_get(dat, buffer->cpus + (size_t)i * DAT_BUFFER_CPU + 12, 8);
	if (!size)
		return;
	if (!*seen->first_clock)
		snprintf(seen->first_clock, sizeof(seen->first_clock), "%s", buffer->clock);
	else if (strcmp(seen->first_clock, buffer->clock) != 0)
		snprintf(seen->other_clock, sizeof(seen->other_clock), "%s", buffer->clock);
}

/** libtracecmd takes some hundred bytes for each number up to that of the last CPU. */
static bool check_number(const struct dat_file *dat, uint64_t cpu)
{
	return cpu <= INT16_MAX ||
	       dat_complain(dat, "damaged: it names CPU %llu, a number that no host has. Copy it "
			    "again, if there is another one", (unsigned long long)cpu);
}

/** The data of a buffer: name, clock, page size, and for each CPU where its data is. */
static bool check_buffer(const struct dat_file *dat, const struct dat_option *option,
			 struct seen *seen)
{
	struct dat_buffer buffer;

	/* of version 6, each of them is an instance; else the top one has no name */
	seen->n_instances += dat->version < 7;
	if (dat->version < 7 || !dat_buffer(dat, option, &buffer))
		return true;	/* of another form: not ours to judge */
	seen->n_instances += !!*buffer.name;
	if (!*buffer.name)
		snprintf(seen->clock, sizeof(seen->clock), "%s", buffer.clock);
	seen->is_counter |= !strcmp(buffer.clock, "counter");
	see_clock(dat, &buffer, seen);
	for (uint32_t i = 0; i < buffer.n_cpus; i++) {
		const uint8_t *entry = buffer.cpus + (size_t)i * DAT_BUFFER_CPU;

		if (!check_number(dat, dat_get(dat, entry, 4)) ||
		    !dat_add_data(dat, dat_get(dat, entry, 4), dat_get(dat, entry + 4, 8),
				  dat_get(dat, entry + 12, 8)))
			return false;
	}
	return true;
}

/** The head of the section has been read. */
static void see_symbols(const struct dat_file *dat, const struct dat_section *section,
			uint64_t offset, struct seen *seen)
{
	uint64_t packed, size;

	if (section->flags & DAT_COMPRESSED && !strcmp(dat->compression, "zstd") &&
	    dat_number(dat, 4, &packed) && dat_number(dat, 4, &size) &&
	    packed <= section->size)
		seen->symbols = (struct trace_dat_symbols){
			.end = offset + DAT_SECTION + DAT_CHUNK + packed, .size = (uint32_t)size,
		};
}

/** A section that an option points to. What lies outside of the file is libtracecmd's to refuse. */
static bool check_section(const struct dat_file *dat, const struct dat_option *option,
			  struct seen *seen)
{
	struct dat_section section;
	uint64_t offset;

	if (dat->version < 7 || option->size < 8)
		return true;
	offset = dat_get(dat, option->data, 8);
	if (!dat_section(dat, offset, &section))
		return true;
	if (option->id == DAT_HEADER_INFO + DAT_SYMBOLS)
		see_symbols(dat, &section, offset, seen);
	return dat_add_area(dat, -1, offset, DAT_SECTION + section.size);
}

/** The kernel's list of clocks has the chosen one in brackets. */
static void see_list(const struct dat_option *option, struct seen *seen)
{
	const char *list = (const char *)option->data, *end = list + option->size;
	const char *begin = memchr(list, '[', option->size);
	const char *bracket = begin ? memchr(begin, ']', (size_t)(end - begin)) : NULL;

	seen->has_clock = true;
	if (bracket && (size_t)(bracket - begin) <= sizeof(seen->chosen_clock)) {
		memcpy(seen->chosen_clock, begin + 1, (size_t)(bracket - begin) - 1);
		seen->chosen_clock[bracket - begin - 1] = '\0';
	}
	seen->is_counter |= !strcmp(seen->chosen_clock, "counter");
}

/** trace-cmd's estimates by PTP differ by a few ms. */
#define LEAST_JUMP_NS	20000000
/** No clock drifts by a thousandth; bad quartzes drift by a 5000th. */
#define LEAST_DRIFT	1000

/** A sample of the offsets: of a CPU there are all times, then all offsets, then all factors. */
static uint64_t sample(const struct dat_file *dat, const uint8_t *data, uint64_t n, int row,
		       uint64_t i)
{
	return dat_get(dat, data + (size_t)((uint64_t)row * n + i) * 8, 8);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? b - a : a - b;
}

/**
 * Trace id, flags, and the number of CPUs; for each of them how many samples there are, and these.
 * A clock drifts, and does not jump: then trace-cmd has taken another one for the guest's. What is
 * of another form shows nothing.
 */
static void see_shifts(const struct dat_file *dat, const struct dat_option *option,
		       struct seen *seen)
{
	size_t at = 16;
	uint64_t n_cpus, n;

	if (option->size < at)
		return;
	n_cpus = dat_get(dat, option->data + 12, 4);
	for (uint64_t cpu = 0; cpu < n_cpus && option->size - at >= 4; cpu++) {
		const uint8_t *data = option->data + at + 4;

		n = dat_get(dat, option->data + at, 4);
		at += 4;
		if (n > (option->size - at) / 24)
			return;
		for (uint64_t i = 1; i < n; i++) {
			uint64_t passed = distance(sample(dat, data, n, 0, i),
						   sample(dat, data, n, 0, i - 1));
			uint64_t jump = distance(sample(dat, data, n, 1, i),
						 sample(dat, data, n, 1, i - 1));

			/* offsets of other factors cannot be compared */
			if (sample(dat, data, n, 2, i) == sample(dat, data, n, 2, i - 1) &&
			    jump > passed / LEAST_DRIFT && jump > seen->jump)
				seen->jump = jump;
		}
		at += (size_t)n * 24;
	}
}

/** In the unit of the times; 0 if trace-cmd's estimates may differ by that. */
static int64_t jump_of(const struct seen *seen)
{
	unsigned __int128 jump = seen->jump;

	if (seen->has_scale)
		jump = jump * seen->scale.mult >> seen->scale.shift;
	return jump < LEAST_JUMP_NS || jump > INT64_MAX ? 0 : (int64_t)jump;
}

static bool look_at(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct seen *seen = arg;
	struct trace_dat_scale scale;

	if (option->id >= DAT_HEADER_INFO && option->id <= DAT_CMDLINES)
		return check_section(dat, option, seen);
	switch (option->id) {
	case DAT_BUFFER:
		return check_buffer(dat, option, seen);
	case DAT_TRACECLOCK:
		see_list(option, seen);
		break;
	case DAT_TIME_SHIFT:
		seen->is_shifted = true;
		see_shifts(dat, option, seen);
		break;
	case DAT_TSC2NSEC:
		if (dat_scale(dat, option, &scale) && scale.mult && scale.shift < 64) {
			seen->has_scale = true;
			seen->scale = scale;
		}
		break;
	}
	return true;
}

/**
 * As libtracecmd has it: a scale makes ns of cycles, whatever clock is named, and 'trace-cmd
 * convert' keeps it. Without a scale, the kernel's list of clocks decides. 'trace-cmd split' keeps
 * neither.
 */
static enum trace_dat_unit unit_of(const struct seen *seen)
{
	if (seen->has_scale)
		return TRACE_DAT_NS;
	if (seen->has_clock)
		return strcmp(seen->chosen_clock, "x86-tsc") ? TRACE_DAT_NS : TRACE_DAT_CYCLES;
	return strcmp(seen->clock, "x86-tsc") ? TRACE_DAT_NS : TRACE_DAT_EITHER;
}

static bool check(const struct dat_file *dat, struct trace_dat_info *info)
{
	struct seen seen = { 0 };

	/* also where libtracecmd knows zlib: it takes what is damaged for good, or crashes */
	info->packed = !strcmp(dat->compression, "zlib");
	info->is_compressed = strcmp(dat->compression, "none") != 0;
	if (!info->packed && !is_supported(dat->compression, dat->compression_version))
		return dat_complain(dat, "compressed with %s, which the libtracecmd on this host "
				    "cannot read. Where it was recorded, make a copy with "
				    "'trace-cmd convert --file-version 7 --compression none -i "
				    "FILE -o COPY'", dat->compression);
	if (dat->version >= 7 && !dat->options)
		return dat_complain(dat, "not complete: it has no table of contents, because its "
				    "recording was interrupted. 'trace-cmd restore' makes a "
				    "complete file from its parts (trace.dat.cpu*)");
	if (!dat_options(dat, look_at, &seen) || !dat_areas_apart(dat))
		return false;
	info->counts_events = seen.is_counter;
	info->n_instances = seen.n_instances;
	if (seen.is_counter)
		return dat_complain(dat, "its times are numbers of events (trace_clock counter), "
				    "which measure nothing. Record it with another clock: "
				    "'trace-cmd record -C mono', or without -C");
	if (*seen.other_clock)
		return dat_complain(dat, "its buffers have different clocks, '%s' and '%s', so "
				    "that their records have no common order. Record all of them "
				    "with one: 'trace-cmd record -C mono -B ...'", seen.first_clock,
				    seen.other_clock);
	info->unit = unit_of(&seen);
	info->shifted = seen.is_shifted;
	info->jump = jump_of(&seen);
	info->symbols = seen.symbols;
	snprintf(info->clock, sizeof(info->clock), "%s",
		 seen.has_clock ? seen.chosen_clock : seen.clock);
	return !info->packed || dat_unpack_check(dat);
}

void trace_dat_jump_text(const char *path, int64_t jump, enum trace_dat_unit unit, char *text,
			 size_t size)
{
	char by[64];

	if (unit == TRACE_DAT_NS)
		snprintf(by, sizeof(by), "%.3f s", (double)jump / 1e9);
	else
		snprintf(by, sizeof(by), "%lld cycles", (long long)jump);
	snprintf(text, size, "%s: trace-cmd's own time offsets of this guest jump by %s, which no "
		 "clock does: records there are that far from their time, and durations across "
		 "it are wrong. 'kshark-virt align --write' with the host's trace puts them right",
		 path, by);
}

bool trace_dat_check(const char *path, char *problem, size_t size, struct trace_dat_info *info)
{
	struct trace_dat_info seen = { 0 };
	struct dat_areas areas = { 0 };
	struct dat_file dat;
	bool ok = dat_open(&dat, path, problem, size);

	dat.areas = &areas;
	ok = ok && check(&dat, &seen);
	dat_close(&dat);
	free(areas.all);
	if (info)
		*info = seen;
	return ok;
}

/* --- guests ---------------------------------------------------------------------------------- */

struct guests {
	trace_dat_guest_fn take;
	void		*arg;
	int		ret;
};

/** Name, trace id, and for each CPU its number and its thread. What is of another form is none. */
static bool take_guest(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct guests *guests = arg;
	size_t at = option->id == DAT_GUEST ? text_size(option->data, option->size) : 0;
	const char *name = (const char *)option->data;
	uint64_t n;
	int32_t *tids;

	if (!at || option->size - at < 12)
		return true;
	n = dat_get(dat, option->data + at + 8, 4);
	at += 12;
	if (n > (option->size - at) / 8 || n > INT16_MAX)
		return true;
	tids = calloc((size_t)n + 1, sizeof(*tids));
	if (!tids) {
		guests->ret = -ENOMEM;
		return false;
	}
	for (uint64_t i = 0; i < n; i++, at += 8) {
		uint64_t cpu = dat_get(dat, option->data + at, 4);

		if (cpu < n)
			tids[cpu] = (int32_t)dat_get(dat, option->data + at + 4, 4);
	}
	guests->ret = guests->take(guests->arg, name, tids, (int)n);
	free(tids);
	return !guests->ret;
}

int trace_dat_guests(const char *path, trace_dat_guest_fn take, void *arg)
{
	struct guests guests = { .take = take, .arg = arg };
	struct dat_file dat;
	char problem[256];

	/* messages about a damaged file were printed when it was opened */
	if (dat_open(&dat, path, problem, sizeof(problem)))
		dat_options(&dat, take_guest, &guests);
	dat_close(&dat);
	return guests.ret;
}

/* --- the system ------------------------------------------------------------------------------ */

static bool take_uname(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	char *text = arg;

	(void)dat;
	if (option->id == DAT_UNAME)
		snprintf(text, TRACE_DAT_UNAME, "%.*s",
			 (int)strnlen((const char *)option->data, option->size),
			 (const char *)option->data);
	return true;
}

void trace_dat_uname(const char *path, char text[TRACE_DAT_UNAME])
{
	struct dat_file dat;
	char problem[256];

	*text = 0;
	if (dat_open(&dat, path, problem, sizeof(problem)))
		dat_options(&dat, take_uname, text);
	dat_close(&dat);
}
