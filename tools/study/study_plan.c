// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_plan.c
 * @brief	The plan of a study: from JSON or options, and to JSON.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "json_read.h"
#include "results.h"
#include "study.h"

#define MIB	(1ULL << 20)

#define DEFAULT_ROUNDS		6
#define DEFAULT_MAX_ROUNDS	20
#define DEFAULT_PRECISION	5
#define DEFAULT_SECONDS		3600
#define DEFAULT_BUFFER		(8 * MIB)
#define MAX_SECONDS		(7 * 24 * 3600)
#define MAX_BUFFER		(1024 * MIB)

const char *const study_tracing_names[] = {
	[STUDY_NONE] = "none",
	[STUDY_EVENTS] = "events",
	[STUDY_ALL] = "all",
	[STUDY_FUNCTION] = "function",
	NULL
};

/** Behind an @ in the name of a configuration, by the bits of enum study_where. */
static const char *const where_names[] = {
	[STUDY_HOST] = "host", [STUDY_GUESTS] = "guest", [STUDY_BOTH] = "both",
};

void study_plan_init(struct study_plan *plan)
{
	*plan = (struct study_plan){
		.rounds = DEFAULT_ROUNDS, .max_rounds = DEFAULT_MAX_ROUNDS, .warm_up = 1,
		.precision = DEFAULT_PRECISION, .max_seconds = DEFAULT_SECONDS,
		.buffer = DEFAULT_BUFFER,
	};
}

void study_plan_free(struct study_plan *plan)
{
	for (int i = 0; i < plan->n_benchmarks; i++) {
		struct study_benchmark *benchmark = &plan->benchmarks[i];

		for (int j = 0; j < benchmark->n_command; j++)
			free(benchmark->command[j]);
		free(benchmark->command);
		free(benchmark->name);
		free(benchmark->where);
		free(benchmark->format);
		free(benchmark->metric);
	}
	for (int i = 0; i < plan->n_configs; i++) {
		free(plan->configs[i].name);
		free(plan->configs[i].events);
	}
	for (int i = 0; i < plan->n_guests; i++) {
		free(plan->guests[i].name);
		free(plan->guests[i].target);
	}
	free(plan->events);
	study_plan_init(plan);
}

/** Names become names of files, and parts of the names of metrics. */
static bool is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-+@", name[i]))
			return false;
	return n && n < STUDY_MAX_NAME && isalnum((unsigned char)*name);
}

/** They become words of a shell's script in guests. */
static bool is_events(const char *events)
{
	for (const char *at = events; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-:,", *at))
			return false;
	return *events && strlen(events) < 1024;
}

__attribute__((format(printf, 3, 4)))
static int bad(char *error, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, size, format, args);
	va_end(args);
	return -EINVAL;
}

static int bad_name(char *error, size_t size, const char *what, const char *name)
{
	return bad(error, size, "%s '%s': use up to %d letters, digits, '_', '-', '+' and '@', and "
		   "begin with a letter or digit", what, name, STUDY_MAX_NAME - 1);
}

/* --- parts ----------------------------------------------------------------------------------- */

static int find_word(const char *word, size_t n, const char *const *names, int n_names)
{
	for (int i = 0; i < n_names; i++)
		if (names[i] && strlen(names[i]) == n && !memcmp(names[i], word, n))
			return i;
	return -1;
}

/** @tracing: "events" or "events@both" */
static int parse_tracing(struct study_config *config, const char *tracing, char *error,
			 size_t size)
{
	size_t n = strcspn(tracing, "@");
	int kind = find_word(tracing, n, study_tracing_names, STUDY_N_TRACINGS), where = STUDY_HOST;

	if (tracing[n])
		where = find_word(tracing + n + 1, strlen(tracing + n + 1), where_names,
				  ARRAY_SIZE(where_names));
	if (kind < 0 || where < 0)
		return bad(error, size, "'%s' is no configuration: write none, events, all or "
			   "function, and where it traces if that is not the host: @guest or @both",
			   tracing);
	config->tracing = (enum study_tracing)kind;
	config->where = kind ? (unsigned int)where : 0;
	return 0;
}

