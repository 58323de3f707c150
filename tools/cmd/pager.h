/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	pager.h
 * @brief	The program that shows long text on a terminal page by page.
 */
#ifndef KSHARK_VIRT_PAGER_H
#define KSHARK_VIRT_PAGER_H

/** pager_disable - start none */
void pager_disable(void);

/**
 * pager_start - start the user's pager on standard output
 *
 * From then on, messages are kept until pager_end(), because they would disturb the pager.
 *
 * Return: the descriptor that it reads, or -1 if there is no pager.
 */
int pager_start(void);

/**
 * pager_end - close the pager's input, wait until the user leaves it, and print the kept messages
 *
 * A signal handler may call it. Without a pager, it does nothing.
 */
void pager_end(void);

#endif
