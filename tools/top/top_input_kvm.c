// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_input_kvm.c
 * @brief	The current activity of this KVM host.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "record.h"
#include "record_tracing.h"
#include "top_input_kvm.h"

/** The time that is read before it begins, to find tasks and vCPUs. */
#define BEGIN_NS	200000000
/** Monitors make threads; how often these are looked for. */
#define LOOK_NS		INT64_C(2000000000)
/** A CPU may write faster than it is read: others have to have their turn. */
#define MAX_PAGES	4096
/** Of a record that waits; kvm_tracker.h. */
#define EVENT_BYTES	sizeof(struct kvm_event)

/** States, exits, wake-ups, steal and migrations need these events, and no others. */
static const char *const events[] = {
	"sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new",
	"sched:sched_migrate_task",
	/* what the scheduler records is enough without exits; the rest comes with each exit */
	"kvm:kvm_entry", "kvm:kvm_exit", "kvm:kvm_userspace_exit", "kvm:kvm_fpu",
	"kvm:kvm_hypercall", "kvm:kvm_hv_hypercall", "kvm:kvm_xen_hypercall",
	"kvm:kvm_nested_vmrun", "kvm:kvm_nested_vmenter", "kvm:kvm_nested_vmexit",
	"kvm:kvm_nested_vmexit_inject", "kvm:kvm_vcpu_wakeup",
};
#define N_SCHED_EVENTS	4

static size_t count_events(const struct top_input_kvm *input)
{
	return input->no_exits ? N_SCHED_EVENTS : ARRAY_SIZE(events);
}

/* --- who is who ------------------------------------------------------------------------------ */

