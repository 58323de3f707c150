// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_log.c
 * @brief	The log of a guest's kernel, whichever program wrote it.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "guest_log.h"
#include "regular_file.h"

/** Bytes in front of a time in brackets: what syslog, dmesg -x and -r put there. */
#define MOST_IN_FRONT	128

/** Seconds whose ns have 63 bits. */
#define MAX_SECONDS	(INT64_MAX / 1000000000 - 1)

/** Lines without anything new between a warning and a line that belongs to it. */
#define MOST_BETWEEN	16

/** Lines can be out of order; a clock that goes back further begins again. */
#define OUT_OF_ORDER	(INT64_C(10) * 1000000000)

/** CPUs of one warning that are kept. */
#define MOST_CPUS	1024

static const char *const clock_names[GUEST_LOG_N_CLOCKS] = {
	[GUEST_LOG_NO_CLOCK] = "none", [GUEST_LOG_PRINTK] = "printk",
	[GUEST_LOG_JOURNAL] = "journal", [GUEST_LOG_REALTIME] = "realtime",
};

const char *guest_log_clock_name(enum guest_log_clock clock)
{
	return clock_names[clock];
}

/** A message of the kernel, and where it has its time from. */
struct message {
	const char	*text;
	size_t		n;
	int64_t		time_ns;
	enum guest_log_clock clock;
	int32_t		cpu;		/* that printed it; -1: the line does not say */
};

/* --- warnings --------------------------------------------------------------------------------- */

static int add_warning(struct guest_log *log, const struct guest_log_warning *warning,
		       const char *text, size_t n)
{
	struct guest_log_warning *added;

	if (log->n >= GUEST_LOG_MOST) {
		log->left_out++;
		return 0;
	}
	if (ARRAY_GROW(log->warnings, log->n, log->room))
		return -ENOMEM;
	added = &log->warnings[log->n];
	*added = *warning;
	added->text = strndup(text, text_cut(text, n < GUEST_LOG_TEXT ? n : GUEST_LOG_TEXT - 1));
	if (!added->text)
		return -ENOMEM;
	log->n++;
	return 0;
}

/** A CPU that the warning that was last begun is about, too. Return: 0 or -ENOMEM. */
static int add_cpu(struct guest_log *log, int32_t cpu)
{
	struct guest_log_warning *first = &log->warnings[log->about];

	if (first->cpu < 0) {
		first->cpu = cpu;
		return 0;
	}
	for (size_t i = log->about; i < log->n; i++)
		if (log->warnings[i].cpu == cpu)
			return 0;
	if (log->n - log->about >= MOST_CPUS) {
		log->left_out++;
		return 0;
	}
	return add_warning(log, &(struct guest_log_warning){
		.time_ns = first->time_ns, .span_ns = first->span_ns, .line = first->line,
		.cpu = cpu, .boot = first->boot, .kind = first->kind, .clock = first->clock,
		.is_default = first->is_default }, first->text, strlen(first->text));
}

/** The CPUs that the line of the warning has itself. */
static int add_cpus(struct guest_log *log, const struct message *message)
{
	size_t at = 0;
	int32_t cpu;
	int ret = 0;

	while (!ret && (cpu = guest_log_next_cpu(log->warnings[log->about].kind, message->text,
						 message->n, &at)) >= 0)
		ret = add_cpu(log, cpu);
	return ret;
}

/** Does the CPU that prints a warning of this kind print it of itself? */
static bool is_of_printer(const struct guest_log_warning *warning, const struct message *message)
{
	return warning->kind == GUEST_LOG_HRTIMER || warning->kind == GUEST_LOG_NOHZ ||
	       warning->kind == GUEST_LOG_RT_THROTTLING || warning->kind == GUEST_LOG_NMI ||
	       (warning->kind == GUEST_LOG_RCU_STALL &&
		memmem(message->text, message->n, "self-detected", strlen("self-detected")));
}

