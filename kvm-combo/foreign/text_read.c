// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	text_read.c
 * @brief	Lines of ftrace's text as records of a trace.dat.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "hash_bytes.h"
#include "record_flags.h"
#include "text_patterns.h"
#include "text_read.h"
#include "thread_names.h"

/** Numbers of events: those of the table, then the others in order of appearance. */
#define FIRST_ID	256
#define FIRST_OTHER	(FIRST_ID + TEXT_MOST_EVENTS)

/** An event of the table, as soon as it has appeared. */
struct known {
	bool		is_declared;
	struct event_format format;
};

struct text_reader {
	struct trace_dat_writer *writer;
	struct text_reasons reasons;
	struct known	known[TEXT_MOST_EVENTS];
	struct event_format other;	/* of all events that are not in the table */
	struct key_map	others;		/* hashes of their names */
	struct thread_names names;
	struct event_record record;
	struct foreign_outcome outcome;
	bool		has_no_flags;	/* a line shows no context */
	bool		has_micros;	/* times have no more digits */
};

/** A line. */
struct line {
	const char	*comm;
	size_t		n_comm;
	int32_t		pid;
	int		cpu;
	bool		has_flags;
	unsigned int	flags;
	uint64_t	ts;
	bool		is_micros;
	const char	*event;
	size_t		n_event;
	const char	*text;		/* after the event's name */
};

/* --- lines ----------------------------------------------------------------------------------- */

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/** Return: after the digits, NULL if there are none, or the number is too large. */
static const char *digits(const char *at, uint64_t most, uint64_t *number)
{
	*number = 0;
	if (!isdigit((unsigned char)*at))
		return NULL;
	for (; isdigit((unsigned char)*at); at++) {
		*number = *number * 10 + (uint64_t)(*at - '0');
		if (*number > most)
			return NULL;
	}
	return at;
}

/** "(  123) " or "(-------) ": the process. */
static const char *skip_process(const char *at)
{
	const char *end = at;

	if (*at != '(')
		return at;
	end += 1 + strspn(at + 1, " -0123456789");
	return *end == ')' ? blanks(end + 1) : at;
}

/** common_flags, of the columns irqs-off, need-resched, hardirq/softirq, preempt-depth. */
static unsigned int flags_of(const char *at, size_t n)
{
	unsigned int flags = *at == 'd' || *at == 'D' ? RECORD_IRQS_OFF :
			     *at == 'X' ? RECORD_IRQS_UNKNOWN : 0;

	if (n < 3)
		return flags;
	flags |= at[1] == 'N' || at[1] == 'n' ? RECORD_NEED_RESCHED : 0;
	switch (at[2]) {
	case 'h':
		return flags | RECORD_IN_HARDIRQ;
	case 's':
		return flags | RECORD_IN_SOFTIRQ;
	case 'H':
		return flags | RECORD_IN_HARDIRQ | RECORD_IN_SOFTIRQ;
	case 'Z':
		return flags | RECORD_IN_NMI | RECORD_IN_HARDIRQ;
	case 'z':
		return flags | RECORD_IN_NMI;
	default:
		return flags;
	}
}

/** The column of flags, if the next one is not a time. */
static const char *read_flags(const char *at, struct line *line)
{
	size_t n = strcspn(at, " "), time = strspn(at, "0123456789");

	if (at[time] == '.' && isdigit((unsigned char)at[time + 1]))
		return at;
	if (n < 4 || n > 8)
		return at;
	line->has_flags = true;
	line->flags = flags_of(at, n);
	return blanks(at + n);
}

