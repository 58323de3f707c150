// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	options.c
 * @brief	Command lines of all subcommands: one table gives parsing and --help.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "options.h"
#include "pager.h"
#include "search.h"
#include "sidecar.h"
#include "xen_trace.h"
#include "xen_clock.h"

#define MAX_OPTIONS	64
#define KEY_HELP	'h'
/** What getopt calls the first row of a table: no letter. */
#define KEY_FIRST	256
/** --cpu means a pCPU, and is no abbreviation of --cpu-hz. */
#define KEY_CPU		1

void ksv_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	escape_vprint(stderr, "kshark-virt: ", format, args);
	va_end(args);
}

void ksv_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	escape_vprint(stderr, "", format, args);
	va_end(args);
}

int ksv_usage_error(const struct ksv_command *command, const char *format, ...)
{
	char before[40];
	va_list args;

	va_start(args, format);
	snprintf(before, sizeof(before), "kshark-virt %s: ", command->name);
	escape_vprint(stderr, before, format, args);
	fprintf(stderr, "Try 'kshark-virt %s --help'.\n", command->name);
	va_end(args);
	return KSV_EXIT_USAGE;
}

bool ksv_option_is_optional(const struct ksv_option *option)
{
	return option->arg && *option->arg == '[';
}

const struct ksv_words *ksv_option_words(const struct ksv_command *command,
					 const struct ksv_option *option)
{
	const struct ksv_words *words = command->words;

	while (words && words->option && strcmp(words->option, option->name) != 0)
		words++;
	return words && words->option ? words : NULL;
}

static void option_help(const struct ksv_command *command, const struct ksv_option *option,
			FILE *out)
{
	const struct ksv_words *words = ksv_option_words(command, option);
	const char *help = option->help;
	char left[64];
	int n = 0;

	if (option->key)
		n = snprintf(left, sizeof(left), "-%c, ", option->key);
	snprintf(left + n, sizeof(left) - n, "--%s%s%s", option->name,
		 option->arg && !ksv_option_is_optional(option) ? " " : "",
		 option->arg ? option->arg : "");
	fprintf(out, "  %-20s", left);
	if (strlen(left) > 19)
		fprintf(out, "\n  %-20s", "");
	for (size_t i = 0; words && words->in_help && words->word(i); i++)
		fprintf(out, "%s%s", i ? "," : "", words->word(i));
	/* A newline in the help text goes on below the first line. */
	for (; *help; help++) {
		fputc(*help, out);
		if (*help == '\n')
			fprintf(out, "  %-20s", "");
	}
	fputc('\n', out);
}

static const struct ksv_option help_option = {
	.key = KEY_HELP, .name = "help", .help = "show this help",
};

static int text_color;

static int take_color(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	(void)target;
	return ksv_take_choice(command, option, value, &text_color);
}

static int take_no_pager(const struct ksv_command *command, const struct ksv_option *option,
			 const char *value, void *target)
{
	(void)command;
	(void)option;
	(void)value;
	(void)target;
	pager_disable();
	return 0;
}

static const char *const colors[] = {
	[KSV_COLOR_AUTO] = "auto", [KSV_COLOR_ALWAYS] = "always", [KSV_COLOR_NEVER] = "never",
	NULL
};

/** The options of all subcommands that print text. */
static const struct ksv_option text_options[] = {
	{ 0, "color", "WHEN", "colour text: auto (default: on a terminal), always or\nnever",
	  take_color, 0, colors },
	{ 0, "no-pager", NULL, "print long text on a terminal without a pager",
	  take_no_pager, 0, NULL },
};

enum ksv_color ksv_color(void)
{
	return (enum ksv_color)text_color;
}

static int count_options(const struct ksv_command *command)
{
	return command->n_options + (command->prints_text ? (int)ARRAY_SIZE(text_options) : 0);
}

/** @i: less than count_options() */
static const struct ksv_option *option_at(const struct ksv_command *command, int i)
{
	return i < command->n_options ? &command->options[i] :
					&text_options[i - command->n_options];
}

const struct ksv_option *ksv_option_at(const struct ksv_command *command, int i)
{
	int n = count_options(command);

	return i < n ? option_at(command, i) : i == n ? &help_option : NULL;
}

