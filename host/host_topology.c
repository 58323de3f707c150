// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_topology.c
 * @brief	Read where physical CPUs are: from the sidecar of a trace, lscpu or xl.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_topology.h"
#include "json_fields.h"
#include "json_read.h"
#include "sidecar.h"

#define MAX_LINE	1024

/** Linux lists each level, and data and instructions separately. */
#define MAX_CACHES	16

static int add_pcpu(struct host_topology *topology, const struct host_pcpu *pcpu)
{
	if (pcpu->id < 0 || pcpu->id >= HOST_TOPOLOGY_MAX)
		return 0;
	if (ARRAY_GROW(topology->pcpus, topology->n, topology->room))
		return -ENOMEM;
	topology->pcpus[topology->n++] = *pcpu;
	return 0;
}

static int compare_pcpus(const void *a, const void *b)
{
	const struct host_pcpu *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/** In order; if one is listed twice, the first counts. */
static void sort(struct host_topology *topology)
{
	size_t n = 0;

	if (!topology->n)
		return;
	qsort(topology->pcpus, topology->n, sizeof(*topology->pcpus), compare_pcpus);
	for (size_t i = 0; i < topology->n; i++)
		if (!n || topology->pcpus[n - 1].id != topology->pcpus[i].id)
			topology->pcpus[n++] = topology->pcpus[i];
	topology->n = n;
}

/* --- a sidecar ------------------------------------------------------------------------------- */

#define A_PLACE(member)	{ JSON_A_NUMBER(#member, struct host_pcpu, member, -1, 0, INT32_MAX) }

static const struct json_field pcpu_fields[] = {
	A_PLACE(id), A_PLACE(core), A_PLACE(socket), A_PLACE(node), A_PLACE(llc),
	JSON_FIELDS_END
};

static int check_pcpu(const void *element)
{
	const struct host_pcpu *pcpu = element;

	return pcpu->id < 0 || pcpu->id >= HOST_TOPOLOGY_MAX;
}

static const struct json_field topology_fields[] = {
	{ JSON_A_LIST("pcpus", struct host_topology, pcpus, n, room, pcpu_fields),
	  .check = check_pcpu, .always = true },
	JSON_FIELDS_END
};

static int read_json(struct host_topology *topology, const char *path, char *error, size_t size)
{
	struct json_object *root;
	struct json_wrong wrong;
	int ret = json_read_file(path, &root, error, size);

	if (ret)
		return ret;
	ret = json_fields_read(root, topology_fields, topology, &wrong);
	sort(topology);
	json_object_put(root);
	return ret;
}

int host_topology_of_trace(struct host_topology *topology, const char *trace_path, char *error,
			   size_t size)
{
	char *path = sidecar_find(trace_path);
	int ret = path ? read_json(topology, path, error, size) : 0;

	free(path);
	return ret;
}

/* --- lscpu ----------------------------------------------------------------------------------- */

/** The next number of a line; -1 if it is empty. Return: false for what is no number. */
static bool take_number(const char **text, int32_t *number)
{
	char *end;
	long value = -1;

	if (isdigit((unsigned char)**text)) {
		errno = 0;
		value = strtol(*text, &end, 10);
		if (errno || value > INT32_MAX)
			return false;
		*text = end;
	}
	if (**text && **text != ',')
		return false;
	*text += **text == ',';
	*number = (int32_t)value;
	return true;
}

/** Caches, by level, are behind commas or colons; -1 without any. */
static int32_t last_number(const char *text)
{
	const char *last = text + strlen(text);
	long value;

	while (last > text && isspace((unsigned char)last[-1]))
		last--;
	while (last > text && isdigit((unsigned char)last[-1]))
		last--;
	if (!isdigit((unsigned char)*last))
		return -1;
	errno = 0;
	value = strtol(last, NULL, 10);
	return errno || value > INT32_MAX ? -1 : (int32_t)value;
}

static int take_line(struct host_topology *topology, char *line)
{
	struct host_pcpu pcpu = { .core = -1, .socket = -1, .node = -1, .llc = -1 };
	const char *text = line;

	line[strcspn(line, "#\r\n")] = '\0';
	if (!line[strspn(line, " \t")])
		return 0;
	if (!take_number(&text, &pcpu.id) || !take_number(&text, &pcpu.core) ||
	    !take_number(&text, &pcpu.socket) || !take_number(&text, &pcpu.node) || pcpu.id < 0 ||
	    pcpu.core < 0)
		return -EINVAL;
	pcpu.llc = last_number(text);
	/* there, a core has a number of its own */
	return add_pcpu(topology, &pcpu);
}

static int read_lscpu(struct host_topology *topology, FILE *file, const char *path, char *error,
		      size_t size)
{
	char line[MAX_LINE];
	unsigned int n = 0;
	int ret = 0;

	while (!ret && fgets(line, sizeof(line), file)) {
		n++;
		ret = topology->n >= HOST_TOPOLOGY_MAX ||
		      (!strchr(line, '\n') && !feof(file)) ? -EINVAL : take_line(topology, line);
	}
	if (ret == -EINVAL)
		snprintf(error, size, "%s, line %u: neither a sidecar nor output of 'lscpu "
			 "-p=CPU,CORE,SOCKET,NODE' or 'xl info -n'", path, n);
	else if (!ret && ferror(file)) {
		snprintf(error, size, "%s: cannot be read", path);
		ret = -EIO;
	}
	sort(topology);
	return ret;
}

/* --- xl info -n ------------------------------------------------------------------------------- */

/** Go behind the head of its table. Return: false if there is none. */
static bool find_xl_table(FILE *file)
{
	char line[MAX_LINE];

	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "cpu:", 4) && strstr(line, "core") && strstr(line, "socket"))
			return true;
	rewind(file);
	return false;
}

