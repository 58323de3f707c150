/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record.h
 * @brief	kshark-virt record: declarations that its parts share.
 */
#ifndef KSHARK_VIRT_RECORD_H
#define KSHARK_VIRT_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "host_samples.h"
#include "kvm_cgroups.h"
#include "kvm_live.h"
#include "kvm_meta.h"
#include "kvm_regions.h"
#include "options.h"
#include "record_buffers.h"
#include "record_log.h"
#include "record_trigger.h"
#include "recording_folder.h"
#include "trace_dat.h"

#define RECORD_MIB	(1ULL << 20)

/** Of trace-cmd: the first with --tsc2nsec, and with guests' agents that understand each other. */
#define RECORD_TRACE_CMD_MAJOR	3

/** The host's trace, in the folder. */
#define RECORD_KVM_FILE	RECORDING_KVM_FILE
/** Second names of the files of CPUs, while it is written. */
#define RECORD_KEPT_FILE "host.dat.kept"
#define RECORD_XEN_FILE	RECORDING_XEN_FILE

/** Bytes of a record of xentrace, about. */
#define RECORD_XEN_BYTES	24

/** What is said, into a log, when recording has begun. */
#define RECORD_SAYS	"kshark-virt: recording"

/** In the place of an enum recording_hypervisor: whatever this host is. */
#define RECORD_AUTO	RECORDING_N_HYPERVISORS

/** How a guest is recorded. */
enum record_how { RECORD_BY_ANY, RECORD_BY_AGENT, RECORD_BY_SSH, RECORD_BY_NONE };

/** A guest of the command line, or of this host. */
struct record_guest {
	char		*name;
	char		*file;		/* in the folder; NULL: it has no trace */
	enum record_how	how;
	char		*target;	/* of ssh: USER@HOST */
	char		*why;		/* it is not recorded */
	bool		asked;		/* for an agent, which has to be there */
	uint32_t	cid;
	pid_t		pid;		/* of ssh, while it runs */
	int		status;		/* of ssh, when it has ended */
	bool		given_up;	/* its trace was not waited for to the end */
	int		input;		/* of ssh: closed when it is to end */
};

/** Default names of recordings begin with this. */
#define RECORD_FOLDER	"kshark-virt-"

/** How much of a flight recorder stays on disk; 0: no limit. */
struct record_keep {
	uint64_t	number;		/* of recordings */
	uint64_t	bytes;
};

struct record_options {
	const char	*folder;
	struct ksv_time	duration;
	const char	*events;
	const char	**guests;	/* NAME or NAME=HOW */
	int		n_guests, room_guests;
	const char	**regions;	/* of --regions: NAME=FILE each */
	int		n_regions, room_regions;
	bool		no_regions;	/* ask no monitor */
	uint64_t	buffer;		/* bytes per CPU; 0: as it seems right */
	uint64_t	limit;		/* bytes of the folder; 0: none */
	uint64_t	reserve;	/* bytes of the disk that are left free */
	bool		has_reserve;
	int		hypervisor;	/* as recording.json has it, or RECORD_AUTO */
	bool		quiet;
	bool		share;		/* the umask decides who may read what is recorded */
	bool		keep_command;	/* with its arguments, in recording.json */
	int64_t		flight_ns;	/* what the flight recorder keeps; 0: it is none */
	struct record_trigger triggers[RECORD_MAX_TRIGGERS];
	int		n_triggers;
	struct record_log *logs;	/* RECORD_MAX_LOGS of them; NULL: none is followed */
	int		n_logs;
	int		trigger_limit;	/* of recordings because of both; 0: not given, which is
					 * 1, or no limit with @keep */
	struct record_keep keep;
	char		**command;	/* ends with NULL; NULL: none */
};

/** Why recording has ended. */
enum record_stop {
	RECORD_ON,		/* it has not */
	RECORD_DURATION,
	RECORD_COMMAND,		/* has ended */
	RECORD_SIGNAL,
	RECORD_LIMIT,
	RECORD_RESERVE,
	RECORD_MEMORY,		/* is short */
	RECORD_DIED,		/* what records has ended by itself */
	/* of a flight recorder, which writes what it has, and may go on */
	RECORD_ASKED,		/* by SIGUSR1 */
	RECORD_TRIGGER,
};

