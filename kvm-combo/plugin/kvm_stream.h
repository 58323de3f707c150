/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_stream.h
 * @brief	The model of a KVM host's trace.dat that KernelShark loads.
 *
 * While KernelShark loads the stream, the plugin collects its records. It makes the model when a
 * caller asks the registry for it. Other open traces make no difference.
 */
#ifndef KSHARK_VIRT_KVM_STREAM_H
#define KSHARK_VIRT_KVM_STREAM_H

#ifdef __cplusplus
extern "C" {
#endif

struct kshark_data_stream;

/**
 * kvm_stream_attach - collect what a stream is going to load
 * @stream: one of a trace.dat; to be called by a plugin's initializer, also when it loads again
 *
 * Return: 1 if it can be a KVM host, 0 if not, or -ENOMEM.
 */
int kvm_stream_attach(struct kshark_data_stream *stream);

/** kvm_stream_detach - a stream is closed; its model is gone from the registry. */
void kvm_stream_detach(struct kshark_data_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
