/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	split.h
 * @brief	Cut parts out of xentrace files and write them, with facts about the whole file
 *		beside them.
 */
#ifndef KSHARK_VIRT_SPLIT_H
#define KSHARK_VIRT_SPLIT_H

#include "options.h"
#include "virt_model.h"
#include "whole_file.h"
#include "xen_part.h"
#include "xen_trace.h"

/** Records of a pCPU that lie one after the other in a file: a window of the part. */
struct split_piece {
	uint64_t	begin, end;	/* offsets in the file */
	uint64_t	tsc;		/* of the first record */
	uint16_t	pcpu;
	uint16_t	file;		/* which one, if they are of several */
	bool		gap;		/* records are missing before it */
};

/** A TSC that the reader has replaced, which is written so. */
struct split_repair {
	uint64_t	offset;		/* of the record */
	uint64_t	tsc;
};

/** What is cut out of a file. */
struct split_cut {
	struct xen_trace	*trace;
	int64_t			from_ns, to_ns;
	const struct ksv_id_set	*pcpus;		/* without any: all */
	uint16_t		file;
	/* the result */
	struct split_piece	*pieces;	/* ascending by offset */
	size_t			n_pieces, room_pieces;
	struct split_repair	*repairs;	/* ascending */
	size_t			n_repairs, room_repairs;
	uint64_t		n_records;
	struct xen_part_pcpu	*firsts;	/* who was where before, of all pCPUs */
	int			n_firsts, room_firsts;
	int			twice;		/* a pCPU with records of two runs, or -1 */
};

/** split_cut - find what lies in a window. Return: 0, -ENOMEM, -ESTALE, or -EEXIST: @twice. */
int split_cut(struct split_cut *cut);
void split_cut_free(struct split_cut *cut);

/** A trace that is being written. */
struct split_out {
	int		fd;
	uint64_t	size;		/* so far */
	size_t		n;		/* of @buffer */
	int		error;		/* 0 or a negative errno, which sticks */
	uint8_t		buffer[1 << 16];
};

/**
 * split_write - write a window
 * @part: takes a gap before it; or NULL
 */
void split_write(struct split_out *out, const struct split_cut *cut,
		 const struct split_piece *piece, struct xen_part *part);

/** split_write_all - all windows of a cut; @part learns of its gaps and its size. */
int split_write_all(struct split_out *out, const struct split_cut *cut, struct xen_part *part);

/** split_flush - write what is left. Return: 0 or a negative errno; -ESTALE: cannot be read. */
int split_flush(struct split_out *out);

/** What has come of a command line. */
struct split_target {
	const char	*trace;		/* path of the output */
	char		*sidecar;
	struct whole_file file;
	struct split_out *out;
};

/**
 * split_open - begin to write a trace, whose sidecar comes beside it
 *
 * Return: KSV_EXIT_OK, to be given to split_close() or split_discard(), or after a message.
 */
int split_open(struct split_target *target, const struct ksv_command *command, const char *path);

/**
 * split_close - both are complete: let them have their names
 * @root: of the sidecar; goes
 *
 * Return: KSV_EXIT_OK or, after a message, KSV_EXIT_FILE: then neither is there.
 */
int split_close(struct split_target *target, struct json_object *root);
void split_discard(struct split_target *target);

/** split_failed - an error of writing, in words. Return: KSV_EXIT_FILE. */
int split_failed(const struct split_target *target, int error);

/**
 * split_sidecar - a copy of the sidecar of a trace, or an empty one, in which "part" is another
 * @part: written into it
 * @root: receives it
 *
 * Return: 0 or -ENOMEM.
 */
int split_sidecar(const struct xen_trace *trace, const char *path, const struct xen_part *part,
		  struct json_object **root);

/**
 * split_default_name - trace.xen becomes trace.WORD.xen, trace.dat trace.WORD.dat
 *
 * Return: NULL without memory.
 */
char *split_default_name(const char *path, const char *word);

/** split_pcpu_list - "0, 2 and 3" of those that are left out; text of messages. */
void split_pcpu_list(char *text, size_t size, const struct virt_part *model);

/** split_begin_part - what is kept of a whole trace beside @cut, but for states, or NULL. */
struct xen_part *split_begin_part(const struct split_cut *cut, const struct virt_model *whole);

/**
 * split_finish_part - the states as well, where the part's records do not show them
 * @part: its @bytes and gaps are those of the file
 * @path: of the whole trace
 * @fd: of a file in which the cut is, of all pCPUs
 *
 * Return: 0 or a negative errno.
 */
int split_finish_part(struct xen_part *part, const struct split_cut *cut, const char *path,
		      const struct virt_model *whole, int fd);

#endif
