// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_meta.c
 * @brief	The sidecar <trace>.meta.json.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xen_meta.h"
#include "xentrace_file.h"

/** Sidecars are small; what is larger than this is something else. */
#define META_MAX_BYTES	(4 << 20)

/** The path of a compressed file without its last ending. Return: NULL if it has another one. */
static char *unpacked_path(const char *path)
{
	static const char *const endings[] = { ".gz", ".zst" };
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (length > n && !strcmp(path + length - n, endings[i]))
			return strndup(path, length - n);
	}
	return NULL;
}

char *xen_meta_path(const char *trace_path)
{
	char *path;

	return asprintf(&path, "%s.meta.json", trace_path) < 0 ? NULL : path;
}

char *xen_meta_find(const char *trace_path)
{
	char *path = xen_meta_path(trace_path);
	char *unpacked;

	if (path && access(path, F_OK)) {
		free(path);
		unpacked = unpacked_path(trace_path);
		path = unpacked ? xen_meta_path(unpacked) : NULL;
		free(unpacked);
	}
	if (path && !access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

/** The whole file as text. Return: malloc'ed, or NULL with errno. */
static char *read_text(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	int saved;

	if (!file)
		return NULL;
	text = malloc(META_MAX_BYTES + 1);
	if (text)
		*size = fread(text, 1, META_MAX_BYTES + 1, file);
	saved = !text ? ENOMEM : ferror(file) ? EIO : *size > META_MAX_BYTES ? EFBIG : 0;
	fclose(file);
	if (saved) {
		free(text);
		text = NULL;
		errno = saved;
	}
	return text;
}

static char *string_member(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return strdup(json_object_get_string(value));
}

static int64_t number_member(struct json_object *object, const char *key, int64_t missing)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_int))
		return missing;
	return json_object_get_int64(value);
}

static int compare_domains(const void *a, const void *b)
{
	const struct xen_meta_domain *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int take_domains(struct xen_meta *meta, struct json_object *root)
{
	struct json_object *list;
	size_t n;

	if (!json_object_object_get_ex(root, "domains", &list) ||
	    !json_object_is_type(list, json_type_array))
		return 0;
	n = json_object_array_length(list);
	meta->domains = calloc(n + 1, sizeof(*meta->domains));
	if (!meta->domains)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *domain = json_object_array_get_idx(list, i);
		int64_t id;
		char *name;

		if (!json_object_is_type(domain, json_type_object))
			continue;
		id = number_member(domain, "id", -1);
		name = string_member(domain, "name");
		if (id < 0 || id > 0xffff || !name || !*name) {
			free(name);
			continue;
		}
		meta->domains[meta->n_domains].id = id;
		meta->domains[meta->n_domains++].name = name;
	}
	qsort(meta->domains, meta->n_domains, sizeof(*meta->domains), compare_domains);
	return 0;
}

struct xen_meta *xen_meta_load(const char *path, char *error, size_t error_size)
{
	struct json_tokener *tokener = NULL;
	struct json_object *root = NULL;
	struct xen_meta *meta = NULL;
	size_t size = 0;
	char *text = read_text(path, &size);
	int ret = text ? 0 : -errno;
	int64_t khz;

	if (ret) {
		xentrace_set_error(error, error_size, "%s: cannot read: %s", path, strerror(-ret));
		goto out;
	}
	ret = -ENOMEM;
	tokener = json_tokener_new();
	meta = calloc(1, sizeof(*meta));
	if (!tokener || !meta)
		goto out;
	text[size] = '\0';
	root = json_tokener_parse_ex(tokener, text, size + 1);
	ret = -EINVAL;
	if (!root || !json_object_is_type(root, json_type_object)) {
		enum json_tokener_error why = json_tokener_get_error(tokener);

		xentrace_set_error(error, error_size,
				   "%s: offset %zu: not a JSON object: %s; remove or correct it",
				   path, (size_t)json_tokener_get_parse_end(tokener),
				   why == json_tokener_success ? "another type of value"
							       : json_tokener_error_desc(why));
		goto out;
	}
	khz = number_member(root, "cpu_khz", 0);
	if (khz < 0 || khz > 100000000) {
		xentrace_set_error(error, error_size, "%s: cpu_khz %lld is no CPU frequency in kHz",
				   path, (long long)khz);
		goto out;
	}
	meta->cpu_khz = khz;
	meta->xen_version = string_member(root, "xen_version");
	meta->scheduler = string_member(root, "scheduler");
	ret = take_domains(meta, root);
out:
	json_object_put(root);
	if (tokener)
		json_tokener_free(tokener);
	free(text);
	if (ret) {
		xen_meta_free(meta);
		meta = NULL;
		errno = -ret;
	}
	return meta;
}

void xen_meta_free(struct xen_meta *meta)
{
	if (!meta)
		return;
	for (int i = 0; i < meta->n_domains; i++)
		free(meta->domains[i].name);
	free(meta->domains);
	free(meta->xen_version);
	free(meta->scheduler);
	free(meta);
}

const char *xen_meta_domain_name(const struct xen_meta *meta, uint32_t domid)
{
	struct xen_meta_domain key = { .id = domid };
	const struct xen_meta_domain *found;

	if (!meta || !meta->n_domains)
		return NULL;
	found = bsearch(&key, meta->domains, meta->n_domains, sizeof(key), compare_domains);
	return found ? found->name : NULL;
}
