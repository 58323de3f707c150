// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_loss.c
 * @brief	Report lost records, and the buffer that would have sufficed.
 */
#include "record.h"

/** What the estimate is made of. */
static void report_worst(const struct record_count *count)
{
	char size[24];

	if (count->worst.bytes)
		ksv_note("in the worst second, p%d lost %llu of %llu records: %s, at %llu bytes on "
			 "average", count->worst.cpu, (unsigned long long)count->worst.lost,
			 (unsigned long long)count->worst.records,
			 record_size_text(count->worst.lost * count->worst.bytes, size),
			 (unsigned long long)count->worst.bytes);
}

/** Xen makes its buffers once, so that --buffer alone does not help. */
static void report_xen(const struct record *record, unsigned long long size, const char *buffer)
{
	const struct record_count *count = &record->count;
	char most[24];

	report_worst(count);
	if (!size)
		ksv_note("a sufficient buffer is unknown; record fewer events (--events)");
	else if (record->buffer_max && count->buffer > record->buffer_max)
		ksv_note("no buffer would have sufficed, by estimate: %lluM for each CPU, of which "
			 "Xen can make %s; record fewer events (--events)", size,
			 record_size_text(record->buffer_max, most));
	else
		ksv_note("--buffer %lluM would have sufficed, by estimate (it was %s for each "
			 "CPU); Xen can only change it after a reboot", size, buffer);
}

void record_report_losses(const struct record *record)
{
	const struct record_count *count = &record->count;
	unsigned long long lost = count->lost, all = count->records + count->lost;
	unsigned long long size = count->buffer / RECORD_MIB;
	char buffer[24];

	if (!lost)
		return;
	record_size_text(record->options->buffer, buffer);
	if (record->options->hypervisor != RECORDING_XEN) {
		ksv_note("%llu of %llu records were lost; --buffer %lluM would have sufficed (it "
			 "was %s for each CPU)", lost, all, size, buffer);
		return;
	}
	ksv_note("%llu of %llu records were lost", lost, all);
	report_xen(record, size, buffer);
}
