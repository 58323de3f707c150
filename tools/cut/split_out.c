// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	split_out.c
 * @brief	Write a xentrace file window by window, and its sidecar.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_read.h"
#include "regular_file.h"
#include "search.h"
#include "sidecar.h"
#include "split.h"
#include "xentrace_facts.h"

/** A window begins so (docs/xentrace-format.md). */
#define WINDOW_WORD	0x2001f003u
#define WINDOW_HEADER	12
#define TSC_OFFSET	4

/* ---- bytes ---- */

int split_flush(struct split_out *out)
{
	for (size_t at = 0; at < out->n && !out->error; ) {
		ssize_t n = write(out->fd, out->buffer + at, out->n - at);

		if (n < 0 && errno != EINTR)
			out->error = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	out->n = 0;
	return out->error;
}

static void put(struct split_out *out, const void *data, size_t size)
{
	if (sizeof(out->buffer) - out->n < size)
		split_flush(out);
	memcpy(out->buffer + out->n, data, size);
	out->n += size;
	out->size += size;
}

static void put_header(struct split_out *out, uint16_t pcpu, uint32_t size)
{
	const uint32_t words[] = { htole32(WINDOW_WORD), htole32(pcpu), htole32(size) };

	put(out, words, sizeof(words));
}

/** TSCs that are others than in the file, in the @n bytes at @offset of it. */
static void set_tscs(const struct split_cut *cut, uint64_t offset, uint8_t *bytes, size_t n)
{
	size_t i;

	/* of a record that begins before these bytes, some may be among them */
	SEARCH_FIRST(i, 0, cut->n_repairs,
		     cut->repairs[i].offset + TSC_OFFSET + sizeof(uint64_t) <= offset);
	for (; i < cut->n_repairs && cut->repairs[i].offset + TSC_OFFSET < offset + n; i++) {
		uint64_t at = cut->repairs[i].offset + TSC_OFFSET;

		for (unsigned int byte = 0; byte < sizeof(uint64_t); byte++)
			if (at + byte >= offset && at + byte < offset + n)
				bytes[at + byte - offset] =
					(uint8_t)(cut->repairs[i].tsc >> 8 * byte);
	}
}

void split_write(struct split_out *out, const struct split_cut *cut,
		 const struct split_piece *piece, struct xen_part *part)
{
	const struct xentrace *reader = xen_trace_reader(cut->trace);
	uint8_t bytes[1 << 14];
	size_t n;

	put_header(out, piece->pcpu, (uint32_t)(piece->end - piece->begin));
	if (piece->gap && part && xen_part_add_gap(part, out->size))
		out->error = -ENOMEM;
	for (uint64_t at = piece->begin; at < piece->end && !out->error; at += n) {
		n = piece->end - at < sizeof(bytes) ? (size_t)(piece->end - at) : sizeof(bytes);
		if (xentrace_bytes_at(reader, bytes, at, n) != n)
			out->error = -ESTALE;
		set_tscs(cut, at, bytes, n);
		put(out, bytes, n);
	}
}

int split_write_all(struct split_out *out, const struct split_cut *cut, struct xen_part *part)
{
	int ret;

	part->n_gaps = 0;
	for (size_t i = 0; i < cut->n_pieces && !out->error; i++)
		split_write(out, cut, &cut->pieces[i], part);
	ret = split_flush(out);
	part->bytes = out->size;
	part->records = cut->n_records;
	return ret;
}

/* ---- files ---- */

int split_failed(const struct split_target *target, int error)
{
	ksv_error("%s: cannot write: %s", target->trace, regular_file_error(error));
	return KSV_EXIT_FILE;
}

int split_open(struct split_target *target, const struct ksv_command *command, const char *path)
{
	struct stat st;
	int ret;

	*target = (struct split_target){ .trace = path };
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return ksv_usage_error(command, "--output %s: not a regular file, so there can be "
				       "no sidecar", path);
	target->sidecar = sidecar_path(path);
	target->out = calloc(1, sizeof(*target->out));
	ret = target->sidecar && target->out ? whole_file_open(&target->file, path, false) :
					       -ENOMEM;
	if (!ret) {
		target->out->fd = target->file.fd;
		return KSV_EXIT_OK;
	}
	free(target->sidecar);
	free(target->out);
	return split_failed(target, ret);
}

static void forget(struct split_target *target)
{
	free(target->sidecar);
	free(target->out);
	target->sidecar = NULL;
	target->out = NULL;
}

void split_discard(struct split_target *target)
{
	whole_file_discard(&target->file);
	forget(target);
}

/** Note in the sidecar of a part which trace it belongs to. Return: 0 or a negative errno. */
static int name_trace(const struct split_target *target, struct json_object *root)
{
	struct json_object *part = json_member(root, "part", json_type_object);
	struct stat st;

	/* facts about a host suit any trace of it */
	if (!part)
		return 0;
	if (fstat(target->file.fd, &st))
		return -errno;
	return json_add(part, "trace_bytes", json_object_new_int64(st.st_size));
}

/** Does it fit into a sidecar? */
static bool fits(struct json_object *root)
{
	return strlen(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
						     JSON_C_TO_STRING_SPACED)) <=
	       SIDECAR_MAX_BYTES;
}

