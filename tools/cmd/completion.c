// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	completion.c
 * @brief	Completion for bash, zsh and fish.
 *
 * Options, their texts and their values come from the tables that parse command lines. The build
 * prints the scripts once, so that no shell runs the program to complete a word.
 */
#include <string.h>

#include "completion.h"

/** All that a script is about. */
struct script {
	const struct ksv_command *const *commands;
	size_t		n;
	FILE		*out;
};

/* --- values of options ----------------------------------------------------------------------- */

enum values {
	VALUES_NONE = 0,	/* the option has no argument, or an unknown one */
	VALUES_WORDS,
	VALUES_FILES
};

static enum values values_of(const struct ksv_command *command, const struct ksv_option *option)
{
	if (!option->arg)
		return VALUES_NONE;
	if (option->choices || ksv_option_words(command, option))
		return VALUES_WORDS;
	return !strcmp(option->arg, "FILE") || !strcmp(option->arg, "FOLDER") ? VALUES_FILES :
	       VALUES_NONE;
}

static void print_word(FILE *out, const char *word, bool escaped)
{
	for (; *word; word++)
		fprintf(out, "%s%c", escaped && strchr("<>*?[]()$&;|", *word) ? "\\" : "", *word);
}

/** The words that are values of an option, blanks between. @escaped: a shell evaluates them */
static void print_words(FILE *out, const struct ksv_command *command,
			const struct ksv_option *option, bool escaped)
{
	const struct ksv_words *words = ksv_option_words(command, option);
	const char *word;

	for (size_t i = 0; (word = words ? words->word(i) : option->choices[i]); i++) {
		fputs(i ? " " : "", out);
		print_word(out, word, escaped);
		print_word(out, words && words->suffix ? words->suffix : "", escaped);
	}
}

static void print_names(const struct script *script)
{
	for (size_t i = 0; i < script->n; i++)
		fprintf(script->out, "%s%s", i ? " " : "", script->commands[i]->name);
}

/* --- bash ------------------------------------------------------------------------------------ */

static void bash_options(const struct script *script)
{
	const struct ksv_option *option;

	fputs("_kshark_virt_options()\n{\n\tcase $1 in\n", script->out);
	for (size_t i = 0; i < script->n; i++) {
		fprintf(script->out, "\t%s)\n\t\techo", script->commands[i]->name);
		for (int k = 0; (option = ksv_option_at(script->commands[i], k)); k++)
			fprintf(script->out, " --%s", option->name);
		fputs("\n\t\t;;\n", script->out);
	}
	fputs("\tesac\n}\n\n", script->out);
}

static void bash_value(FILE *out, const struct ksv_command *command,
		       const struct ksv_option *option)
{
	enum values values = values_of(command, option);

	/* what may be left out stands in the word of the option itself */
	if (!option->arg || ksv_option_is_optional(option))
		return;
	fputs("\t", out);
	if (option->key)
		fprintf(out, "\"%s -%c\" | ", command->name, option->key);
	fprintf(out, "\"%s --%s\")\n\t\t", command->name, option->name);
	if (values == VALUES_WORDS) {
		fputs("_kshark_virt_words \"", out);
		print_words(out, command, option, false);
		fputs("\" \"$3\"\n", out);
	} else {
		fputs(values == VALUES_FILES ? "_kshark_virt_files \"$3\"\n" : ":\n", out);
	}
	fputs("\t\t;;\n", out);
}

static void bash_values(const struct script *script)
{
	const struct ksv_option *option;

	fputs("_kshark_virt_values()\n{\n\tcase \"$1 $2\" in\n", script->out);
	for (size_t i = 0; i < script->n; i++)
		for (int k = 0; (option = ksv_option_at(script->commands[i], k)); k++)
			bash_value(script->out, script->commands[i], option);
	fputs("\t*)\n\t\treturn 1\n\t\t;;\n\tesac\n}\n\n", script->out);
}

