// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_write.c
 * @brief	Write a trace.dat of version 6.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "key_map.h"
#include "kvm_fields.h"
#include "trace_counters.h"
#include "trace_dat.h"
#include "trace_dat_head.h"
#include "trace_dat_pages.h"
#include "trace_dat_read.h"
#include "trace_dat_spool.h"
#include "trace_dat_write.h"
#include "write_at.h"

/** Bytes of pages that are written at once. */
#define PIECE		((size_t)64 << 10)

/** Bytes of a thread's name (the kernel's have 16), and of its line besides the name. */
#define MOST_COMM	255
#define COMM_EXTRA	48

struct text {
	char		*data;
	size_t		size;
};

/** Per CPU. */
struct cpu {
	uint64_t	last_ns;
	bool		has_lost;		/* and no record came since */
	uint64_t	offset, size;		/* of its pages in the file */
};

struct trace_dat_writer {
	int		fd;
	struct spool	*spool;
	struct trace_dat_about about;
	char		*clock, *uname;		/* as @about has them, or NULL */
	int		error;			/* the first one */
	uint8_t		*is_declared;		/* a bit per event id */
	struct dat_event *events;		/* texts are malloc'ed */
	size_t		n_events, room_events;
	size_t		text_bytes;		/* of all other texts */
	size_t		comm_bytes;
	struct key_map	pids;
	char		**comms;		/* by number in @pids */
	size_t		comms_room;
	struct text	symbols, printk;
	struct cpu	*cpus;
	size_t		n_cpus;
	size_t		largest;		/* record */
	uint64_t	read_bytes;		/* of readings */
	uint32_t	n_read;			/* CPUs that have readings are below that */
	const struct trace_counter *counters;	/* the caller's, @n_counters */
	uint32_t	n_counters;
	/* at the end: */
	struct dat_page	page;
	uint8_t		*piece;			/* pages that are not written yet */
	size_t		piece_used, piece_room;
	uint64_t	at;			/* where they belong */
	uint64_t	written;
};

/* --- beginning ------------------------------------------------------------------------------- */

static bool is_big(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static bool copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return *to || !text;
}

struct trace_dat_writer *trace_dat_writer_new(int fd, int spool,
					      const struct trace_dat_about *about)
{
	struct trace_dat_writer *writer;

	if ((about->long_size != 4 && about->long_size != 8) || about->n_cpus < 0 ||
	    about->n_cpus > TRACE_DAT_WRITE_CPUS) {
		errno = EINVAL;
		return NULL;
	}
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return NULL;
	writer->fd = fd;
	writer->about = *about;
	writer->spool = spool_new(spool);
	writer->is_declared = calloc(1, (UINT16_MAX + 1) / 8);
	if (writer->spool && writer->is_declared && copy_text(&writer->clock, about->clock) &&
	    copy_text(&writer->uname, about->uname) &&
	    (!about->n_cpus || !ARRAY_REACH(writer->cpus, (size_t)about->n_cpus - 1,
					    writer->n_cpus))) {
		writer->n_cpus = (size_t)about->n_cpus;
		return writer;
	}
	trace_dat_writer_free(writer);
	errno = ENOMEM;
	return NULL;
}

static void free_event(const struct dat_event *event)
{
	free((void *)(uintptr_t)event->system);
	free((void *)(uintptr_t)event->format);
}

void trace_dat_writer_free(struct trace_dat_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->n_events; i++)
		free_event(&writer->events[i]);
	for (uint32_t i = 0; i < writer->pids.n_keys; i++)
		free(writer->comms[i]);
	key_map_destroy(&writer->pids);
	spool_free(writer->spool);
	free(writer->comms);
	free(writer->events);
	free(writer->is_declared);
	free(writer->clock);
	free(writer->uname);
	free(writer->symbols.data);
	free(writer->printk.data);
	free(writer->cpus);
	free(writer);
}

/** Keep an error. Return: it. */
static int fail(struct trace_dat_writer *writer, int error)
{
	if (!writer->error)
		writer->error = error;
	return writer->error;
}

/* --- declarations ---------------------------------------------------------------------------- */