/** SECONDS.FRACTION, with a colon after. */
static const char *read_time(const char *at, struct line *line)
{
	uint64_t seconds, fraction;
	const char *end = digits(at, INT64_MAX / 1000000000 - 1, &seconds), *begin;

	if (!end || *end != '.')
		return NULL;
	begin = end + 1;
	end = digits(begin, 999999999, &fraction);
	if (!end || *end != ':' || end - begin > 9)
		return NULL;
	line->is_micros = end - begin <= 6;
	for (long n = end - begin; n < 9; n++)
		fraction *= 10;
	line->ts = seconds * 1000000000 + fraction;
	return blanks(end + 1);
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/** Read the text after "COMM-". */
static bool read_rest(const char *at, struct line *line)
{
	uint64_t number;

	at = digits(at, INT32_MAX, &number);
	if (!at || (*at != ' ' && *at != '\t'))
		return false;
	line->pid = (int32_t)number;
	at = skip_process(blanks(at));
	if (*at != '[')
		return false;
	at = digits(at + 1, TRACE_DAT_WRITE_CPUS - 1, &number);
	if (!at || *at != ']')
		return false;
	line->cpu = (int)number;
	line->has_flags = false;
	line->flags = RECORD_IRQS_UNKNOWN;
	at = read_time(read_flags(blanks(at + 1), line), line);
	if (!at)
		return false;
	line->event = at;
	for (line->n_event = 0; is_of_name(at[line->n_event]); line->n_event++)
		;
	line->text = at + line->n_event;
	if (!line->n_event || *line->text != ':') {
		/* a function */
		line->event = "function";
		line->n_event = strlen(line->event);
		line->text = at;
	} else {
		line->text = blanks(line->text + 1);
	}
	return true;
}

/** The name of a thread may have dashes and brackets: what follows has to fit. */
static bool read_line(const char *text, struct line *line)
{
	const char *begin = blanks(text), *at = begin;

	if (!*begin || *begin == '#')
		return false;
	for (; *at && at - begin < 2 * EVENT_COMM_SIZE; at++) {
		if (*at != '-' || at == begin || !read_rest(at + 1, line))
			continue;
		line->comm = begin;
		line->n_comm = (size_t)(at - begin);
		return true;
	}
	return false;
}

/** "CPU:3 [LOST 12 EVENTS]", "CPU:3 [12 EVENTS DROPPED]", both also without a number. */
static bool read_loss(const char *text, int *cpu, uint64_t *count)
{
	const char *at = blanks(text);
	uint64_t number;

	if (strncmp(at, "CPU:", 4) != 0)
		return false;
	at = digits(at + 4, TRACE_DAT_WRITE_CPUS - 1, &number);
	if (!at || strncmp(at, " [", 2) != 0)
		return false;
	*cpu = (int)number;
	at += 2;
	if (!strncmp(at, "LOST ", 5))
		at += 5;
	*count = 0;
	if (isdigit((unsigned char)*at))
		at = digits(at, UINT64_MAX / 20, count);
	return at && strstr(at, "EVENTS") == blanks(at);
}

bool text_is(const char *head, size_t n)
{
	char text[TEXT_LINE];
	struct line line;
	uint64_t count;
	int cpu, left = 20;
	char *next = text;

	if (n > sizeof(text) - 1)
		n = sizeof(text) - 1;
	memcpy(text, head, n);
	text[n] = '\0';
	if (strlen(text) < n || (strncmp(text, "# tracer: ", 10) != 0 && !strchr(text, '\n')))
		return false;
	if (!strncmp(text, "# tracer: ", 10))
		return true;
	while (next && left--) {
		char *end = strchr(next, '\n');

		if (end)
			*end = '\0';
		if (read_line(next, &line) || read_loss(next, &cpu, &count))
			return true;
		next = end ? end + 1 : NULL;
	}
	return false;
}

/* --- events ---------------------------------------------------------------------------------- */

/** tracefs has an event in the folder of its system, which the text does not show. */
static void system_of(const char *name, size_t n, char *system, size_t size)
{
	static const struct { const char *prefix, *system; } rows[] = {
		{ "softirq_", "irq" }, { "hrtimer_", "timer" }, { "itimer_", "timer" },
		{ "sys_", "syscalls" }, { "vcpu_match_", "kvm" }, { "tracing_mark_", "ftrace" },
		{ "print", "ftrace" }, { "bprint", "ftrace" }, { "function", "ftrace" },
	};
	size_t part = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(name, rows[i].prefix, strlen(rows[i].prefix))) {
			snprintf(system, size, "%s", rows[i].system);
			return;
		}
	while (part < n && name[part] != '_')
		part++;
	snprintf(system, size, "%.*s", (int)part, name);
}