/**
 * As long as the trace that is replaced is there, its sidecar counts. Of a pair that is too large
 * together, the older sidecar is left out.
 *
 * Return: 0 or -ENOMEM.
 */
static int keep_replaced(const struct split_target *target, struct json_object *root)
{
	struct json_object *replaces, *sidecar = NULL;
	char error[512];
	struct stat st;
	int ret;

	if (stat(target->trace, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (json_read_file(target->sidecar, &sidecar, error, sizeof(error)) == -ENOMEM)
		return -ENOMEM;
	if (!sidecar)
		sidecar = json_object_new_object();
	replaces = json_object_new_object();
	ret = json_add(replaces, "trace_bytes", json_object_new_int64(st.st_size));
	if (!ret)
		ret = json_add(replaces, "trace_mtime_ns",
			       json_object_new_int64(json_mtime_ns(&st)));
	if (ret)
		json_object_put(sidecar);
	else
		ret = json_add(replaces, "sidecar", sidecar);
	if (ret)
		json_object_put(replaces);
	else
		ret = json_add(root, "replaces", replaces);
	if (!ret && !fits(root))
		json_object_object_del(root, "replaces");
	return ret;
}

/** Bring the sidecar back that was there before. */
static void restore(const struct split_target *target, const char *old, size_t size)
{
	struct whole_file file;

	if (!old) {
		unlink(target->sidecar);
		return;
	}
	/* if that fails, it is in "replaces" */
	if (whole_file_open(&file, target->sidecar, false))
		return;
	if (whole_file_write(&file, old, size))
		whole_file_discard(&file);
	else
		whole_file_commit(&file);
}

/** The sidecar first: it names the trace that it belongs to, and the trace does not. */
static int write_in_turn(struct split_target *target, struct json_object *root, const char *old,
			 size_t old_size)
{
	char error[512];
	int ret;

	if (json_write_file(target->sidecar, root, error, sizeof(error))) {
		ksv_error("%s", error);
		whole_file_discard(&target->file);
		return KSV_EXIT_FILE;
	}
	ret = whole_file_commit(&target->file);
	if (ret) {
		restore(target, old, old_size);
		return split_failed(target, ret);
	}
	/* both are there, whether it still says what was there before or not */
	if (json_member(root, "replaces", json_type_object)) {
		json_object_object_del(root, "replaces");
		json_write_file(target->sidecar, root, error, sizeof(error));
	}
	return KSV_EXIT_OK;
}

static int write_both(struct split_target *target, struct json_object *root)
{
	char *old = NULL;
	size_t old_size;
	int ret = name_trace(target, root), status;

	if (!ret && !fits(root)) {
		ksv_error("%s: its sidecar would be larger than %d MiB: choose another window",
			  target->trace, SIDECAR_MAX_BYTES >> 20);
		whole_file_discard(&target->file);
		return KSV_EXIT_FILE;
	}
	if (!ret)
		ret = keep_replaced(target, root);
	if (!ret)
		ret = whole_file_read(target->sidecar, SIDECAR_MAX_BYTES, &old, &old_size);
	if (ret && ret != -ENOENT) {
		whole_file_discard(&target->file);
		return split_failed(target, ret);
	}
	status = write_in_turn(target, root, old, old_size);
	free(old);
	return status;
}

int split_close(struct split_target *target, struct json_object *root)
{
	int ret = split_flush(target->out), status;

	if (ret) {
		whole_file_discard(&target->file);
		status = split_failed(target, ret);
	} else {
		status = write_both(target, root);
	}
	json_object_put(root);
	forget(target);
	return status;
}

/* ---- names and sidecars ---- */

int split_sidecar(const struct xen_trace *trace, const char *path, const struct xen_part *part,
		  struct json_object **root)
{
	char *sidecar = xen_trace_meta(trace) ? sidecar_find(path) : NULL;
	char error[512];
	int ret = 0;

	*root = NULL;
	if (sidecar)
		ret = json_read_file(sidecar, root, error, sizeof(error));
	free(sidecar);
	if (ret == -ENOMEM)
		return ret;
	/* what could be read a moment ago and cannot now is gone */
	if (!*root)
		*root = json_object_new_object();
	if (*root && !json_add(*root, "part", xen_part_write(part)))
		return 0;
	json_object_put(*root);
	*root = NULL;
	return -ENOMEM;
}

/** Does a name end so? Return: the length without it, or 0. */
static size_t without(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !strncmp(name + length - n, end, n) ? length - n : 0;
}

char *split_default_name(const char *path, const char *word)
{
	size_t length = strlen(path), n;
	const char *end;
	char *name;

	n = without(path, length, ".gz");
	if (!n)
		n = without(path, length, ".zst");
	length = n ? n : length;
	n = without(path, length, ".xen");
	end = n ? ".xen" : "";
	if (!n && (n = without(path, length, ".dat")))
		end = ".dat";
	return asprintf(&name, "%.*s.%s%s", (int)(n ? n : length), path, word, end) < 0 ? NULL :
	       name;
}

void split_pcpu_list(char *text, size_t size, const struct virt_part *model)
{
	size_t n = 0;

	*text = '\0';
	for (int32_t i = 0; i < model->n_left_out && n < size; i++)
		if (model->left_out[i])
			n += (size_t)snprintf(text + n, size - n, "%s%d", n ? ", " : "", (int)i);
}