/** Return: 0 or -ENOMEM. */
static int add_guest(struct top_input_kvm *input, const struct kvm_live_guest *guest)
{
	int n = guest->n_vcpus ? guest->vcpus[guest->n_vcpus - 1].id + 1 : 0, ret;
	int32_t *tids = calloc((size_t)n + 1, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	for (int i = 0; i < guest->n_vcpus; i++)
		tids[guest->vcpus[i].id] = guest->vcpus[i].tid;
	ret = n ? kvm_follow_add_guest(input->follow, guest->name, tids, n) : 0;
	free(tids);
	return ret;
}

/** Return: 0 or -ENOMEM. */
static int add_threads(struct top_input_kvm *input)
{
	int ret = 0;

	for (int i = 0; i < input->live.n_guests; i++) {
		const struct kvm_live_guest *guest = &input->live.guests[i];

		for (int t = 0; t < guest->n_threads && ret != -ENOMEM; t++)
			ret = kvm_tracker_add_thread(kvm_follow_tracker(input->follow),
						     guest->threads[t], guest->pid);
	}
	return ret == -ENOMEM ? ret : 0;
}

/** A vCPU that sleeps has no records. Return: 0 or -ENOMEM. */
static int look_who_sleeps(struct top_input_kvm *input)
{
	int ret = 0;

	for (int i = 0; i < input->live.n_guests; i++) {
		const struct kvm_live_guest *guest = &input->live.guests[i];

		for (int v = 0; v < guest->n_vcpus && !ret; v++) {
			int64_t from_ns = record_now_ns();

			if (record_is_asleep(guest->pid, guest->vcpus[v].tid))
				ret = kvm_follow_asleep(input->follow, guest->vcpus[v].tid,
							from_ns, record_now_ns());
		}
	}
	return ret;
}

/** All machines that are there now. Return: 0 or -ENOMEM. */
static int look_at_guests(struct top_input_kvm *input)
{
	int ret;

	kvm_live_free(&input->live);
	ret = kvm_live_read(record_root(), &input->live);
	input->knows_guests = !ret;
	/* names are unknown, then: threads that enter guests are known */
	if (ret && ret != -ENOMEM)
		return 0;
	for (int i = 0; i < input->live.n_guests && !ret; i++)
		ret = add_guest(input, &input->live.guests[i]);
	return ret ? ret : add_threads(input);
}

/** Who entered a guest, and is not known? What threads are new? Return: 0 or -ENOMEM. */
static int look(struct top_input_kvm *input)
{
	int64_t now_ns = record_now_ns();
	bool is_time = now_ns - input->looked_ns >= LOOK_NS;
	int ret = 0;

	/* without exits, no record shows that a machine has begun */
	if (input->no_exits ? is_time : kvm_follow_has_strangers(input->follow)) {
		ret = look_at_guests(input);
	} else if (is_time) {
		ret = kvm_live_more_threads(record_root(), &input->live);
		if (!ret)
			ret = add_threads(input);
	} else {
		return 0;
	}
	input->looked_ns = now_ns;
	return ret;
}

/* --- begin and end --------------------------------------------------------------------------- */

static int check(void)
{
	if (!record_is_kvm()) {
		ksv_error("this host runs no KVM machines: there is no /dev/kvm; run top on the "
			  "host, or give a trace");
		return KSV_EXIT_FILE;
	}
	return record_check_root("top") ? KSV_EXIT_OK : KSV_EXIT_FILE;
}

static int start(struct top_input_kvm *input, uint64_t buffer)
{
	const char *there[ARRAY_SIZE(events)];
	char why[512];
	int n = 0;

	for (size_t i = 0; i < count_events(input); i++)
		if (record_is_event(events[i]))
			there[n++] = events[i];
	record_instance_sweep(RECORD_TOP_INSTANCE);
	if (record_instance_make(input->instance, RECORD_TOP_INSTANCE, "mono", buffer, there, n,
				 why, sizeof(why))) {
		ksv_error("%s", why);
		return KSV_EXIT_FILE;
	}
	return record_buffers_open(&input->cpus, input->instance);
}

static int highest(const struct record_cpus *cpus)
{
	int cpu = -1;

	for (int i = 0; i < cpus->n; i++)
		cpu = cpus->all[i].cpu > cpu ? cpus->all[i].cpu : cpu;
	return cpu;
}

static int see_task(void *arg, const struct kvm_event *event)
{
	return guest_lives_now_take(arg, event);
}

/** Return: 0 or -ENOMEM. */
static int add_tasks(struct top_input_kvm *input)
{
	input->tasks = guest_lives_now_new(highest(&input->cpus) + 1);
	if (!input->tasks)
		return -ENOMEM;
	kvm_follow_observe(input->follow, see_task, input->tasks);
	return 0;
}

/** What the kernel counts by now, if it is time. @ends: it is. Return: 0 or -ENOMEM. */
static int look_at_host(struct top_input_kvm *input, bool ends)
{
	struct host_sample sample = { .time_ns = record_now_ns() };

	if (!input->sample_ns || sample.time_ns <= input->sampled_ns ||
	    (!ends && input->samples.n && sample.time_ns - input->sampled_ns < input->sample_ns) ||
	    !record_sample_read(&sample))
		return 0;
	input->sampled_ns = sample.time_ns;
	return host_samples_add(&input->samples, &sample);
}

int top_input_kvm_open(struct top_input_kvm *input, const char *name,
		       const struct top_input_kvm_options *options)
{
	struct kvm_follow_options follow = { 0 };
	char tracing[PATH_MAX], error[512];
	int status = check();

	*input = (struct top_input_kvm){
		.name = name, .max_bytes = options->max_bytes, .no_exits = options->no_exits,
		.sample_ns = options->sample_ns,
		.settled_ns = INT64_MIN, .looked_ns = INT64_MIN / 2,
	};
	if (status)
		return status;
	snprintf(tracing, sizeof(tracing), "%s%s", record_root(), record_tracing());
	input->pages = kvm_pages_new(tracing, events, count_events(input), error, sizeof(error));
	if (!input->pages) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	follow.kinds = kvm_pages_kinds(input->pages);
	/* the first sample is earlier than the first record */
	status = look_at_host(input, false) ? KSV_EXIT_FILE : start(input, options->buffer);
	follow.n_cpus = highest(&input->cpus) + 1;
	input->page = malloc((size_t)getpagesize());
	input->follow = status ? NULL : kvm_follow_new(&follow);
	if (!status && (!input->page || !input->follow || look_at_guests(input) ||
			look_who_sleeps(input) || (options->tasks && add_tasks(input)))) {
		ksv_error("%s: not enough memory", name);
		status = KSV_EXIT_FILE;
	}
	for (int i = 0; i < input->live.n_notes && !status; i++)
		ksv_note("%s", input->live.notes[i]);
	if (!status && input->no_exits && !input->knows_guests) {
		ksv_error("%s: --no-exits needs debugfs: without records of VM exits, only "
			  "/sys/kernel/debug/kvm shows which threads are vCPUs", name);
		status = KSV_EXIT_FILE;
	}
	if (status)
		top_input_kvm_close(input);
	return status;
}

bool top_input_kvm_is_idle(const struct top_input_kvm *input)
{
	return input->knows_guests && !input->live.n_guests;
}

void top_input_kvm_close(struct top_input_kvm *input)
{
	record_buffers_close(&input->cpus);
	if (*input->instance)
		record_instance_remove(input->instance);
	free(input->cpus.all);
	free(input->page);
	kvm_follow_free(input->follow);
	guest_lives_now_free(input->tasks);
	host_samples_free(&input->samples);
	kvm_pages_free(input->pages);
	kvm_live_free(&input->live);
}

/* --- what comes ------------------------------------------------------------------------------ */

static uint64_t waiting(const struct top_input_kvm *input)
{
	return kvm_follow_waiting(input->follow) * EVENT_BYTES;
}

/**
 * What a CPU has written. Return: 1 if that is all, or all before a time; 0 if there is more; or a
 * negative errno.
 */
static int take_cpu(struct top_input_kvm *input, const struct record_cpu *cpu, int64_t before_ns)
{
	size_t size = (size_t)getpagesize();

	for (int i = 0; i < MAX_PAGES; i++) {
		ssize_t n = read(cpu->fd, input->page, size);
		int ret;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return !n || errno == EAGAIN ? 1 : -errno;
		memset(input->page + n, 0, size - (size_t)n);
		ret = kvm_pages_take(input->pages, input->follow, cpu->cpu, input->page, size);
		if (ret)
			return ret;
	}
	return kvm_pages_last_of(input->pages, cpu->cpu) >= before_ns;
}

static int64_t kvm_last(const void *self)
{
	const struct top_input_kvm *input = self;
	int64_t last_ns = kvm_pages_last(input->pages);

	return last_ns == INT64_MIN ? last_ns : last_ns + 1;
}

/**
 * All CPUs in turn. What came in the turn before was written when this one began: so nothing
 * earlier than the latest of that can come any more. Return: 0 or a negative errno.
 */
static int take_all(struct top_input_kvm *input)
{
	int64_t before_ns = kvm_pages_last(input->pages);
	bool all = true;

	for (int i = 0; i < input->cpus.n; i++) {
		int ret = take_cpu(input, &input->cpus.all[i], before_ns);

		if (ret < 0)
			return ret;
		all &= ret;
	}
	if (all && before_ns > input->settled_ns)
		input->settled_ns = before_ns;
	return 0;
}

/** Begins once there are enough records. */
static void begin_if_enough(struct top_input_kvm *input)
{
	int64_t first_ns = kvm_follow_next(input->follow);
	bool waits = input->settled_ns < first_ns || input->settled_ns - first_ns < BEGIN_NS;

	if (input->begun || first_ns == INT64_MAX ||
	    (waits && !input->ended && !input->hurried))
		return;
	input->begun = true;
	input->begin_ns = first_ns;
}

/** Whatever other CPUs may have to say: later, that is too late. */
static void hurry(struct top_input_kvm *input)
{
	input->hurried += kvm_follow_waiting(input->follow);
	input->settled_ns = kvm_pages_last(input->pages);
	begin_if_enough(input);
}

static int kvm_read(void *self, int timeout_ms)
{
	struct top_input_kvm *input = self;
	const struct timespec pause = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L,
	};
	struct kvm_pages_count before, after;
	int ret;

	if (input->grows && !input->grows(input->arg))
		return -ENODATA;
	nanosleep(&pause, NULL);
	if (waiting(input) >= input->max_bytes) {
		hurry(input);
		return 1;
	}
	kvm_pages_count(input->pages, &before);
	ret = take_all(input);
	if (!ret)
		ret = look(input);
	if (!ret)
		ret = look_at_host(input, false);
	begin_if_enough(input);
	kvm_pages_count(input->pages, &after);
	return ret ? ret : after.records > before.records;
}