/** Return: 0, or -EFBIG if it is too much for all texts together. */
static int take_text(struct trace_dat_writer *writer, size_t size)
{
	if (size > TRACE_DAT_WRITE_TEXT - writer->text_bytes)
		return fail(writer, -EFBIG);
	writer->text_bytes += size;
	return 0;
}

static bool is_declared(const struct trace_dat_writer *writer, uint16_t id)
{
	return writer->is_declared[id / 8] >> id % 8 & 1;
}

int trace_dat_writer_event(struct trace_dat_writer *writer, uint16_t id, const char *system,
			   const char *format, size_t size)
{
	struct dat_event event = { .id = id, .size = size };
	char *copy;

	if (writer->error || is_declared(writer, id))
		return writer->error;
	if (!*system || strchr(system, '\n'))
		return -EINVAL;
	if (take_text(writer, size + strlen(system) + sizeof(event)))
		return writer->error;
	event.system = strdup(system);
	event.format = copy = malloc(size + 1);
	if (!event.system || !copy ||
	    ARRAY_GROW(writer->events, writer->n_events, writer->room_events)) {
		free_event(&event);
		return fail(writer, -ENOMEM);
	}
	memcpy(copy, format, size);
	writer->events[writer->n_events++] = event;
	writer->is_declared[id / 8] |= (uint8_t)(1 << id % 8);
	return 0;
}

int trace_dat_writer_comm(struct trace_dat_writer *writer, int32_t pid, const char *comm)
{
	size_t size = COMM_EXTRA + strnlen(comm, MOST_COMM);
	int64_t n;
	char *copy;

	if (writer->error)
		return writer->error;
	if (size > TRACE_DAT_WRITE_TEXT / 2 - writer->comm_bytes)
		return -ENOSPC;
	copy = strndup(comm, MOST_COMM);
	n = copy ? KEY_MAP_ELEMENT(&writer->pids, (uint32_t)pid, writer->comms, writer->comms_room)
	    : -ENOMEM;
	if (n < 0) {
		free(copy);
		return fail(writer, -ENOMEM);
	}
	/* a line is a thread's */
	for (char *at = copy; *at; at++)
		if (*at == '\n')
			*at = '?';
	writer->comm_bytes += size;
	if (writer->comms[n])
		writer->comm_bytes -= COMM_EXTRA + strlen(writer->comms[n]);
	free(writer->comms[n]);
	writer->comms[n] = copy;
	return 0;
}

const char *trace_dat_writer_name(const struct trace_dat_writer *writer, int32_t pid)
{
	int64_t n = key_map_find(&writer->pids, (uint32_t)pid);

	return n < 0 ? NULL : writer->comms[n];
}

static int keep_text(struct trace_dat_writer *writer, struct text *to, const char *text,
		     size_t size)
{
	if (writer->error || to->data || take_text(writer, size))
		return writer->error;
	to->data = malloc(size + 1);
	if (!to->data)
		return fail(writer, -ENOMEM);
	memcpy(to->data, text, size);
	to->size = size;
	return 0;
}

int trace_dat_writer_symbols(struct trace_dat_writer *writer, const char *text, size_t size)
{
	return keep_text(writer, &writer->symbols, text, size);
}

int trace_dat_writer_printk(struct trace_dat_writer *writer, const char *text, size_t size)
{
	return keep_text(writer, &writer->printk, text, size);
}

/* --- records --------------------------------------------------------------------------------- */

static struct cpu *reach_cpu(struct trace_dat_writer *writer, int cpu)
{
	size_t room = writer->n_cpus;

	if ((size_t)cpu < writer->n_cpus)
		return &writer->cpus[cpu];
	/* readers expect exactly this number */
	if (ARRAY_REACH(writer->cpus, (size_t)cpu, room)) {
		fail(writer, -ENOMEM);
		return NULL;
	}
	ARRAY_SHRINK(writer->cpus, (size_t)cpu + 1);
	writer->n_cpus = (size_t)cpu + 1;
	return &writer->cpus[cpu];
}

static int put(struct trace_dat_writer *writer, int cpu, const struct spool_head *head,
	       const void *data)
{
	int ret = spool_put(writer->spool, (uint32_t)cpu, head, data);

	if (!ret && writer->about.most_bytes &&
	    spool_bytes(writer->spool) > writer->about.most_bytes)
		ret = -EFBIG;
	return ret ? fail(writer, ret) : 0;
}

