// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	check_tests.c
 * @brief	Limits as tests, in the formats of continuous integration: JUnit XML and TAP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_tests.h"
#include "escape.h"

const char *const check_outcome_names[CHECK_N_OUTCOMES] = {
	[CHECK_WITHIN] = "within", [CHECK_EXCEEDED] = "exceeded", [CHECK_UNKNOWN] = "unknown",
};

/* --- JUnit ----------------------------------------------------------------------------------- */

static void put_xml(FILE *file, const char *escaped)
{
	for (; *escaped; escaped++) {
		const char *xml = escape_xml(*escaped);

		if (xml)
			fputs(xml, file);
		else
			fputc(*escaped, file);
	}
}

static void put_attribute(FILE *file, const char *name, const char *escaped)
{
	fprintf(file, " %s=\"", name);
	put_xml(file, escaped);
	fputc('"', file);
}

static void put_window(FILE *file, const struct check_tests *tests)
{
	if (!tests->window)
		return;
	put_xml(file, tests->window);
	fputs(": ", file);
}

/** The element says why the test did not pass; its text has the place, too. */
static void put_problem(FILE *file, const struct check_tests *tests, const struct check_test *test)
{
	const char *element = test->outcome == CHECK_EXCEEDED ? "failure" : "error";

	fprintf(file, "      <%s", element);
	put_attribute(file, "type", check_outcome_names[test->outcome]);
	put_attribute(file, "message", test->sentence);
	fputc('>', file);
	put_window(file, tests);
	put_xml(file, tests->of);
	fputs(": ", file);
	put_xml(file, test->sentence);
	fprintf(file, "</%s>\n", element);
}

static void put_junit(const struct check_tests *tests, const struct check_test *test,
		      const char *limit)
{
	fputs("    <testcase", tests->cases);
	put_attribute(tests->cases, "classname", tests->of);
	put_attribute(tests->cases, "name", limit);
	if (!test->sentence) {
		fputs("/>\n", tests->cases);
		return;
	}
	fputs(">\n", tests->cases);
	put_problem(tests->cases, tests, test);
	fputs("    </testcase>\n", tests->cases);
}

/** The counts stand before the tests. */
static int put_suite(struct check_tests *tests)
{
	const uint64_t *counts = tests->counts;
	char *head = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&head, &size);

	if (!file)
		return -ENOMEM;
	fputs("  <testsuite name=\"", file);
	put_xml(file, tests->of);
	if (tests->window) {
		fputs(", ", file);
		put_xml(file, tests->window);
	}
	fprintf(file, "\" tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\">\n",
		(unsigned long long)(counts[CHECK_WITHIN] + counts[CHECK_EXCEEDED] +
				     counts[CHECK_UNKNOWN]),
		(unsigned long long)counts[CHECK_EXCEEDED],
		(unsigned long long)counts[CHECK_UNKNOWN]);
	if (fclose(file)) {
		free(head);
		return -ENOMEM;
	}
	out_mem(tests->out, head, size);
	out_mem(tests->out, tests->body, tests->size);
	out_str(tests->out, "  </testsuite>\n");
	free(head);
	return 0;
}

/* --- TAP ------------------------------------------------------------------------------------- */

/** In a description, # would begin a directive such as TODO. */
static void put_description(struct output *out, const char *escaped)
{
	for (; *escaped; escaped++) {
		if (*escaped == '#')
			out_char(out, '\\');
		out_char(out, *escaped);
	}
}

static void put_yaml(struct output *out, const char *key, const char *value)
{
	out_str(out, "  ");
	out_str(out, key);
	out_str(out, ": ");
	/* a string of JSON is one of YAML */
	out_json(out, value, strlen(value));
	out_char(out, '\n');
}

static void put_tap(const struct check_tests *tests, const struct check_test *test,
		    const char *limit)
{
	struct output *out = tests->out;

	out_str(out, test->outcome == CHECK_WITHIN ? "ok " : "not ok ");
	out_u64(out, tests->n);
	out_str(out, " - ");
	if (tests->window) {
		put_description(out, tests->window);
		out_str(out, ": ");
	}
	put_description(out, tests->of);
	out_char(out, ' ');
	put_description(out, limit);
	out_char(out, '\n');
	if (!test->sentence)
		return;
	out_str(out, "  ---\n");
	put_yaml(out, "message", test->sentence);
	put_yaml(out, "result", check_outcome_names[test->outcome]);
	out_str(out, "  ...\n");
}

/* --- both ------------------------------------------------------------------------------------ */

void check_tests_begin(struct check_tests *tests, struct output *out, bool is_junit)
{
	*tests = (struct check_tests){ .out = out, .is_junit = is_junit };
	out_str(out, is_junit ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
				"<testsuites name=\"kshark-virt check\">\n" :
				"TAP version 13\n");
}

void check_tests_end(struct check_tests *tests)
{
	if (tests->is_junit) {
		out_str(tests->out, "</testsuites>\n");
		return;
	}
	out_str(tests->out, "1..");
	out_u64(tests->out, tests->n);
	out_str(tests->out, tests->n ? "\n" : " # SKIP no machine and no loss is judged\n");
}

static void forget(struct check_tests *tests)
{
	free(tests->of);
	free(tests->window);
	free(tests->body);
	tests->of = tests->window = tests->body = NULL;
	tests->size = 0;
	memset(tests->counts, 0, sizeof(tests->counts));
}

int check_tests_of(struct check_tests *tests, const char *of, const char *window)
{
	tests->of = escape_dup(of);
	tests->window = window ? strdup(window) : NULL;
	tests->cases = tests->is_junit ? open_memstream(&tests->body, &tests->size) : NULL;
	if (tests->of && (!window || tests->window) && (!tests->is_junit || tests->cases))
		return 0;
	if (tests->cases)
		fclose(tests->cases);
	forget(tests);
	return -ENOMEM;
}

int check_tests_of_end(struct check_tests *tests)
{
	int ret = 0;

	if (tests->cases && fclose(tests->cases))
		ret = -ENOMEM;
	tests->cases = NULL;
	if (!ret && tests->is_junit)
		ret = put_suite(tests);
	forget(tests);
	return ret;
}

int check_test_put(struct check_tests *tests, const struct check_test *test)
{
	char *limit = escape_dup(test->limit);

	if (!limit)
		return -ENOMEM;
	tests->n++;
	tests->counts[test->outcome]++;
	if (tests->is_junit)
		put_junit(tests, test, limit);
	else
		put_tap(tests, test, limit);
	free(limit);
	return 0;
}
