/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_limits.h
 * @brief	Inner parts of clock_align.c: each threshold of the search, and its reason.
 *
 * Thresholds that callers need, such as VIRT_CLOCK_MIN_PERCENT, are in clock_align.h. A unit of ns
 * stands for cycles of a TSC if times are in cycles.
 */
#ifndef KSHARK_VIRT_CLOCK_LIMITS_H
#define KSHARK_VIRT_CLOCK_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/**
 * What events weigh, in parts of a nat: by how much they are likelier with the right offset than
 * with any other one. A vCPU that executes its guest nearly always has most events inside by mere
 * chance: these say little, and one outside says much.
 */
#define CLOCK_NAT	100

/** Sizes of arrays. */
enum {
	/* Bins that stay in the nearest caches while all events vote for them: 64 KiB. */
	CLOCK_NEAR_BINS = 1 << 14,
	/* Candidates of a piece: a drift may leave the right one fewer votes than wrong ones. */
	CLOCK_CANDIDATES = 24,
	/* Pieces that are tried with all drifts, where the events are: each costs all the rates. */
	CLOCK_LONG_PIECES = 4,
	/* Kinds of interrupts that are distinguished; each adds a track to all CPUs and vCPUs. */
	CLOCK_IRQ_KINDS = 16,
	/* Shares of stray events that are tried: 1, which is chance, 1/2, 1/4 .. 1/1024. */
	CLOCK_STRAYS = 11,
	/* Parts into which the time is divided ... */
	CLOCK_PARTS = 64,
	/* ... and bounds of each part, per direction: the tightest, as others hardly cut. */
	CLOCK_TIGHTEST = 32,
	/* Each bound that cuts a polygon adds a corner; bounds beyond that are left out. */
	CLOCK_CORNERS = 64,
};

/**
 * Steps of work, which struct virt_clock_problem limits: what each part of the search takes, in
 * about a nanosecond of a PC of today.
 */
enum {
	/* For each change, event and so on: to search, and to judge what is given. */
	CLOCK_WORK_SEARCH = 300, CLOCK_WORK_JUDGE = 60,
	/* Bins that are made and looked through, tracks that are prepared, changes read. */
	CLOCK_WORK_SEARCH_BIN = 3, CLOCK_WORK_SEARCH_TRACK = 300, CLOCK_WORK_SEARCH_CHANGE = 2,
	/* Of a vote: bins, changes, events, and turns of both. */
	CLOCK_WORK_VOTE_BIN = 2, CLOCK_WORK_VOTE_CHANGE = 20, CLOCK_WORK_VOTE_EVENT = 100,
	CLOCK_WORK_VOTE_TURN = 2,
	/* Of a sweep over offsets: events, and where one begins or ends to be inside. */
	CLOCK_WORK_SWEEP_EVENT = 22, CLOCK_WORK_SWEEP_EDGE = 100,
};

struct clock_limits {
	/* votes */
	int64_t		max_bins;	/* bins */
	int64_t		fine;		/* bins in a slack */
	size_t		block;		/* bins */
	size_t		hill;		/* bins */
	size_t		max_votes;	/* votes of a CPU */
	size_t		min_voters, max_voters;	/* events */
	double		wrong;		/* share of events */
	int32_t		penalty;	/* events */
	double		max_weight;	/* nats */

	/* pieces, and lines through them */
	int32_t		pieces, max_pieces;	/* pieces */
	int64_t		max_piece, max_long;	/* ns of the guest */
	int32_t		slack;		/* ns */
	int32_t		rates;		/* to each side */
	int32_t		max_close;	/* candidates */
	int32_t		tolerance;	/* ns */
	double		spare_ppm;	/* ppm */
	size_t		of_piece, of_level, of_whole;	/* events */
	size_t		max_edges, most_edges;	/* changes of the score */
	size_t		min_sample;	/* events */
	int32_t		min_steps, max_steps;	/* to each side */
	int32_t		unsure;		/* tolerances */
	int32_t		longer;		/* times as long */
	double		followed;	/* of a tolerance, 1 / */
	double		coarse, finest, finer;	/* of a tolerance, 1 /; times */
	int32_t		flank;		/* widths */

	/* what is found, and whether that is enough */
	uint64_t	perfect;	/* events inside for one outside */
	int64_t		no_chance;	/* score */
	int32_t		tenths;		/* of a score */
	int32_t		much;		/* times no_chance */
	int32_t		clear_share;	/* of a score, 1 / */
	int64_t		clear;		/* score */
	uint64_t	min_handlers;	/* handlers */
	uint64_t	late_handlers;	/* handlers in time for one that is not */
	uint64_t	few_handlers;	/* handlers for one in time */
	int32_t		irq_window;	/* ns */
	double		min_evidence;	/* nats */
	int32_t		chance_part;	/* changes of a vCPU */

	/* with all events */
	size_t		large;		/* events */
	int32_t		neighbours;	/* ns */
	int64_t		of_neighbours;	/* events */
	int32_t		wider, widest, widen;	/* ns; times */
	int32_t		around;		/* ns */
	size_t		of_around;	/* events */

	/* other lines that explain as much */
	int32_t		near;		/* ns */
	int32_t		round;		/* ns */
	int32_t		narrowings;	/* steps */
	int32_t		settle, levels, bends;	/* times; levels; to each side */
	int32_t		bends_finer;	/* times */
	int32_t		spare;		/* roots of events */
	int32_t		noise;		/* ns */
	double		tiny;		/* ns */
};