/** What does not look like it ends the table. */
static int read_xl(struct host_topology *topology, FILE *file)
{
	struct host_pcpu pcpu = { .llc = -1 };
	char line[MAX_LINE];
	int ret = 0;

	while (!ret && fgets(line, sizeof(line), file) &&
	       sscanf(line, " %9" SCNd32 ": %9" SCNd32 " %9" SCNd32 " %9" SCNd32, &pcpu.id,
		      &pcpu.core, &pcpu.socket, &pcpu.node) == 4)
		ret = add_pcpu(topology, &pcpu);
	sort(topology);
	return ret;
}

int host_topology_read(struct host_topology *topology, const char *path, char *error, size_t size)
{
	FILE *file = fopen(path, "re");
	int c, ret;

	if (!file) {
		ret = -errno;
		snprintf(error, size, "%s: cannot open: %s", path, strerror(errno));
		return ret;
	}
	do
		c = fgetc(file);
	while (c != EOF && isspace(c));
	rewind(file);
	if (c == '{')
		ret = read_json(topology, path, error, size);
	else if (find_xl_table(file))
		ret = read_xl(topology, file);
	else
		ret = read_lscpu(topology, file, path, error, size);
	fclose(file);
	return ret;
}

/* --- this machine ---------------------------------------------------------------------------- */

/** @name: below the folder of the CPU. Return: -1 if there is none. */
static int32_t read_number(const char *root, int32_t id, const char *name)
{
	char path[PATH_MAX];
	FILE *file;
	int number;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/%s", root, (int)id, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1 || number < 0)
		number = -1;
	fclose(file);
	return number;
}

static int32_t read_llc(const char *root, int32_t id)
{
	int32_t level = 0, llc = -1;

	for (int i = 0; i < MAX_CACHES; i++) {
		char name[64];
		int32_t its;

		snprintf(name, sizeof(name), "cache/index%d/level", i);
		its = read_number(root, id, name);
		if (its <= level)
			continue;
		level = its;
		snprintf(name, sizeof(name), "cache/index%d/id", i);
		llc = read_number(root, id, name);
	}
	return llc;
}

/** It has a link to its node, "node0". */
static int32_t read_node(const char *root, int32_t id)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int32_t node = -1;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d", root, (int)id);
	folder = opendir(path);
	while (folder && node < 0 && (entry = readdir(folder)) != NULL)
		if (sscanf(entry->d_name, "node%9" SCNd32, &node) != 1)
			node = -1;
	if (folder)
		closedir(folder);
	return node;
}

int host_topology_live(struct host_topology *topology, const char *root)
{
	int ret = 0;

	/* CPUs that are offline have no place, and leave gaps */
	for (int32_t id = 0, gap = 0; id < HOST_TOPOLOGY_MAX && gap < 1024 && !ret; id++) {
		struct host_pcpu pcpu = {
			.id = id, .core = read_number(root, id, "topology/core_id"),
		};

		gap = pcpu.core < 0 ? gap + 1 : 0;
		if (gap)
			continue;
		pcpu.socket = read_number(root, id, "topology/physical_package_id");
		pcpu.node = read_node(root, id);
		pcpu.llc = read_llc(root, id);
		ret = add_pcpu(topology, &pcpu);
	}
	return ret;
}

static int put_topology(struct json_object *root, const void *topology)
{
	return json_fields_write(root, topology_fields, topology);
}

int host_topology_write(const struct host_topology *topology, const char *trace_path, char *error,
			size_t size)
{
	return topology->n ? json_update_sidecar(trace_path, put_topology, topology, error, size) :
	       0;
}

void host_topology_free(struct host_topology *topology)
{
	free(topology->pcpus);
	*topology = (struct host_topology){ 0 };
}

int host_topology_siblings(const struct host_pcpu *a, const struct host_pcpu *b)
{
	return a->core >= 0 && a->core == b->core && a->socket == b->socket;
}

const struct host_pcpu *host_topology_pcpu(const struct host_topology *topology, int32_t id)
{
	const struct host_pcpu key = { .id = id };

	return topology->n ? bsearch(&key, topology->pcpus, topology->n, sizeof(key),
				     compare_pcpus) : NULL;
}

enum host_distance host_topology_distance(const struct host_topology *topology, int32_t a,
					  int32_t b)
{
	const struct host_pcpu *x = host_topology_pcpu(topology, a);
	const struct host_pcpu *y = host_topology_pcpu(topology, b);

	if (!x || !y)
		return HOST_DISTANCE_UNKNOWN;
	if (host_topology_siblings(x, y))
		return HOST_SMT;
	if (x->llc >= 0 && x->llc == y->llc)
		return HOST_CORE;
	if (x->node < 0 || y->node < 0)
		return HOST_DISTANCE_UNKNOWN;
	if (x->node != y->node)
		return HOST_NODE;
	return x->llc >= 0 && y->llc >= 0 ? HOST_CACHE : HOST_NEAR;
}

const char *host_distance_name(enum host_distance distance)
{
	static const char *const names[HOST_N_DISTANCES] = {
		[HOST_SMT] = "smt",
		[HOST_CORE] = "core",
		[HOST_NEAR] = "near",
		[HOST_CACHE] = "cache",
		[HOST_NODE] = "node",
		[HOST_DISTANCE_UNKNOWN] = "unknown",
	};

	return names[distance];
}
