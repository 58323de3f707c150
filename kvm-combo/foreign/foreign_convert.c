// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	foreign_convert.c
 * @brief	The process that converts traces of other tools.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "ctf_module.h"
#include "foreign_convert.h"
#include "kvm_apart.h"
#include "kvm_confine.h"
#include "own_module.h"
#include "perf_folder.h"
#include "temporary_file.h"
#include "text_read.h"

/** Limit for the time of the process, as a multiple of its CPU time: it may wait for its disk. */
#define WAITS		20

/** Limit for temporary files, in bytes, unless the caller has one: ROOM + ROOM_PER x the trace. */
#define ROOM		((uint64_t)256 << 20)
#define ROOM_PER	64

/** The process, as it begins. */
struct job {
	const char	*path;
	enum foreign_kind kind;
	int		in, fd, spool, answer;
	uint64_t	most_bytes;
	bool		counters;
	struct foreign_outcome *outcome;
};

/* --- the process ----------------------------------------------------------------------------- */

static void lower(int resource, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) || limit.rlim_cur <= value)
		return;
	limit.rlim_cur = value;
	setrlimit((__rlimit_resource_t)resource, &limit);
}

/** Set limits for a trace of @bytes. */
static void limit(struct job *job, uint64_t bytes)
{
	uint64_t seconds = KVM_APART_SECONDS + bytes / KVM_APART_SECONDS_PER;
	struct rlimit own;

	if (!job->most_bytes)
		job->most_bytes = ROOM + (bytes > UINT64_MAX / (2 * ROOM_PER) ? UINT64_MAX / 2 :
					  bytes * ROOM_PER);
	/* a limit that the user has set stays */
	if (!getrlimit(RLIMIT_CPU, &own)) {
		kvm_apart_limit(bytes);
		lower(RLIMIT_CPU, own.rlim_cur);
	}
	alarm(seconds > UINT32_MAX / WAITS ? UINT32_MAX : (unsigned int)(seconds * WAITS));
	lower(RLIMIT_FSIZE, job->most_bytes);
	kvm_apart_limit_memory(bytes);
}

#ifdef KSHARK_VIRT_CTF
/** The command's program is in another folder than this file, kshark-virt-convert in the same. */
static const struct ctf_module *load_module(const char **problem)
{
	const char *slash = strrchr(KSHARK_VIRT_CTF, '/');
	const struct ctf_module *module = slash ? own_module(slash + 1, CTF_MODULE_NAME, problem) :
					  NULL;

	return module ? module : own_module(KSHARK_VIRT_CTF, CTF_MODULE_NAME, problem);
}

static int convert_ctf(struct job *job)
{
	struct foreign_outcome *outcome = job->outcome;
	const struct ctf_module *module = NULL;
	struct ctf_library *library = NULL;
	struct ctf_folder folder;
	const char *problem;
	int ret = ctf_folder_read(job->path, &folder, outcome->problem, sizeof(outcome->problem));

	if (!ret)
		module = load_module(&problem);
	if (!ret && !module)
		snprintf(outcome->problem, sizeof(outcome->problem),
			 "the reader of CTF cannot be loaded: %s", problem);
	if (module)
		library = module->load(outcome->problem, sizeof(outcome->problem));
	if (!library) {
		ctf_folder_free(&folder);
		return ret ? ret : -ENOSYS;
	}
	limit(job, folder.bytes);
	if (!kvm_confine_to(job->path))
		abort();
	ret = module->convert(library, &folder, job->fd, job->spool, job->most_bytes, outcome);
	module->free(library);
	ctf_folder_free(&folder);
	return ret;
}
#endif

static int convert_perf_folder(struct job *job)
{
	struct foreign_outcome *outcome = job->outcome;
	struct perf_folder folder;
	int ret = perf_folder_read(job->path, &folder, outcome->problem, sizeof(outcome->problem));

	if (!ret) {
		limit(job, folder.bytes);
		if (!kvm_confine_writer())
			abort();
		ret = perf_data_convert(&(struct perf_input){
			.data = folder.data, .size = folder.size, .is_folder = true,
			.pieces = folder.pieces, .n_pieces = folder.n, .is_mapped = true,
			.fd = job->fd, .spool = job->spool, .most_bytes = job->most_bytes,
			.counters = job->counters,
		}, &outcome->perf, outcome->problem, sizeof(outcome->problem));
	}
	perf_folder_free(&folder);
	return ret;
}

/** A file that becomes shorter while it is read ends this process. */
static int convert_perf(struct job *job)
{
	struct foreign_outcome *outcome = job->outcome;
	struct stat st;
	void *data;

	if (fstat(job->in, &st) || st.st_size <= 0)
		return -EIO;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, job->in, 0);
	if (data == MAP_FAILED)
		return -errno;
	madvise(data, (size_t)st.st_size, MADV_SEQUENTIAL);
	limit(job, (uint64_t)st.st_size);
	if (!kvm_confine_writer())
		abort();
	return perf_data_convert(&(struct perf_input){
		.data = data, .size = (size_t)st.st_size, .is_mapped = true, .fd = job->fd,
		.spool = job->spool, .most_bytes = job->most_bytes, .counters = job->counters,
	}, &outcome->perf, outcome->problem, sizeof(outcome->problem));
}