/** Takes @config's strings, also on failure. */
static int add_config(struct study_plan *plan, struct study_config *config, char *error,
		      size_t size)
{
	int ret = 0;

	if (!is_name(config->name))
		ret = bad_name(error, size, "the configuration", config->name);
	else if (plan->n_configs == STUDY_MAX_CONFIGS)
		ret = bad(error, size, "more than %d configurations", STUDY_MAX_CONFIGS);
	else if (config->events && !is_events(config->events))
		ret = bad(error, size, "the events '%s' of %s are no list: write kvm,sched or "
			  "sched:sched_switch", config->events, config->name);
	for (int i = 0; !ret && i < plan->n_configs; i++)
		if (!strcmp(plan->configs[i].name, config->name))
			ret = bad(error, size, "the configuration %s is there twice",
				  config->name);
	if (!ret) {
		plan->configs[plan->n_configs++] = *config;
		return 0;
	}
	free(config->name);
	free(config->events);
	return ret;
}

int study_plan_add_config(struct study_plan *plan, const char *text, char *error, size_t size)
{
	struct study_config config = { .tracing = STUDY_NONE };
	int ret = parse_tracing(&config, text, error, size);

	if (ret)
		return ret;
	config.name = strdup(text);
	return config.name ? add_config(plan, &config, error, size) : -ENOMEM;
}

int study_plan_add_guest(struct study_plan *plan, const char *text, char *error, size_t size)
{
	const char *how = strstr(text, "=ssh:");
	struct study_guest guest = { .name = NULL };
	int ret = 0;

	if (!how || !how[5] || how[5] == '-')
		return bad(error, size, "the guest '%s' is not NAME=ssh:USER@HOST: a study reaches "
			   "guests by ssh", text);
	if (plan->n_guests == STUDY_MAX_GUESTS)
		return bad(error, size, "more than %d guests", STUDY_MAX_GUESTS);
	guest.name = strndup(text, (size_t)(how - text));
	guest.target = strdup(how + 5);
	if (!guest.name || !guest.target)
		ret = -ENOMEM;
	else if (!is_name(guest.name) || !strcmp(guest.name, "host"))
		ret = bad_name(error, size, "the guest", guest.name);
	else if (study_find_guest(plan, guest.name))
		ret = bad(error, size, "the guest %s is there twice", guest.name);
	if (!ret) {
		plan->guests[plan->n_guests++] = guest;
		return 0;
	}
	free(guest.name);
	free(guest.target);
	return ret;
}

const struct study_guest *study_find_guest(const struct study_plan *plan, const char *name)
{
	for (int i = 0; i < plan->n_guests; i++)
		if (!strcmp(plan->guests[i].name, name))
			return &plan->guests[i];
	return NULL;
}

static int add_word(struct study_benchmark *benchmark, const char *word)
{
	if (ARRAY_GROW(benchmark->command, benchmark->n_command + 1, benchmark->room_command))
		return -ENOMEM;
	benchmark->command[benchmark->n_command] = strdup(word);
	if (!benchmark->command[benchmark->n_command])
		return -ENOMEM;
	benchmark->command[++benchmark->n_command] = NULL;
	return 0;
}

static int copy_text(char **copy, const char *text)
{
	if (!text)
		return 0;
	*copy = strdup(text);
	return *copy ? 0 : -ENOMEM;
}

/** The next benchmark, which has a name at least. */
static int new_benchmark(struct study_plan *plan, const char *name,
			 struct study_benchmark **benchmark, char *error, size_t size)
{
	if (!is_name(name))
		return bad_name(error, size, "the benchmark", name);
	for (int i = 0; i < plan->n_benchmarks; i++)
		if (!strcmp(plan->benchmarks[i].name, name))
			return bad(error, size, "the benchmark %s is there twice", name);
	if (plan->n_benchmarks == STUDY_MAX_BENCHMARKS)
		return bad(error, size, "more than %d benchmarks", STUDY_MAX_BENCHMARKS);
	*benchmark = &plan->benchmarks[plan->n_benchmarks];
	**benchmark = (struct study_benchmark){ .name = strdup(name) };
	if (!(*benchmark)->name)
		return -ENOMEM;
	plan->n_benchmarks++;
	return 0;
}