void ksv_command_help(const struct ksv_command *command, FILE *out)
{
	fprintf(out, "Usage: kshark-virt %s %s\n%s.\n\nOptions:\n", command->name, command->args,
		command->summary);
	for (int i = 0; ksv_option_at(command, i); i++)
		option_help(command, ksv_option_at(command, i), out);
	if (command->notes)
		fprintf(out, "\n%s", command->notes);
	fprintf(out, "\nSee kshark-virt-%s(1) for all details.\n", command->name);
}

/** The option of which a word is a value: --json is meant to be --format json. Or NULL. */
static const struct ksv_option *find_choice(const struct ksv_command *command, const char *word)
{
	for (int i = 0; i < count_options(command); i++) {
		const struct ksv_option *option = option_at(command, i);

		for (int k = 0; option->choices && option->choices[k]; k++)
			if (!strcmp(option->choices[k], word))
				return option;
	}
	return NULL;
}

const struct ksv_option *ksv_find_option(const struct ksv_command *command, const char *name)
{
	for (int i = 0; i < count_options(command); i++)
		if (!strcmp(option_at(command, i)->name, name))
			return option_at(command, i);
	return NULL;
}

/** An abbreviation of several options: refuse it with their names. Or return 0: it is of none. */
static int refuse_ambiguous(const struct ksv_command *command, const char *word, const char *name)
{
	char text[256] = "";
	size_t used = 0;
	int n = 0;

	for (int i = 0; *name && ksv_option_at(command, i); i++) {
		const char *full = ksv_option_at(command, i)->name;

		if (strncmp(full, name, strlen(name)) != 0)
			continue;
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s--%s",
						 n ? ", " : "", full);
		n++;
	}
	return n < 2 ? 0 : ksv_usage_error(command, "option '%s' is ambiguous: %s%s", word, text,
					   used < sizeof(text) ? "" : " ...");
}

/** What to say about an argument that getopt did not understand. */
static int bad_option(const struct ksv_command *command, char **argv, int code)
{
	const char *names[MAX_OPTIONS + 2] = { "help" };
	const char *word = argv[optind - 1], *given = word + strspn(word, "-"), *near;
	const struct ksv_option *option = find_choice(command, given);
	char name[32];
	int status;

	if (code == ':')
		return ksv_usage_error(command, "option '%s' needs an argument", word);
	if (code == KEY_CPU)
		return ksv_usage_error(command, "unknown option '%s'; did you mean '--%s'?", word,
				       ksv_find_option(command, "pcpu") ? "pcpu" : "cpu-hz");
	if (optopt && !strncmp(word, "--", 2))
		return ksv_usage_error(command, "option '%.*s' takes no argument",
				       (int)strcspn(word, "="), word);
	if (optopt)
		return ksv_usage_error(command, "unknown option '-%c'", optopt);
	for (int i = 0; i < count_options(command); i++)
		names[i + 1] = option_at(command, i)->name;
	if (option)
		return ksv_usage_error(command, "unknown option '%s'; did you mean '--%s %s'?",
				       word, option->name, given);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	/* also as --ver: an option of the command itself, not of subcommands */
	if (strlen(name) > 2 && !strncmp("version", name, strlen(name)))
		return ksv_usage_error(command, "unknown option '%s'; did you mean "
				       "'kshark-virt --version'?", word);
	status = refuse_ambiguous(command, word, name);
	if (status)
		return status;
	near = ksv_suggest(name, names);
	return ksv_usage_error(command, "unknown option '%s'%s%s%s", word,
			       near ? "; did you mean '--" : "", near ? near : "",
			       near ? "'?" : "");
}

static void describe_options(const struct ksv_command *command, struct option *longs, char *shorts)
{
	assert(count_options(command) <= MAX_OPTIONS);
	*shorts++ = ':';
	*shorts++ = KEY_HELP;
	for (int i = 0; i < count_options(command); i++) {
		const struct ksv_option *option = option_at(command, i);

		longs[i].name = option->name;
		longs[i].has_arg = ksv_option_is_optional(option) ? optional_argument :
				   option->arg ? required_argument : no_argument;
		longs[i].val = KEY_FIRST + i;
		if (!option->key)
			continue;
		*shorts++ = option->key;
		if (option->arg)
			*shorts++ = ':';
		if (ksv_option_is_optional(option))
			*shorts++ = ':';
	}
	longs[count_options(command)].name = help_option.name;
	longs[count_options(command)].val = KEY_HELP;
	if (ksv_find_option(command, "cpu-hz"))
		longs[count_options(command) + 1] =
			(struct option){ "cpu", optional_argument, NULL, KEY_CPU };
}

