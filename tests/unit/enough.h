/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many of what is alike are enough. */
#ifndef KSHARK_VIRT_TESTS_ENOUGH_H
#define KSHARK_VIRT_TESTS_ENOUGH_H

/**
 * ENOUGH - the step from one to the next in a row of worlds that differ in numbers alone
 *
 * What comes of each is seen without sanitizers. These watch the code on its way, which is the same
 * in all of them, and make it take several times as long: there it is one of @every.
 */
#ifdef KSV_SANITIZE_ADDRESS
#define ENOUGH(every)	(every)
#else
#define ENOUGH(every)	1
#endif

#endif