/** A line that may belong to the warning above. */
static int add_below(struct guest_log *log, const struct message *message)
{
	int64_t span_ns;
	int32_t cpu;

	if (log->about >= log->n || log->lines - log->last_line > MOST_BETWEEN ||
	    !guest_log_more(log->warnings[log->about].kind, message->text, message->n, &cpu,
			    &span_ns))
		return 0;
	log->last_line = log->lines;
	if (span_ns && log->warnings[log->about].is_default) {
		log->warnings[log->about].span_ns = span_ns;
		log->warnings[log->about].is_default = false;
	}
	return cpu < 0 ? 0 : add_cpu(log, cpu);
}

/** The clock of the kernel begins at 0 when the guest boots. */
static void look_at_clock(struct guest_log *log, const struct message *message)
{
	if (message->clock != GUEST_LOG_PRINTK && message->clock != GUEST_LOG_JOURNAL)
		return;
	if (message->time_ns < log->last_ns - OUT_OF_ORDER) {
		log->boot++;
		log->last_ns = 0;
	}
	if (message->time_ns > log->last_ns)
		log->last_ns = message->time_ns;
}

static int add_message(struct guest_log *log, const struct message *message)
{
	struct guest_log_warning warning = {
		.time_ns = message->time_ns, .line = log->lines, .cpu = -1,
		.clock = (uint8_t)message->clock,
	};
	size_t before = log->n;
	int ret;

	look_at_clock(log, message);
	warning.boot = log->boot;
	if (!guest_log_find(message->text, message->n, &warning))
		return add_below(log, message);
	if (warning.cpu < 0 && is_of_printer(&warning, message))
		warning.cpu = message->cpu;
	log->about = before;
	log->last_line = log->lines;
	ret = add_warning(log, &warning, message->text, message->n);
	return ret || log->n == before ? ret : add_cpus(log, message);
}

/* --- lines of text ---------------------------------------------------------------------------- */

/** A piece of text that is not read yet. */
struct cursor {
	const char	*at, *end;
};

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->end && *cursor->at == ' ')
		cursor->at++;
}