/** What was counted, of all CPUs. */
struct record_count {
	uint64_t	records, lost, bytes;	/* bytes: on disk */
	uint64_t	buffer;		/* that would have sufficed, per CPU; 0: unknown, or it
					 * did */
	/* the second in which a CPU lost most; lost 0: not known */
	struct {
		int		cpu;
		uint64_t	lost, records;	/* records: with those */
		uint64_t	bytes;		/* of a record, on average; 0: no estimate */
	} worst;
};

struct record_flight;

struct record {
	const struct ksv_command *command;
	struct record_options	*options;
	struct recording	recording;
	char			folder[PATH_MAX];
	char			*left_folder;	/* of a killed one, whose guests are not aligned */
	bool			made;		/* the folder was not there */
	bool			names_files;	/* a message names files in it */
	int			lock;		/* descriptor, or -1 */
	/* of KVM */
	struct kvm_live		live;		/* at the beginning; threads also later */
	uint64_t		quota_timer, slack_timer; /* functions of timers that are recorded
							   * as quotas wait for them; or 0 */
	struct kvm_cgroups	cgroups, cgroups_end; /* of their vCPUs, when the trace began and
						       * ended; or none */
	struct record_regions	*asked;		/* record_regions.c: of all machines so far */
	int			n_asked, asked_room;
	int64_t			threads_ns;	/* when these were looked at last */
	struct record_guest	*guests;
	int			n_guests, room_guests;
	char			**events;	/* for trace-cmd's -e */
	int			n_events, room_events;
	char			instance[RECORD_INSTANCE_SIZE];	/* of tracefs, our own; "": none */
	const char		*clock;
	struct trace_dat_scale	scale;		/* of the TSC; all zero: not known */
	char			version[64];	/* of trace-cmd, or of Xen */
	/* of Xen */
	uint64_t		buffer_max;	/* larger ones cannot be made; 0: not known */
	bool			buffer_made;	/* how large they are is known, and stays so */
	uint32_t		mask;		/* classes of events */
	struct record_flight	*flight;	/* NULL: it is no flight recorder */
	bool			goes_on;	/* it does, with another recording */
	bool			unfinished;	/* the folder's state could not be written */
	/* while it runs */
	pid_t			recorder, user;	/* 0: none */
	int64_t			began_ns;	/* when the time began to run; 0: not yet */
	bool			user_began;
	bool			was_off;	/* others had stopped the buffers at the end */
	bool			nothing;	/* was recorded; a message has the reason */
	pid_t			group;		/* of the recorder, also when that is gone */
	int			input;		/* of the recorder: closed when it is to end */
	uint64_t		*moved;		/* shared memory: the recorder adds the bytes of its
						 * pages, and keeps none; NULL: it keeps all */
	int			user_status, recorder_status;
	int			signal;
	int			samples;	/* descriptor of the file of samples, or -1 */
	int			n_samples;
	int64_t			sampled_ns;	/* when the last sample was due */
	struct record_count	count;
	enum record_stop	stop;
};

/** record_root - what is put before /sys, /proc and /run: "", or KSHARK_VIRT_ROOT of tests. */
const char *record_root(void);

/* --- record_file.c: small files of the system ------------------------------------------------ */

/**
 * record_read - the first bytes of a file of this system
 * @path: is put behind record_root(), and formatted
 *
 * Return: how many, without the line end at the end; or a negative errno, and @text is empty.
 */
