// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format: the same sources as those that the host's tools are built of. Only what writes is
 * needed.
 */
#include "hypertrace_kinds.c"
#include "hypertrace_encode.c"
