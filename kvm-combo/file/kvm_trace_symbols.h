/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_trace_symbols.h
 * @brief	The names of the kernel's functions in a trace.dat.
 */
#ifndef KSHARK_VIRT_KVM_TRACE_SYMBOLS_H
#define KSHARK_VIRT_KVM_TRACE_SYMBOLS_H

#include <stdbool.h>

/** kvm_trace_use_symbols - read them from all trace.dat files that are opened from now on */
void kvm_trace_use_symbols(void);

/**
 * kvm_trace_read_whole - unpack and parse all but the symbols of files that are opened from now on
 *
 * As KernelShark does: does libtracecmd crash on what nothing else would ask for?
 */
void kvm_trace_read_whole(void);

/** kvm_trace_keep_symbols - keep the text of the file that is opened next, in case that ... */
void kvm_trace_keep_symbols(void);

/** kvm_trace_read_symbols - ... a name is wanted: read them from that text now, if there is one */
void kvm_trace_read_symbols(void);

#endif
