// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_query.c
 * @brief	kshark-virt query: a question in SQL about traces.
 */
#include <string.h>
#include <unistd.h>

#include "export_source.h"
#include "options.h"
#include "query.h"
#include "terminal.h"

#define TIMEOUT_NS	INT64_C(60000000000)

struct query_options {
	struct export_source	source;
	int			format;		/* enum table_format_kind */
	bool			examples;
	struct ksv_time		timeout;
};

/** A question, and where its answer goes. */
struct asking {
	const struct query_options *options;
	struct query		query;
};

#define OPTIONS	struct query_options

static const struct ksv_option query_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, table_format_names, "text (default), json or csv"),
	KSV_OPTION_OUTPUT(OPTIONS, source.output),
	{ 0, "examples", NULL, "print questions in SQL, and nothing else",
	  ksv_take_flag, offsetof(OPTIONS, examples), NULL },
	{ 0, "timeout", "TIME", "stop a question that takes longer (default 60s)",
	  ksv_take_time, offsetof(OPTIONS, timeout), NULL },
	EXPORT_SOURCE_OPTIONS(OPTIONS, source),
	EXPORT_SOURCE_TRACE_OPTIONS(OPTIONS, source),
};

static int open_output(const struct query_options *options, struct output *out)
{
	return out_open_text(out, options->source.output,
			     options->format == TABLE_TEXT ? OUT_PAGES : OUT_PROGRAM);
}

/* --- questions about the tables themselves --------------------------------------------------- */

/** .tables, .schema [TABLE], as one argument or as two. */
static bool is_dot(const char *word)
{
	return word[0] == '.' && word[1] >= 'a' && word[1] <= 'z';
}

/** @table: of two arguments, the second one. Return: the exit status. */
static int answer_dot(const struct query_options *options, const char *words, const char *table)
{
	static const char schema[] = ".schema";
	const struct ksv_command *command = options->source.command;
	enum table_format_kind format = (enum table_format_kind)options->format;
	static struct output out;
	int status;

	if (!strncmp(words, schema, sizeof(schema) - 1) && words[sizeof(schema) - 1] == ' ')
		table = words + sizeof(schema);
	else if ((table || strcmp(words, ".tables") != 0) && strcmp(words, schema) != 0)
		return ksv_usage_error(command, "unknown '%s': there are .tables and "
				       ".schema [TABLE]", words);
	status = open_output(options, &out);
	if (status)
		return status;
	if (!strcmp(words, ".tables"))
		query_tables(format, &out);
	else
		status = query_schema(command, table, format, &out);
	return out_close(&out, status);
}

static int answer_examples(const struct query_options *options)
{
	static struct output out;
	int status = open_output(options, &out);

	if (status)
		return status;
	query_print_examples(&out);
	return out_close(&out, KSV_EXIT_OK);
}

/* --- questions about traces ------------------------------------------------------------------ */

static int answer(void *arg, const struct export_job *job)
{
	static struct output out;
	struct asking *asking = arg;
	const struct query_options *options = asking->options;
	int status = query_fill(&asking->query, job);

	if (!status)
		status = open_output(options, &out);
	if (status)
		return status;
	status = query_write(&asking->query, (enum table_format_kind)options->format,
			     &job->report->load->notes, &out);
	return out_close(&out, model_changed(job->report->load, status));
}

/** The question is compiled first: what is wrong with it shows before a long trace is loaded. */
static int ask(struct query_options *options, char **argv, int n)
{
	struct asking asking = {
		.options = options,
		.query = {
			.command = options->source.command, .sql = argv[n - 1],
			.timeout_ns = options->timeout.kind ? options->timeout.ns : TIMEOUT_NS,
		},
	};
	int status = query_open(&asking.query);

	if (!status && options->format == TABLE_JSON)
		status = query_check_names(&asking.query);
	options->source.left_out = ~asking.query.tables;
	if (!status)
		status = export_source_each(&options->source, argv, n - 1, answer, &asking);
	query_close(&asking.query);
	return status;
}

static int run_arguments(struct query_options *options, char **argv, int n)
{
	const struct ksv_command *command = options->source.command;
	const struct ksv_time *timeout = &options->timeout;

	if (timeout->kind && (timeout->kind != KSV_TIME_NS || timeout->ns <= 0))
		return ksv_usage_error(command, "--timeout: give a positive duration, such as 10s");
	if (options->examples)
		return n ? ksv_usage_error(command, "--examples takes no file and no question") :
		       answer_examples(options);
	if (!n)
		return ksv_usage_error(command, "which question? Give a SELECT in quotes after "
				       "the files; --examples has some");
	if (is_dot(argv[n - 1]))
		return answer_dot(options, argv[n - 1], NULL);
	if (n > 1 && !strcmp(argv[n - 2], ".schema"))
		return answer_dot(options, argv[n - 2], argv[n - 1]);
	if (n == 1)
		return ksv_usage_error(command, "give files and a question: FILE... 'SELECT ...'; "
				       "--examples has some");
	if (!access(argv[n - 1], F_OK))
		return ksv_usage_error(command, "the question is the last argument, but %s is a "
				       "file; --examples has some questions", argv[n - 1]);
	return ask(options, argv, n);
}

static int run_query(const struct ksv_command *command, int argc, char **argv)
{
	struct query_options options = {
		.source = { .command = command, .moments = EXPORT_MOMENTS },
	};
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.source.trace, &first);
	if (status < 0)
		status = run_arguments(&options, argv + first, argc - first);
	export_source_free(&options.source);
	return status;
}

const struct ksv_command cmd_query = {
	.name = "query",
	.args = "[OPTION...] FILE... 'SELECT ...'",
	.summary = "Answer a question in SQL about the tables of export",
	.notes = KSV_NOTE_HOST
		 "Instead of SELECT, .tables lists the tables, and .schema [TABLE] their columns.\n"
		 "A question only reads: SELECT, also with WITH.\n",
	.options = query_option_table,
	.n_options = ARRAY_SIZE(query_option_table),
	.prints_text = true,
	.run = run_query,
};