ssize_t record_read(char *text, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/** record_write - write a text to a file that is there. Return: 0 or a negative errno. */
int record_write(const char *text, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/** record_is_xen - is this dom0 of Xen? */
bool record_is_xen(void);

/** record_is_asleep - does a thread of a process wait for something? false: it is not known */
bool record_is_asleep(int pid, int tid);

/** record_is_kvm - can KVM run machines on this host? */
bool record_is_kvm(void);

/** record_there - is there such a file or folder? */
bool record_there(const char *path, ...) __attribute__((format(printf, 1, 2)));

/** record_tracing - where tracefs is, below record_root(). Return: NULL if it is not mounted. */
const char *record_tracing(void);

/**
 * record_sync - let a file of a folder survive a loss of power
 * @name: "." for the names in the folder
 *
 * Return: 0, also if there is no such file, or a negative errno.
 */
int record_sync(const char *folder, const char *name);

/**
 * record_temp_make - make a folder for its owner alone, in $TMPDIR or /tmp
 * @folder: receives its path
 * @purpose: a part of its name
 *
 * Return: false with errno.
 */
bool record_temp_make(char folder[PATH_MAX], const char *purpose);

/** record_temp_remove - remove such a folder, with its files. */
void record_temp_remove(const char *folder);

/** record_limit - how long something may take; tests set another one in the environment. */
int record_limit(const char *variable, int seconds);

/** record_size_text - "1.5 GB" */
const char *record_size_text(uint64_t bytes, char text[24]);

/**
 * record_memory - Return: bytes that programs can have, or 0 if the kernel does not say
 * @total: receives how much there is at all
 */
uint64_t record_memory(uint64_t *total);

/** record_memory_is_short - is there less memory than stays free? @reserve: how much that is */
bool record_memory_is_short(const struct record *record, uint64_t *left, uint64_t *reserve);

/* --- record_run.c: programs ------------------------------------------------------------------ */

/**
 * record_capture - run a program and read what it says
 * @seconds: longest that it may take; 0: as long as it takes
 * @text: receives the beginning of its standard output and error, with a NUL
 *
 * Return: its exit status, 127 if there is no such program, or -1 if it was killed or takes
 * longer.
 */
int record_capture(const char *const argv[], int seconds, char *text, size_t size);

/**
 * record_capture_noted - the same for a program that changes settings of others
 * @note: as for record_spawn_noted(); @record->recorder is 0 again when the program has ended
 */
int record_capture_noted(struct record *record, const char *const argv[], int seconds,
			 char *text, size_t size, void (*note)(struct record *record));

/** Longest that a program may take to print its version, or a guest to answer. */
#define RECORD_ANSWER_S	20

/**
 * record_spawn - start what records
 * @input: if not NULL, receives the end of a pipe to its standard input
 * @output: file of the folder for its standard output; NULL: where @log goes
 * @log: file of the folder for what it says
 *
 * It is in a group of its own, so that Ctrl-C reaches us alone. If we are killed, its input ends,
 * or it is interrupted if it has none.
 *
 * Return: its pid or a negative errno.
 */
pid_t record_spawn(struct record *record, const char *const argv[], int *input, const char *output,
		   const char *log);

/**
 * record_spawn_noted - the same for a program that changes settings of others
 * @note: writes @record->recorder, which is set before, where the next recorder finds it
 *
 * The program does not run before that. If we are killed first, it never runs: otherwise the next
 * recorder would not wait for it, and it could change settings while the next one records.
 */
pid_t record_spawn_noted(struct record *record, const char *const argv[], int *input,
			 const char *log, void (*note)(struct record *record));

/**
 * record_spawn_output - the same for one whose output is read
 * @output: receives the end of a pipe from its standard output
 */
pid_t record_spawn_output(struct record *record, const char *const argv[], int *output,
			  const char *log);

/** record_log_says - does a file of the folder contain @text? */
bool record_log_says(const struct record *record, const char *log, const char *text);

/** record_failed - a message with the end of what it said, as one line. Return: KSV_EXIT_FILE. */
int record_failed(const struct record *record, const char *log, const char *program,
		  const char *what);

/**
 * record_process - look at a process of this machine
 * @comm: receives its name
 * @group: receives its group
 *
 * Return: does it run?
 */
bool record_process(int pid, char comm[32], int *group);

/** record_group_lives - are there processes that record_end_group() would end? */
bool record_group_lives(int group);

/**
 * record_end_group - end what a trace-cmd that is gone has left running
 * @group: its pid
 *
 * Its processes, one for each CPU, outlive it when it is killed, and would take what others record.
 */
void record_end_group(int group);

/** record_keep_private - from now on, all new files are for their owner alone */
void record_keep_private(void);

/** record_user - start the user's command, with its umask. Return: its pid or a negative errno. */
pid_t record_user(char *const argv[]);

/** record_wait - until a program has ended, for so long at most. Return: whether it has. */
bool record_wait(pid_t pid, int seconds, int *status);

/** record_wait_or_kill - the same, and then it is killed, with its group if it has one */
void record_wait_or_kill(pid_t pid, int seconds, int *status);

/* --- the parts ------------------------------------------------------------------------------- */

/** record_lock.c: one recorder at a time; what a killed one has left is put right. */
int record_lock_take(struct record *record);
int record_lock_note(struct record *record);
/** record_lock_note_tracing - record_lock_note(); if that fails, print what to do after a kill */
void record_lock_note_tracing(struct record *record);
/** record_lock_note_folder - all that is left to do if we are killed is to finish the folder */
int record_lock_note_folder(struct record *record);
void record_lock_drop(struct record *record);

/** record_lock_is_of - is it this folder that a recorder of this host writes? */
bool record_lock_is_of(const char *folder);

/**
 * record_restore.c: trace-cmd writes a file for each CPU, and makes a trace of them at its end.
 * They get second names, so that they are there as well if it fails then, and takes them away.
 * They are given up only when the trace is known to have all of them: trace-cmd ends as if nothing
 * was wrong when the disk is full.
 */
bool record_keep_files(const char *folder);	/* false: this disk has no second names */
void record_kept_file(char path[PATH_MAX + NAME_MAX], const char *folder, int cpu);
bool record_is_kept(const char *name);
bool record_has_trace(const char *folder);

/**
 * record_settle_files - the files of CPUs are in the trace, or become one, and go; or they stay
 *
 * Return: false, after a message, if they stay.
 */
bool record_settle_files(const char *folder);

/** What the process is called that copies the pages of buffers of our own. */
#define RECORD_OWN_COMM	"kshark-virt-rec"

/**
 * record_own.c: buffers of our own, which disturb no other tracer
 *
 * record_own_make() prints a note if there can be none. record_own_start() starts the process that
 * copies their pages into the folder, and ends with record->input. Return: KSV_EXIT_OK or
 * KSV_EXIT_FILE.
 */
int record_own_make(struct record *record);
int record_own_start(struct record *record);
void record_own_remove(struct record *record);

/** record_check.c: what is missing, with the remedy. Return: how many things are. */
bool record_check_root(const char *command);
int record_check_folder(struct record *record);
int record_check_kvm(struct record *record);
int record_check_in_use(void);		/* the buffers that all tracers share, by others */

/**
 * record_sample.c: what this host's kernel counts. Return: is any number known?
 * @sample: receives all but its time
 */
bool record_sample_read(struct host_sample *sample);

/** The same, once a second, in a file beside the trace. @record: with folder, clock and scale */
void record_samples_begin(struct record *record);
void record_samples_look(struct record *record);
void record_samples_end(struct record *record);

/** record_scale.c: the length of a cycle of the TSC. Return: false if it is unknown. */
bool record_read_scale(struct trace_dat_scale *scale);

/** record_is_event - has this kernel SYSTEM:EVENT, or a SYSTEM of events? */
bool record_is_event(const char *name);

/** record_event_preset - the name of a set of events; NULL: there are no more */
const char *record_event_preset(size_t i);

/** record_events.c: which events. Return: KSV_EXIT_OK or an exit status after a message. */
int record_events(struct record *record);

/**
 * record_agent_refusal - why a guest cannot be recorded by its agent
 * @cid: where vsock reaches it, or 0
 *
 * The agent is asked, which costs the guest nothing. Return: a sentence, or NULL if it can be.
 */
const char *record_agent_refusal(uint32_t cid);

/** record_guests.c: which guests, and how. */
int record_find_guests(struct record *record);
int record_start_guests(struct record *record);
bool record_has_agents(const struct record *record);
/* if none of them was asked for; @why: they are not recorded */
bool record_drop_agents(struct record *record, const char *why);
void record_release_guests(struct record *record);	/* none records on */
/* what has come of those of a recorder that was killed; Return: 0 or -ENOMEM */
int record_add_left_guests(struct record *record, const char *folder,
			   struct recording *recording);
/* what has come of each; @end: the machines that are still there, or NULL if unknown */
int record_judge_guests(struct record *record, const struct kvm_live *end);
const char *record_guest_events(const struct record *record);

/** record_sidecar.c: what the host knows of its machines. Return: an exit status. */
int record_sidecar(struct record *record, const struct kvm_live *end);

/** record_cgroups.c: the cgroups of the vCPUs of @live now; they may have none. */
void record_look_at_cgroups(const struct kvm_live *live, struct kvm_cgroups *cgroups);

/** record_quota_timers - record the timers that end a quota's hold, if a vCPU has a quota. */
void record_quota_timers(struct record *record);

/** record_add_cgroups - those of both, for the guests of @meta. Return: 0 or -ENOMEM. */
int record_add_cgroups(const struct record *record, struct kvm_meta *meta);

/** record_regions.c: the devices of the machines of @live that were not asked for before. */
void record_look_at_regions(struct record *record, const struct kvm_live *live);

/** record_check_regions - are there the machines of --regions? Return: an exit status. */
int record_check_regions(const struct record *record);

/** record_add_regions - those of a machine, for the sidecar. Return: 0 or -ENOMEM. */
int record_add_regions(const struct record *record, const struct kvm_live_guest *guest,
		       struct kvm_meta_guest *to);
void record_free_regions(struct record *record);

/** Monitors make threads, and end them: all that there are at some time are kept. */
enum record_stop record_look_at_threads(struct record *record);

/** record_same_machine - Return: the one of @live that @guest is, or NULL. */
const struct kvm_live_guest *record_same_machine(const struct kvm_live *live,
						 const struct kvm_live_guest *guest);

/** record_loop.c: from the start to a reason to stop. */
struct record_watch {
	/* fills in how many records there are, and were lost */
	void	(*count)(struct record *record, struct record_count *count);
	/* bytes that are needed at the end for each that is there */
	int	copies;
	/* of a flight recorder, else NULL: a descriptor to take from, or -1; at each look */
	int	(*fd)(const struct record *record);
	void	(*take)(struct record *record);
	enum record_stop (*look)(struct record *record);
};

void record_expect(const struct record *record, uint64_t bytes_per_second);
int record_loop(struct record *record, const struct record_watch *watch);
uint64_t record_folder_bytes(const char *folder);	/* of all that it will have */
uint64_t record_disk_free(const char *folder);	/* bytes; UINT64_MAX: not known */
int64_t record_now_ns(void);	/* of a clock that only goes on */
void record_block_signals(void);
void record_unblock_signals(void);
/* Return: the next of the signals that end a recording, SIGCHLD, or -1 when the time is over. */
int record_next_signal(const struct timespec *pause);

/**
 * record_finish.c: all that still writes is waited for, together. Guests may be given up, when
 * the time is over or Ctrl-C says so; the host's trace is not.
 */
void record_finish(struct record *record);

/** record_kvm.c, record_xen.c: all of it. Return: an exit status. */
int record_kvm(struct record *record);
int record_xen(struct record *record);

/** record_loss.c: the messages about lost records. */
void record_report_losses(const struct record *record);

/** record_align.c: guests by ssh, whose clocks are aligned when all is written. */
void record_align(struct record *record);

/** record_align_left - the same for what a killed one has left, as the very last */
void record_align_left(struct record *record);

/** record_end.c: recording.json, and what is said at the end. */
int record_write_state(struct record *record);
int record_begin(struct record *record);
int record_end(struct record *record, int status);

#endif
