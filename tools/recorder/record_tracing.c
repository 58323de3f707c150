// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_tracing.c
 * @brief	The settings of tracefs that a recorder changes, and their restoration.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash_bytes.h"
#include "record.h"
#include "record_tracing.h"

/** Of a record in the ring buffer, if none was written yet. */
#define RECORD_BYTES	48

/** Of set_event and available_events: one event may take some tens of bytes. */
#define EVENTS_BYTES	(1 << 20)

static struct record_tracing_state saved, marked;

/** Where the buffers are that are used, below record_tracing(). */
static char buffers[NAME_MAX + 16];

void record_tracing_use(const char *instance)
{
	snprintf(buffers, sizeof(buffers), "%s%s", instance ? "/instances/" : "",
		 instance ? instance : "");
}

bool record_tracing_is_own(void)
{
	return *buffers;
}

void record_tracing_stop(void)
{
	record_write("0", "%s%s/tracing_on", record_tracing() ? : "", buffers);
}

bool record_tracing_is_on(void)
{
	char on[8];

	record_read(on, sizeof(on), "%s%s/tracing_on", record_tracing(), buffers);
	return strcmp(on, "0") != 0;
}

/** "[local] global mono": the one in brackets. */
static void read_clock(char clock[32])
{
	char text[512], *open, *close = NULL;

	record_read(text, sizeof(text), "%s/trace_clock", record_tracing());
	open = strchr(text, '[');
	if (open)
		close = strchr(open, ']');
	if (close)
		*close = '\0';
	snprintf(clock, 32, "%s", close ? open + 1 : "local");
}

/** "1408", or "7 (expanded: 1408)" until the first event. */
static unsigned long long read_buffer(void)
{
	char text[128], *expanded;

	record_read(text, sizeof(text), "%s%s/buffer_size_kb", record_tracing(), buffers);
	expanded = strstr(text, "expanded: ");
	return strtoull(expanded ? expanded + strlen("expanded: ") : text, NULL, 10);
}

/** The events that are enabled, as a number that is no other list's; 0: none. */
static uint64_t read_events(void)
{
	char *text = malloc(EVENTS_BYTES);
	uint64_t key;
	bool any;

	if (!text)
		return 0;
	record_read(text, EVENTS_BYTES, "%s/set_event", record_tracing());
	any = *text;
	key = hash_text(text);
	free(text);
	return any ? key : 0;
}

static void read_state(struct record_tracing_state *state)
{
	state->on = record_tracing_is_on();
	state->buffer_kb = read_buffer();
	read_clock(state->clock);
	state->events = read_events();
}

void record_tracing_save(void)
{
	read_state(&saved);
}

void record_tracing_mark(void)
{
	read_state(&marked);
}

/** Is the event in a line of @size bytes one of @events, or of a system of theirs? */
static bool is_one_of(const char *line, size_t size, const char *const *events, int n)
{
	for (int i = 0; i < n; i++) {
		size_t length = strlen(events[i]);

		if (length <= size && !strncmp(line, events[i], length) &&
		    (length == size || (line[length] == ':' && !strchr(events[i], ':'))))
			return true;
	}
	return false;
}

void record_tracing_expect(const char *const *events, int n)
{
	char *text = malloc(EVENTS_BYTES), *to = text;

	marked = (struct record_tracing_state){ 0 };
	if (!text)
		return;
	record_read(text, EVENTS_BYTES, "%s/available_events", record_tracing());
	/* set_event has the same lines in the same order; record_read() leaves out the last end */
	for (char *line = text; *line;) {
		size_t size = strcspn(line, "\n");
		char *next = line + size + (line[size] == '\n');

		if (is_one_of(line, size, events, n)) {
			if (to != text)
				*to++ = '\n';
			memmove(to, line, size);
			to += size;
		}
		line = next;
	}
	*to = '\0';
	marked.events = to == text ? 0 : hash_text(text);
	free(text);
}

const struct record_tracing_state *record_tracing_marked(void)
{
	return &marked;
}

const struct record_tracing_state *record_tracing_before(void)
{
	return &saved;
}

static void put_back(const char *text, const char *file)
{
	int ret = record_write(text, "%s/%s", record_tracing(), file);

	if (ret)
		ksv_note("%s/%s: cannot be restored to '%s': %s", record_tracing(), file, text,
			 strerror(-ret));
}

void record_tracing_restore(const struct record_tracing_state *before, bool events)
{
	char text[32], clock[32];

	if (!record_tracing())
		return;
	if (events) {
		put_back("0", "tracing_on");
		put_back("", "set_event");
	}
	read_clock(clock);
	if (strcmp(clock, before->clock) != 0)
		put_back(before->clock, "trace_clock");
	if (before->buffer_kb && read_buffer() != before->buffer_kb) {
		snprintf(text, sizeof(text), "%llu", before->buffer_kb);
		put_back(text, "buffer_size_kb");
	}
	put_back(before->on ? "1" : "0", "tracing_on");
}

