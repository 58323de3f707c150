/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	open_source.h
 * @brief	Open a trace.dat as the process that reads it does.
 *
 * Include cmocka.h first.
 */
#ifndef OPEN_SOURCE_H
#define OPEN_SOURCE_H

#include "kvm_source_private.h"

/** open_source - a failure is one of the test. Return: to be given to kvm_source_close(). */
static inline struct kvm_source *open_source(const char *path)
{
	struct kvm_source_file file;
	struct kvm_source *source;
	char error[1024] = "";

	if (!kvm_source_find(path, &file, error, sizeof(error)))
		fail_msg("%s", error);
	source = kvm_source_open(path, &file, error, sizeof(error));
	if (!source)
		fail_msg("%s", error);
	return source;
}

#endif
