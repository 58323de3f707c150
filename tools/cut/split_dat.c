// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	split_dat.c
 * @brief	Cut a window out of the trace.dat files of a host and its guests.
 *
 * All files get the same window on the time axis of the host. They keep their names, by which they
 * belong together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_read.h"
#include "kvm_part_json.h"
#include "model_files.h"
#include "report_range.h"
#include "sidecar.h"
#include "split_dat.h"
#include "trace_dat.h"
#include "trace_dat_cut.h"

/** A trace, and the part of it. */
struct dat_file_part {
	const char		*path;
	char			*output;
	bool			is_host;
	struct trace_dat_cut	*cut;
	uint64_t		n_records;
	int64_t			first_ns, last_ns;	/* of these records */
	struct json_object	*part;		/* of the sidecar */
	bool			is_open;
	struct split_target	target;
};

struct dat_job {
	const struct split_dat_options *options;
	struct model_files	files;
	struct model_load	load;
	int			host;		/* which of @files */
	bool			made_folder;
	int64_t			from_ns, to_ns;
	struct dat_file_part	*parts;		/* as in @files */
};

static int no_memory(const char *path)
{
	ksv_error("%s: not enough memory", path);
	return KSV_EXIT_FILE;
}

int split_dat_unpack(const char *path)
{
	struct trace_dat_info info;
	char error[512];
	int fd;

	if (!trace_dat_check(path, error, sizeof(error), &info)) {
		ksv_error("%s: %s", path, error);
		return KSV_EXIT_FILE;
	}
	if (!info.is_compressed)
		return KSV_EXIT_OK;
	fd = trace_dat_unpack(path, error, sizeof(error));
	if (fd < 0) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	return held_file_set_copy(path, fd) ? no_memory(path) : KSV_EXIT_OK;
}

/* ---- the records of the window ---- */

/** A walk through one of the files. */
struct choice {
	struct dat_job		*job;
	struct dat_file_part	*part;
};

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct choice *choice = arg;
	struct dat_file_part *part = choice->part;

	if (record->time_ns < choice->job->from_ns || record->time_ns >= choice->job->to_ns)
		return 0;
	trace_dat_cut_take(part->cut, record->offset);
	if (!part->n_records++ || record->time_ns < part->first_ns)
		part->first_ns = record->time_ns;
	if (part->n_records == 1 || record->time_ns > part->last_ns)
		part->last_ns = record->time_ns;
	return 0;
}

/** A guest's trace may have turned out to be of no use while its host's was loaded. */
static bool has_part(const struct dat_job *job, int i)
{
	return job->parts[i].output && (i == job->host || job->files.traces[i]);
}

static int choose(struct dat_job *job, int i)
{
	struct choice choice = { job, &job->parts[i] };
	struct kvm_trace *trace = i == job->host ? job->load.host.kvm : job->files.traces[i];
	char error[512];
	int ret;

	choice.part->cut = trace_dat_cut_open(choice.part->path, error, sizeof(error));
	if (!choice.part->cut) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	ret = kvm_trace_walk(trace, take_record, NULL, &choice);
	if (!ret && choice.part->n_records)
		return KSV_EXIT_OK;
	if (ret)
		ksv_error("%s: %s", choice.part->path, kvm_trace_problem(ret));
	else
		ksv_error("%s: there is no record between %.9f and %.9f s: nothing is written",
			  choice.part->path, (double)job->from_ns / 1e9,
			  (double)job->to_ns / 1e9);
	return KSV_EXIT_FILE;
}

/* ---- facts of the whole ---- */

/** The model of the part's records, with what is kept so far. Return: 0 or a negative errno. */
static int read_rest(struct dat_job *job, const struct dat_file_part *part,
		     struct kvm_part *facts, struct virt_model **rest)
{
	const struct kvm_meta *meta = kvm_trace_meta(job->load.host.kvm);
	struct kvm_meta lent = meta ? *meta : (struct kvm_meta){ 0 };
	char path[32], error[512];
	struct kvm_trace *trace;
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", part->target.out->fd);
	trace = kvm_trace_open_apart(path, error, sizeof(error));
	if (!trace) {
		ksv_error("%s: its part cannot be read: %s", part->path, error);
		return -EIO;
	}
	lent.part = facts;
	kvm_trace_lend_meta(trace, &lent);
	kvm_trace_set_hz(trace, kvm_trace_hz(job->load.host.kvm));
	ret = kvm_trace_model(trace, NULL, NULL, NULL, rest);
	kvm_trace_close(trace);
	return ret;
}