static int convert_text(struct job *job)
{
	struct stat st;

	limit(job, fstat(job->in, &st) ? 0 : (uint64_t)st.st_size);
	if (!kvm_confine_writer())
		abort();
	return text_convert(job->in, job->fd, job->spool, job->most_bytes, job->outcome);
}

static int convert(struct job *job)
{
	switch (job->kind) {
	case FOREIGN_PERF:
		return job->in < 0 ? convert_perf_folder(job) : convert_perf(job);
	case FOREIGN_TEXT:
		return convert_text(job);
#ifdef KSHARK_VIRT_CTF
	case FOREIGN_CTF:
		return convert_ctf(job);
#endif
	default:
		return -EINVAL;
	}
}

/** The answer of the process. */
struct answer {
	int32_t		ret;
	struct foreign_outcome outcome;
};

__attribute__((noreturn))
static void work(struct job *job)
{
	const int keep[] = { job->in, job->fd, job->spool, job->answer };
	struct answer answer = { 0 };
	const char *at = (const char *)&answer;
	size_t left = sizeof(answer);

	kvm_apart_settle(keep, ARRAY_SIZE(keep));
	job->outcome = &answer.outcome;
	answer.ret = convert(job);
	while (left) {
		ssize_t n = write(job->answer, at, left);

		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	_exit(EXIT_SUCCESS);
}

/* --- the other side -------------------------------------------------------------------------- */

static void say(struct foreign_outcome *outcome, const char *text)
{
	snprintf(outcome->problem, sizeof(outcome->problem), "%s", text);
}

/** The process has not answered. Return: a negative errno with a text. */
static int explain(int status, struct foreign_outcome *outcome)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGXCPU || number == SIGALRM) {
		say(outcome, "its reader does not come to an end: it is damaged. Copy it again, if "
		    "there is another one");
		return -ETIMEDOUT;
	}
	if (number == SIGXFSZ) {
		say(outcome, "its records take too much room. If that is right, allow more with "
		    "--max-input");
		return -EFBIG;
	}
	say(outcome, "its reader crashes, or needs too much memory: it is damaged, or became "
	    "shorter while it was read. Copy it again, if there is another one");
	return -EBADMSG;
}

/** Return: 0 or a negative errno with a text. */
static int receive(int fd, pid_t pid, struct foreign_outcome *outcome)
{
	struct answer answer;
	char *at = (char *)&answer;
	size_t got = 0;
	int status = 0;
	ssize_t n;

	do {
		n = read(fd, at + got, sizeof(answer) - got);
		got += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && got < sizeof(answer)) || (n < 0 && errno == EINTR));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got < sizeof(answer))
		return explain(status, outcome);
	*outcome = answer.outcome;
	outcome->problem[sizeof(outcome->problem) - 1] = '\0';
	outcome->damage[sizeof(outcome->damage) - 1] = '\0';
	if (answer.ret >= 0)
		return 0;
	if (!*outcome->problem)
		say(outcome, strerror(-answer.ret));
	return answer.ret;
}

static int start(struct job *job, struct foreign_outcome *outcome)
{
	int fds[2], ret;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	job->answer = fds[1];
	fflush(NULL);
	pid = fork();
	if (!pid)
		work(job);
	ret = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (!ret)
		ret = receive(fds[0], pid, outcome);
	else
		say(outcome, "the process that reads it cannot start");
	close(fds[0]);
	return ret;
}

enum foreign_kind foreign_kind_of(const char *path, const void *head, size_t n)
{
	if (!n && perf_folder_is(path))
		return FOREIGN_PERF;
#ifdef KSHARK_VIRT_CTF
	if (!n && ctf_folder_is(path))
		return FOREIGN_CTF;
#endif
	if (n && perf_data_is(head, n))
		return FOREIGN_PERF;
	return n && text_is(head, n) ? FOREIGN_TEXT : FOREIGN_NONE;
}

static int no_file(struct foreign_outcome *outcome, int ret)
{
	snprintf(outcome->problem, sizeof(outcome->problem), "no temporary file in %s: %s. Set "
		 "TMPDIR to another directory", temporary_directory(), strerror(-ret));
	return ret;
}

static int convert_to_files(struct job *job, struct foreign_outcome *outcome)
{
	int ret;

	job->spool = temporary_file();
	if (job->spool < 0)
		return no_file(outcome, job->spool);
	ret = start(job, outcome);
	close(job->spool);
	return ret;
}

int foreign_convert_to(const char *path, enum foreign_kind kind, int in, int out,
		       const struct foreign_wanted *wanted, struct foreign_outcome *outcome)
{
	struct job job = {
		.path = path, .kind = kind, .in = in, .fd = out, .most_bytes = wanted->most_bytes,
		.counters = wanted->counters,
	};
	int ret;

	*outcome = (struct foreign_outcome){ 0 };
	ret = convert_to_files(&job, outcome);
	if (in >= 0)
		close(in);
	return ret;
}

int foreign_convert(const char *path, enum foreign_kind kind, int in,
		    const struct foreign_wanted *wanted, struct foreign_outcome *outcome)
{
	int fd = temporary_file(), ret;

	if (fd < 0) {
		*outcome = (struct foreign_outcome){ 0 };
		if (in >= 0)
			close(in);
		return no_file(outcome, fd);
	}
	ret = foreign_convert_to(path, kind, in, fd, wanted, outcome);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}