/** Each CPU has been asked again and again since. */
static int kvm_settle(void *self)
{
	struct top_input_kvm *input = self;

	input->settled_ns = kvm_pages_last(input->pages);
	return 0;
}

static int kvm_end(void *self)
{
	struct top_input_kvm *input = self;
	int ret;

	record_instance_stop(input->instance);
	ret = take_all(input);
	if (!ret)
		ret = look(input);
	if (!ret)
		ret = look_at_host(input, true);
	input->ended = true;
	begin_if_enough(input);
	input->settled_ns = kvm_last(input);
	return ret;
}

static bool kvm_has_begun(const void *self, int64_t *begin_ns)
{
	const struct top_input_kvm *input = self;

	*begin_ns = input->begin_ns;
	return input->begun;
}

/* --- what goes ------------------------------------------------------------------------------- */

static int kvm_feed(void *self, int64_t until_ns)
{
	struct top_input_kvm *input = self;
	int64_t to_ns = until_ns < input->settled_ns ? until_ns : input->settled_ns;
	int ret = 0;

	if (!input->begun)
		return 0;
	if (to_ns > kvm_follow_fed(input->follow))
		ret = kvm_follow_feed(input->follow, to_ns);
	if (ret)
		return ret;
	return input->ended ? kvm_follow_next(input->follow) < INT64_MAX :
	       input->settled_ns >= until_ns;
}