static void print_bash(const struct script *script)
{
	fputs("# SPDX-License-Identifier: LGPL-2.1-or-later\n"
	      "# bash completion for kshark-virt, with or without the bash-completion package.\n\n"
	      "_kshark_virt_words()\n{\n\tlocal IFS=$'\\n'\n\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"${1// /$'\\n'}\" -- \"$2\")\n}\n\n"
	      "_kshark_virt_files()\n{\n\tcompopt -o filenames 2> /dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n}\n\n", script->out);
	bash_options(script);
	bash_values(script);
	fputs("_kshark_virt()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} commands=\"", script->out);
	print_names(script);
	fputs(" help\"\n\n\tCOMPREPLY=()\n\tif ((COMP_CWORD == 1)); then\n"
	      "\t\t_kshark_virt_words \"$commands --help --version\" \"$cur\"\n"
	      "\t\t# a trace alone is summarised\n"
	      "\t\t[[ -z $cur || ${#COMPREPLY[@]} -gt 0 ]] || _kshark_virt_files \"$cur\"\n"
	      "\telif [[ $command == help ]]; then\n"
	      "\t\t((COMP_CWORD > 2)) || _kshark_virt_words \"$commands\" \"$cur\"\n"
	      "\telif _kshark_virt_values \"$command\" \"$prev\" \"$cur\"; then\n\t\t:\n"
	      "\telif [[ $cur == -* ]]; then\n"
	      "\t\t_kshark_virt_words \"$(_kshark_virt_options \"$command\")\" \"$cur\"\n"
	      "\telse\n\t\t_kshark_virt_files \"$cur\"\n\tfi\n}\n\n"
	      "complete -F _kshark_virt kshark-virt\n", script->out);
}

/* --- zsh ------------------------------------------------------------------------------------- */

/** Within single quotes, on one line; what is in @special gets a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
}

static void zsh_option(FILE *out, const struct ksv_command *command,
		       const struct ksv_option *option)
{
	const char *sign = !option->arg ? "" : ksv_option_is_optional(option) ? "=-" : "=";

	fputs(" \\\n\t\t\t'*'", out);
	if (option->key)
		fprintf(out, "{-%c%s,--%s%s}", option->key, option->arg ? "+" : "", option->name,
			sign);
	else
		fprintf(out, "--%s%s", option->name, sign);
	fputs("'[", out);
	print_quoted(out, option->help, "[]:\\");
	fputc(']', out);
	if (option->arg) {
		fputs(ksv_option_is_optional(option) ? "::value:" : ":value:", out);
		switch (values_of(command, option)) {
		case VALUES_WORDS:
			fputc('(', out);
			print_words(out, command, option, true);
			fputc(')', out);
			break;
		case VALUES_FILES:
			fputs("_files", out);
			break;
		default:
			fputc(' ', out);
		}
	}
	fputc('\'', out);
}

static void print_zsh(const struct script *script)
{
	const struct ksv_option *option;
	FILE *out = script->out;

	fputs("#compdef kshark-virt\n# SPDX-License-Identifier: LGPL-2.1-or-later\n\n"
	      "_kshark_virt_commands()\n{\n\tlocal -a commands=(\n", out);
	for (size_t i = 0; i < script->n; i++) {
		fprintf(out, "\t\t'%s:", script->commands[i]->name);
		print_quoted(out, script->commands[i]->summary, "");
		fputs("'\n", out);
	}
	fputs("\t\t'help:Show this help, or the help of a command'\n\t)\n\n"
	      "\t_describe command commands\n}\n\n"
	      "_kshark_virt()\n{\n\tif ((CURRENT == 2)); then\n"
	      "\t\t_kshark_virt_commands\n\t\t_files\n\t\treturn\n\tfi\n"
	      "\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n"
	      "\thelp)\n\t\t_kshark_virt_commands\n\t\t;;\n", out);
	for (size_t i = 0; i < script->n; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments -s", script->commands[i]->name);
		for (int k = 0; (option = ksv_option_at(script->commands[i], k)); k++)
			zsh_option(out, script->commands[i], option);
		fputs(" \\\n\t\t\t'*:file:_files'\n\t\t;;\n", out);
	}
	fputs("\t*)\n\t\t_files\n\t\t;;\n\tesac\n}\n\n_kshark_virt \"$@\"\n", out);
}

/* --- fish ------------------------------------------------------------------------------------ */

static void fish_option(FILE *out, const struct ksv_command *command,
			const struct ksv_option *option)
{
	fprintf(out, "complete -c kshark-virt -n '__fish_seen_subcommand_from %s' -l %s",
		command->name, option->name);
	if (option->key)
		fprintf(out, " -s %c", option->key);
	switch (values_of(command, option)) {
	case VALUES_WORDS:
		fputs(" -x -a '", out);
		print_words(out, command, option, true);
		fputc('\'', out);
		break;
	case VALUES_FILES:
		fputs(" -r -F", out);
		break;
	default:
		if (option->arg && !ksv_option_is_optional(option))
			fputs(" -x", out);
	}
	fputs(" -d '", out);
	print_quoted(out, option->help, "\\");
	fputs("'\n", out);
}

static void print_fish(const struct script *script)
{
	const struct ksv_option *option;
	FILE *out = script->out;

	fputs("# SPDX-License-Identifier: LGPL-2.1-or-later\n\n", out);
	for (size_t i = 0; i < script->n; i++) {
		fprintf(out, "complete -c kshark-virt -n __fish_use_subcommand -a %s -d '",
			script->commands[i]->name);
		print_quoted(out, script->commands[i]->summary, "\\");
		fputs("'\n", out);
	}
	fputs("complete -c kshark-virt -n __fish_use_subcommand -a help -d 'Show this help, or the "
	      "help of a command'\n"
	      "complete -c kshark-virt -n '__fish_seen_subcommand_from help' -f -a '", out);
	print_names(script);
	fputs("'\n", out);
	for (size_t i = 0; i < script->n; i++)
		for (int k = 0; (option = ksv_option_at(script->commands[i], k)); k++)
			fish_option(out, script->commands[i], option);
}

/* --- all ------------------------------------------------------------------------------------- */

const char *const completion_shells[] = { "bash", "zsh", "fish", NULL };

static void (*const printers[])(const struct script *script) = {
	print_bash, print_zsh, print_fish
};

bool completion_print(const char *shell, const struct ksv_command *const *commands, size_t n,
		      FILE *out)
{
	const struct script script = { .commands = commands, .n = n, .out = out };

	for (size_t i = 0; completion_shells[i]; i++) {
		if (strcmp(completion_shells[i], shell) != 0)
			continue;
		printers[i](&script);
		return true;
	}
	return false;
}
