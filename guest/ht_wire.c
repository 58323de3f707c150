// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format: the same sources as in the host's tools. The module needs only the code that writes.
 */
#include "hypertrace_kinds.c"
#include "hypertrace_encode.c"
