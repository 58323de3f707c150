// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	main.c
 * @brief	The command kshark-virt: finds the subcommand.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "completion.h"
#include "options.h"
#include "pager.h"
#include "whole_file.h"

static const struct ksv_command *const commands[] = {
	&cmd_record,
	&cmd_view,
	&cmd_dump,
	&cmd_report,
	&cmd_why,
	&cmd_plot,
	&cmd_check,
	&cmd_align,
	&cmd_compare,
	&cmd_diff,
	&cmd_migration,
	&cmd_export,
	&cmd_query,
	&cmd_top,
	&cmd_rollup,
	&cmd_split,
	&cmd_merge,
	&cmd_self_test,
	&cmd_study,
};

static void print_help(FILE *out)
{
	fputs("Usage: kshark-virt COMMAND [ARGUMENT...]\n"
	      "       kshark-virt TRACE...\n"
	      "Analyse traces of virtual machines. The second form prints a summary (report).\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs("  help      Show this help, or the help of a command\n\n"
	      "Options:\n"
	      "  -h, --help      show this help\n"
	      "  -V, --version   show the version\n\n"
	      "Exit status: 0 success, 1 something was found, 2 wrong usage,\n"
	      "3 a file cannot be read or written, 4 too few values to decide (compare).\n"
	      "See kshark-virt(1).\n", out);
}

static const struct ksv_command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/** @near: what was probably meant, or NULL */
static int unknown(const char *what, const char *word, const char *near)
{
	if (near)
		ksv_error("unknown %s '%s'; did you mean '%s'?", what, word, near);
	else
		ksv_error("unknown %s '%s'", what, word);
	fputs("Try 'kshark-virt --help'.\n", stderr);
	return KSV_EXIT_USAGE;
}

static int unknown_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 2] = { "help" };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i + 1] = commands[i]->name;
	return unknown("command", name, !strcmp(name, "version") ? "--version" :
					ksv_suggest(name, names));
}

/** Does report, which prints the summary, have this option with one dash? */
static bool is_report_key(const char *word)
{
	const struct ksv_option *option;

	for (int i = 0; (option = ksv_option_at(&cmd_report, i)); i++)
		if (option->key && word[1] == option->key && !word[2])
			return true;
	return false;
}

static int unknown_option(const char *word)
{
	static const char *const names[] = { "--help", "--version", NULL };
	const char *name = word + strspn(word, "-");
	char option[32], report[64];

	/* options of the summary */
	snprintf(option, sizeof(option), "%.*s", (int)strcspn(name, "="), name);
	snprintf(report, sizeof(report), "report --%s", option);
	if (!strncmp(word, "--", 2) && ksv_find_option(&cmd_report, option))
		return unknown("option", word, report);
	snprintf(report, sizeof(report), "report %.2s", word);
	if (is_report_key(word))
		return unknown("option", word, report);
	return unknown("option", word, !strcmp(word, "-v") ? "--version" :
				       ksv_suggest(word, names));
}

/** Return: the exit status. */
static int completion(const char *shell)
{
	if (completion_print(shell, commands, ARRAY_SIZE(commands), stdout))
		return KSV_EXIT_OK;
	return unknown("shell", shell, ksv_suggest(shell, completion_shells));
}

static int help(int argc, char **argv)
{
	static const char option[] = "--completion=";
	const struct ksv_command *command;

	if (argc == 2 && !strncmp(argv[1], option, strlen(option)))
		return completion(argv[1] + strlen(option));
	if (argc > 2) {
		ksv_error("help takes the name of one command");
		return KSV_EXIT_USAGE;
	}
	if (argc < 2 || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return KSV_EXIT_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	ksv_command_help(command, stdout);
	return KSV_EXIT_OK;
}

static int run(int argc, char **argv)
{
	const struct ksv_command *command;
	const char *word = argc > 1 ? argv[1] : "";

	if (argc < 2) {
		print_help(stderr);
		return KSV_EXIT_USAGE;
	}
	if (!strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
		puts("kshark-virt " KSHARK_VIRT_VERSION);
		return KSV_EXIT_OK;
	}
	if (*word == '-')
		return unknown_option(word);
	command = find_command(word);
	/* no command has one of these characters in its name */
	if (!command && (strpbrk(word, "./") || !access(word, F_OK)))
		return cmd_report.run(&cmd_report, argc, argv);
	if (!command)
		return unknown_command(word);
	return command->run(command, argc - 1, argv + 1);
}

/**
 * What is opened must not take the place of a standard descriptor that is closed: messages would
 * end up in it. Using what is missing stays an error, because it cannot be used this way round.
 */
static void fill_descriptors(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	/* open() takes the lowest that is free */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
			_exit(KSV_EXIT_FILE);
}

/** Nothing half written is left behind, and no pager that shares the terminal with the shell. */
static void on_signal(int number)
{
	whole_file_discard_all();
	pager_end();
	signal(number, SIG_DFL);
	raise(number);
}

static void set_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		/* under nohup, for example, it stays ignored */
		if (!sigaction(ends[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	}
	/* errors of write() like others, so that everything is cleaned up */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
	int status;

	fill_descriptors();
	set_signals();
	/* Messages in the user's characters; numbers stay as they are for programs. */
	setlocale(LC_CTYPE, "");
	status = run(argc, argv);
	pager_end();
	if (fflush(stdout) && errno != EPIPE) {
		ksv_error("standard output: cannot write: %s", strerror(errno));
		return KSV_EXIT_FILE;
	}
	return status;
}
