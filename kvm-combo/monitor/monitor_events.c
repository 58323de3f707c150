// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_events.c
 * @brief	The table of a monitor's events: their meaning, and their arguments.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "monitor_events.h"

/**
 * As trace-events in QEMU's sources has them (7.2 and 10.0): in @form, %p is a pointer, %x a
 * number with 0x in front, %u and %d are numbers, %s is a text. Arguments of the simple backend
 * come in the same order.
 */
static const struct event_row {
	const char	*name, *form;
	enum monitor_kind kind;
} rows[] = {
	{ "virtqueue_pop", "vq %p elem %p in_num %u out_num %u", MONITOR_POP },
	{ "virtqueue_fill", "vq %p elem %p len %u idx %u", MONITOR_FILL },
	{ "virtio_queue_notify", "vdev %p n %d vq %p", MONITOR_QUEUE },
	{ "virtio_notify", "vdev %p vq %p", MONITOR_OWNER },
	{ "virtio_notify_irqfd", "vdev %p vq %p", MONITOR_OWNER },
	{ "virtio_notify_irqfd_deferred_fn", "vdev %p vq %p", MONITOR_OWNER },
	{ "virtio_blk_handle_read", "vdev %p req %p sector %u nsectors %u", MONITOR_BLOCK_READ },
	{ "virtio_blk_handle_write", "vdev %p req %p sector %u nsectors %u", MONITOR_BLOCK_WRITE },
	{ "virtio_blk_req_complete", "vdev %p req %p status %d", MONITOR_BLOCK_DONE },
	{ "thread_pool_submit", "pool %p req %p opaque %p", MONITOR_WORK },
	{ "thread_pool_submit_aio", "pool %p req %p opaque %p", MONITOR_WORK },
	{ "thread_pool_complete", "pool %p req %p opaque %p ret %d", MONITOR_WORK_DONE },
	{ "thread_pool_complete_aio", "pool %p req %p opaque %p ret %d", MONITOR_WORK_DONE },
	{ "memory_region_ops_read", "cpu %d mr %p addr %x value %x size %u name '%s'",
	  MONITOR_READ },
	{ "memory_region_ops_write", "cpu %d mr %p addr %x value %x size %u name '%s'",
	  MONITOR_WRITE },
	{ "kvm_run_exit", "cpu_index %d, reason %d", MONITOR_RUN_EXIT },
	{ "qdev_reset", "obj=%p(%s)", MONITOR_NAME },
	{ "resettable_phase_enter_begin", "obj=%p(%s) count=%d type=%d", MONITOR_NAME },
};

static const struct event_row *row_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool monitor_event_is_known(const char *name)
{
	return row_of(name) != NULL;
}

enum monitor_kind monitor_event_kind(const char *name)
{
	const struct event_row *row = row_of(name);

	return row ? row->kind : MONITOR_NOTHING;
}

/* --- text ------------------------------------------------------------------------------------ */

/** A piece of a line that is not read yet. */
struct cursor {
	const char	*at, *end;
};

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Digits of a base, whose number has 64 bits. */
static bool take_digits(struct cursor *cursor, unsigned int base, uint64_t *value)
{
	const char *begin = cursor->at;

	for (*value = 0; cursor->at < cursor->end; cursor->at++) {
		int digit = digit_of(*cursor->at);

		if (digit < 0 || digit >= (int)base)
			break;
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit, value))
			return false;
	}
	return cursor->at > begin;
}

static bool take_literal(struct cursor *cursor, const char *text, size_t n)
{
	if ((size_t)(cursor->end - cursor->at) < n || memcmp(cursor->at, text, n) != 0)
		return false;
	cursor->at += n;
	return true;
}

static bool take_value(struct cursor *cursor, char conversion, uint64_t *value)
{
	bool minus;

	*value = 0;
	if (conversion == 'p' && take_literal(cursor, "(nil)", 5))
		return true;
	if (conversion == 'p' || conversion == 'x')
		return take_literal(cursor, "0x", 2) && take_digits(cursor, 16, value);
	minus = conversion == 'd' && take_literal(cursor, "-", 1);
	if (!take_digits(cursor, 10, value))
		return false;
	if (minus)
		*value = -*value;
	return true;
}