/** The states at the ends of the part. Return: KSV_EXIT_OK, or after a message. */
static int keep_states(struct dat_job *job, struct dat_file_part *part)
{
	struct kvm_part *facts = kvm_part_of(job->load.model, job->from_ns, job->to_ns);
	struct virt_model *rest = NULL;
	int ret;

	if (!facts)
		return no_memory(part->path);
	facts->first_ns = part->first_ns;
	facts->last_ns = part->last_ns;
	if (kvm_trace_unit(job->load.host.kvm) == TRACE_DAT_CYCLES)
		facts->hz = kvm_trace_hz(job->load.host.kvm);
	ret = read_rest(job, part, facts, &rest);
	if (!ret)
		ret = virt_part_compare(facts->model, job->load.model, rest);
	virt_model_free(rest);
	if (!ret)
		part->part = kvm_part_write(facts);
	kvm_part_free(facts);
	if (ret && ret != -EIO)
		ksv_error("%s: its part cannot be read: %s", part->path, kvm_trace_problem(ret));
	return ret ? KSV_EXIT_FILE : part->part ? KSV_EXIT_OK : no_memory(part->path);
}

/** Of a guest, only which times they are. */
static int keep_times(struct dat_job *job, struct dat_file_part *part)
{
	const struct {
		const char	*key;
		int64_t		ns;
	} times[] = {
		{ "first_ns", part->first_ns }, { "last_ns", part->last_ns },
		{ "from_ns", job->from_ns }, { "to_ns", job->to_ns },
	};
	int ret;

	part->part = json_object_new_object();
	ret = part->part ? json_add(part->part, "version", json_object_new_int(1)) : -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(times) && !ret; i++)
		ret = json_add(part->part, times[i].key, json_object_new_int64(times[i].ns));
	return ret ? no_memory(part->path) : KSV_EXIT_OK;
}

/* ---- output ---- */

int split_dat_facts(const char *trace, char **path, struct json_object **root)
{
	char error[512];

	*path = sidecar_find(trace);
	*root = NULL;
	if (!*path || !json_read_file(*path, root, error, sizeof(error)))
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

int split_dat_written(const struct split_target *target, const char *path, int ret,
		      const char *error)
{
	if (!ret)
		return KSV_EXIT_OK;
	if (ret == -EILSEQ)
		ksv_error("%s", error);
	else if (ret == -ESTALE && path)
		ksv_error("%s: the file changed while it was read", path);
	else if (ret == -ESTALE)
		ksv_error("a file changed while it was read");
	else
		split_failed(target, ret);
	return KSV_EXIT_FILE;
}

struct json_object *split_dat_sidecar(const char *path, struct json_object *part)
{
	char *sidecar = sidecar_find(path), error[512];
	struct json_object *root = NULL;
	int ret = 0;

	if (sidecar)
		ret = json_read_file(sidecar, &root, error, sizeof(error));
	free(sidecar);
	if (!root && ret != -ENOMEM)
		root = json_object_new_object();
	if (root && !json_add(root, "part", part))
		return root;
	json_object_put(root);
	return NULL;
}

static int write_part(struct dat_job *job, struct dat_file_part *part)
{
	char error[512];
	int status = split_open(&part->target, job->options->command, part->output), ret;

	if (status)
		return status;
	part->is_open = true;
	ret = trace_dat_cut_write(&part->cut, 1, part->target.out->fd, error, sizeof(error));
	status = split_dat_written(&part->target, part->path, ret, error);
	if (status)
		return status;
	return part->is_host ? keep_states(job, part) : keep_times(job, part);
}

/** All are complete: they get their names. */
static int close_part(const struct dat_job *job, struct dat_file_part *part)
{
	struct json_object *root = split_dat_sidecar(part->path, part->part);
	int status;

	part->part = NULL;
	if (!root)
		return no_memory(part->path);
	part->is_open = false;
	status = split_close(&part->target, root);
	if (!status && !job->options->quiet)
		ksv_note("%s: %llu records from %.9f to %.9f s", part->output,
			 (unsigned long long)part->n_records, (double)job->from_ns / 1e9,
			 (double)job->to_ns / 1e9);
	return status;
}

static int write_parts(struct dat_job *job)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < job->files.n && !status; i++)
		if (has_part(job, i))
			status = write_part(job, &job->parts[i]);
	for (int i = 0; i < job->files.n && !status; i++)
		if (has_part(job, i))
			status = close_part(job, &job->parts[i]);
	return status;
}

/* ---- names ---- */

