/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_text.h
 * @brief	Describe events of guests as text.
 */
#ifndef KSHARK_VIRT_HYPER_TEXT_H
#define KSHARK_VIRT_HYPER_TEXT_H

#include "hyper_decoder.h"
#include "hyper_symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * hyper_event_text - what an event says, as "entry address=0x1000 (schedule) depth=2"
 * @symbols: may be NULL
 *
 * Names are as the guest has given them: not escaped.
 *
 * Return: as snprintf().
 */
int hyper_event_text(char *text, size_t size, const struct hyper_event *event,
		     const struct hyper_dialect *dialect, const struct hyper_symbols *symbols);

/** hyper_call_text - the registers of a call, as "a0=0x1 a1=0x2". Return: as snprintf(). */
int hyper_call_text(char *text, size_t size, const struct hyper_call *call);

/**
 * hyper_undecoded_name, hyper_undecoded_text - the same of a call that has become no event
 *
 * What it is called: "hypercall_1234", "KVM_HC_KICK_CPU", or as the event that makes no sense.
 *
 * Return: as snprintf().
 */
int hyper_undecoded_name(char *text, size_t size, const struct hyper_call *call,
			 const struct hyper_decoded *decoded);
int hyper_undecoded_text(char *text, size_t size, const struct hyper_call *call,
			 const struct hyper_decoded *decoded);

/**
 * hyper_event_field - one of an event's numbers, with a sign where it has one
 *
 * Of a value with @no_sign, the same bits.
 *
 * Return: false if the event does not have it, or it is no number.
 */
bool hyper_event_field(const struct hyper_event *event, enum hyper_field field, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
