/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_sidecar.c
 * @brief	Any bytes as a trace's sidecar: what Xen's says, and how a guest's clock is aligned.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align_meta.h"
#include "sidecar.h"
#include "xen_meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char trace_path[64];
static char *meta_path;

static void remove_file(void)
{
	unlink(meta_path);
}

static void begin(void)
{
	snprintf(trace_path, sizeof(trace_path), "%s/ksv-fuzz-sidecar-%d",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	meta_path = sidecar_path(trace_path);
	if (!meta_path)
		abort();
	atexit(remove_file);
}

static void check_xen(void)
{
	char error[256] = "";
	struct xen_meta *meta = xen_meta_load(meta_path, error, sizeof(error));

	if (!meta && errno == EINVAL && strncmp(error, meta_path, strlen(meta_path)) != 0)
		abort();
	for (int i = 0; meta && i < meta->n_domains; i++) {
		const struct xen_meta_domain *domain = &meta->domains[i];

		if (!isfinite(domain->tsc_scale) || domain->tsc_scale < 0 ||
		    (!domain->name && !(domain->tsc_scale > 0)) ||
		    (i && domain->id < meta->domains[i - 1].id))
			abort();
	}
	xen_meta_free(meta);
}

static void check_alignment(void)
{
	struct align_meta *meta = NULL, *again = NULL;
	char error[256] = "";
	int ret = align_meta_read(trace_path, &meta, error, sizeof(error));

	if (ret ? !error[0] || meta : meta && (!meta->host || !isfinite(meta->drift_ppm)))
		abort();
	/* what can be read can be written, and is the same then */
	if (!meta)
		return;
	if (align_meta_write(trace_path, meta, error, sizeof(error)) ||
	    align_meta_read(trace_path, &again, error, sizeof(error)) || !again ||
	    again->offset != meta->offset || again->n_tids != meta->n_tids ||
	    strcmp(again->host, meta->host) != 0)
		abort();
	align_meta_free(meta);
	align_meta_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *out;

	if (!meta_path)
		begin();
	out = fopen(meta_path, "w");
	if (!out)
		abort();
	fwrite(data, 1, size, out);
	fclose(out);
	check_xen();
	check_alignment();
	return 0;
}