int trace_dat_writer_record(struct trace_dat_writer *writer, int cpu, uint64_t ts_ns,
			    const void *data, size_t size)
{
	const struct spool_head head = { .value = ts_ns, .size = (uint32_t)size };
	struct cpu *of;

	if (writer->error)
		return writer->error;
	if (cpu < 0 || cpu >= TRACE_DAT_WRITE_CPUS)
		return -ERANGE;
	if (size > TRACE_DAT_WRITE_RECORD)
		return -EMSGSIZE;
	of = reach_cpu(writer, cpu);
	if (!of)
		return writer->error;
	of->last_ns = ts_ns;
	of->has_lost = false;
	if (size > writer->largest)
		writer->largest = size;
	return put(writer, cpu, &head, data);
}

int trace_dat_writer_lost(struct trace_dat_writer *writer, int cpu, uint64_t count)
{
	const struct spool_head head = { .value = count, .size = SPOOL_LOST };
	struct cpu *of;

	if (writer->error)
		return writer->error;
	if (cpu < 0 || cpu >= TRACE_DAT_WRITE_CPUS)
		return -ERANGE;
	of = reach_cpu(writer, cpu);
	if (!of)
		return writer->error;
	of->has_lost = true;
	return put(writer, cpu, &head, NULL);
}

/** The stream of a CPU's readings comes after those of the records of all CPUs. */
int trace_dat_writer_reading(struct trace_dat_writer *writer, const struct trace_reading *reading,
			     const struct trace_counter_value *values)
{
	uint8_t bytes[sizeof(*reading) + TRACE_COUNTERS_MOST * sizeof(*values)];
	size_t size = reading->n == TRACE_READING_LOST ? 0 : reading->n * sizeof(*values);
	const struct spool_head head = {
		.value = reading->ts, .size = (uint32_t)(sizeof(*reading) + size),
	};

	if (writer->error)
		return writer->error;
	if (reading->cpu >= TRACE_DAT_WRITE_CPUS)
		return -ERANGE;
	if (size > TRACE_COUNTERS_MOST * sizeof(*values))
		return -EMSGSIZE;
	if (reading->cpu >= writer->n_read)
		writer->n_read = reading->cpu + 1;
	writer->read_bytes += head.size;
	memcpy(bytes, reading, sizeof(*reading));
	if (size)
		memcpy(bytes + sizeof(*reading), values, size);
	return put(writer, TRACE_DAT_WRITE_CPUS + (int)reading->cpu, &head, bytes);
}

void trace_dat_writer_counters(struct trace_dat_writer *writer,
			       const struct trace_counter *counters, uint32_t n)
{
	writer->counters = counters;
	writer->n_counters = n;
}

/** Losses at the end need a record. */
static int end_losses(struct trace_dat_writer *writer)
{
	uint8_t record[DAT_LOST_BYTES];
	unsigned int id = UINT16_MAX;
	char format[1024];
	uint64_t end_ns = 0;
	bool needs = false;

	for (size_t i = 0; i < writer->n_cpus; i++) {
		needs |= writer->cpus[i].has_lost;
		if (writer->cpus[i].last_ns > end_ns)
			end_ns = writer->cpus[i].last_ns;
	}
	if (!needs)
		return 0;
	while (id && is_declared(writer, (uint16_t)id))
		id--;
	dat_lost_format(format, sizeof(format), (uint16_t)id);
	dat_lost_record(record, writer->about.big_endian, (uint16_t)id);
	if (trace_dat_writer_event(writer, (uint16_t)id, KVM_OWN_SYSTEM, format, strlen(format)))
		return writer->error;
	for (size_t i = 0; i < writer->n_cpus; i++)
		if (writer->cpus[i].has_lost)
			trace_dat_writer_record(writer, (int)i, end_ns, record, sizeof(record));
	return writer->error;
}

/* --- pages ----------------------------------------------------------------------------------- */

