/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_methods.h
 * @brief	Methods of KernelShark's streams that all our input plugins share.
 */
#ifndef KSHARK_VIRT_KS_METHODS_H
#define KSHARK_VIRT_KS_METHODS_H

#include <libkshark.h>

#ifdef __cplusplus
extern "C" {
#endif

/** ks_methods_pid, ks_methods_event_id - as the entry has them. */
int ks_methods_pid(struct kshark_data_stream *stream, const struct kshark_entry *entry);
int ks_methods_event_id(struct kshark_data_stream *stream, const struct kshark_entry *entry);

/** ks_methods_no_aux_info - there is none. */
char *ks_methods_no_aux_info(struct kshark_data_stream *stream, const struct kshark_entry *entry);

/** ks_methods_all_event_ids - 0, 1 ... up to the stream's n_events. */
int *ks_methods_all_event_ids(struct kshark_data_stream *stream);

/** ks_methods_dump - an entry as a line, by what the stream's other methods say of it. */
char *ks_methods_dump(struct kshark_data_stream *stream, const struct kshark_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
