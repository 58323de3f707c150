/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sample_file.h
 * @brief	Samples as files. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_SAMPLE_FILE_H
#define KSHARK_VIRT_SAMPLE_FILE_H

#include <stdio.h>
#include <stdlib.h>

/** sample_path - valid until the next call; @name: "credit2-basic.xen" */
static inline const char *sample_path(const char *name)
{
	static char path[4096];

	if (!getenv("KSV_SOURCE_DIR"))
		fail_msg("KSV_SOURCE_DIR is not set: run this test by ctest");
	snprintf(path, sizeof(path), "%s/samples/%s", getenv("KSV_SOURCE_DIR"), name);
	return path;
}

/** read_sample - its @size bytes. To be freed. */
static inline void *read_sample(const char *name, size_t *size)
{
	FILE *file = fopen(sample_path(name), "rb");
	void *bytes;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

#endif