/** Up to what follows it in the form; if that comes again, up to its last place: names are odd. */
static bool take_text(struct cursor *cursor, const char *rest, struct monitor_args *args)
{
	size_t n = strcspn(rest, "%");
	const char *end;

	if ((size_t)(cursor->end - cursor->at) < n)
		return false;
	for (end = cursor->end - n; end > cursor->at && memcmp(end, rest, n) != 0; end--)
		;
	if (memcmp(end, rest, n) != 0)
		return false;
	args->text = cursor->at;
	args->n_text = (size_t)(end - cursor->at);
	cursor->at = end;
	return true;
}

static bool parse_text(const char *form, struct cursor cursor, struct monitor_args *args)
{
	while (*form) {
		size_t n = strcspn(form, "%");

		if (!take_literal(&cursor, form, n))
			return false;
		form += n;
		if (!*form)
			break;
		if (args->n == MONITOR_MAX_ARGS)
			return false;
		args->value[args->n] = 0;
		if (form[1] == 's' ? !take_text(&cursor, form + 2, args) :
		    !take_value(&cursor, form[1], &args->value[args->n]))
			return false;
		args->n++;
		form += 2;
	}
	return cursor.at == cursor.end;
}

/* --- words ----------------------------------------------------------------------------------- */

/** A text has its length in front. */
static bool take_words_text(struct cursor *cursor, struct monitor_args *args)
{
	uint32_t n;

	if (cursor->end - cursor->at < (ptrdiff_t)sizeof(n))
		return false;
	memcpy(&n, cursor->at, sizeof(n));
	cursor->at += sizeof(n);
	if (n > (size_t)(cursor->end - cursor->at))
		return false;
	args->text = cursor->at;
	args->n_text = n;
	cursor->at += n;
	return true;
}

static bool parse_words(const char *form, struct cursor cursor, struct monitor_args *args)
{
	for (; (form = strchr(form, '%')); form++) {
		uint64_t *value = &args->value[args->n];

		*value = 0;
		if (form[1] == 's') {
			if (!take_words_text(&cursor, args))
				return false;
		} else {
			if (cursor.end - cursor.at < (ptrdiff_t)sizeof(*value))
				return false;
			memcpy(value, cursor.at, sizeof(*value));
			cursor.at += sizeof(*value);
			/* an int is written as if it had no sign */
			if (form[1] == 'd')
				*value = (uint64_t)(int64_t)(int32_t)*value;
		}
		args->n++;
	}
	return cursor.at == cursor.end;
}

bool monitor_args_of(const struct monitor_trace *trace, const struct monitor_record *record,
		     struct monitor_args *args)
{
	const struct event_row *row = row_of(monitor_trace_event(trace, record->event));
	struct cursor cursor;
	size_t n;

	*args = (struct monitor_args){ 0 };
	if (!row)
		return false;
	cursor.at = monitor_trace_bytes(trace, record, &n);
	cursor.end = cursor.at + n;
	args->kind = row->kind;
	return monitor_trace_clock(trace) == MONITOR_REALTIME ?
	       parse_text(row->form, cursor, args) : parse_words(row->form, cursor, args);
}

/** A text that grows until its room is full. */
struct growing {
	char		*at;
	size_t		left;
};

__attribute__((format(printf, 2, 3)))
static void put(struct growing *growing, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(growing->at, growing->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= growing->left)
		n = growing->left ? (int)growing->left - 1 : 0;
	growing->at += n;
	growing->left -= (size_t)n;
}

static void put_args(struct growing *growing, const char *form, const struct monitor_args *args)
{
	int i = 0;

	for (; *form; form++) {
		if (*form != '%') {
			put(growing, "%c", *form);
			continue;
		}
		form++;
		if (*form == 's')
			put(growing, "%.*s", (int)args->n_text, args->text);
		else if (*form == 'd')
			put(growing, "%lld", (long long)args->value[i]);
		else if (*form == 'u')
			put(growing, "%llu", (unsigned long long)args->value[i]);
		else
			put(growing, "0x%llx", (unsigned long long)args->value[i]);
		i++;
	}
}

void monitor_event_text(const char *name, const char *bytes, size_t n, char *text, size_t size)
{
	const struct event_row *row = row_of(name);
	struct growing growing = { text, size };
	struct monitor_args args = { 0 };

	if (size)
		*text = '\0';
	if (row && parse_words(row->form, (struct cursor){ bytes, bytes + n }, &args)) {
		put_args(&growing, row->form, &args);
		return;
	}
	/* the trace does not show which arguments are texts */
	for (size_t i = 0; i + 8 <= n && growing.left > 1; i += 8) {
		uint64_t value;

		memcpy(&value, bytes + i, sizeof(value));
		put(&growing, "%s0x%llx", i ? " " : "", (unsigned long long)value);
	}
}
