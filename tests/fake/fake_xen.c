// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	fake_xen.c
 * @brief	A Xen that answers out of a file, in the place of libxenctrl and libxenstore.
 *
 * $FAKE_XEN is a sidecar as kshark-virt-xen-meta writes it, and is read anew each time the domains
 * are listed. Each vCPU is where its "end" says if the file has a member "ended", else where its
 * "begin" says. "errors" has numbers of errors by the names of functions.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xenctrl.h>
#include <xenstore.h>
#include <xen/hvm/save.h>

static struct json_object *xen;

static void read_file(void)
{
	struct json_object *now = json_object_from_file(getenv("FAKE_XEN"));

	if (!now) {
		fprintf(stderr, "fake_xen: $FAKE_XEN: %s\n", json_util_get_last_err());
		exit(99);
	}
	json_object_put(xen);
	xen = now;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	return object && json_object_object_get_ex(object, key, &value) ? value : NULL;
}

static int64_t number(struct json_object *object, const char *key)
{
	return json_object_get_int64(member(object, key));
}

/** Does a function fail? */
static bool fails(const char *function)
{
	int error = (int)number(member(xen, "errors"), function);

	if (error)
		errno = error;
	return error;
}

static size_t n_of(struct json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

/** The one of a list with this id. */
static struct json_object *by_id(struct json_object *list, int64_t id)
{
	for (size_t i = 0; i < n_of(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (number(item, "id") == id)
			return item;
	}
	return NULL;
}

static struct json_object *domain_of(uint32_t domid)
{
	return by_id(member(xen, "domains"), domid);
}

static struct json_object *vcpu_of(uint32_t domid, int vcpu)
{
	return by_id(member(domain_of(domid), "vcpus"), vcpu);
}

/* ---- libxenctrl ---- */

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild_logger,
				unsigned int open_flags)
{
	(void)logger, (void)dombuild_logger, (void)open_flags;
	read_file();
	return fails("xc_interface_open") ? NULL : (xc_interface *)&xen;
}

int xc_interface_close(xc_interface *xch)
{
	(void)xch;
	json_object_put(xen);
	xen = NULL;
	return 0;
}

int xc_version(xc_interface *xch, int cmd, void *arg)
{
	const char *version = json_object_get_string(member(xen, "xen_version"));
	int major, minor, n;

	(void)xch;
	sscanf(version, "%d.%d%n", &major, &minor, &n);
	if (cmd == XENVER_extraversion) {
		snprintf(arg, sizeof(xen_extraversion_t), "%s", version + n);
		return 0;
	}
	return major << 16 | minor;
}

int xc_physinfo(xc_interface *xch, xc_physinfo_t *info)
{
	(void)xch;
	info->cpu_khz = (uint32_t)number(xen, "cpu_khz");
	return fails("xc_physinfo") ? -1 : 0;
}

int xc_sched_id(xc_interface *xch, int *sched_id)
{
	static const char *const names[] = {
		[5] = "credit", "credit2", "arinc653", "rtds", "null",
	};
	const char *name = json_object_get_string(member(xen, "scheduler"));

	(void)xch;
	for (int i = 5; name && i < 10; i++) {
		if (!strcmp(names[i], name))
			*sched_id = i;
	}
	return fails("xc_sched_id") ? -1 : 0;
}

/** The highest number, as if pCPUs without a place in the list were offline. */
int xc_get_max_cpus(xc_interface *xch)
{
	struct json_object *list = member(xen, "pcpus");

	(void)xch;
	return (int)number(json_object_array_get_idx(list, n_of(list) - 1), "id") + 1;
}

xc_cpumap_t xc_cpumap_alloc(xc_interface *xch)
{
	return calloc(1, xc_get_max_cpus(xch) / 8 + 1);
}

int xc_cpumap_testcpu(int cpu, xc_cpumap_t map)
{
	return map[cpu / 8] >> cpu % 8 & 1;
}

static uint32_t place(struct json_object *pcpu, const char *key)
{
	return member(pcpu, key) ? (uint32_t)number(pcpu, key) : ~0U;
}

int xc_cputopoinfo(xc_interface *xch, unsigned int *max_cpus, xc_cputopo_t *cputopo)
{
	if (fails("xc_cputopoinfo"))
		return -1;
	*max_cpus = xc_get_max_cpus(xch);
	for (unsigned int i = 0; i < *max_cpus; i++) {
		struct json_object *pcpu = by_id(member(xen, "pcpus"), i);

		cputopo[i].core = place(pcpu, "core");
		cputopo[i].socket = place(pcpu, "socket");
		cputopo[i].node = place(pcpu, "node");
	}
	return 0;
}

int xc_numainfo(xc_interface *xch, unsigned int *max_nodes, xc_meminfo_t *meminfo,
		uint32_t *distance)
{
	struct json_object *list = member(xen, "nodes");

	(void)xch, (void)distance;
	if (fails("xc_numainfo"))
		return -1;
	*max_nodes = n_of(list);
	for (size_t i = 0; meminfo && i < n_of(list); i++)
		meminfo[i].memsize = number(json_object_array_get_idx(list, i), "bytes");
	return 0;
}

/** As libxenctrl: without buffers, their description cannot be mapped. */
int xc_tbuf_get_size(xc_interface *xch, unsigned long *size)
{
	(void)xch;
	*size = (unsigned long)number(xen, "trace_buffer_pages");
	return *size ? 0 : -1;
}

static void fill_domain(struct json_object *domain, xc_domaininfo_t *info)
{
	const char *type = json_object_get_string(member(domain, "type"));
	const char *uuid = json_object_get_string(member(domain, "uuid"));
	struct json_object *vcpus = member(domain, "vcpus");
	unsigned int byte;

	memset(info, 0, sizeof(*info));
	info->domain = (domid_t)number(domain, "id");
	info->cpupool = (uint32_t)number(domain, "cpupool");
	info->flags = strcmp(type, "PV") ? XEN_DOMINF_hvm_guest : 0;
	info->arch_config.emulation_flags = strcmp(type, "HVM") ? XEN_X86_EMU_LAPIC :
					    XEN_X86_EMU_ALL;
	info->max_vcpu_id = n_of(vcpus) ?
		(uint32_t)number(json_object_array_get_idx(vcpus, n_of(vcpus) - 1), "id") :
		XEN_INVALID_MAX_VCPU_ID;
	for (int i = 0; i < 16 && sscanf(uuid, "%2x", &byte) == 1; i++) {
		info->handle[i] = byte;
		uuid += 2;
		uuid += *uuid == '-';
	}
}

int xc_domain_getinfolist(xc_interface *xch, uint32_t first_domain, unsigned int max_domains,
			  xc_domaininfo_t *info)
{
	struct json_object *list;
	unsigned int n = 0;

	(void)xch;
	if (!first_domain)
		read_file();
	if (fails("xc_domain_getinfolist"))
		return -1;
	list = member(xen, "domains");
	for (size_t i = 0; i < n_of(list) && n < max_domains; i++) {
		struct json_object *domain = json_object_array_get_idx(list, i);

		if (number(domain, "id") >= first_domain && !member(domain, "went_realtime_ns"))
			fill_domain(domain, &info[n++]);
	}
	return (int)n;
}

int xc_vcpu_getinfo(xc_interface *xch, uint32_t domid, uint32_t vcpu, xc_vcpuinfo_t *info)
{
	struct json_object *found = vcpu_of(domid, vcpu), *now;
	const char *state;

	(void)xch;
	now = member(found, member(xen, "ended") && member(found, "end") ? "end" : "begin");
	if (!now) {
		errno = ESRCH;
		return -1;
	}
	state = json_object_get_string(member(now, "state"));
	*info = (xc_vcpuinfo_t){
		.vcpu = vcpu, .online = !!strcmp(state, "offline"),
		.blocked = !strcmp(state, "blocked"), .running = !strcmp(state, "running"),
		.cpu_time = number(now, "cpu_time_ns"), .cpu = (uint32_t)number(now, "pcpu"),
	};
	return 0;
}

int xc_vcpu_getaffinity(xc_interface *xch, uint32_t domid, int vcpu, xc_cpumap_t hard,
			xc_cpumap_t soft, uint32_t flags)
{
	const char *text = json_object_get_string(member(vcpu_of(domid, vcpu),
		flags == XEN_VCPUAFFINITY_HARD ? "hard_affinity" : "soft_affinity"));
	xc_cpumap_t map = flags == XEN_VCPUAFFINITY_HARD ? hard : soft;
	int n = xc_get_max_cpus(xch);

	if (!text)
		return -1;
	memset(map, !strcmp(text, "all") ? 0xff : 0, n / 8 + 1);
	while (*text >= '0' && *text <= '9') {
		long first = strtol(text, (char **)&text, 10), last = first;

		if (*text == '-')
			last = strtol(text + 1, (char **)&text, 10);
		for (; first <= last; first++)
			map[first / 8] |= 1 << first % 8;
		text += *text == ',';
	}
	return 0;
}

int xc_domain_get_tsc_info(xc_interface *xch, uint32_t domid, uint32_t *tsc_mode,
			   uint64_t *elapsed_nsec, uint32_t *gtsc_khz, uint32_t *incarnation)
{
	static const char *const modes[] = {
		"default", "always_emulate", "native", "native_paravirt",
	};
	const char *mode = json_object_get_string(member(domain_of(domid), "tsc_mode"));

	(void)xch;
	*elapsed_nsec = *gtsc_khz = *incarnation = *tsc_mode = 0;
	for (uint32_t i = 0; mode && i < 4; i++) {
		if (!strcmp(modes[i], mode))
			*tsc_mode = i;
	}
	return mode ? 0 : -1;
}

/** A domain's TSC is read when this is called, in the middle of its time. */
int xc_domain_hvm_getcontext(xc_interface *xch, uint32_t domid, uint8_t *ctxt_buf, uint32_t size)
{
	struct {
		struct hvm_save_descriptor header_at;
		struct hvm_save_header header;
		struct hvm_save_descriptor cpu_at;
		struct hvm_hw_cpu cpu;
	} __attribute__((packed)) saved = {
		.header_at = { HVM_SAVE_CODE(HEADER), 0, sizeof(saved.header) },
		.header.gtsc_khz = (uint32_t)number(domain_of(domid), "fake_tsc_khz"),
		.cpu_at = { HVM_SAVE_CODE(CPU), 0, sizeof(saved.cpu) },
	};
	struct json_object *offset = member(domain_of(domid), "fake_tsc_offset");

	(void)xch;
	if (!offset || fails("xc_domain_hvm_getcontext"))
		return -1;
	if (!ctxt_buf)
		return sizeof(saved);
	if (size < sizeof(saved))
		return -1;
	saved.cpu.tsc = __builtin_ia32_rdtsc() + number(domain_of(domid), "fake_tsc_offset");
	if (member(domain_of(domid), "fake_cut"))
		saved.cpu_at.length = UINT32_MAX;
	memcpy(ctxt_buf, &saved, sizeof(saved));
	return sizeof(saved);
}

/* ---- libxenstore ---- */

struct xs_handle *xs_open(unsigned long flags)
{
	(void)flags;
	return fails("xs_open") ? NULL : (struct xs_handle *)&xen;
}

void xs_close(struct xs_handle *xsh)
{
	(void)xsh;
}

void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned int *len)
{
	struct json_object *name;
	unsigned int domid;

	(void)h, (void)t, (void)len;
	if (sscanf(path, "/local/domain/%u/name", &domid) != 1)
		return NULL;
	name = member(domain_of(domid), "name");
	return name ? strdup(json_object_get_string(name)) : NULL;
}
