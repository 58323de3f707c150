/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_guest_log.c
 * @brief	Any lines as the log of a guest: each warning is of one of them.
 */
#include <stdlib.h>
#include <string.h>

#include "guest_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

static void check_log(const struct guest_log *log)
{
	check(log->n <= GUEST_LOG_MOST);
	for (size_t i = 0; i < log->n; i++) {
		const struct guest_log_warning *warning = &log->warnings[i];

		check(warning->kind < GUEST_LOG_N_KINDS && warning->clock < GUEST_LOG_N_CLOCKS);
		check(warning->cpu >= -1 && warning->cpu <= GUEST_LOG_MAX_CPU);
		check(warning->time_ns >= 0 && warning->span_ns >= 0);
		check(warning->clock != GUEST_LOG_NO_CLOCK || !warning->time_ns);
		check(strlen(warning->text) < GUEST_LOG_TEXT);
		check(warning->line >= 1 && warning->line <= log->lines);
		check(!i || warning->line >= log->warnings[i - 1].line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest_log log = { .n = 0 };

	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;
		/* of its own size, so that reading beyond it is seen */
		char *line = malloc(n ? n : 1);

		if (!line)
			break;
		memcpy(line, data, n);
		check(!guest_log_add_line(&log, line, n));
		free(line);
		data += n + !!end;
		size -= n + !!end;
	}
	check_log(&log);
	guest_log_free(&log);
	return 0;
}
