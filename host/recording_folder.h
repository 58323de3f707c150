/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	recording_folder.h
 * @brief	A recording: a folder with the traces of a host and its guests, and recording.json.
 *
 * docs/recording-folder.md describes it. All texts are malloc'ed, and freed by recording_free().
 */
#ifndef KSHARK_VIRT_RECORDING_FOLDER_H
#define KSHARK_VIRT_RECORDING_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RECORDING_FILE		"recording.json"

/** What the trace of the host is called while it is being recorded. */
#define RECORDING_KVM_FILE	"host.dat"
#define RECORDING_XEN_FILE	"host.xen"

/** The newest version that is understood. */
#define RECORDING_VERSION	1

/** Of anything in a list; more of it is no recording. */
#define RECORDING_MAX_ITEMS	4096

/** Of a file's records: they were not counted. */
#define RECORDING_UNKNOWN	(-1)

enum recording_hypervisor { RECORDING_KVM, RECORDING_XEN, RECORDING_N_HYPERVISORS };

enum recording_state {
	RECORDING_RUNNING,	/* "recording": it is under way, or was killed */
	RECORDING_COMPLETE,	/* for as long as was asked for */
	RECORDING_STOPPED,	/* earlier, for a reason: a limit, a signal */
	RECORDING_FAILED,	/* what there is may be of use */
	RECORDING_N_STATES
};

enum recording_role { RECORDING_HOST, RECORDING_GUEST, RECORDING_N_ROLES };

/** A trace. */
struct recording_file {
	char			*name;		/* in the folder: recording_plain_name() */
	enum recording_role	role;
	char			*guest;		/* of a guest: whose trace it is, or NULL */
	char			*clock;		/* that trace-cmd was given, or NULL: "x86-tsc" */
	int64_t			records, lost;	/* or RECORDING_UNKNOWN */
};

/** A guest that was there, with a trace of its own or without one. */
struct recording_guest {
	char	*name;
	char	*uuid;		/* or NULL, as the following */
	char	*how;		/* it was recorded: "agent", "ssh:root@web", "none" */
	char	*why;		/* it has no trace */
};

/** What was recorded with which version: "kernel", "6.12.30". */
struct recording_program {
	char	*name, *version;
};

/** A condition that was met (record --trigger), and the costliest moment that has met it. */
struct recording_trigger {
	char	*condition;
	char	*vcpu;		/* or NULL */
	int64_t	moments;	/* that have met it, or that a limit is about */
	int64_t	time_ns, cost_ns;
	char	*of;		/* of a limit: the machine that exceeds it most; else NULL */
	double	value;
	char	*unit;		/* of @value; NULL: it is no limit */
};

/** Lines of the log of a guest that have caused a flight recording. Texts are the guest's. */
struct recording_log {
	char	*machine, *log;
	char	*pattern;	/* NULL: the warnings of guest_log.h */
	int64_t	lines;		/* that match it */
	char	*text;		/* the first one */
};

/** Of a flight recorder, which keeps the end of what it sees; asked_ns 0: it was none. */
struct recording_flight {
	int64_t	asked_ns;	/* the time at the end that was to be kept ... */
	int64_t	kept_ns;	/* ... and was, about; or RECORDING_UNKNOWN */
	int64_t	paused_ns;	/* nothing was recorded before it, while another one was written */
	char	*cause;		/* "trigger", "signal" or "end"; NULL: it is not written yet */
	struct recording_trigger *triggers;
	int	n_triggers, room_triggers;
	struct recording_log *logs;
	int	n_logs, room_logs;
};

/** All zero is that of KVM, under way, of which nothing else is known. */
struct recording {
	enum recording_hypervisor	hypervisor;
	enum recording_state		state;
	char				*reason;	/* of that state, or NULL */
	char				*begin, *end;	/* ISO 8601, or NULL */
	char				*events;	/* that were asked for, or NULL */
	uint32_t			tsc_mult, tsc_shift; /* ns of a cycle; 0: not known */
	char				**command;	/* as it was called */
	struct recording_program	*programs;
	struct recording_file		*files;
	struct recording_guest		*guests;
	struct recording_flight		flight;
	int	n_command, n_programs, n_files, n_guests;
	int	room_command, room_programs, room_files, room_guests;
	/* of one that was read: its folder, as it was called */
	char				*folder;
};

/** recording_text - set a text, in place of what is there. Return: 0 or -ENOMEM. */
int recording_text(char **text, const char *value);

/** recording_add_... - one more. @...: texts are copied, and may be NULL. Return: 0 or -ENOMEM. */
int recording_add_argument(struct recording *recording, const char *argument);
int recording_add_program(struct recording *recording, const char *name, const char *version);
int recording_add_file(struct recording *recording, const struct recording_file *file);
int recording_add_guest(struct recording *recording, const struct recording_guest *guest);

int recording_add_trigger(struct recording *recording, const struct recording_trigger *trigger);
int recording_add_log(struct recording *recording, const struct recording_log *log);

/** recording_free - free all that is in it, and leave it all zero. */
void recording_free(struct recording *recording);

/**
 * recording_plain_name - can a file of a folder be called so?
 *
 * Not with a slash, nor ".", "..", nothing, recording.json itself, or more than a name can have.
 */
bool recording_plain_name(const char *name);

/**
 * recording_write - write FOLDER/recording.json, whole or as it was
 *
 * Return: 0, or a negative errno and a text in @error; -EINVAL for what recording_read() would
 * refuse.
 */
int recording_write(const char *folder, const struct recording *recording, char *error,
		    size_t size);

/**
 * recording_is - is it a recording: a folder with a recording.json, or that file itself?
 *
 * Return: true also for one that cannot be read, which recording_read() says.
 */
bool recording_is(const char *path);

/**
 * recording_read - read what a recording contains
 * @path: of the folder, or of its recording.json
 * @recording: receives it, to be given to recording_free(); all zero on failure
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int recording_read(const char *path, struct recording *recording, char *error, size_t size);

/**
 * recording_parse - the same of a text
 * @path: for messages
 * @length: of the text, behind which there is a NUL
 */
int recording_parse(const char *path, const char *text, size_t length,
		    struct recording *recording, char *error, size_t size);

/** recording_path - where a file of a folder is. Return: to be freed, or NULL without memory. */
char *recording_path(const char *folder, const char *name);

#ifdef __cplusplus
}
#endif
#endif
