/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_listen.h
 * @brief	Serve the counters of live input over HTTP, as Prometheus fetches them.
 *
 * libmicrohttpd answers in a thread of its own. It is loaded when it is needed: no other command
 * spends time on it.
 */
#ifndef KSHARK_VIRT_TOP_LISTEN_H
#define KSHARK_VIRT_TOP_LISTEN_H

#include "top.h"

struct top_listen;

/**
 * top_listen_start - listen, and answer with counters without any number
 * @where: PORT, of the loopback address; or ADDRESS:PORT; an address of IPv6 is in brackets.
 *	Port 0 is any that is free.
 * @problem: receives what is wrong, if NULL is returned
 */
struct top_listen *top_listen_start(const char *where, char *problem, size_t size);

/** top_listen_url - where it listens */
const char *top_listen_url(const struct top_listen *listen);

/** top_listen_put - answer with these counters from now on. Return: 0 or a negative errno. */
int top_listen_put(struct top_listen *listen, const struct top_interval *counters);

/** top_listen_stop - answer no more. @listen: may be NULL */
void top_listen_stop(struct top_listen *listen);

#endif
