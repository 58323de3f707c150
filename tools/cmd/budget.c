// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	budget.c
 * @brief	Limits for vCPUs, in the form that users type: wake.p99=200us, steal=1%.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "budget.h"
#include "exit_causes.h"
#include "options.h"

#define MILLION		1000000

#define HOW		"write it as METRIC=5%, " BUDGET_METRIC ", METRIC.max=2ms, "		\
			"METRIC.rate=1000/s or METRIC.count=0"

/* --- the left side --------------------------------------------------------------------------- */

static int take_kind(struct budget *budget, const char *name, size_t size)
{
	const char *known;

	budget->held = size == strlen("held") && !memcmp(name, "held", size);
	budget->kind = VIRT_WORST_N_KINDS;
	if (budget->held)
		return 0;
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		known = virt_worst_kind_name((enum virt_worst_kind)kind);
		if (strlen(known) == size && !memcmp(known, name, size)) {
			budget->kind = (enum virt_worst_kind)kind;
			return 0;
		}
	}
	return -EINVAL;
}

/** Of "99.9" 999000. Return: 0 for what is no percentile. */
static uint32_t take_percentile(const char *text)
{
	uint32_t per_million = 0, digit = MILLION / 100;
	const char *c = text;

	while (isdigit((unsigned char)*c) && c < text + 2)
		per_million = per_million * 10 + (uint32_t)(*c++ - '0') * digit;
	if (c == text)
		return 0;
	if (*c == '.' && c[1])
		c++;
	else if (*c)
		return 0;
	for (; isdigit((unsigned char)*c) && digit > 1; c++) {
		digit /= 10;
		per_million += (uint32_t)(*c - '0') * digit;
	}
	return *c ? 0 : per_million;
}

static int take_statistic(struct budget *budget, const char *name)
{
	budget->per_million = MILLION;
	if (!*name)
		budget->statistic = BUDGET_SHARE;
	else if (!strcmp(name, ".count"))
		budget->statistic = BUDGET_COUNT;
	else if (!strcmp(name, ".rate"))
		budget->statistic = BUDGET_RATE;
	else if (!strcmp(name, ".max"))
		budget->statistic = BUDGET_LENGTH;
	else if (!strncmp(name, ".p", 2)) {
		budget->statistic = BUDGET_LENGTH;
		budget->per_million = take_percentile(name + 2);
	} else {
		return -EINVAL;
	}
	return budget->per_million ? 0 : -EINVAL;
}

/** The kind of culprits of steal. */
static int take_steal_kind(struct budget *budget, const char *name)
{
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++) {
		if (strcmp(virt_steal_kind_key((enum virt_steal_kind)kind), name))
			continue;
		budget->steal_kind = (enum virt_steal_kind)kind;
		return 0;
	}
	return -EINVAL;
}

/** REASON:ARGUMENT, where reasons of nested guests begin with "L2:". @text: keeps the reason */
static int take_argument(struct budget *budget, char *text)
{
	char *colon = strchr(strncasecmp(text, "L2:", 3) ? text : text + 3, ':');

	if (!colon || !colon[1])
		return 0;
	*colon++ = '\0';
	for (int cause = 0; cause < EXIT_CAUSE_N && !budget->is_cause; cause++) {
		const char *name = exit_cause_name((enum exit_cause)cause);

		budget->is_cause = name && !fnmatch(colon, name, FNM_CASEFOLD);
	}
	budget->argument = malloc(strlen(colon) + 3);
	if (budget->argument)
		sprintf(budget->argument, budget->is_cause ? "%s" : "*%s*", colon);
	return budget->argument ? 0 : -ENOMEM;
}

/** What stands in brackets; it may have any characters but ]. @rest: from [ on, then after ] */
static int take_brackets(struct budget *budget, char **rest, const char **wrong)
{
	char *text = *rest + 1, *end = strchr(text, ']');

	*wrong = "only exits have reasons, irq has vectors, and steal has kinds: "
		 "exit[MSR].rate=1000/s, " BUDGET_VECTOR ", steal[machines]=1%";
	if ((budget->kind != VIRT_WORST_EXIT && budget->kind != VIRT_WORST_IRQ &&
	     budget->kind != VIRT_WORST_STEAL) || !end || end == text)
		return -EINVAL;
	*end = '\0';
	*rest = end + 1;
	*wrong = "no such kind of steal; use machines, host, own, nobody or unknown";
	if (budget->kind == VIRT_WORST_STEAL)
		return take_steal_kind(budget, text);
	if (budget->kind == VIRT_WORST_EXIT && take_argument(budget, text))
		return -ENOMEM;
	budget->reason = strdup(text);
	return budget->reason ? 0 : -ENOMEM;
}

