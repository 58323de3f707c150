// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_xen.c
 * @brief	A host of Xen is not recorded yet.
 */
#include "record.h"

int record_xen(struct record *record)
{
	(void)record;
	ksv_error("Xen is not recorded by this command yet: use xentrace -D -e all FILE, then "
		  "kshark-virt-xen-meta");
	return KSV_EXIT_FILE;
}
