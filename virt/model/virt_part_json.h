/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_part_json.h
 * @brief	The facts that a part of a trace needs beside its records (virt_part.h), as JSON.
 */
#ifndef KSHARK_VIRT_VIRT_PART_JSON_H
#define KSHARK_VIRT_VIRT_PART_JSON_H

#include <json-c/json.h>

#include "virt_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_part_write - add them to an object
 * @vcpus: an array with an object for each vCPU, which becomes the member "vcpus" of @root; NULL:
 *	there was no memory for it
 *
 * Return: 0 or -ENOMEM.
 */
int virt_part_write(struct json_object *root, const struct virt_part *part,
		    struct json_object *vcpus);

/**
 * virt_part_read - read them; other programs may have written the object
 * @part: receives them; NULL: there are none
 * @wrong: receives the name of the member that cannot be understood
 *
 * Return: 0, -ENOMEM or -EINVAL.
 */
int virt_part_read(struct json_object *root, struct virt_part **part, const char **wrong);

#ifdef __cplusplus
}
#endif
#endif