static bool has_tracer(void)
{
	char tracer[64];

	record_read(tracer, sizeof(tracer), "%s/current_tracer", record_tracing());
	return *tracer && strcmp(tracer, "nop") != 0;
}

enum record_tracing_left record_tracing_look(const struct record_tracing_state *left, bool alive)
{
	uint64_t events = record_tracing() ? read_events() : 0;

	if (!record_tracing() || (!events && !has_tracer()))
		return RECORD_TRACING_ENDED;
	return !has_tracer() && (events == left->events || (!*left->clock && alive)) ?
	       RECORD_TRACING_OURS : RECORD_TRACING_OTHERS;
}

void record_tracing_settle(const struct record_tracing_state *before,
			   const struct record_tracing_state *left, bool alive)
{
	struct record_tracing_state now = { 0 }, back = *before;
	enum record_tracing_left look = record_tracing_look(left, alive);

	if (!record_tracing() || look == RECORD_TRACING_OTHERS)
		return;
	read_state(&now);
	/* what others have changed since is theirs */
	if (*left->clock && strcmp(now.clock, left->clock) != 0)
		snprintf(back.clock, sizeof(back.clock), "%s", now.clock);
	if (left->buffer_kb && now.buffer_kb != left->buffer_kb)
		back.buffer_kb = now.buffer_kb;
	record_tracing_restore(&back, look == RECORD_TRACING_OURS);
}

char *record_tracing_in_use(void)
{
	char tracer[64], events[128], *text = NULL;
	int ret = 0;

	record_read(tracer, sizeof(tracer), "%s/current_tracer", record_tracing());
	record_read(events, sizeof(events), "%s/set_event", record_tracing());
	events[strcspn(events, "\n")] = '\0';
	if (*tracer && strcmp(tracer, "nop") != 0)
		ret = asprintf(&text, "the tracer %s is set", tracer);
	else if (*events)
		ret = asprintf(&text, "the event %s is enabled", events);
	return ret < 0 ? NULL : text;
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static void drain_cpu(const char *folder, int cpu)
{
	char path[PATH_MAX + NAME_MAX], *page = malloc((size_t)getpagesize());
	int from, to;
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s%s/per_cpu/cpu%d/trace_pipe_raw", record_root(),
		 record_tracing(), buffers, cpu);
	from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	record_kept_file(path, folder, cpu);
	to = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	while (from >= 0 && to >= 0 && page && (n = read(from, page, (size_t)getpagesize())) > 0)
		if (write(to, page, (size_t)n) != n)
			break;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	free(page);
}

/** Numbers of CPUs have holes. Return: the folder of them, or NULL. */
static DIR *open_cpus(void)
{
	char path[PATH_MAX];

	if (!record_tracing())
		return NULL;
	snprintf(path, sizeof(path), "%s%s%s/per_cpu", record_root(), record_tracing(), buffers);
	return opendir(path);
}

static bool next_cpu(DIR *dir, int *cpu)
{
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "cpu%d", cpu) == 1)
			return true;
	return false;
}

void record_tracing_drain(const char *folder)
{
	DIR *dir = open_cpus();
	int cpu;

	record_tracing_stop();
	while (next_cpu(dir, &cpu))
		drain_cpu(folder, cpu);
	if (dir)
		closedir(dir);
}

int record_tracing_last_cpu(void)
{
	DIR *dir = open_cpus();
	int cpu, last = -1;

	while (next_cpu(dir, &cpu))
		last = cpu > last ? cpu : last;
	if (dir)
		closedir(dir);
	return last;
}

static uint64_t stat_of(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	/* "overrun" is also the end of "commit overrun" */
	while (line && line != text && line[-1] != '\n')
		line = strstr(line + 1, key);
	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

void record_tracing_count(struct record *record, struct record_count *count)
{
	uint64_t most = 0, average, size = read_buffer() * 1024;
	DIR *dir = open_cpus();
	char text[1024];
	int cpu;

	count->records = count->lost = count->buffer = 0;
	while (next_cpu(dir, &cpu)) {
		uint64_t lost;

		record_read(text, sizeof(text), "%s%s/per_cpu/cpu%d/stats", record_tracing(),
			    buffers, cpu);
		lost = stat_of(text, "overrun: ") + stat_of(text, "commit overrun: ") +
		       stat_of(text, "dropped events: ");
		count->lost += lost;
		count->records += stat_of(text, "entries: ") + stat_of(text, "read events: ");
		most = lost > most ? lost : most;
	}
	if (dir)
		closedir(dir);
	/* had the fullest been larger by what it lost, nothing would have been lost */
	average = count->records && count->bytes ? count->bytes / count->records + 1 : RECORD_BYTES;
	if (most)
		for (count->buffer = RECORD_MIB; count->buffer < size + most * average;)
			count->buffer *= 2;
	(void)record;
}