static int declare_other(struct text_reader *reader, const struct line *line, unsigned int id)
{
	char system[EVENT_NAME_SIZE], name[EVENT_NAME_SIZE];
	struct event_format format;
	int ret;

	/* with the fields of the table, the name is another event's */
	snprintf(name, sizeof(name), "%.*s%s", (int)line->n_event, line->event,
		 text_event_find(line->event, line->n_event) ? "_unread" : "");
	system_of(line->event, line->n_event, system, sizeof(system));
	event_format_init(&format, *system ? system : "text", name);
	ret = event_format_add(&format, "text", EVENT_TEXT, 1, false);
	if (ret >= 0)
		format.print = "\"%s\", __get_str(text)";
	if (ret >= 0)
		ret = event_format_declare(reader->writer, &format, id);
	event_format_destroy(&format);
	return ret;
}

/** An event that is not in the table, or whose text is not read, keeps it. */
static int make_other(struct text_reader *reader, const struct line *line)
{
	uint64_t key = hash_bytes(HASH_BYTES_NONE, line->event, line->n_event);
	int64_t at = key_map_find(&reader->others, key);
	int ret = 0;

	if (at < 0 && reader->others.n_keys >= UINT16_MAX - 1 - FIRST_OTHER)
		return -E2BIG;
	if (at < 0) {
		at = key_map_add(&reader->others, key);
		ret = at < 0 ? (int)at :
		      declare_other(reader, line, FIRST_OTHER + (unsigned int)at);
	}
	if (ret)
		return ret;
	event_record_begin(&reader->record, &reader->other, FIRST_OTHER + (unsigned int)at,
			   line->flags, line->pid);
	event_record_text(&reader->record, &reader->other.fields[0], line->text,
			  strlen(line->text));
	return 0;
}

static void set_field(struct event_record *record, const struct event_field *field,
		      const struct text_value *value)
{
	if (field->kind == EVENT_NUMBER)
		/* no field of the tracker's is below 0 by itself: VIRT_NONE */
		event_record_number(record, field, value->is_set ? (uint64_t)value->number :
							UINT64_MAX);
	else if (value->is_set)
		event_record_text(record, field, value->text, value->n);
}

static int make_known(struct text_reader *reader, const struct text_event *event,
		      const struct line *line, const struct text_value *values)
{
	unsigned int number = (unsigned int)text_event_number(event);
	struct known *known = &reader->known[number];
	int ret = 0;

	if (!known->is_declared) {
		ret = text_event_format(event, &known->format);
		if (!ret)
			ret = event_format_declare(reader->writer, &known->format,
						   FIRST_ID + number);
		known->is_declared = !ret;
	}
	if (ret)
		return ret;
	event_record_begin(&reader->record, &known->format, FIRST_ID + number, line->flags,
			   line->pid);
	for (size_t i = 0; i < known->format.n; i++)
		set_field(&reader->record, &known->format.fields[i], &values[i]);
	return 0;
}

static unsigned int record_id(const struct event_record *record)
{
	uint16_t id;

	memcpy(&id, record->data, sizeof(id));
	return id;
}

/** The name of the thread that has the CPU. */
static int name_threads(struct text_reader *reader, const struct line *line)
{
	if (*line->comm == '<')
		return 0;
	return thread_names_put(&reader->names, reader->writer, line->pid, line->comm,
				line->n_comm);
}

static int take_line(struct text_reader *reader, const struct line *line)
{
	const struct text_event *event = text_event_find(line->event, line->n_event);
	struct text_value values[TEXT_MOST_FIELDS];
	int ret;

	reader->has_no_flags |= !line->has_flags;
	reader->has_micros |= line->is_micros;
	if (event && text_event_read(event, &reader->reasons, line->text, values))
		ret = make_known(reader, event, line, values);
	else
		ret = make_other(reader, line);
	reader->outcome.lines += event && !ret && record_id(&reader->record) >= FIRST_OTHER;
	if (!ret)
		ret = name_threads(reader, line);
	if (!ret)
		ret = trace_dat_writer_record(reader->writer, line->cpu, line->ts,
					      reader->record.data, reader->record.size);
	reader->outcome.events += !ret;
	return ret;
}

/* --- the reader ------------------------------------------------------------------------------ */

struct text_reader *text_reader_new(struct trace_dat_writer *writer)
{
	struct text_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->writer = writer;
	event_format_init(&reader->other, "text", "text");
	if (!text_reasons_init(&reader->reasons) &&
	    event_format_add(&reader->other, "text", EVENT_TEXT, 1, false) >= 0)
		return reader;
	text_reader_free(reader);
	return NULL;
}

