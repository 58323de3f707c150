// SPDX-License-Identifier: LGPL-2.1-or-later
/** docs/export-schema.md says what the table of tables says: nothing is missing, nothing is old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "export_schema.h"

static const char *const types[] = {
	[EXPORT_INTEGER] = "integer", [EXPORT_BOOLEAN] = "boolean", [EXPORT_TEXT] = "text",
};

/** The part of the document that is about tables, as it has to be. */
static char *expected(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		const struct export_table *table = &export_tables[i];

		fprintf(file, "### %s\n\nA row: %s.\n\n| column | type | key | what it is |\n"
			"| --- | --- | --- | --- |\n", table->name, table->what);
		for (size_t j = 0; j < table->n; j++)
			fprintf(file, "| `%s` | %s | %s | %s |\n", table->columns[j].name,
				types[table->columns[j].type],
				table->columns[j].key ? table->columns[j].key : "",
				table->columns[j].what);
		fputc('\n', file);
	}
	fclose(file);
	return text;
}

static char *document(void)
{
	const char *source = getenv("KSV_SOURCE_DIR");
	char *text = calloc(1, 65536);
	char path[4096];
	FILE *file;

	assert_non_null(source);
	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/docs/export-schema.md", source);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void test_document(void **state)
{
	char *wanted = expected(), *found = document();
	char *begin = strstr(found, "### host\n");
	char *end = strstr(found, "## Perfetto");

	(void)state;
	assert_non_null(begin);
	assert_non_null(end);
	*end = '\0';
	if (strcmp(begin, wanted) != 0)
		fprintf(stderr, "docs/export-schema.md needs:\n%s", wanted);
	assert_string_equal(begin, wanted);
	free(wanted);
	free(found);
}

/** Is there such a column, which is the key of its table? */
static bool is_key(const char *key)
{
	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		size_t n = strlen(export_tables[i].name);

		if (!strncmp(key, export_tables[i].name, n) && key[n] == '.')
			return !strcmp(export_tables[i].columns[0].name, key + n + 1) &&
			       !strcmp(export_tables[i].columns[0].key, "primary");
	}
	return false;
}

static void test_keys(void **state)
{
	(void)state;
	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		const struct export_table *table = &export_tables[i];

		for (size_t j = 0; j < table->n; j++) {
			const struct export_column *column = &table->columns[j];

			for (size_t k = 0; k < j; k++)
				assert_string_not_equal(column->name, table->columns[k].name);
			if (column->key && strcmp(column->key, "primary") != 0)
				assert_true(is_key(column->key));
			else if (column->key)
				assert_int_equal(j, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
