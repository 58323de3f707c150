/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The damaged files that tests/damaged/make writes: what is read from each of them, what is said
 * about it, and that memory and time stay in proportion. Expected outcomes are in
 * tests/damaged/expected.txt; tests/damaged/update writes them anew.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_invariants.h"
#include "xen_trace.h"

#define MAX_FILES	200

/* A child may use MEMORY_BASE bytes, and MEMORY_FACTOR bytes per byte of the file. */
#define MEMORY_BASE	(24 << 20)
#define MEMORY_FACTOR	24
/* The thread sanitizer looks at each access for several of them. */
#ifdef KSV_SANITIZE_THREAD
#define CPU_SECONDS	200
#else
#define CPU_SECONDS	20
#endif

static char directory[] = "/tmp/ksv-damaged-XXXXXX";
static char *names[MAX_FILES];
static int n_names;

static const char *source_dir(void)
{
	const char *dir = getenv("KSV_SOURCE_DIR");

	if (!dir)
		fail_msg("KSV_SOURCE_DIR is not set: run this test by ctest");
	return dir;
}

static char *path_of(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int make_files(void **state)
{
	struct dirent *entry;
	char *command;
	DIR *dir;

	(void)state;
	if (!mkdtemp(directory) ||
	    asprintf(&command, "python3 '%s/tests/damaged/make' %s", source_dir(), directory) < 0)
		return -1;
	if (system(command))
		return -1;
	free(command);
	dir = opendir(directory);
	if (!dir)
		return -1;
	while ((entry = readdir(dir)) && n_names < MAX_FILES)
		if (entry->d_name[0] != '.')
			names[n_names++] = strdup(entry->d_name);
	closedir(dir);
	qsort(names, n_names, sizeof(*names), compare_names);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	for (int i = 0; i < n_names; i++) {
		char *path = path_of(names[i]);

		unlink(path);
		free(path);
		free(names[i]);
	}
	return rmdir(directory);
}

/* How the command ends on a file, or -1 without the command. */
static int exit_status(const char *path)
{
	const char *bin = getenv("KSV_BIN");
	char *command;
	int status;

	if (!bin)
		return -1;
	assert_true(asprintf(&command, "exec '%s' dump --quiet '%s' </dev/null >/dev/null 2>&1",
			     bin, path) > 0);
	status = system(command);
	free(command);
	if (!WIFEXITED(status))
		fail_msg("%s: the command ended by signal %d", path, WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* A line of expected.txt. */
static void outcome(char *line, size_t size, const char *name)
{
	char *path = path_of(name);
	struct xentrace *reader = xentrace_open(path, NULL, NULL, 0);
	int n = snprintf(line, size, "%-26s", name);
	const char *wrong;

	if (!reader) {
		snprintf(line + n, size - n, " refused                                  %4d",
			 exit_status(path));
		free(path);
		return;
	}
	wrong = trace_invariants(reader);
	if (wrong)
		fail_msg("%s: %s", name, wrong);
	n += snprintf(line + n, size - n, "%8llu", (unsigned long long)xentrace_n_records(reader));
	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++)
		n += snprintf(line + n, size - n, "%6llu",
			      (unsigned long long)xentrace_problem_count(reader, kind));
	snprintf(line + n, size - n, "%8llu %4d",
		 (unsigned long long)xentrace_skipped_bytes(reader), exit_status(path));
	xentrace_close(reader);
	free(path);
}

static const char *const head[] = {
	"# SPDX-License-Identifier: LGPL-2.1-or-later",
	"# Outcomes of the files of tests/damaged/make; written by tests/damaged/update.",
	"# trunc ... back: problems of each kind; skip: bytes; exit: kshark-virt dump",
	"# name                    records trunc  wind  garb cross  outl  back    skip exit",
};

static void test_outcomes(void **state)
{
	char line[256], expected[256], *path;
	int failures = 0;
	FILE *file;

	(void)state;
	if (!getenv("KSV_BIN"))
		fail_msg("KSV_BIN is not set: run this test by ctest");
	assert_true(n_names >= 24);
	assert_true(asprintf(&path, "%s/tests/damaged/expected.txt", source_dir()) > 0);
	file = fopen(path, getenv("KSV_UPDATE") ? "w" : "r");
	if (!file)
		fail_msg("%s: cannot open", path);
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++) {
		if (getenv("KSV_UPDATE"))
			fprintf(file, "%s\n", head[i]);
		else if (!fgets(expected, sizeof(expected), file))
			fail_msg("%s: too short", path);
	}
	for (int i = 0; i < n_names; i++) {
		outcome(line, sizeof(line), names[i]);
		if (getenv("KSV_UPDATE")) {
			fprintf(file, "%s\n", line);
			continue;
		}
		if (!fgets(expected, sizeof(expected), file))
			fail_msg("%s: ends before %s", path, names[i]);
		expected[strcspn(expected, "\n")] = '\0';
		if (strcmp(line, expected)) {
			print_error("expected %s\n     got %s\n", expected, line);
			failures++;
		}
	}
	if (!getenv("KSV_UPDATE") && fgets(expected, sizeof(expected), file))
		fail_msg("%s: more lines than files", path);
	fclose(file);
	free(path);
	assert_int_equal(failures, 0);
}

/* Opens and walks through a file; for a child. */
static int use(const char *path)
{
	struct rlimit limit = { CPU_SECONDS, CPU_SECONDS };
	struct xen_trace *trace;
	struct xen_trace_iter *iter;
	struct xen_trace_row row;

	setrlimit(RLIMIT_CPU, &limit);
	trace = xen_trace_open(path, NULL, NULL, 0);
	if (!trace)
		return 0;
	iter = xen_trace_iter_new(trace);
	while (xen_trace_iter_next(iter, &row))
		;
	xen_trace_iter_free(iter);
	xen_trace_close(trace);
	return 0;
}

/* Peak memory in bytes of what @path costs in a process of its own. */
static uint64_t peak_memory(const char *path)
{
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(use(path));
	assert_true(pid > 0);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("%s: the child ended with %#x", path, status);
	return (uint64_t)usage.ru_maxrss << 10;
}

static void check_memory(const char *path)
{
	struct stat st;
	uint64_t peak = peak_memory(path);

	assert_int_equal(stat(path, &st), 0);
#if !defined(KSV_SANITIZE_ADDRESS) && !defined(KSV_SANITIZE_THREAD)
	if (peak > MEMORY_BASE + MEMORY_FACTOR * (uint64_t)st.st_size)
		fail_msg("%s: %llu bytes of memory for a file of %llu", path,
			 (unsigned long long)peak, (unsigned long long)st.st_size);
#else
	(void)peak;
#endif
}

static void test_memory(void **state)
{
	(void)state;
	for (int i = 0; i < n_names; i++) {
		char *path = path_of(names[i]);

		check_memory(path);
		free(path);
	}
}

/* ---- files made to be slow ---- */

static void put_u32(FILE *file, uint32_t word)
{
	word = htole32(word);
	fwrite(&word, sizeof(word), 1, file);
}

static void put_window(FILE *file, uint32_t pcpu, uint32_t size)
{
	put_u32(file, WINDOW_HEADER);
	put_u32(file, pcpu);
	put_u32(file, size);
}

static void put_record(FILE *file, uint64_t tsc)
{
	put_u32(file, 0x80021002);
	put_u32(file, tsc);
	put_u32(file, tsc >> 32);
}

static uint32_t noise(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* windows of one record each, on many pCPUs */
static void slow_tiny_windows(FILE *file, uint64_t size)
{
	for (uint64_t i = 0; i < size / 24; i++) {
		put_window(file, i * 7919 % 1024, 12);
		put_record(file, 1000 + i);
	}
}

static void slow_empty_windows(FILE *file, uint64_t size)
{
	for (uint64_t i = 0; i < size / 12; i++)
		put_window(file, i % 32768, 0);
	put_window(file, 1, 12);
	put_record(file, 1);
}

/* every other window has an impossible pCPU, after all possible ones */
static void slow_bad_pcpus(FILE *file, uint64_t size)
{
	for (uint64_t i = 0; i < 32768; i++) {
		put_window(file, i, 12);
		put_record(file, 1000 + i);
	}
	for (uint64_t i = 0; i < size / 12; i++)
		put_window(file, i % 2 ? 65535 : i % 32768, 0);
}

static void slow_alternating_tscs(FILE *file, uint64_t size)
{
	put_window(file, 0, size / 12 * 12);
	for (uint64_t i = 0; i < size / 12; i++)
		put_record(file, i % 2 ? 1000 : 1 << 30);
}

static void slow_falling_tscs(FILE *file, uint64_t size)
{
	put_window(file, 0, size / 12 * 12);
	for (uint64_t i = 0; i < size / 12; i++)
		put_record(file, size - i);
}

static void slow_magic_words(FILE *file, uint64_t size)
{
	put_window(file, 0, 12);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 4; i++)
		put_u32(file, WINDOW_HEADER);
}

/* headers whose claims reach far ahead */
static void slow_claims(FILE *file, uint64_t size)
{
	put_window(file, 0, 12);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 12; i++)
		put_window(file, i % 3 ? 40000 : i % 100, size - 12 * i);
}

