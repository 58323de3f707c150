/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	json_durations.h
 * @brief	Durations of kshark-virt report as JSON; kshark-virt-report.1 documents every key.
 */
#ifndef KSHARK_VIRT_JSON_DURATIONS_H
#define KSHARK_VIRT_JSON_DURATIONS_H

#include "json_writer.h"
#include "virt_window.h"

/** json_dist - members of the object that is open, if there is a duration at all. */
void json_dist(struct json *json, const struct virt_dist *dist);
/** json_durations - an object of its own */
void json_durations(struct json *json, const char *key, const struct virt_dist *durations);
/** json_stretches - an object of its own; json_stretch_members() - members of one that is open */
void json_stretch_members(struct json *json, const struct virt_stretches *stretches);
void json_stretches(struct json *json, const char *key, const struct virt_stretches *stretches);

/** json_window - what the report is about: [from, to) */
void json_window(struct json *json, int64_t from_ns, int64_t to_ns);

#endif