static bool take_char(struct cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/** Return: how many digits there are, up to 12, or 0. */
static int take_number(struct cursor *cursor, int64_t *value)
{
	int n = 0;

	for (*value = 0; n < 12 && cursor->at < cursor->end && *cursor->at >= '0' &&
	     *cursor->at <= '9'; n++)
		*value = 10 * *value + (*cursor->at++ - '0');
	return n;
}

/** "[  123.456789]" */
static bool take_bracket(struct cursor *cursor, int64_t *time_ns)
{
	int64_t seconds, fraction;
	int digits;

	if (!take_char(cursor, '['))
		return false;
	skip_blanks(cursor);
	if (!take_number(cursor, &seconds) || seconds > MAX_SECONDS || !take_char(cursor, '.'))
		return false;
	digits = take_number(cursor, &fraction);
	if (!digits || digits > 9 || !take_char(cursor, ']'))
		return false;
	for (; digits < 9; digits++)
		fraction *= 10;
	*time_ns = seconds * 1000000000 + fraction;
	return true;
}

/** "[    C1]" of CONFIG_PRINTK_CALLER: a CPU in an interrupt, or "[  T412]", a thread. */
static void take_caller(struct cursor *cursor, int32_t *cpu)
{
	struct cursor caller = *cursor;
	bool is_cpu;
	int64_t number;

	skip_blanks(&caller);
	if (!take_char(&caller, '['))
		return;
	skip_blanks(&caller);
	is_cpu = take_char(&caller, 'C');
	if ((!is_cpu && !take_char(&caller, 'T')) || !take_number(&caller, &number) ||
	    !take_char(&caller, ']'))
		return;
	if (is_cpu && number <= GUEST_LOG_MAX_CPU)
		*cpu = (int32_t)number;
	*cursor = caller;
}

/**
 * After the time, journalctl writes "HOST kernel: " for a message of the kernel, and
 * "HOST NAME[412]: " for one of another program, which may quote the kernel. Return: false then.
 */
static bool take_journal(struct cursor *cursor, enum guest_log_clock *clock)
{
	const char *blank = memchr(cursor->at, ' ', (size_t)(cursor->end - cursor->at));
	const char *colon = memmem(cursor->at, (size_t)(cursor->end - cursor->at), ": ", 2);

	if (!blank || !colon || colon <= blank ||
	    memchr(blank + 1, ' ', (size_t)(colon - blank - 1)))
		return true;
	if ((size_t)(colon - blank) == sizeof(" kernel") - 1 &&
	    !memcmp(blank, " kernel", sizeof(" kernel") - 1)) {
		cursor->at = colon + 2;
		*clock = GUEST_LOG_JOURNAL;
		return true;
	}
	return colon[-1] != ']';
}

/** "[Fri Nov 27 17:51:19 2026]" of dmesg -T. */
static bool take_date(struct cursor *cursor, int64_t *time_ns)
{
	char text[sizeof("Fri Nov 27 17:51:19 2026")];
	const size_t n = sizeof(text) - 1;
	struct tm when = { 0 };
	const char *end;
	time_t seconds;

	if (!take_char(cursor, '[') || (size_t)(cursor->end - cursor->at) <= n ||
	    cursor->at[n] != ']')
		return false;
	memcpy(text, cursor->at, n);
	text[n] = '\0';
	end = strptime(text, "%a %b %d %H:%M:%S %Y", &when);
	if (!end || *end)
		return false;
	seconds = timegm(&when);
	if (seconds < 0 || seconds > MAX_SECONDS)
		return false;
	cursor->at += n + 1;
	*time_ns = (int64_t)seconds * 1000000000;
	return true;
}

/** Return: false for a line that is not the kernel's. */
static bool take_text(const char *line, size_t n, struct message *message)
{
	const char *end = line + n, *front = line + (n < MOST_IN_FRONT ? n : MOST_IN_FRONT);
	struct cursor cursor = { line, end };

	*message = (struct message){ .cpu = -1 };
	for (const char *at = line; (at = memchr(at, '[', (size_t)(front - at))); at++) {
		cursor.at = at;
		if (take_bracket(&cursor, &message->time_ns))
			message->clock = GUEST_LOG_PRINTK;
		cursor.at = message->clock ? cursor.at : at;
		if (!message->clock && take_date(&cursor, &message->time_ns))
			message->clock = GUEST_LOG_REALTIME;
		if (message->clock)
			break;
	}
	if (message->clock == GUEST_LOG_NO_CLOCK)
		cursor.at = line;
	take_caller(&cursor, &message->cpu);
	skip_blanks(&cursor);
	if (message->clock == GUEST_LOG_PRINTK && !take_journal(&cursor, &message->clock))
		return false;
	message->text = cursor.at;
	message->n = (size_t)(end - cursor.at);
	return true;
}

/* --- lines of JSON ---------------------------------------------------------------------------- */

/** A number of microseconds, which journalctl writes as a text. */
static bool json_micros(struct json_object *object, const char *key, int64_t *time_ns)
{
	struct json_object *member;
	const char *text;
	struct cursor cursor;
	int64_t value;

	if (!json_object_object_get_ex(object, key, &member))
		return false;
	text = json_object_get_string(member);
	cursor = (struct cursor){ text, text ? text + strlen(text) : NULL };
	if (!text || *text < '0' || *text > '9')
		return false;
	for (value = 0; cursor.at < cursor.end; cursor.at++) {
		if (*cursor.at < '0' || *cursor.at > '9' || value > INT64_MAX / 10000 - 10)
			return false;
		value = 10 * value + (*cursor.at - '0');
	}
	*time_ns = value * 1000;
	return true;
}

static void json_time(struct json_object *object, struct message *message)
{
	static const struct {
		const char	*key;
		enum guest_log_clock clock;
	} times[] = {
		/* what the kernel gave the message, systemd's src/journal/journald-kmsg.c */
		{ "_SOURCE_MONOTONIC_TIMESTAMP", GUEST_LOG_PRINTK },
		{ "__MONOTONIC_TIMESTAMP", GUEST_LOG_JOURNAL },
		{ "__REALTIME_TIMESTAMP", GUEST_LOG_REALTIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(times) && !message->clock; i++)
		if (json_micros(object, times[i].key, &message->time_ns))
			message->clock = times[i].clock;
}

/** Of the kernel, with a message that is text: others can be an array of bytes. */
static const char *json_message(struct json_object *object)
{
	struct json_object *transport, *text;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, "_TRANSPORT", &transport) ||
	    !json_object_is_type(transport, json_type_string) ||
	    strcmp(json_object_get_string(transport), "kernel") != 0 ||
	    !json_object_object_get_ex(object, "MESSAGE", &text) ||
	    !json_object_is_type(text, json_type_string))
		return NULL;
	return json_object_get_string(text);
}

