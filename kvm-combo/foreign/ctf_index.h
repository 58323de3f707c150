/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_index.h
 * @brief	LTTng's index of a stream: the events that its first packet lacks.
 *
 * libbabeltrace2 compares the counter of discarded events of a packet with that of the packet
 * before. No packet is before the first one: version 2.0 reports that events may be lost, and 2.1
 * reports nothing.
 */
#ifndef KSHARK_VIRT_CTF_INDEX_H
#define KSHARK_VIRT_CTF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

/** Discarded events of a stream before the end of its first packet. */
struct ctf_first {
	bool		has_lost;
	uint64_t	lost;		/* 0: unknown, as packets before this one are elsewhere */
};

/**
 * ctf_index_first - read the index beside a stream
 * @stream: path of the file with its first packet
 *
 * Return: false: there is none that can be read.
 */
bool ctf_index_first(const char *stream, struct ctf_first *first);

#endif