/** The last part of a path, with what is no part of a name left out. */
static void name_of_command(const char *command, char name[STUDY_MAX_NAME])
{
	const char *base = strrchr(command, '/');
	size_t n = 0;

	for (base = base ? base + 1 : command; *base && n + 1 < STUDY_MAX_NAME; base++)
		if (isalnum((unsigned char)*base) || (n && strchr("_-+@", *base)))
			name[n++] = *base;
	name[n] = '\0';
	if (!n)
		strcpy(name, "command");
}

int study_plan_add_command(struct study_plan *plan, char *const *command, const char *where,
			   const char *format, const char *metric, char *error, size_t size)
{
	struct study_benchmark *benchmark;
	char name[STUDY_MAX_NAME];
	int ret;

	name_of_command(command[0], name);
	ret = new_benchmark(plan, name, &benchmark, error, size);
	for (int i = 0; !ret && command[i]; i++)
		ret = i < STUDY_MAX_WORDS ? add_word(benchmark, command[i]) :
		      bad(error, size, "a command of more than %d words", STUDY_MAX_WORDS);
	if (!ret && where && strcmp(where, "host") != 0)
		ret = copy_text(&benchmark->where, where);
	if (!ret)
		ret = copy_text(&benchmark->format, format);
	return ret ? ret : copy_text(&benchmark->metric, metric);
}

static int check_format(const struct study_benchmark *benchmark, char *error, size_t size)
{
	char known[400] = STUDY_TIME;
	size_t n = strlen(known);

	if (!benchmark->format || !strcmp(benchmark->format, STUDY_TIME))
		return 0;
	for (size_t i = 0; results_format_name(i); i++) {
		if (!strcmp(results_format_name(i), benchmark->format))
			return 0;
		if (n < sizeof(known))
			n += (size_t)snprintf(known + n, sizeof(known) - n, ", %s",
					      results_format_name(i));
	}
	return bad(error, size, "%s: there is no format of results '%s': write one of %s; or leave "
		   "it out, and it is recognised", benchmark->name, benchmark->format, known);
}

/** @where: bits that some configuration has */
static int check_guests(const struct study_plan *plan, unsigned int where, char *error,
			size_t size)
{
	for (int i = 0; i < plan->n_benchmarks; i++) {
		const char *name = plan->benchmarks[i].where;

		if (name && !study_find_guest(plan, name))
			return bad(error, size, "%s: there is no guest '%s': add it with --guest "
				   "%s=ssh:USER@HOST, or to \"guests\" of the plan",
				   plan->benchmarks[i].name, name, name);
	}
	if ((where & STUDY_GUESTS) && !plan->n_guests)
		return bad(error, size, "a configuration traces guests, but there are none: add "
			   "--guest NAME=ssh:USER@HOST, or \"guests\" to the plan");
	return 0;
}

int study_plan_check(const struct study_plan *plan, char *error, size_t size)
{
	unsigned int where = 0;
	int ret = 0;

	if (!plan->n_benchmarks)
		return bad(error, size, "there is no benchmark: give a command after --, or "
			   "\"benchmarks\" in a plan");
	if (plan->n_configs < 2)
		return bad(error, size, "there is nothing to compare: give two configurations or "
			   "more, such as none,events");
	if (plan->max_rounds < plan->rounds)
		return bad(error, size, "at most %zu rounds are less than at least %zu",
			   plan->max_rounds, plan->rounds);
	if (plan->events && !is_events(plan->events))
		return bad(error, size, "the events '%s' are no list: write kvm,sched or "
			   "sched:sched_switch", plan->events);
	for (int i = 0; i < plan->n_configs; i++)
		where |= plan->configs[i].where;
	for (int i = 0; !ret && i < plan->n_benchmarks; i++) {
		if (!plan->benchmarks[i].n_command)
			return bad(error, size, "%s: has no command", plan->benchmarks[i].name);
		ret = check_format(&plan->benchmarks[i], error, size);
	}
	return ret ? ret : check_guests(plan, where, error, size);
}

/* --- from JSON ------------------------------------------------------------------------------- */

