/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	reported_events.h
 * @brief	Keep the events that the module reports. To be included after ht_functions.c.
 */
#ifndef KSHARK_VIRT_REPORTED_EVENTS_H
#define KSHARK_VIRT_REPORTED_EVENTS_H

static struct ht_event reported[16];
static int n_reported;

void ht_report(struct ht_event *event)
{
	reported[n_reported++] = *event;
}

static void check_reported(int i, enum ht_kind kind, uint64_t value)
{
	assert_true(i < n_reported);
	assert_int_equal(reported[i].kind, kind);
	assert_true(reported[i].field[0] == value);
}

#endif