/** The row that getopt means; it is there. */
static const struct ksv_option *find_option(const struct ksv_command *command, int key)
{
	const struct ksv_option *option = command->options;

	if (key >= KEY_FIRST)
		return option_at(command, key - KEY_FIRST);
	while (option->key != key)
		option++;
	return option;
}

int ksv_split_command(int argc, char **argv, char ***command)
{
	int end = 1;

	*command = NULL;
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end == argc)
		return end;
	if (end + 1 < argc)
		*command = argv + end + 1;
	argv[end] = NULL;
	return end;
}

int ksv_parse(const struct ksv_command *command, int argc, char **argv, void *options,
	      int *first)
{
	struct option longs[MAX_OPTIONS + 3] = { { 0 } };
	char shorts[3 * MAX_OPTIONS + 4] = "";
	int key;

	describe_options(command, longs, shorts);
	opterr = 0;
	/* not 1: getopt would go on in the middle of a word where it stopped before */
	optind = 0;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct ksv_option *option;
		int ret;

		if (key == '?' || key == ':' || key == KEY_CPU)
			return bad_option(command, argv, key);
		if (key == KEY_HELP) {
			ksv_command_help(command, stdout);
			return KSV_EXIT_OK;
		}
		option = find_option(command, key);
		ret = option->take(command, option, optarg, (char *)options + option->offset);
		if (ret)
			return ret;
	}
	*first = optind;
	return -1;
}

/** Number of single-character edits between two words, long ones cut. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[33];
	size_t n = strnlen(b, 32);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i] && i < 32; i++) {
		unsigned int diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned int best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j + 1] + 1 < best)
				best = row[j + 1] + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *ksv_suggest(const char *word, const char *const *names)
{
	unsigned int best = strlen(word) < 4 ? 2 : 3;
	const char *found = NULL;

	for (; *names; names++) {
		unsigned int distance = edit_distance(word, *names);

		if (distance < best) {
			best = distance;
			found = *names;
		}
	}
	return found;
}

/** A decimal number up to @max. Return: 0 and the text behind it, or -EINVAL. */
static int parse_number(const char **text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(*text, &end, 10);
	if (errno || *value > max)
		return -EINVAL;
	*text = end;
	return 0;
}

/** Whole words at a time: a list may name all numbers in every few characters. */
static void add_ids(struct ksv_id_set *set, uint64_t first, uint64_t last)
{
	uint64_t low = UINT64_MAX << first % 64, high = UINT64_MAX >> (63 - last % 64);

	set->any = true;
	if (first / 64 == last / 64) {
		set->bits[first / 64] |= low & high;
		return;
	}
	set->bits[first / 64] |= low;
	memset(&set->bits[first / 64 + 1], 0xff,
	       (last / 64 - first / 64 - 1) * sizeof(set->bits[0]));
	set->bits[last / 64] |= high;
}