/** Up to a time, nothing happens. */
static int64_t kvm_next(const void *self)
{
	const struct top_input_kvm *input = self;
	int64_t next_ns = kvm_follow_next(input->follow);

	return next_ns < input->settled_ns ? next_ns : input->settled_ns;
}

static int kvm_model(void *self, int64_t begin_ns, int64_t end_ns, struct virt_model **model)
{
	struct top_input_kvm *input = self;

	if (begin_ns < input->begin_ns)
		begin_ns = input->begin_ns;
	return kvm_follow_model(input->follow, begin_ns, end_ns, model);
}

static const char *comm_of(const void *arg, int32_t pid)
{
	return kvm_follow_comm(arg, pid);
}

static int kvm_tasks(void *self, int64_t end_ns, struct host_tasks *tasks)
{
	struct top_input_kvm *input = self;
	int ret = host_tasks_show(tasks, input->tasks, end_ns, comm_of, input->follow);

	if (ret)
		host_tasks_hide(tasks);
	return ret;
}

static const struct host_samples *kvm_samples(const void *self)
{
	return &((const struct top_input_kvm *)self)->samples;
}

static void kvm_forget(void *self, int64_t before_ns)
{
	struct top_input_kvm *input = self;

	/* without memory, what is dead stays a while */
	kvm_follow_forget(input->follow, before_ns);
	if (input->tasks)
		guest_lives_now_forget(input->tasks, before_ns);
	host_samples_forget(&input->samples, before_ns);
}

/** What was lost is counted, and nothing else can be wrong with it. */
static void kvm_notes(const void *self, struct trace_notes *notes)
{
	(void)self;
	(void)notes;
}

static void kvm_count(const void *self, struct top_count *count)
{
	const struct top_input_kvm *input = self;
	struct kvm_pages_count counts;

	kvm_pages_count(input->pages, &counts);
	*count = (struct top_count){
		.bytes = counts.bytes, .records = counts.records, .waiting = waiting(input),
		.late = counts.late, .late_ns = counts.late_ns, .lost = counts.lost,
		.hurried = input->hurried,
	};
}

const struct top_input top_input_kvm = {
	.read = kvm_read,
	.settle = kvm_settle,
	.end = kvm_end,
	.has_begun = kvm_has_begun,
	.feed = kvm_feed,
	.next = kvm_next,
	.last = kvm_last,
	.model = kvm_model,
	.tasks = kvm_tasks,
	.samples = kvm_samples,
	.forget = kvm_forget,
	.notes = kvm_notes,
	.count = kvm_count,
};
