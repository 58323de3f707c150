// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	affinity.c
 * @brief	Which vCPUs may run on which physical CPUs, as people write it: d1v0=2,3.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "array.h"

/** Of a file; more CPUs than that nobody pins. */
#define MAX_LINE	4096
#define MAX_LINES	16384

int affinity_add(struct affinity_list *list, const char *text)
{
	struct affinity *affinity;
	char *vcpus, *equals;

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
	if (!equals || ksv_parse_vcpus(vcpus, &affinity->vcpus) ||
	    ksv_parse_ids(equals + 1, &affinity->pcpus)) {
		free(vcpus);
		return -EINVAL;
	}
	free(vcpus);
	return 0;
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
	int ret;

	*line = 0;
	while ((ret = read_line(file, text)) > 0) {
		item = strip(text);
		ret = ++*line > MAX_LINES ? -EFBIG : *item ? affinity_add(list, item) : 0;
		if (ret)
			break;
	}
	return ret;
}

struct affinity *affinity_of(const struct affinity_list *list, int32_t domid, int32_t vcpu)
{
	struct affinity *found = NULL;

	for (size_t i = 0; i < list->n && domid < XEN_DOMID_IDLE; i++) {
		struct affinity *affinity = &list->items[i];

		if (!ksv_vcpu_in_set(&affinity->vcpus, (xen_vcpu)domid << 16 | (uint32_t)vcpu))
			continue;
		affinity->used = true;
		found = affinity;
	}
	return found;
}

void affinity_free(struct affinity_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].text);
		free(list->items[i].vcpus.ranges);
	}
	free(list->items);
	*list = (struct affinity_list){ 0 };
}
