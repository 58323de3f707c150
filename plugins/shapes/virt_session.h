/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_session.h
 * @brief	The text in which a session of KernelShark keeps what a user sees of the dock.
 */
#ifndef KSHARK_VIRT_VIRT_SESSION_H
#define KSHARK_VIRT_VIRT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bookmarks of a session, at most; bytes of a note, without the NUL. */
#define VIRT_SESSION_MARKS	1000
#define VIRT_SESSION_NOTE	400

/** Times of bookmarks, in ns: sums of two fit. */
#define VIRT_SESSION_MOST_NS	4000000000000000000LL

struct virt_session_mark {
	int64_t		from_ns, to_ns;	/* on KernelShark's axis; the same: a moment */
	char		*note;		/* NULL: none */
};

/** What is not known is -1, NULL or false. Texts may be anybody's: they are to be escaped. */
struct virt_session {
	char		*page;		/* title of the page that is seen */
	int32_t		stream;		/* of what is selected: which of the open ones, from 0 */
	int32_t		machine, vcpu;	/* the same: indices in its model; vcpu -1: the machine */
	/* of the page "Why", if it is not of a vCPU: which of the open streams, as above */
	int32_t		why_stream;	/* of the host */
	int32_t		why_pcpu;	/* a pCPU; or */
	int32_t		why_guest, why_pid; /* the stream of a guest, and a task of it */
	int32_t		scroll;		/* pixels from the top of the graphs */
	bool		a_to_b;		/* figures are of the time from A to B */
	struct virt_session_mark *marks; /* in order of time */
	size_t		n_marks, room;
};

/** virt_session_write - as a text. Return: to be freed, or NULL without memory. */
char *virt_session_write(const struct virt_session *session);

/**
 * virt_session_read - from a text that anybody may have written
 * @session: receives it, to be given to virt_session_free(), also after an error
 * @error: on failure, receives a sentence
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int virt_session_read(const char *text, struct virt_session *session, char *error, size_t size);

/** virt_session_add - add a bookmark behind the others; @note is copied. Return: 0 or -ENOMEM. */
int virt_session_add(struct virt_session *session, int64_t from_ns, int64_t to_ns,
		     const char *note);

/** virt_session_free - free what it has. */
void virt_session_free(struct virt_session *session);

#ifdef __cplusplus
}
#endif
#endif