int ksv_parse_ids(const char *text, struct ksv_id_set *set)
{
	for (;;) {
		uint64_t first, last;

		if (parse_number(&text, 65535, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (parse_number(&text, 65535, &last) || last < first)
				return -EINVAL;
		}
		add_ids(set, first, last);
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

static bool skip_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0 || ((*text)[n] && (*text)[n] != ','))
		return false;
	*text += n;
	return true;
}

/** One vCPU or one domain with all its vCPUs. */
static int parse_vcpu(const char **text, struct ksv_vcpu_range *range)
{
	uint64_t domid, vcpu;

	if (skip_word(text, "idle")) {
		range->first = (xen_vcpu)XEN_DOMID_IDLE << 16;
		range->last = range->first | 0xffff;
		return 0;
	}
	if (skip_word(text, "d?v?") || skip_word(text, "d?")) {
		/* also a vCPU on a pCPU that no record names */
		range->first = (xen_vcpu)XEN_DOMID_SOMEBODY << 16;
		range->last = XEN_VCPU_UNKNOWN;
		return 0;
	}
	/* Xen's domains, and the machines of a KVM host */
	if (**text != 'd' && **text != 'g')
		return -EINVAL;
	(*text)++;
	if (parse_number(text, 0x7fff, &domid))
		return -EINVAL;
	range->first = (xen_vcpu)domid << 16;
	range->last = range->first | 0xffff;
	if (**text == 'v' || **text == ':') {
		(*text)++;
		if (parse_number(text, 0xffff, &vcpu))
			return -EINVAL;
		range->first |= (xen_vcpu)vcpu;
		range->last = range->first;
	}
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct ksv_vcpu_range *x = a, *y = b;

	return x->first != y->first ? (x->first > y->first) - (x->first < y->first) :
	       (x->last > y->last) - (x->last < y->last);
}

/** In order, and none overlaps another one, so that very many can be searched. */
static void sort_ranges(struct ksv_vcpu_set *set)
{
	int n = 0;

	qsort(set->ranges, (size_t)set->n, sizeof(*set->ranges), compare_ranges);
	for (int i = 1; i < set->n; i++) {
		struct ksv_vcpu_range *last = &set->ranges[n], *next = &set->ranges[i];

		if (next->first > last->last)
			set->ranges[++n] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	set->n = n + 1;
}

int ksv_parse_vcpus(const char *text, struct ksv_vcpu_set *set)
{
	for (;;) {
		struct ksv_vcpu_range range;

		if (parse_vcpu(&text, &range))
			return -EINVAL;
		if (ARRAY_GROW(set->ranges, set->n, set->room))
			return -ENOMEM;
		set->ranges[set->n++] = range;
		if (!*text)
			break;
		if (*text++ != ',')
			return -EINVAL;
	}
	sort_ranges(set);
	return 0;
}

/** @word: becomes the set's, also if it fails */
static int add_word(struct ksv_vcpu_set *set, char *word)
{
	const char *rest = word;
	struct ksv_vcpu_range range;

	if (!word || ARRAY_GROW(set->words, set->n_words, set->room_words)) {
		free(word);
		return -ENOMEM;
	}
	set->words[set->n_words++] = word;
	if (!*word)
		return -EINVAL;
	if (!parse_vcpu(&rest, &range) && !*rest) {
		if (ARRAY_GROW(set->ranges, set->n, set->room))
			return -ENOMEM;
		set->ranges[set->n++] = range;
		return 0;
	}
	if (ARRAY_GROW(set->names, set->n_names, set->room_names))
		return -ENOMEM;
	set->names[set->n_names++] = word;
	return 0;
}

int ksv_add_vcpus(const char *text, struct ksv_vcpu_set *set)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		int ret = add_word(set, strndup(text, n));

		if (!ret && text[n]) {
			text += n + 1;
			continue;
		}
		if (set->n)
			sort_ranges(set);
		return ret;
	}
}

void ksv_vcpus_free(struct ksv_vcpu_set *set)
{
	for (int i = 0; i < set->n_words; i++)
		free(set->words[i]);
	free(set->words);
	free(set->names);
	free(set->ranges);
	*set = (struct ksv_vcpu_set){ 0 };
}

/** The part of a word behind the name of a machine: "", " v0" or ":0". */
static bool is_part(const char *rest, uint32_t vcpu)
{
	uint64_t id;

	if (!*rest)
		return true;
	if (!strncmp(rest, " v", 2) || !strncmp(rest, ":v", 2))
		rest += 2;
	else if (*rest == ':')
		rest++;
	else
		return false;
	return !parse_number(&rest, UINT32_MAX, &id) && !*rest && id == vcpu;
}

bool ksv_vcpu_is_called(const char *machine, uint32_t vcpu, const char *word)
{
	const char *given = strchr(machine, ':');
	size_t n = strlen(machine);

	if (!strncmp(word, machine, n) && is_part(word + n, vcpu))
		return true;
	if (!given)
		return false;
	n = strlen(++given);
	return n && !strncmp(word, given, n) && is_part(word + n, vcpu);
}