void text_reader_free(struct text_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < TEXT_MOST_EVENTS; i++)
		event_format_destroy(&reader->known[i].format);
	event_format_destroy(&reader->other);
	key_map_destroy(&reader->others);
	text_reasons_destroy(&reader->reasons);
	thread_names_destroy(&reader->names);
	free(reader);
}

/** Lines that are no records: headers, comments, losses. */
static bool is_expected(const char *text)
{
	const char *at = blanks(text);

	return !*at || *at == '#' || !strncmp(at, "cpus=", 5) || !strncmp(at, "=> ", 3);
}

int text_reader_line(struct text_reader *reader, const char *text)
{
	struct line line;
	uint64_t count;
	int cpu;

	if (read_line(text, &line))
		return take_line(reader, &line);
	if (read_loss(text, &cpu, &count))
		return trace_dat_writer_lost(reader->writer, cpu, count);
	reader->outcome.lines += !is_expected(text);
	return 0;
}

int text_reader_end(struct text_reader *reader, struct foreign_outcome *outcome)
{
	int ret = reader->has_no_flags ? event_format_no_context(reader->writer, FIRST_ID - 1) : 0;

	*outcome = reader->outcome;
	outcome->no_context = reader->has_no_flags;
	outcome->has_micros = reader->has_micros;
	return ret ? ret : trace_dat_writer_finish(reader->writer);
}

/* --- all of it ------------------------------------------------------------------------------- */

/**
 * Read a line, without its end.
 * @n: receives its number of bytes; @text receives the first of them, with a 0 after them
 *
 * Return: false at the end of the file, or if it cannot be read.
 */
static bool get_line(FILE *in, char text[TEXT_LINE], size_t *n)
{
	int c;

	for (*n = 0; (c = getc_unlocked(in)) != EOF && c != '\n'; ++*n)
		if (*n < TEXT_LINE - 1)
			text[*n] = (char)c;
	text[*n < TEXT_LINE ? *n : TEXT_LINE - 1] = '\0';
	return c != EOF || *n;
}

/** Read all lines. Return: 0 or a negative errno. */
static int read_all(struct text_reader *reader, FILE *in)
{
	char text[TEXT_LINE];
	size_t n;
	int ret = 0;

	while (!ret && get_line(in, text, &n)) {
		/* no text has a byte of 0: the line is damaged */
		if (strlen(text) < n && strlen(text) < TEXT_LINE - 1) {
			reader->outcome.lines++;
			continue;
		}
		text[strcspn(text, "\r")] = '\0';
		ret = text_reader_line(reader, text);
	}
	return ret ? ret : ferror(in) ? -EIO : 0;
}

static const char *problem_of(int ret)
{
	switch (ret) {
	case -ENODATA:
		return "no line of it is a record with a time in seconds. Set the trace clock to "
		       "\"local\" or \"mono\"";
	case -E2BIG:
		return "it has more than 65,000 kinds of events. Record fewer";
	case -EFBIG:
		return "its records take too much room. If that is right, allow more with "
		       "--max-input";
	default:
		return strerror(-ret);
	}
}

int text_convert(int in, int fd, int spool, uint64_t most_bytes, struct foreign_outcome *outcome)
{
	const struct trace_dat_about about = {
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = 8,
		.most_bytes = most_bytes,
	};
	struct trace_dat_writer *writer = trace_dat_writer_new(fd, spool, &about);
	struct text_reader *reader = writer ? text_reader_new(writer) : NULL;
	FILE *file = reader && lseek(in, 0, SEEK_SET) >= 0 ? fdopen(in, "r") : NULL;
	int ret = file ? read_all(reader, file) : -ENOMEM;

	if (!ret && !reader->outcome.events)
		ret = -ENODATA;
	if (!ret)
		ret = text_reader_end(reader, outcome);
	if (ret)
		snprintf(outcome->problem, sizeof(outcome->problem), "%s", problem_of(ret));
	if (file)
		fclose(file);
	else
		close(in);
	text_reader_free(reader);
	trace_dat_writer_free(writer);
	return ret;
}
