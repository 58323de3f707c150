/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sidecar_text.h
 * @brief	Change one member of a JSON object, and not a byte of the others.
 *
 * A parser would keep only the data that it knows. Large numbers, comments, order and layout belong
 * to the user.
 */
#ifndef KSHARK_VIRT_SIDECAR_TEXT_H
#define KSHARK_VIRT_SIDECAR_TEXT_H

#include <stddef.h>

/**
 * sidecar_put - set a member of the outermost object
 * @text: one that json-c can parse
 * @key: what needs no escape in JSON
 * @value: JSON
 *
 * Return: the text with the new value in the place of the old one, or at the end of the object; to
 * be freed. NULL with errno: EINVAL if the text is no object, or ENOMEM.
 */
char *sidecar_put(const char *text, size_t size, const char *key, const char *value);

#endif