static const struct clock_limits limits = {
	/* A vote's room and time: 4 MiB of bins twice over; 1 ms each for 17 minutes. */
	.max_bins = (int64_t)1 << 20,
	/* A bin is smaller than the error of times by this factor or more: peaks stay apart. */
	.fine = 4,
	/* The best of a block is kept: the next best bin is found without looking at all. */
	.block = 1024,
	/* Equal bins in a row are one candidate up to here: wider ones make sweeps expensive. */
	.hill = 8,
	/* An event votes for all stretches: the more there are, the fewer events may ... */
	.max_votes = 3000000,
	/* ... but fewer than this decide nothing, and more than that add nothing. */
	.min_voters = 60, .max_voters = 1200,
	/* With the right offset, this share of events is outside all the same: clocks are noisy. */
	.wrong = 0.001,
	/*
	 * An event outside weighs at least as much as this many inside: what explains less than
	 * 90 % is worse than nothing, and leaving an event out beats having it at a wrong place.
	 */
	.penalty = 9,
	/* A vCPU that is hardly ever inside: a few events must not outweigh all of the others'. */
	.max_weight = 5,

	/*
	 * Any one may be without events, or be like the others; the guest's trace may be far
	 * longer than its host's, so that most pieces are beyond it: then more, up to a bound.
	 */
	.pieces = 6, .max_pieces = 64,
	/* The largest drift does 0.5 ms to each side of its middle, less than most periods. */
	.max_piece = 4000000000,
	/* That of those with all drifts, one by one, bounds the number of them: 51 for 20 s. */
	.max_long = 20000000000,
	/* The change by a step from one of these drifts to the next: less than most runs last. */
	.slack = 50000,
	/* Within a step, rates are tried so finely that the rest is within the tolerance. */
	.rates = 4,
	/* Following a line costs most: this many, and what got the most votes. */
	.max_close = 3,
	/* Offsets are known about this well while the drift is looked for, and from a sample. */
	.tolerance = 20000,
	/* Tried beyond VIRT_CLOCK_MAX_PPM, as no drift is known exactly. */
	.spare_ppm = 5.0,
	/* Events that decide between candidates, between drifts, between lines. */
	.of_piece = 300, .of_level = 1000, .of_whole = 5000,
	/* More are not worth sorting: fewer events are taken then, but not fewer than that. */
	.max_edges = 300000, .min_sample = 50,
	/* Of all events, besides one for two of what is given: 96 MiB, as they are sorted. */
	.most_edges = (size_t)3 << 20,
	/* Too few steps miss the peak; too many cost more than another round of finer ones. */
	.min_steps = 4, .max_steps = 32,
	/* In it, a line through the whole may differ from the voted one by this much. */
	.unsure = 16,
	/* From a piece on: a line that is known in it stays within max_steps in that much. */
	.longer = 4,
	/* The rate is known when a step does this much from end to end: finer rounds follow. */
	.followed = 16,
	/*
	 * First a few steps of it make up the tolerance, in the end some ns; from one round to the
	 * next less than min_steps, so that none misses the peak of the one before.
	 */
	.coarse = 4, .finest = 10000, .finer = 3,
	/* A peak falls off beside it: what lies within this many widths is no other one. */
	.flank = 4,

	/* With the right offset, at most one event in this number is outside. */
	.perfect = 1000,
	/* A score that no wrong offset comes near to, however many are tried: e^60. */
	.no_chance = 60 * CLOCK_NAT,
	/* A drift leaves a few events outside: these tenths, and this multiple, are enough. */
	.tenths = 9, .much = 10,
	/* A difference of scores that is more than chance: e^15, and a twentieth of all. */
	.clear_share = 20, .clear = 15 * CLOCK_NAT,
	/* Fewer do not count: that many happen to be in time. */
	.min_handlers = 10,
	/* Handlers run late now and then, or the host has not recorded the injection. */
	.late_handlers = 4,
	/* Some may be without an injection, but rarely most: then they are to vote. */
	.few_handlers = 3,
	/* From the first guest code after an injection: nearly all handlers run in it. */
	.irq_window = 1000000,
	/* Chance alone gives this to one of e^7 searches: 0.1 %. */
	.min_evidence = 7.0,
	/*
	 * A part is so short that a guest mostly does the same in it: that two guests are both
	 * busy in the same second must not count as often as they have events in it.
	 */
	.chance_part = 64,

	/* Enough to find an offset within the margin of a sample; all events come afterwards. */
	.large = 50000,
	/* Timers of guests have periods up to 10 ms: another peak may be two of them away. */
	.neighbours = 20000000,
	/* Events that distinguish two offsets if one weighs half a nat; if less, more do. */
	.of_neighbours = 300,
	/* Offsets of a guest that is mostly idle go on for long: up to several periods. */
	.wider = 1250000, .widest = 80000000, .widen = 4,
	/* What has been given is looked at near by only: it is judged, not searched. */
	.around = 1000000, .of_around = 2000,

	/* What is outside by more than this is so with any line that is looked at. */
	.near = 20000,
	/* The unit of an offset's time, if the events last much longer: no odd digits. */
	.round = 1000000,
	/* Thirds that are taken from an interval of doubles: nothing is left of it. */
	.narrowings = 100,
	/* How often a line is improved, by steps to each side, in how many finer levels. */
	.settle = 3, .levels = 4, .bends = 16, .bends_finer = 4,
	/* By chance, 1 and this multiple of the root of their number may be hardly outside. */
	.spare = 3,
	/* The error that any time may have, as clocks are not read at once. */
	.noise = 500,
	/* A sum of doubles that should be a whole number is wrong by less than this. */
	.tiny = 0.01,
};

#endif