char *split_dat_name(const char *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name;

	return asprintf(&name, "%s/%s", folder, slash ? slash + 1 : path) < 0 ? NULL : name;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/** A folder for several files. Return: KSV_EXIT_OK, or after a message. */
static int make_folder(struct dat_job *job)
{
	const struct split_dat_options *options = job->options;

	if (!options->output)
		return ksv_usage_error(options->command, "no output: give a folder for the parts "
				       "of several traces with --output FOLDER");
	if (is_folder(options->output))
		return KSV_EXIT_OK;
	job->made_folder = !mkdir(options->output, 0777);
	if (job->made_folder)
		return KSV_EXIT_OK;
	if (errno == EEXIST)
		return ksv_usage_error(options->command, "--output %s: not a folder; several "
				       "traces need one", options->output);
	ksv_error("%s: cannot make this folder: %s", options->output, strerror(errno));
	return KSV_EXIT_FILE;
}

static int check_output(const struct dat_job *job, int i)
{
	const struct split_dat_options *options = job->options;
	const char *output = job->parts[i].output;
	char *sidecar = sidecar_path(output);
	int status = sidecar ? trace_args_check_output(job->files.args, options->command,
						       "output", output) :
			       no_memory(output);

	if (!status)
		status = trace_args_check_output(job->files.args, options->command, "output",
						 sidecar);
	free(sidecar);
	for (int k = 0; k < i && !status; k++)
		if (job->parts[k].output && !strcmp(job->parts[k].output, output))
			status = ksv_usage_error(options->command, "%s and %s have the same name: "
						 "split them into two folders",
						 job->parts[k].path, job->parts[i].path);
	return status;
}

/** Where each part belongs, of the host and its guests. */
static int name_parts(struct dat_job *job)
{
	const struct split_dat_options *options = job->options;
	int n = 1, status = KSV_EXIT_OK;
	bool in_folder;

	for (int i = 0; i < job->files.n; i++)
		n += job->files.hosts[i] == job->host;
	in_folder = n > 1 || (options->output && is_folder(options->output));
	if (in_folder)
		status = make_folder(job);
	for (int i = 0; i < job->files.n && !status; i++) {
		struct dat_file_part *part = &job->parts[i];

		part->path = job->files.paths[i];
		part->is_host = i == job->host;
		if (!part->is_host && job->files.hosts[i] != job->host)
			continue;
		part->output = in_folder ? split_dat_name(options->output, part->path) :
			       options->output ? strdup(options->output) :
			       split_default_name(part->path, "split");
		status = part->output ? check_output(job, i) : no_memory(part->path);
	}
	return status;
}

/* ---- the command ---- */

static int load_host(struct dat_job *job)
{
	const struct split_dat_options *options = job->options;
	struct report report = { .load = &job->load };
	int status;

	job->load.options = options->trace;
	job->load.quiet = options->quiet;
	model_files_load(&job->files, job->host, &job->load);
	report.file = job->load.path;
	status = model_load(&job->load);
	if (!status)
		status = report_set_range(options->command, &report, options->from, options->to);
	job->from_ns = report.from_ns;
	job->to_ns = report.to_ns;
	return status;
}

static int split_files(struct dat_job *job)
{
	int status = model_files_only_host(&job->files, job->options->command, &job->host);

	job->parts = calloc((size_t)job->files.n + 1, sizeof(*job->parts));
	if (!status && !job->parts)
		status = no_memory(job->files.paths[job->host]);
	if (!status)
		status = name_parts(job);
	if (!status)
		status = load_host(job);
	for (int i = 0; i < job->files.n && !status; i++)
		if (has_part(job, i))
			status = choose(job, i);
	if (!status)
		status = write_parts(job);
	if (!status && !job->options->quiet)
		model_notes(&job->load);
	for (int i = 0; job->parts && i < job->files.n; i++) {
		struct dat_file_part *part = &job->parts[i];

		if (part->is_open)
			split_discard(&part->target);
		trace_dat_cut_close(part->cut);
		json_object_put(part->part);
		free(part->output);
	}
	free(job->parts);
	model_unload(&job->load);
	if (status && job->made_folder)
		rmdir(job->options->output);
	return status;
}

/** A guest's in a folder that is damaged is left out later, with a note. */
static bool is_to_unpack(const struct trace_arg *arg)
{
	struct trace_dat_info info;
	char error[512];

	return trace_dat_is(arg->path) &&
	       (!arg->is_guest || trace_dat_check(arg->path, error, sizeof(error), &info));
}

int split_dat(const struct split_dat_options *options, const struct trace_args *args)
{
	struct dat_job job = {
		.options = options,
		.files = { .args = args, .cpu_hz = options->trace.cpu_hz,
			   .quiet = options->quiet },
	};
	int status = trace_args_check_twice(args);

	if (!status && options->from->kind == KSV_TIME_NONE &&
	    options->to->kind == KSV_TIME_NONE)
		status = ksv_usage_error(options->command, "no part: give --from or --to; use 'cp' "
					 "for a copy");
	for (int i = 0; i < args->n && !status; i++)
		if (is_to_unpack(&args->items[i]))
			status = split_dat_unpack(args->items[i].path);
	if (!status) {
		status = model_files_open(&job.files);
		if (!status)
			status = split_files(&job);
		model_files_close(&job.files);
	}
	return status;
}