/** A line that is no object of JSON is of no use. */
static int add_json(struct guest_log *log, const char *line, size_t n)
{
	struct json_tokener *tokener = json_tokener_new_ex(8);
	struct json_object *object = tokener ? json_tokener_parse_ex(tokener, line, (int)n) : NULL;
	struct message message = { .cpu = -1 };
	int ret = tokener ? 0 : -ENOMEM;

	message.text = object ? json_message(object) : NULL;
	if (message.text) {
		message.n = strlen(message.text);
		json_time(object, &message);
		ret = add_message(log, &message);
	}
	json_object_put(object);
	if (tokener)
		json_tokener_free(tokener);
	return ret;
}

/* --- all of it -------------------------------------------------------------------------------- */

int guest_log_add_line(struct guest_log *log, const char *line, size_t n)
{
	struct message message;

	log->lines++;
	if (n && line[n - 1] == '\r')
		n--;
	if (n && *line == '{')
		return add_json(log, line, n);
	return take_text(line, n, &message) ? add_message(log, &message) : 0;
}

/** The lines of a buffer, of @n bytes, of which the last one may go on. Return: bytes used. */
static size_t add_lines(struct guest_log *log, const char *text, size_t n, bool *skips, int *ret)
{
	size_t used = 0;
	const char *end;

	while (!*ret && (end = memchr(text + used, '\n', n - used))) {
		size_t length = (size_t)(end - text) - used;

		if (!*skips)
			*ret = guest_log_add_line(log, text + used, length);
		*skips = false;
		used += length + 1;
	}
	return used;
}

static int read_lines(int fd, char *buffer, struct guest_log *log)
{
	size_t n = 0, used;
	bool skips = false;
	ssize_t got;
	int ret = 0;

	while (!ret && (got = read(fd, buffer + n, GUEST_LOG_LINE - n)) > 0) {
		n += (size_t)got;
		used = add_lines(log, buffer, n, &skips, &ret);
		n -= used;
		memmove(buffer, buffer + used, n);
		if (n < GUEST_LOG_LINE || ret)
			continue;
		/* the rest of such a line is skipped */
		if (!skips)
			ret = guest_log_add_line(log, buffer, n);
		skips = true;
		n = 0;
	}
	if (!ret && got < 0)
		ret = -errno;
	return ret || !n || skips ? ret : guest_log_add_line(log, buffer, n);
}

int guest_log_read(const char *path, struct guest_log *log, char *error, size_t size)
{
	char *buffer = malloc(GUEST_LOG_LINE);
	int fd = regular_file_open(path), ret = fd < 0 ? fd : buffer ? 0 : -ENOMEM;

	*log = (struct guest_log){ .n = 0 };
	if (!ret)
		ret = read_lines(fd, buffer, log);
	if (fd >= 0)
		close(fd);
	free(buffer);
	if (ret)
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
	return ret;
}

void guest_log_free(struct guest_log *log)
{
	for (size_t i = 0; i < log->n; i++)
		free(log->warnings[i].text);
	free(log->warnings);
	*log = (struct guest_log){ .n = 0 };
}
