// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_regions.c
 * @brief	Where machines' devices are, for the sidecar: from their monitors or from files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "record.h"
#include "regular_file.h"

/** What a machine's monitor has answered; nothing, if it has not. */
struct record_regions {
	int		pid, fd;	/* as in struct kvm_live_guest */
	struct kvm_regions regions;
};

static const struct record_regions *find_asked(const struct record *record,
					       const struct kvm_live_guest *guest)
{
	for (int i = 0; i < record->n_asked; i++)
		if (record->asked[i].pid == guest->pid && record->asked[i].fd == guest->fd)
			return &record->asked[i];
	return NULL;
}

/** The file with its answer; NULL: none was given. */
static const char *file_for(const struct record_options *options, const struct kvm_live *live,
			    const struct kvm_live_guest *guest)
{
	for (int i = 0; i < options->n_regions; i++) {
		const char *file = strchr(options->regions[i], '=');
		char *name = file ? strndup(options->regions[i],
					    (size_t)(file - options->regions[i])) : NULL;
		int n = 0;
		bool same = name && kvm_live_find(live, name, &n) == guest;

		free(name);
		if (same)
			return file + 1;
	}
	return NULL;
}

static int read_answer(const char *path, struct kvm_regions *regions, char *error, size_t size)
{
	char *text = malloc(KVM_REGIONS_BYTES + 1);
	ssize_t n = text ? regular_file_start(path, text, KVM_REGIONS_BYTES + 1) : -ENOMEM;
	int ret = n < 0 ? (int)n : n == KVM_REGIONS_BYTES ? -EFBIG :
		  kvm_regions_parse(text, regions);

	free(text);
	if (ret)
		text_format(error, size, "%s: %s", path,
			    ret == -EINVAL ? "no answer to 'info mtree -f -o'" :
			    ret == -EFBIG ? "too large" : regular_file_error(ret));
	return ret;
}

static void ask(struct record *record, const struct kvm_live *live,
		const struct kvm_live_guest *guest)
{
	struct record_regions *asked;
	const char *file = file_for(record->options, live, guest);
	char error[512];
	int ret = 0;

	if (find_asked(record, guest))
		return;
	/* what does not fit into memory is not known */
	if (ARRAY_GROW(record->asked, record->n_asked, record->asked_room))
		return;
	asked = &record->asked[record->n_asked++];
	*asked = (struct record_regions){ .pid = guest->pid, .fd = guest->fd };
	if (file)
		ret = read_answer(file, &asked->regions, error, sizeof(error));
	else if (guest->control && !record->options->no_regions)
		ret = kvm_regions_ask(record_root(), guest, &asked->regions, error,
				      sizeof(error));
	if (ret) {
		kvm_regions_free(&asked->regions);
		ksv_note("%s: %s: addresses have no names of devices", guest->name, error);
	} else if (asked->regions.n_left_out) {
		ksv_note("%s: %zu regions of devices are left out, after the first %d",
			 guest->name, asked->regions.n_left_out, DEVICE_MAX_REGIONS);
	}
}

int record_check_regions(const struct record *record)
{
	const struct record_options *options = record->options;

	for (int i = 0; i < options->n_regions; i++) {
		size_t n = strcspn(options->regions[i], "=");
		char *name = strndup(options->regions[i], n);
		int found = 0;

		if (name)
			kvm_live_find(&record->live, name, &found);
		free(name);
		if (found != 1) {
			ksv_error("--regions %s: %s machine is called %.*s", options->regions[i],
				  found ? "more than one" : "no", (int)n, options->regions[i]);
			return KSV_EXIT_USAGE;
		}
	}
	return KSV_EXIT_OK;
}

void record_look_at_regions(struct record *record, const struct kvm_live *live)
{
	for (int i = 0; i < live->n_guests; i++)
		ask(record, live, &live->guests[i]);
}

int record_add_regions(const struct record *record, const struct kvm_live_guest *guest,
		       struct kvm_meta_guest *to)
{
	const struct record_regions *asked = find_asked(record, guest);
	int ret = 0;

	for (size_t i = 0; asked && i < asked->regions.n && ret != -ENOMEM; i++)
		ret = kvm_meta_add_region(to, &asked->regions.all[i]);
	return ret == -ENOMEM ? ret : 0;
}

void record_free_regions(struct record *record)
{
	for (int i = 0; i < record->n_asked; i++)
		kvm_regions_free(&record->asked[i].regions);
	free(record->asked);
}