/** An unknown member is a mistake: its value would have no effect. */
static int check_members(struct json_object *object, const char *what, const char *const *names,
			 char *error, size_t size)
{
	json_object_object_foreach(object, key, value) {
		const char *near;
		bool known = false;

		(void)value;
		for (int i = 0; names[i]; i++)
			known |= !strcmp(key, names[i]);
		if (known)
			continue;
		near = ksv_suggest(key, names);
		return bad(error, size, "%s has an unknown member '%.60s'%s%s%s", what, key,
			   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return 0;
}

/** A text that may be missing. */
static int read_text(struct json_object *object, const char *key, const char *what, char **text,
		     char *error, size_t size)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, key, &member))
		return 0;
	if (json_text_member(object, key, text))
		return -ENOMEM;
	return *text ? 0 : bad(error, size, "%s: \"%s\" is no text", what, key);
}

/** A whole number that may be missing. */
static int read_number(struct json_object *object, const char *key, uint64_t min, uint64_t max,
		       uint64_t *number, char *error, size_t size)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, key, &member))
		return 0;
	errno = 0;
	*number = json_object_is_type(member, json_type_int) && json_object_get_int64(member) >= 0 ?
		  json_object_get_uint64(member) : UINT64_MAX;
	if (*number < min || *number > max)
		return bad(error, size, "\"%s\" is not a whole number from %llu to %llu", key,
			   (unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int read_numbers(struct study_plan *plan, struct json_object *root, char *error,
			size_t size)
{
	const struct {
		const char	*key;
		uint64_t	min, max;
		size_t		*number;
	} numbers[] = {
		{ "rounds", 1, STUDY_MAX_ROUNDS, &plan->rounds },
		{ "max_rounds", 1, STUDY_MAX_ROUNDS, &plan->max_rounds },
		{ "warm_up", 0, 100, &plan->warm_up },
		{ "precision_percent", 1, 1000, &plan->precision },
		{ "max_seconds", 1, MAX_SECONDS, &plan->max_seconds },
	};
	uint64_t number;
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(numbers); i++) {
		number = *numbers[i].number;
		ret = read_number(root, numbers[i].key, numbers[i].min, numbers[i].max, &number,
				  error, size);
		*numbers[i].number = (size_t)number;
	}
	/* a plan with a least number alone does not want fewer rounds than that */
	if (!ret && !json_object_object_get_ex(root, "max_rounds", NULL) &&
	    plan->max_rounds < plan->rounds)
		plan->max_rounds = plan->rounds;
	if (!ret)
		ret = read_number(root, "seed", 0, INT64_MAX, &plan->seed, error, size);
	if (!ret)
		ret = read_number(root, "buffer_bytes", 65536, MAX_BUFFER, &plan->buffer, error,
				  size);
	return ret;
}

static int read_command(struct study_benchmark *benchmark, struct json_object *object,
			char *error, size_t size)
{
	struct json_object *words = json_member(object, "command", json_type_array);
	size_t n = words ? json_object_array_length(words) : 0;
	int ret = 0;

	if (!n || n > STUDY_MAX_WORDS)
		return bad(error, size, "%s: \"command\" is no array of 1 to %d texts, such as "
			   "[\"hackbench\", \"-l\", \"1000\"]", benchmark->name, STUDY_MAX_WORDS);
	for (size_t i = 0; !ret && i < n; i++) {
		struct json_object *word = json_object_array_get_idx(words, i);
		const char *text = json_object_is_type(word, json_type_string) ?
				   json_object_get_string(word) : NULL;

		if (!text || strlen(text) != (size_t)json_object_get_string_len(word) ||
		    (!i && !*text))
			return bad(error, size, "%s: word %zu of \"command\" is no text",
				   benchmark->name, i + 1);
		ret = add_word(benchmark, text);
	}
	return ret;
}

static int read_benchmark(struct study_plan *plan, struct json_object *object, char *error,
			  size_t size)
{
	static const char *const members[] = { "name", "command", "where", "format", "metric",
					       NULL };
	struct study_benchmark *benchmark;
	char *name = NULL;
	int ret;

	if (!json_object_is_type(object, json_type_object))
		return bad(error, size, "a benchmark is no object");
	ret = read_text(object, "name", "a benchmark", &name, error, size);
	if (!ret)
		ret = name ? check_members(object, name, members, error, size) :
		      bad(error, size, "a benchmark has no \"name\"");
	if (!ret)
		ret = new_benchmark(plan, name, &benchmark, error, size);
	if (!ret)
		ret = read_command(benchmark, object, error, size);
	if (!ret)
		ret = read_text(object, "where", name, &benchmark->where, error, size);
	if (!ret)
		ret = read_text(object, "format", name, &benchmark->format, error, size);
	if (!ret)
		ret = read_text(object, "metric", name, &benchmark->metric, error, size);
	if (!ret && benchmark->where && !strcmp(benchmark->where, "host")) {
		free(benchmark->where);
		benchmark->where = NULL;
	}
	free(name);
	return ret;
}

static int read_config(struct study_plan *plan, struct json_object *object, char *error,
		       size_t size)
{
	static const char *const members[] = { "name", "tracing", "events", NULL };
	struct study_config config = { .tracing = STUDY_NONE };
	char *tracing = NULL;
	int ret;

	if (json_object_is_type(object, json_type_string))
		return study_plan_add_config(plan, json_object_get_string(object), error, size);
	if (!json_object_is_type(object, json_type_object))
		return bad(error, size, "a configuration is neither a text nor an object");
	ret = check_members(object, "a configuration", members, error, size);
	if (!ret)
		ret = read_text(object, "tracing", "a configuration", &tracing, error, size);
	if (!ret)
		ret = tracing ? parse_tracing(&config, tracing, error, size) :
		      bad(error, size, "a configuration has no \"tracing\"");
	if (!ret)
		ret = read_text(object, "name", "a configuration", &config.name, error, size);
	if (!ret)
		ret = read_text(object, "events", "a configuration", &config.events, error, size);
	if (!ret && !config.name)
		ret = copy_text(&config.name, tracing);
	if (!ret) {
		ret = add_config(plan, &config, error, size);
	} else {
		free(config.name);
		free(config.events);
	}
	free(tracing);
	return ret;
}

static int read_guest(struct study_plan *plan, struct json_object *object, char *error,
		      size_t size)
{
	if (!json_object_is_type(object, json_type_string))
		return bad(error, size, "a guest is no text");
	return study_plan_add_guest(plan, json_object_get_string(object), error, size);
}

static int read_array(struct study_plan *plan, struct json_object *root, const char *key,
		      int (*read)(struct study_plan *plan, struct json_object *object, char *error,
				  size_t size), char *error, size_t size)
{
	struct json_object *array;
	int ret = 0;

	if (!json_object_object_get_ex(root, key, &array))
		return 0;
	if (!json_object_is_type(array, json_type_array))
		return bad(error, size, "\"%s\" is no array", key);
	for (size_t i = 0; !ret && i < json_object_array_length(array); i++)
		ret = read(plan, json_object_array_get_idx(array, i), error, size);
	return ret;
}

static int read_plan(struct study_plan *plan, struct json_object *root, char *error, size_t size)
{
	static const char *const members[] = {
		"version", "benchmarks", "configurations", "guests", "events", "rounds",
		"max_rounds", "warm_up", "precision_percent", "max_seconds", "seed",
		"buffer_bytes", NULL
	};
	int ret = check_members(root, "the plan", members, error, size);

	if (!ret)
		ret = read_numbers(plan, root, error, size);
	if (!ret)
		ret = read_text(root, "events", "the plan", &plan->events, error, size);
	if (!ret)
		ret = read_array(plan, root, "guests", read_guest, error, size);
	if (!ret)
		ret = read_array(plan, root, "configurations", read_config, error, size);
	if (!ret)
		ret = read_array(plan, root, "benchmarks", read_benchmark, error, size);
	return ret ? ret : study_plan_check(plan, error, size);
}

static int read_root(struct study_plan *plan, const char *path, struct json_object *root,
		     char *error, size_t size)
{
	char why[512] = "";
	int ret = read_plan(plan, root, why, sizeof(why));

	json_object_put(root);
	if (ret)
		text_format(error, size, "%s: %s", path, *why ? why : "not enough memory");
	return ret;
}

int study_plan_read_text(struct study_plan *plan, const char *path, const char *text,
			 size_t length, char *error, size_t size)
{
	struct json_object *root;
	int ret = json_read_text(path, text, length, &root, error, size);

	return ret ? ret : read_root(plan, path, root, error, size);
}

int study_plan_read(struct study_plan *plan, const char *path, char *error, size_t size)
{
	struct json_object *root;
	int ret = json_read_file(path, &root, error, size);

	return ret ? ret : read_root(plan, path, root, error, size);
}

/* --- to JSON --------------------------------------------------------------------------------- */

static int add_text(struct json_object *object, const char *key, const char *text)
{
	return text ? json_add(object, key, json_text_new(text)) : 0;
}

/** Put an object or array into another one. Return: it, or NULL. */
static struct json_object *add_part(struct json_object *object, const char *key,
				    struct json_object *part)
{
	return json_add(object, key, part) ? NULL : part;
}

static int put_benchmark(struct json_object *array, const struct study_benchmark *benchmark)
{
	struct json_object *object = add_part(array, NULL, json_object_new_object());
	struct json_object *words;
	int ret;

	if (!object)
		return -ENOMEM;
	ret = add_text(object, "name", benchmark->name);
	words = add_part(object, "command", json_object_new_array());
	for (int i = 0; !ret && i < benchmark->n_command; i++)
		ret = words ? add_text(words, NULL, benchmark->command[i]) : -ENOMEM;
	if (!ret)
		ret = add_text(object, "where", benchmark->where);
	if (!ret)
		ret = add_text(object, "format", benchmark->format);
	return ret ? ret : add_text(object, "metric", benchmark->metric);
}

static int put_config(struct json_object *array, const struct study_config *config)
{
	struct json_object *object = add_part(array, NULL, json_object_new_object());
	char tracing[40];
	int ret;

	if (!object)
		return -ENOMEM;
	snprintf(tracing, sizeof(tracing), "%s%s%s", study_tracing_names[config->tracing],
		 config->where > STUDY_HOST ? "@" : "",
		 config->where > STUDY_HOST ? where_names[config->where] : "");
	ret = add_text(object, "name", config->name);
	if (!ret)
		ret = add_text(object, "tracing", tracing);
	return ret ? ret : add_text(object, "events", config->events);
}

static int put_guest(struct json_object *array, const struct study_guest *guest)
{
	char text[1024];

	text_format(text, sizeof(text), "%s=ssh:%s", guest->name, guest->target);
	return add_text(array, NULL, text);
}

static int put_plan(struct json_object *root, const struct study_plan *plan)
{
	const struct {
		const char	*key;
		uint64_t	number;
	} numbers[] = {
		{ "version", 1 }, { "seed", plan->seed }, { "rounds", plan->rounds },
		{ "max_rounds", plan->max_rounds }, { "warm_up", plan->warm_up },
		{ "precision_percent", plan->precision }, { "max_seconds", plan->max_seconds },
		{ "buffer_bytes", plan->buffer },
	};
	struct json_object *guests, *configs, *benchmarks;
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(numbers); i++)
		ret = json_add(root, numbers[i].key, json_object_new_uint64(numbers[i].number));
	if (!ret)
		ret = add_text(root, "events", plan->events);
	guests = add_part(root, "guests", json_object_new_array());
	configs = add_part(root, "configurations", json_object_new_array());
	benchmarks = add_part(root, "benchmarks", json_object_new_array());
	if (!guests || !configs || !benchmarks)
		return -ENOMEM;
	for (int i = 0; !ret && i < plan->n_guests; i++)
		ret = put_guest(guests, &plan->guests[i]);
	for (int i = 0; !ret && i < plan->n_configs; i++)
		ret = put_config(configs, &plan->configs[i]);
	for (int i = 0; !ret && i < plan->n_benchmarks; i++)
		ret = put_benchmark(benchmarks, &plan->benchmarks[i]);
	return ret;
}

int study_plan_write(const struct study_plan *plan, const char *path, char *error, size_t size)
{
	struct json_object *root = json_object_new_object();
	int ret = root ? put_plan(root, plan) : -ENOMEM;

	if (ret)
		text_format(error, size, "not enough memory");
	else
		ret = json_write_file(path, root, error, size);
	json_object_put(root);
	return ret;
}
