// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_log.c
 * @brief	Warnings of guests' kernels: which vCPU and which window each one speaks of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_trace.h"
#include "model_vcpus.h"
#include "why_log.h"

/** Times that far from 0, and further, are no times of a trace. */
#define FAR_NS	(INT64_MAX / 4)

int why_take_log(const struct ksv_command *command, const struct ksv_option *option,
		 const char *text, void *target)
{
	struct why_log_words *words = target;

	if (!strchr(text, ':'))
		return ksv_usage_error(command, "--%s %s: no machine: write MACHINE:%s",
				       option->name, text, text);
	if (words->n == WHY_MAX_LOGS)
		return ksv_usage_error(command, "--%s: more than %d", option->name, WHY_MAX_LOGS);
	words->words[words->n++] = text;
	return 0;
}

int why_logs_check(const struct why_log_words *logs, const struct ksv_command *command,
		   const char *output)
{
	int status = KSV_EXIT_OK;

	/* a machine's name can have a colon */
	for (int i = 0; i < logs->n && !status; i++)
		for (const char *colon = strchr(logs->words[i], ':'); colon && !status;
		     colon = strchr(colon + 1, ':'))
			status = ksv_check_output(command, "output", output, colon + 1);
	return status;
}

const char *why_log_problem_name(enum why_log_problem problem)
{
	static const char *const names[WHY_LOG_N_PROBLEMS] = {
		[WHY_LOG_NO_TIME] = "no_time", [WHY_LOG_NO_PLACE] = "no_place",
		[WHY_LOG_OTHER_BOOT] = "other_boot",
		[WHY_LOG_NO_SPAN] = "no_span", [WHY_LOG_NO_VCPU] = "no_vcpu",
	};

	return names[problem];
}

const char *why_log_source_name(enum why_log_source source)
{
	static const char *const names[WHY_LOG_N_SOURCES] = {
		[WHY_LOG_BY_OPTION] = "offset", [WHY_LOG_BY_TRACE] = "guest_trace",
	};

	return names[source];
}

/* --- whose log it is -------------------------------------------------------------------------- */

/** "g1:web" is called so, g1 and web. */
static bool is_called(const char *machine, const char *name, size_t n)
{
	const char *given = strchr(machine, ':');

	if (strlen(machine) == n && !strncmp(machine, name, n))
		return true;
	return given && (((size_t)(given - machine) == n && !strncmp(machine, name, n)) ||
			 (strlen(given + 1) == n && !strncmp(given + 1, name, n)));
}

/** The machine before a colon. @rest: receives the text after it. Return: index or VIRT_NONE. */
static int32_t find_machine(const struct virt_model *model, const char *word, const char **rest)
{
	for (const char *colon = strchr(word, ':'); colon; colon = strchr(colon + 1, ':')) {
		*rest = colon + 1;
		for (int32_t i = 0; i < virt_model_n_machines(model); i++)
			if (is_called(virt_model_machine(model, i)->name, word,
				      (size_t)(colon - word)))
				return i;
	}
	return VIRT_NONE;
}

/** "12.5", "-3ms", "+1s" */
static bool parse_offset(const char *text, int64_t *ns)
{
	bool minus = *text == '-';
	struct ksv_time time;

	if (minus || *text == '+')
		text++;
	if (*text == '+' || *text == '-' || ksv_parse_time(text, &time) ||
	    time.kind != KSV_TIME_NS || time.ns >= FAR_NS)
		return false;
	*ns = minus ? -time.ns : time.ns;
	return true;
}