static int flush(struct trace_dat_writer *writer)
{
	int ret = write_at(writer->fd, writer->piece, writer->piece_used, writer->at);

	writer->at += writer->piece_used;
	writer->written += writer->piece_used;
	writer->piece_used = 0;
	if (!ret && writer->about.most_bytes &&
	    spool_bytes(writer->spool) + writer->written > writer->about.most_bytes)
		ret = -EFBIG;
	return ret;
}

/** Small pages are written together; of large ones, only what is in use. */
static int end_page(struct trace_dat_writer *writer)
{
	struct dat_page *page = &writer->page;
	size_t used = dat_page_end(page);
	int ret = 0;

	if (!used)
		return 0;
	if (page->size > PIECE / 2) {
		writer->piece_used = used;
		ret = flush(writer);
		writer->at += page->size - used;
	} else {
		memset(page->data + used, 0, page->size - used);
		writer->piece_used += page->size;
		if (writer->piece_used == writer->piece_room)
			ret = flush(writer);
	}
	page->data = writer->piece + writer->piece_used;
	return ret;
}

static int take_spooled(void *arg, const struct spool_head *head, const uint8_t *data)
{
	struct trace_dat_writer *writer = arg;
	int ret;

	if (head->size == SPOOL_LOST) {
		ret = end_page(writer);
		dat_page_lost(&writer->page, head->value);
		return ret;
	}
	if (dat_page_add(&writer->page, head->value, data, head->size))
		return 0;
	ret = end_page(writer);
	/* a new page takes any record, see dat_page_bytes() */
	if (!ret && !dat_page_add(&writer->page, head->value, data, head->size))
		ret = -EIO;
	return ret;
}

static int write_cpu(struct trace_dat_writer *writer, uint32_t cpu)
{
	int ret;

	writer->cpus[cpu].offset = writer->at;
	ret = spool_walk(writer->spool, cpu, take_spooled, writer);
	if (!ret)
		ret = end_page(writer);
	if (!ret)
		ret = flush(writer);
	writer->page.data = writer->piece;
	writer->cpus[cpu].size = writer->at - writer->cpus[cpu].offset;
	return ret;
}

/** @at: offset of the first page */
static int write_pages(struct trace_dat_writer *writer, uint64_t at)
{
	size_t size = writer->page.size;
	int ret = 0;

	writer->at = at;
	writer->piece_room = size > PIECE / 2 ? size : PIECE;
	writer->piece = malloc(writer->piece_room);
	if (!writer->piece)
		return -ENOMEM;
	writer->page.data = writer->piece;
	for (uint32_t cpu = 0; cpu < writer->n_cpus && !ret; cpu++)
		ret = write_cpu(writer, cpu);
	free(writer->piece);
	writer->piece = NULL;
	/* the last page is a whole one, too */
	if (!ret && ftruncate(writer->fd, (off_t)writer->at))
		ret = -errno;
	return ret;
}

/* --- the head -------------------------------------------------------------------------------- */

/** Formats of the heads of pages and records, as the kernel has them in tracefs. */
static void put_page_formats(const struct dat_file *form, FILE *file)
{
	static const char records[] =
		"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
		"\tarray       :   32 bits\n\n\tpadding     : type == 29\n"
		"\ttime_extend : type == 30\n\ttime_stamp : type == 31\n"
		"\tdata max type_len  == 28\n";
	int long_size = form->long_size, start = 8 + long_size;
	char page[512];
	int n = snprintf(page, sizeof(page),
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
			 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%d;\tsize:%zu;\tsigned:1;\n",
			 long_size, start, (size_t)form->page_size - (size_t)start);

	fwrite("header_page", 1, 12, file);
	dat_write_sized(file, form, 8, page, (size_t)n);
	fwrite("header_event", 1, 13, file);
	dat_write_sized(file, form, 8, records, sizeof(records) - 1);
}

static int put_comms(const struct trace_dat_writer *writer, const struct dat_file *form,
		     FILE *file)
{
	size_t size = 0;
	char *text = NULL;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < writer->pids.n_keys; i++)
		fprintf(lines, "%d %s\n", (int32_t)writer->pids.keys[i], writer->comms[i]);
	if (fclose(lines)) {
		free(text);
		return -ENOMEM;
	}
	dat_write_sized(file, form, 8, text, size);
	free(text);
	return 0;
}

