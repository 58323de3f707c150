/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_detect.h
 * @brief	Detect the dialect of a machine from the hypercalls that it makes.
 */
#ifndef KSHARK_VIRT_HYPER_DETECT_H
#define KSHARK_VIRT_HYPER_DETECT_H

#include "hyper_dialect.h"
#include "key_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Dialects that are distinguished, at most. */
#define HYPER_MAX_DIALECTS	8

/** Numbers that are counted one by one; a guest can make up as many as it likes. */
#define HYPER_MAX_NUMBERS	256

/** Calls of one number. */
struct hyper_number_count {
	uint64_t	nr, count;
	uint64_t	fit[HYPER_MAX_DIALECTS]; /* of them, with registers that make sense */
	bool		foreign;		/* KVM's own */
};

/** All calls of a machine; all zero is none. */
struct hyper_tally {
	struct key_map	map;		/* nr */
	struct hyper_number_count *numbers; /* in order of appearance */
	uint32_t	room;
	uint64_t	calls, rest;	/* all; of them, those of further numbers */
	uint64_t	foreign;	/* of all, KVM's own */
	uint64_t	fit[HYPER_MAX_DIALECTS];
	struct hyper_khz khz;		/* of the guest's TSC; @reported: the first value, */
	int64_t		khz_ns;		/* at that time; */
	int64_t		longest_ns;	/* measured over that time */
	struct hyper_clock_read {
		uint64_t	tsc;
		int64_t		time_ns;
		uint32_t	khz;
		int32_t		tid;
		bool		is_there;
	} first;			/* of the vCPU whose calls are being counted */
};

/**
 * hyper_tally_add - count a call; those of a vCPU one after the other, in order of time
 *
 * Return: 0 or -ENOMEM.
 */
int hyper_tally_add(struct hyper_tally *tally, const struct hyper_call *call);
void hyper_tally_free(struct hyper_tally *tally);

/**
 * hyper_detect - the published dialect that most calls make sense in
 * @text: receives a sentence on why, or why none
 *
 * Return: NULL if there is none.
 */
const struct hyper_dialect *hyper_detect(const struct hyper_tally *tally, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