static int take_offsets(struct why_findings *findings, const struct model_load *load,
			const struct why_log_words *offsets)
{
	for (int i = 0; i < offsets->n; i++) {
		const char *rest = NULL, *word = offsets->words[i];
		int32_t machine = find_machine(load->model, word, &rest);
		bool used = false;
		int64_t ns;

		if (machine == VIRT_NONE)
			return model_no_machine(load->model, load->command, load->path,
						"log-offset", word);
		if (!parse_offset(rest, &ns))
			return ksv_usage_error(load->command, "--log-offset %s: not a time, such "
					       "as 12.5 or -3ms", word);
		for (int l = 0; l < findings->n_logs; l++) {
			struct why_log *log = &findings->logs[l];

			if (log->machine != machine)
				continue;
			log->source = WHY_LOG_BY_OPTION;
			log->offset_ns = ns;
			used = true;
		}
		if (!used)
			return ksv_usage_error(load->command, "--log-offset %s: no --guest-log of "
					       "this machine", word);
	}
	return 0;
}

static int read_logs(struct why_findings *findings, const struct model_load *load,
		     const struct why_log_words *logs)
{
	char error[1024];

	findings->logs = calloc((size_t)logs->n + 1, sizeof(*findings->logs));
	for (int i = 0; findings->logs && i < logs->n; i++) {
		struct why_log *log = &findings->logs[i];

		log->machine = find_machine(load->model, logs->words[i], &log->path);
		if (log->machine == VIRT_NONE)
			return model_no_machine(load->model, load->command, load->path,
						"guest-log", logs->words[i]);
		findings->n_logs = i + 1;
		if (guest_log_read(log->path, &log->log, error, sizeof(error))) {
			ksv_error("%s", error);
			return KSV_EXIT_FILE;
		}
		findings->left_out += log->log.left_out;
	}
	if (findings->logs)
		return 0;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/* --- where a warning is ----------------------------------------------------------------------- */

static bool is_wrong(const struct guest_clock *clock)
{
	for (int i = 0; i < clock->n_cpus; i++)
		if (guest_clock_is_wrong(clock, i))
			return true;
	return false;
}

/** Is that the trace of a machine? One whose clock does not fit is of no use. */
static bool is_of(const struct virt_model *model, const struct guest_clock *clock, int32_t machine)
{
	for (int i = 0; i < clock->n_cpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, clock->cpus[i].vcpu);

		if (vcpu)
			return vcpu->machine == machine && !is_wrong(clock);
	}
	return false;
}

/**
 * Linux's printk() has its time from local_clock(), and so has the clock "perf" of ftrace and perf.
 * The clock "local" differs from it by an offset that changes with each boot, others run apart.
 */
static bool has_clock_of_log(const struct kvm_trace *trace)
{
	return !strcmp(kvm_trace_clock(trace), "perf");
}

/** Traces of the guests themselves put logs on the axis, and name the vCPU of each CPU. */
static void take_guests(struct why_findings *findings, const struct model_load *load)
{
	for (int l = 0; l < findings->n_logs; l++) {
		struct why_log *log = &findings->logs[l];
		int64_t ns;

		for (int i = 0; i < load->n_guests && !log->guest; i++)
			if (is_of(load->model, &load->clocks[i], log->machine))
				log->guest = &load->clocks[i];
		if (log->guest && log->source == WHY_LOG_NOWHERE && load->host.kvm &&
		    kvm_trace_clock_time(log->guest->trace, 0, &ns) &&
		    has_clock_of_log(log->guest->trace))
			log->source = WHY_LOG_BY_TRACE;
	}
}

/** On the axis of the trace. Return: false if that is not known. */
static bool place(const struct why_log *log, const struct guest_log_warning *warning,
		  int64_t *time_ns)
{
	if (log->source == WHY_LOG_NOWHERE || warning->clock == GUEST_LOG_NO_CLOCK ||
	    warning->boot != log->log.boot || warning->time_ns >= FAR_NS)
		return false;
	if (log->source == WHY_LOG_BY_TRACE)
		return warning->clock != GUEST_LOG_REALTIME &&
		       kvm_trace_clock_time(log->guest->trace, warning->time_ns, time_ns) &&
		       *time_ns > -FAR_NS && *time_ns < FAR_NS;
	*time_ns = warning->time_ns + log->offset_ns;
	return true;
}