/** As in trace_clock: the clock in use has brackets. Return: its length. */
static size_t clock_text(const struct trace_dat_writer *writer, char text[80])
{
	return (size_t)snprintf(text, 80, "[%.64s]\n", writer->clock);
}

static void put_options(const struct trace_dat_writer *writer, const struct dat_file *form,
			FILE *file)
{
	uint8_t raw[8];
	char clock[80];

	fwrite("options  ", 1, 10, file);
	if (writer->clock)
		dat_write_option(file, form, DAT_TRACECLOCK, clock,
				 clock_text(writer, clock) + 1);
	if (writer->uname)
		dat_write_option(file, form, DAT_UNAME, writer->uname, strlen(writer->uname) + 1);
	dat_put(form, raw, 4, writer->n_cpus);
	dat_write_option(file, form, DAT_CPUCOUNT, raw, 4);
	if (writer->about.trace_id) {
		dat_put(form, raw, 8, writer->about.trace_id);
		dat_write_option(file, form, DAT_TRACEID, raw, 8);
	}
	dat_write_number(file, form, 2, DAT_DONE);
}

/** All that comes before the pages. Return: 0 or a negative errno. */
static int make_head(struct trace_dat_writer *writer, char **head, size_t *size)
{
	const struct dat_file file_form = {
		.big_endian = writer->about.big_endian, .long_size = writer->about.long_size,
		.page_size = writer->page.size,
	}, *form = &file_form;
	FILE *file = open_memstream(head, size);
	char clock[80];
	int ret;

	if (!file)
		return -ENOMEM;
	dat_write_begin(file, form, "6");
	put_page_formats(form, file);
	/* the events of ftrace itself have a place of their own, which no reader needs */
	dat_write_number(file, form, 4, 0);
	dat_write_events(file, form, writer->events, writer->n_events);
	dat_write_sized(file, form, 4, writer->symbols.data, writer->symbols.size);
	dat_write_sized(file, form, 4, writer->printk.data, writer->printk.size);
	ret = put_comms(writer, form, file);
	dat_write_number(file, form, 4, writer->n_cpus);
	put_options(writer, form, file);
	fwrite("flyrecord", 1, 10, file);
	for (size_t i = 0; i < writer->n_cpus; i++) {
		dat_write_number(file, form, 8, writer->cpus[i].offset);
		dat_write_number(file, form, 8, writer->cpus[i].size);
	}
	/* with the option, libtracecmd reads the clock here once more: without it, it would take
	 * the bytes that follow for the size of a text */
	if (writer->clock)
		dat_write_sized(file, form, 8, clock, clock_text(writer, clock));
	if (fclose(file) && !ret)
		ret = -ENOMEM;
	return ret;
}

/** The head has the offsets of the pages, so it is made twice; its size stays the same. */
static int write_all(struct trace_dat_writer *writer)
{
	char *head = NULL;
	size_t size = 0, page = writer->page.size;
	int ret = make_head(writer, &head, &size);

	free(head);
	head = NULL;
	if (!ret)
		ret = write_pages(writer, (size + page - 1) / page * page);
	if (!ret)
		ret = make_head(writer, &head, &size);
	if (!ret)
		ret = write_at(writer->fd, (const uint8_t *)head, size, 0);
	free(head);
	return ret;
}

static int append_counters(struct trace_dat_writer *writer)
{
	if (writer->about.most_bytes && spool_bytes(writer->spool) + writer->written +
	    writer->read_bytes > writer->about.most_bytes)
		return -EFBIG;
	return trace_counters_append(writer->fd, writer->at, writer->counters, writer->n_counters,
				     writer->spool, TRACE_DAT_WRITE_CPUS, writer->n_read);
}

int trace_dat_writer_finish(struct trace_dat_writer *writer)
{
	int ret;

	if (writer->error || end_losses(writer))
		return writer->error;
	writer->page = (struct dat_page){
		.size = dat_page_bytes(writer->largest),
		.long_size = writer->about.long_size,
		.big_endian = writer->about.big_endian,
		.swap = writer->about.big_endian != is_big(),
	};
	ret = write_all(writer);
	if (!ret && writer->n_counters)
		ret = append_counters(writer);
	return ret ? fail(writer, ret) : 0;
}