void ksv_vcpu_list_add(struct ksv_vcpu_list *list, const char *name)
{
	size_t n = strlen(name);

	if (list->left_out || list->size + n + 3 > sizeof(list->text)) {
		list->left_out++;
		return;
	}
	list->size += (size_t)snprintf(list->text + list->size, sizeof(list->text) - list->size,
				       "%s%s", list->size ? ", " : "", name);
}

const char *ksv_vcpu_list_more(struct ksv_vcpu_list *list)
{
	if (!list->size)
		snprintf(list->text, sizeof(list->text), "none");
	if (list->left_out)
		snprintf(list->more, sizeof(list->more), " and %zu more", list->left_out);
	return list->more;
}

int ksv_no_vcpu(const struct ksv_command *command, const char *path, const char *word,
		struct ksv_vcpu_list *list)
{
	const char *more = ksv_vcpu_list_more(list);

	return ksv_usage_error(command, "--vcpu %s: %s has no such vCPU or machine; it has %s%s",
			       word, path, list->text, more);
}

int ksv_no_window(const struct ksv_command *command, const char *path, int64_t begin_ns,
		  int64_t end_ns)
{
	return ksv_usage_error(command, "%s: --from and --to lie outside the trace, which goes "
			       "from %.9f to %.9f s", path, (double)begin_ns / 1e9,
			       (double)end_ns / 1e9);
}

bool ksv_vcpu_in_set(const struct ksv_vcpu_set *set, xen_vcpu vcpu)
{
	size_t i;

	SEARCH_FIRST(i, 0, set->n, set->ranges[i].last < vcpu);
	return i < (size_t)set->n && vcpu >= set->ranges[i].first;
}

/** Longest first, so that "s" is not found in "ns". */
static const struct {
	const char	*suffix;
	uint64_t	ns;
} time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "\302\265s", 1000 }, { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", UINT64_C(60000000000) }, { "h", UINT64_C(3600000000000) },
	{ "%", KSV_TIME_WHOLE / 100 }, { "", 1000000000 },
};

static int time_unit(const char *suffix, uint64_t *ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++) {
		if (!strcmp(suffix, time_units[i].suffix)) {
			*ns = time_units[i].ns;
			return 0;
		}
	}
	return -EINVAL;
}

int ksv_parse_time(const char *text, struct ksv_time *time)
{
	bool negative = *text == '-', after = *text == '+', share;
	const char *fraction = "";
	uint64_t whole, unit, part = 0, scale;

	if (!strncmp(text, "tsc:", 4)) {
		text += 4;
		time->kind = KSV_TIME_TSC;
		return parse_number(&text, UINT64_MAX, &time->tsc) || *text ? -EINVAL : 0;
	}
	text += negative || after;
	if (parse_number(&text, INT64_MAX, &whole))
		return -EINVAL;
	if (*text == '.') {
		fraction = ++text;
		text += strspn(text, "0123456789");
		if (text == fraction)
			return -EINVAL;
	}
	share = *text == '%';
	if (time_unit(text, &unit) || (share && (negative || after)))
		return -EINVAL;
	for (scale = unit / 10; isdigit((unsigned char)*fraction); fraction++, scale /= 10) {
		if (!scale && *fraction != '0')
			return -ERANGE;
		part += scale * (*fraction - '0');
	}
	if (__builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, part, &whole) || whole > INT64_MAX)
		return -ERANGE;
	if (share && whole > (uint64_t)KSV_TIME_WHOLE)
		return -ERANGE;
	time->kind = share ? KSV_TIME_SHARE : after ? KSV_TIME_AFTER : KSV_TIME_NS;
	time->ns = negative ? -(int64_t)whole : (int64_t)whole;
	return 0;
}

int64_t ksv_time_in(const struct ksv_time *time, int64_t begin_ns, int64_t end_ns)
{
	int64_t length = end_ns - begin_ns, ns;

	if (time->kind == KSV_TIME_SHARE)
		return begin_ns + length / KSV_TIME_WHOLE * time->ns +
		       length % KSV_TIME_WHOLE * time->ns / KSV_TIME_WHOLE;
	return __builtin_add_overflow(begin_ns, time->ns, &ns) ? INT64_MAX : ns;
}