static void slow_noise(FILE *file, uint64_t size)
{
	uint32_t seed = 1;

	put_window(file, 0, 12);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 4; i++)
		put_u32(file, noise(&seed) ^ noise(&seed) << 12);
}

/* noise inside a window that is declared as long as the file */
static void slow_noise_in_window(FILE *file, uint64_t size)
{
	uint32_t seed = 1;

	put_window(file, 0, 12 + size / 4 * 4);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 4; i++)
		put_u32(file, noise(&seed) ^ noise(&seed) << 12);
}

/* chains that look good until their last record but one */
static void slow_almost_chains(FILE *file, uint64_t size)
{
	put_window(file, 0, size);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 4; i++)
		put_u32(file, i % 16 ? 0x00021002 : 0xffffffff);
}

/* a pCPU without any TSC, in tiny windows */
static void slow_without_tsc(FILE *file, uint64_t size)
{
	put_window(file, 1, 12);
	put_record(file, 1);
	for (uint64_t i = 0; i < size / 16; i++) {
		put_window(file, i % 2, 4);
		put_u32(file, 0x00021002);
	}
}

/* runs that are opened and taken back again and again */
static void slow_short_runs(FILE *file, uint64_t size)
{
	for (uint64_t i = 0; i < size / (12 + 12 * 12); i++) {
		put_window(file, 0, 12 * 12);
		for (uint64_t k = 0; k < 9; k++)
			put_record(file, (1 << 30) + 1000 * i + k);
		for (uint64_t k = 0; k < 3; k++)
			put_record(file, 1000 + i);
	}
}