/** METRIC[REASON].STATISTIC */
static int take_name(struct budget *budget, char *name, const char **wrong)
{
	size_t size = strcspn(name, ".[");
	char *rest = name + size;
	int ret = 0;

	*wrong = "no such metric; use exit, steal, wake, held, migration, irq or lost";
	if (take_kind(budget, name, size) || budget->kind == VIRT_WORST_OFFLINE ||
	    budget->kind == VIRT_WORST_TSC)
		return -EINVAL;
	budget->steal_kind = VIRT_STEAL_N_KINDS;
	if (*rest == '[')
		ret = take_brackets(budget, &rest, wrong);
	if (ret)
		return ret;
	*wrong = "no such statistic: " HOW;
	if (take_statistic(budget, rest))
		return -EINVAL;
	*wrong = "a kind of steal has only a share: steal[machines]=1%";
	if (budget->steal_kind != VIRT_STEAL_N_KINDS && budget->statistic != BUDGET_SHARE)
		return -EINVAL;
	*wrong = "only the latency of interrupts can be limited: " BUDGET_IRQ;
	if (budget->kind == VIRT_WORST_IRQ && budget->statistic != BUDGET_LENGTH)
		return -EINVAL;
	*wrong = "only the number of losses can be limited: lost.count=0";
	return budget->kind == VIRT_WORST_LOST && budget->statistic != BUDGET_COUNT ? -EINVAL : 0;
}

/* --- the right side -------------------------------------------------------------------------- */

static int take_number(struct budget *budget, const char *text, const char *unit, bool needed)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	budget->limit = strtod(text, &end);
	if (errno || !isfinite(budget->limit))
		return -EINVAL;
	return !strcmp(end, unit) || (!needed && !*end) ? 0 : -EINVAL;
}

static int take_limit(struct budget *budget, const char *text, const char **wrong)
{
	struct ksv_time time;

	switch (budget->statistic) {
	case BUDGET_SHARE:
		*wrong = "the limit of a share is in per cent: " HOW;
		return take_number(budget, text, "%", true);
	case BUDGET_COUNT:
		*wrong = "not a number: " HOW;
		return strspn(text, "0123456789") == strlen(text) ?
		       take_number(budget, text, "", true) : -EINVAL;
	case BUDGET_RATE:
		*wrong = "not a number per second: " HOW;
		return take_number(budget, text, "/s", false);
	case BUDGET_LENGTH:
		break;
	}
	*wrong = "a duration needs a unit, such as 200us: " HOW;
	if (*text && !text[strspn(text, "0123456789.")])
		return -EINVAL;
	*wrong = "not a duration: " HOW;
	if (ksv_parse_time(text, &time) || time.kind != KSV_TIME_NS || time.ns < 0)
		return -EINVAL;
	budget->limit = (double)time.ns;
	return 0;
}

int budget_add(struct budget_list *list, const char *text, const char **wrong)
{
	struct budget *budget;
	const char *limit;
	char *name;
	int ret;

	*wrong = HOW;
	limit = strrchr(text, '=');
	if (!limit)
		return -EINVAL;
	if (ARRAY_GROW(list->items, list->n, list->room))
		return -ENOMEM;
	budget = &list->items[list->n];
	*budget = (struct budget){ .text = strdup(text) };
	if (!budget->text)
		return -ENOMEM;
	list->n++;
	name = strndup(text, (size_t)(limit - text));
	if (!name)
		return -ENOMEM;
	ret = take_name(budget, name, wrong);
	free(name);
	return ret ? ret : take_limit(budget, limit + 1, wrong);
}

void budget_free(struct budget_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].text);
		free(list->items[i].reason);
		free(list->items[i].argument);
	}
	free(list->items);
	*list = (struct budget_list){ 0 };
}

/* --- what it means --------------------------------------------------------------------------- */

const char *budget_unit(const struct budget *budget)
{
	static const char *const units[] = {
		[BUDGET_SHARE] = "%", [BUDGET_COUNT] = "", [BUDGET_RATE] = "1/s",
		[BUDGET_LENGTH] = "ns",
	};

	return units[budget->statistic];
}

size_t budget_name_size(const struct budget *budget)
{
	return (size_t)(strrchr(budget->text, '=') - budget->text);
}

bool budget_has_reason(const struct budget *budget, const char *reason)
{
	return !budget->reason || (reason && !fnmatch(budget->reason, reason, FNM_CASEFOLD));
}

bool budget_has_argument(const struct budget *budget, const char *argument)
{
	return !budget->argument ||
	       (argument && !fnmatch(budget->argument, argument, FNM_CASEFOLD));
}

uint64_t budget_place(const struct budget *budget, uint64_t n)
{
	return (n * budget->per_million + MILLION - 1) / MILLION;
}

int64_t budget_percentile(const struct budget *budget, const int64_t *sorted, size_t n)
{
	return sorted[budget_place(budget, n) - 1];
}