/* --- what options do ------------------------------------------------------------------------- */

int ksv_take_flag(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target)
{
	(void)command;
	(void)option;
	(void)value;
	*(bool *)target = true;
	return 0;
}

int ksv_take_text(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target)
{
	(void)command;
	(void)option;
	*(const char **)target = value;
	return 0;
}

/** "text, json or csv" */
static void list_choices(const char *const *choices, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 0; choices[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", !i ? "" : choices[i + 1] ? ", " :
				      " or ", choices[i]);
}

int ksv_take_choice(const struct ksv_command *command, const struct ksv_option *option,
		    const char *value, void *target)
{
	char all[128];

	for (int i = 0; option->choices[i]; i++) {
		if (!strcmp(value, option->choices[i])) {
			*(int *)target = i;
			return 0;
		}
	}
	list_choices(option->choices, all, sizeof(all));
	return ksv_usage_error(command, "--%s %s: not %s", option->name, value, all);
}

int ksv_take_time(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target)
{
	int ret = ksv_parse_time(value, target);

	if (ret == -ERANGE)
		return ksv_usage_error(command, "--%s %s: finer than 1 ns, or too large",
				       option->name, value);
	if (ret)
		return ksv_usage_error(command, "--%s %s: not a time; write 1.5, 20ms, 300us, "
				       "17ns, 2m, 1h, +1s, 10%% or tsc:NUMBER", option->name,
				       value);
	return 0;
}

int ksv_take_hz(const struct ksv_command *command, const struct ksv_option *option,
		const char *value, void *target)
{
	if (!xen_clock_parse_hz(value, target))
		return 0;
	return ksv_usage_error(command, "--%s %s: not a CPU frequency; write 2.4G, 2400M, "
			       "2399998K or Hz", option->name, value);
}

int ksv_take_number(const struct ksv_command *command, const struct ksv_option *option,
		    const char *value, size_t min, size_t max, size_t *target)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (value[strspn(value, "0123456789")] || end == value || errno || n < min || n > max)
		return ksv_usage_error(command, "--%s %s: not a number from %zu to %zu",
				       option->name, value, min, max);
	*target = (size_t)n;
	return 0;
}

int ksv_take_size(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target)
{
	if (!xen_trace_parse_size(value, target))
		return 0;
	return ksv_usage_error(command, "--%s %s: not a number of bytes; write 500M, 64G or bytes",
			       option->name, value);
}

int ksv_take_vcpus(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	int ret = ksv_add_vcpus(value, target);

	if (ret == -EINVAL)
		return ksv_usage_error(command, "--%s %s: not a list such as d1v0,d2,web:0",
				       option->name, value);
	if (ret)
		ksv_error("not enough memory");
	return ret ? KSV_EXIT_FILE : 0;
}

int ksv_take_pcpus(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	if (!ksv_parse_ids(value, target))
		return 0;
	return ksv_usage_error(command, "--%s %s: not a list such as 0,2-3", option->name, value);
}

/** Standard input or output if it is NULL or "-". */
static int stat_of(const char *path, int standard, struct stat *st)
{
	return !path || !strcmp(path, "-") ? fstat(standard, st) : stat(path, st);
}

bool ksv_same_file(const char *in, const char *out)
{
	struct stat a, b;

	return !stat_of(in, STDIN_FILENO, &a) && !stat_of(out, STDOUT_FILENO, &b) &&
	       S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int ksv_check_output(const struct ksv_command *command, const char *option, const char *out,
		     const char *in)
{
	char *sidecar = strcmp(in, "-") != 0 ? sidecar_find(in) : NULL;
	const char *what = ksv_same_file(in, out) ? "is the trace itself" :
			   sidecar && ksv_same_file(sidecar, out) ? "is the trace's sidecar" : NULL;
	int status = KSV_EXIT_OK;

	if (what && (!out || !strcmp(out, "-")))
		status = ksv_usage_error(command, "standard output %s", what);
	else if (what)
		status = ksv_usage_error(command, "--%s %s: %s", option, out, what);
	free(sidecar);
	return status;
}
