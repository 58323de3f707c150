// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_session.c
 * @brief	The text in which a session of KernelShark keeps what a user sees of the dock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "virt_session.h"

/** What another version has written in another way is not read. */
#define VERSION		1

#define WHAT		"kshark-virt's part of this session"

#define A_TIME(key, member)								\
	JSON_A_NUMBER(key, struct virt_session_mark, member, INT64_MIN,			\
		      -VIRT_SESSION_MOST_NS, VIRT_SESSION_MOST_NS), .must = true

static int check_mark(const void *element)
{
	const struct virt_session_mark *mark = element;

	return mark->from_ns > mark->to_ns ||
	       (mark->note && strlen(mark->note) > VIRT_SESSION_NOTE) ? -EINVAL : 0;
}

static const struct json_field mark_fields[] = {
	{ A_TIME("from_ns", from_ns) },
	{ A_TIME("to_ns", to_ns) },
	{ JSON_A_TEXT("note", struct virt_session_mark, note) },
	JSON_FIELDS_END
};

#define AN_INDEX(key, member)								\
	JSON_A_NUMBER(key, struct virt_session, member, -1, 0, INT32_MAX), .strict = true

static const struct json_field fields[] = {
	{ JSON_A_TEXT("page", struct virt_session, page) },
	{ AN_INDEX("stream", stream) },
	{ AN_INDEX("machine", machine) },
	{ AN_INDEX("vcpu", vcpu) },
	{ AN_INDEX("why_stream", why_stream) },
	{ AN_INDEX("why_pcpu", why_pcpu) },
	{ AN_INDEX("why_guest", why_guest) },
	{ AN_INDEX("why_pid", why_pid) },
	{ AN_INDEX("scroll", scroll) },
	{ JSON_A_FLAG("a_to_b", struct virt_session, a_to_b) },
	{ JSON_A_LIST("bookmarks", struct virt_session, marks, n_marks, room, mark_fields),
	  .most = VIRT_SESSION_MARKS, .check = check_mark },
	JSON_FIELDS_END
};

char *virt_session_write(const struct virt_session *session)
{
	struct json_object *root = json_object_new_object();
	int ret = json_add(root, "version", json_object_new_int(VERSION));
	char *text = NULL;

	if (!ret)
		ret = json_fields_write(root, fields, session);
	if (!ret)
		text = strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
	json_object_put(root);
	return text;
}

static int compare_marks(const void *a, const void *b)
{
	const struct virt_session_mark *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

int virt_session_read(const char *text, struct virt_session *session, char *error, size_t size)
{
	struct json_object *root;
	struct json_wrong wrong;
	size_t n_marks;
	int ret = json_read_text(WHAT, text, strlen(text), &root, error, size);

	*session = (struct virt_session){
		.stream = -1, .machine = -1, .vcpu = -1, .scroll = -1,
		.why_stream = -1, .why_pcpu = -1, .why_guest = -1, .why_pid = -1,
	};
	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	if (json_number_member(root, "version", -1) != VERSION) {
		text_format(error, size, WHAT " is of another version; it is not restored");
		ret = -EINVAL;
	} else {
		ret = json_fields_read(root, fields, session, &wrong);
		/* those that cannot be are left out */
		json_list_member(root, "bookmarks", &n_marks);
		if (!ret && n_marks != session->n_marks) {
			wrong.key = "bookmarks";
			ret = -EINVAL;
		}
		if (ret == -E2BIG)
			text_format(error, size, WHAT " has %zu bookmarks, more than %d; it is "
				    "not restored", wrong.n, VIRT_SESSION_MARKS);
		else if (ret == -EINVAL)
			text_format(error, size, WHAT " has an impossible \"%s\"; it is not "
				    "restored", wrong.key);
		else if (ret)
			text_format(error, size, WHAT ": not enough memory");
	}
	json_object_put(root);
	if (session->n_marks)
		qsort(session->marks, session->n_marks, sizeof(*session->marks), compare_marks);
	return ret == -E2BIG ? -EINVAL : ret;
}

int virt_session_add(struct virt_session *session, int64_t from_ns, int64_t to_ns,
		     const char *note)
{
	const struct virt_session_mark mark = {
		.from_ns = from_ns, .to_ns = to_ns, .note = (char *)note,
	};

	return json_list_add(fields, "bookmarks", session, &mark);
}

void virt_session_free(struct virt_session *session)
{
	json_fields_free(fields, session);
}
