// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	affinity.c
 * @brief	The physical CPUs that each vCPU may run on, in the form that users type: d1v0=2,3.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "array.h"
#include "search.h"

/** Limits of a file: no host has more CPUs to pin to, and no trace has more vCPUs. */
#define MAX_LINE	4096
#define MAX_LINES	16384
#define MAX_RANGES	1000000

/** Keep a set as ranges. */
static int take_pcpus(struct affinity *affinity, const struct ksv_id_set *set)
{
	struct pcpu_range *last;

	for (unsigned int id = 0; id < 65536; id++) {
		if (id % 64 == 0 && !set->bits[id / 64]) {
			id += 63;
			continue;
		}
		if (!ksv_id_in_set(set, id))
			continue;
		last = affinity->n_pcpus ? &affinity->pcpus[affinity->n_pcpus - 1] : NULL;
		if (!last || last->last + 1u < id) {
			if (ARRAY_GROW(affinity->pcpus, affinity->n_pcpus, affinity->room))
				return -ENOMEM;
			last = &affinity->pcpus[affinity->n_pcpus++];
			last->first = (uint16_t)id;
		}
		if (id % 64 == 0 && set->bits[id / 64] == UINT64_MAX)
			id += 63;
		last->last = (uint16_t)id;
	}
	return 0;
}

int affinity_add(struct affinity_list *list, const char *text)
{
	struct ksv_id_set pcpus = { .any = false };
	struct affinity *affinity;
	char *vcpus, *equals;
	int ret;

	if (ARRAY_GROW(list->items, list->n, list->room))
		return -ENOMEM;
	affinity = &list->items[list->n++];
	memset(affinity, 0, sizeof(*affinity));
	affinity->text = strdup(text);
	vcpus = strdup(text);
	if (!affinity->text || !vcpus) {
		free(vcpus);
		return -ENOMEM;
	}
	equals = strchr(vcpus, '=');
	if (equals)
		*equals = '\0';
	ret = equals ? ksv_parse_vcpus(vcpus, &affinity->vcpus) : -EINVAL;
	if (!ret)
		ret = ksv_parse_ids(equals + 1, &pcpus);
	free(vcpus);
	return ret ? ret : take_pcpus(affinity, &pcpus);
}

/** A line without comment and blanks at its ends. */
static char *strip(char *line)
{
	char *end;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	*end = '\0';
	return line;
}

/**
 * A line, whatever the file is: some have no end, and no ends of lines.
 *
 * Return: 1, 0 at the end, -EIO, or -EFBIG for what is no line of a list.
 */
static int read_line(FILE *file, char line[MAX_LINE])
{
	size_t n = 0;
	int c;

	while ((c = getc(file)) != EOF && c != '\n') {
		if (!c || n == MAX_LINE - 1)
			return -EFBIG;
		line[n++] = (char)c;
	}
	line[n] = '\0';
	if (ferror(file))
		return -EIO;
	return n || c != EOF;
}

int affinity_read(struct affinity_list *list, FILE *file, unsigned int *line)
{
	char text[MAX_LINE], *item;
	size_t n_ranges = 0;
	int ret;

	*line = 0;
	while ((ret = read_line(file, text)) > 0) {
		item = strip(text);
		ret = ++*line > MAX_LINES ? -EFBIG : *item ? affinity_add(list, item) : 0;
		if (!ret && *item)
			n_ranges += (size_t)list->items[list->n - 1].vcpus.n;
		if (!ret && n_ranges > MAX_RANGES)
			ret = -EFBIG;
		if (ret)
			break;
	}
	return ret;
}

/* --- which one is for a vCPU ----------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
	uint64_t x = ((const struct affinity_part *)a)->first;
	uint64_t y = ((const struct affinity_part *)b)->first;

	return (x > y) - (x < y);
}

/** All ends of ranges are in order, each once. */
static int find_parts(struct affinity_list *list)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < list->n; i++)
		n += 2 * (size_t)list->items[i].vcpus.n;
	list->parts = calloc(n + 1, sizeof(*list->parts));
	if (!list->parts)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct ksv_vcpu_set *vcpus = &list->items[i].vcpus;

		for (int j = 0; j < vcpus->n; j++) {
			list->parts[n++].first = vcpus->ranges[j].first;
			list->parts[n++].first = (uint64_t)vcpus->ranges[j].last + 1;
		}
	}
	qsort(list->parts, n, sizeof(*list->parts), compare_parts);
	for (size_t i = 0; i < n; i++)
		if (!kept || list->parts[i].first != list->parts[kept - 1].first)
			list->parts[kept++] = list->parts[i];
	list->n_parts = kept;
	return 0;
}

/** Number of the first part that begins at a vCPU or behind it. */
static size_t part_from(const struct affinity_list *list, uint64_t vcpu)
{
	size_t part;

	SEARCH_FIRST(part, 0, list->n_parts, list->parts[part].first < vcpu);
	return part;
}

/** The next part without an item; @next leads there, and gets shorter ways. */
static size_t next_free(size_t *next, size_t part)
{
	while (next[part] != part) {
		next[part] = next[next[part]];
		part = next[part];
	}
	return part;
}

int affinity_sort(struct affinity_list *list)
{
	size_t *next;

	free(list->parts);
	if (find_parts(list))
		return -ENOMEM;
	next = malloc((list->n_parts + 1) * sizeof(*next));
	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i <= list->n_parts; i++)
		next[i] = i;
	/* the last one takes what it has, those before what is left */
	for (size_t i = list->n; i-- > 0; ) {
		const struct ksv_vcpu_set *vcpus = &list->items[i].vcpus;

		for (int j = 0; j < vcpus->n; j++) {
			size_t end = part_from(list, (uint64_t)vcpus->ranges[j].last + 1);
			size_t part = next_free(next, part_from(list, vcpus->ranges[j].first));

			for (; part < end; part = next_free(next, part)) {
				list->parts[part].item = &list->items[i];
				next[part] = part + 1;
			}
		}
	}
	free(next);
	return 0;
}

struct affinity *affinity_of(struct affinity_list *list, int32_t domid, int32_t vcpu)
{
	xen_vcpu number = (xen_vcpu)domid << 16 | (uint32_t)vcpu;
	size_t part = part_from(list, (uint64_t)number + 1);

	if (domid >= XEN_DOMID_IDLE || !part)
		return NULL;
	list->parts[part - 1].asked = true;
	return list->parts[part - 1].item;
}

bool affinity_allows(const struct affinity *affinity, int32_t pcpu)
{
	size_t i;

	SEARCH_FIRST(i, 0, affinity->n_pcpus, affinity->pcpus[i].last < pcpu);
	return i < affinity->n_pcpus && pcpu >= affinity->pcpus[i].first;
}

static bool is_used(const struct affinity_list *list, const struct affinity *item)
{
	for (int i = 0; i < item->vcpus.n; i++) {
		const struct ksv_vcpu_range *range = &item->vcpus.ranges[i];

		if (list->parts[part_from(list, range->first)].before !=
		    list->parts[part_from(list, (uint64_t)range->last + 1)].before)
			return true;
	}
	return false;
}

const struct affinity *affinity_unused(struct affinity_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n_parts; i++) {
		list->parts[i].before = n;
		n += list->parts[i].asked;
	}
	for (size_t i = 0; i < list->n; i++)
		if (!is_used(list, &list->items[i]))
			return &list->items[i];
	return NULL;
}

void affinity_free(struct affinity_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].text);
		free(list->items[i].vcpus.ranges);
		free(list->items[i].pcpus);
	}
	free(list->items);
	free(list->parts);
	*list = (struct affinity_list){ 0 };
}