/** The vCPU of a CPU, by the guest's own trace; else Linux counts as the hypervisor does. */
static int32_t find_vcpu(const struct virt_model *model, const struct why_log *log, int32_t cpu)
{
	const struct virt_machine *of = virt_model_machine(model, log->machine);

	if (log->guest)
		return cpu < log->guest->n_cpus ? log->guest->cpus[cpu].vcpu : VIRT_NONE;
	for (int32_t i = 0; i < of->n_vcpus; i++)
		if (virt_model_vcpu(model, of->vcpus[i])->id == cpu)
			return of->vcpus[i];
	return VIRT_NONE;
}

static int judge(const struct model_load *load, struct why_finding *finding)
{
	const struct guest_log_warning *warning = finding->warning;
	int64_t from_ns = finding->time_ns - warning->span_ns;
	int ret;

	if (finding->is_machine)
		ret = virt_verdict_machine(load->model, finding->log->machine, from_ns,
					   finding->time_ns, &finding->verdict);
	else
		ret = virt_verdict_vcpu(load->model, finding->vcpu, from_ns, finding->time_ns,
					&finding->verdict);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		finding->problem = WHY_LOG_NO_VCPU;
		return 0;
	}
	finding->vcpu = finding->verdict.vcpu;
	return finding->is_machine ? 0 : virt_verdict_others(load->model, &finding->verdict);
}

static int find(const struct model_load *load, struct why_finding *finding)
{
	const struct guest_log_warning *warning = finding->warning;

	finding->is_machine = warning->cpu < 0;
	finding->vcpu = finding->is_machine ? VIRT_NONE :
			find_vcpu(load->model, finding->log, warning->cpu);
	finding->has_time = place(finding->log, warning, &finding->time_ns);
	finding->problem = warning->clock == GUEST_LOG_NO_CLOCK ? WHY_LOG_NO_TIME :
			   finding->log->source && warning->boot != finding->log->log.boot ?
			   WHY_LOG_OTHER_BOOT :
			   !finding->has_time ? WHY_LOG_NO_PLACE :
			   !warning->span_ns ? WHY_LOG_NO_SPAN :
			   !finding->is_machine && finding->vcpu == VIRT_NONE ? WHY_LOG_NO_VCPU :
			   WHY_LOG_JUDGED;
	return finding->problem == WHY_LOG_JUDGED ? judge(load, finding) : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int find_all(struct why_findings *findings, const struct model_load *load, int64_t from_ns,
		    int64_t to_ns)
{
	size_t n = 0;

	for (int l = 0; l < findings->n_logs; l++)
		n += findings->logs[l].log.n;
	findings->all = calloc(n + 1, sizeof(*findings->all));
	if (!findings->all)
		return -ENOMEM;
	for (int l = 0; l < findings->n_logs; l++) {
		const struct why_log *log = &findings->logs[l];

		for (size_t i = 0; i < log->log.n; i++) {
			struct why_finding *finding = &findings->all[findings->n];

			*finding = (struct why_finding){
				.log = log, .warning = &log->log.warnings[i], .answer = SIZE_MAX,
			};
			if (find(load, finding))
				return -ENOMEM;
			if (!finding->has_time ||
			    (finding->time_ns >= from_ns && finding->time_ns < to_ns))
				findings->n++;
		}
	}
	return 0;
}

int why_findings_make(struct why_findings *findings, const struct model_load *load,
		      const struct why_log_words *logs, const struct why_log_words *offsets,
		      int64_t from_ns, int64_t to_ns)
{
	int status;

	*findings = (struct why_findings){ .logs = NULL };
	status = read_logs(findings, load, logs);
	if (!status)
		status = take_offsets(findings, load, offsets);
	if (!status)
		take_guests(findings, load);
	if (status || !find_all(findings, load, from_ns, to_ns))
		return status;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

void why_findings_free(struct why_findings *findings)
{
	for (int i = 0; i < findings->n_logs; i++)
		guest_log_free(&findings->logs[i].log);
	free(findings->logs);
	free(findings->all);
	*findings = (struct why_findings){ .logs = NULL };
}