static const struct slow {
	const char	*name;
	void		(*write)(FILE *file, uint64_t size);
} slow[] = {
	{ "tiny-windows", slow_tiny_windows },
	{ "empty-windows", slow_empty_windows },
	{ "bad-pcpus", slow_bad_pcpus },
	{ "alternating-tscs", slow_alternating_tscs },
	{ "falling-tscs", slow_falling_tscs },
	{ "magic-words", slow_magic_words },
	{ "claims", slow_claims },
	{ "noise", slow_noise },
	{ "noise-in-window", slow_noise_in_window },
	{ "almost-chains", slow_almost_chains },
	{ "without-tsc", slow_without_tsc },
	{ "short-runs", slow_short_runs },
};

/*
 * Files of some MB that would take minutes if anything grew with the square of the size; each one's
 * child may use CPU_SECONDS. KSV_SLOW_MB makes them larger, KSV_SLOW_KEEP names a directory for
 * them to be kept in.
 */
static void test_time(void **state)
{
	const char *mb = getenv("KSV_SLOW_MB"), *keep = getenv("KSV_SLOW_KEEP");
	uint64_t size = (mb ? strtoul(mb, NULL, 10) : 8) << 20;
	struct rusage before, after;

	(void)state;
	for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++) {
		char *path;
		FILE *file;

		assert_true(asprintf(&path, "%s/%s", keep ? keep : directory, slow[i].name) > 0);
		file = fopen(path, "w");
		assert_non_null(file);
		slow[i].write(file, size);
		assert_int_equal(fclose(file), 0);
		getrusage(RUSAGE_CHILDREN, &before);
		check_memory(path);
		getrusage(RUSAGE_CHILDREN, &after);
		print_message("%-20s %6.2f s\n", slow[i].name,
			      after.ru_utime.tv_sec - before.ru_utime.tv_sec +
			      (after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6 +
			      after.ru_stime.tv_sec - before.ru_stime.tv_sec +
			      (after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6);
		if (!keep)
			unlink(path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests_name("damaged", tests, make_files, remove_files);
}
