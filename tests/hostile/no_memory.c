/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	no_memory.c
 * @brief	For LD_PRELOAD: from the allocation NO_MEMORY_AT on, NO_MEMORY_TIMES of them fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void *(*real_malloc)(size_t size);
static void *(*real_realloc)(void *old, size_t size);
static long at = -1, times, count;

/* dlsym() allocates before the real functions are known. */
static char first[65536];
static size_t used;

static void *from_first(size_t size)
{
	size_t begin = used;

	used += (size + 31) & ~(size_t)15;
	if (used > sizeof(first))
		abort();
	*(size_t *)(first + begin) = size;
	return first + begin + 16;
}

static int is_first(const void *p)
{
	return (const char *)p >= first && (const char *)p < first + sizeof(first);
}

/* Return: false while they are looked up. */
static int find_real(void)
{
	static int looking;

	if (!real_malloc && !looking) {
		looking = 1;
		*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
		*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	}
	return real_malloc != NULL;
}

__attribute__((constructor))
static void begin(void)
{
	const char *value = getenv("NO_MEMORY_AT"), *more = getenv("NO_MEMORY_TIMES");

	find_real();
	times = more ? atol(more) : 1;
	/* from here on, they are counted */
	at = value ? atol(value) : -1;
}

static int fails(void)
{
	long n;

	if (at < 0)
		return 0;
	n = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	if (n < at || n >= at + times)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	if (!find_real())
		return from_first(size);
	return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = malloc(bytes);
	if (p)
		memset(p, 0, bytes);
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p;

	if (!is_first(old) && find_real())
		return fails() ? NULL : real_realloc(old, size);
	p = malloc(size);
	if (p && old)
		memcpy(p, old, ((size_t *)old)[-2] < size ? ((size_t *)old)[-2] : size);
	return p;
}

/** libjson-c does not survive this one: it never fails. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = find_real() ? real_malloc(size) : from_first(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void free(void *p)
{
	static void (*real_free)(void *p);

	if (is_first(p) || !p)
		return;
	if (!real_free)
		*(void **)&real_free = dlsym(RTLD_NEXT, "free");
	real_free(p);
}
