/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fake_kernel.h
 * @brief	The parts of a kernel that sources of guest/ need to run in a program.
 *
 * All headers of the kernel that they include are this one (tests/CMakeLists.txt). What a source of
 * guest/ has from another one, its test makes up.
 */
#ifndef KSHARK_VIRT_FAKE_KERNEL_H
#define KSHARK_VIRT_FAKE_KERNEL_H

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"
#else
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"
#endif
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;

/* glibc has one, too */
#define on_exit			kernel_on_exit

#define __user
#define __percpu
#define __init
#define __exit
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define cmpxchg(at, from, to)	__sync_val_compare_and_swap(at, from, to)
#define container_of(at, type, member)	((type *)((char *)(at) - offsetof(type, member)))
#define GFP_KERNEL		0
#define kcalloc(n, size, flags)	calloc(n, size)
#define kfree			free

/* ---- what is said ---- */

static char fake_log[4096];

static __attribute__((format(printf, 1, 2))) void fake_print(const char *format, ...)
{
	size_t n = strlen(fake_log);
	va_list args;

	va_start(args, format);
	vsnprintf(fake_log + n, sizeof(fake_log) - n, format, args);
	va_end(args);
}

#define pr_info		fake_print
#define pr_err		fake_print
#define pr_warn		fake_print

/* ---- strings and bits ---- */

static ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t n = strlen(from);

	if (!size)
		return -E2BIG;
	memcpy(to, from, n < size ? n + 1 : size - 1);
	to[n < size ? n : size - 1] = '\0';
	return n < size ? (ssize_t)n : -E2BIG;
}

static char *strim(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int kstrtobool(const char *text, bool *on)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return -EINVAL;
	*on = *text == '1';
	return 0;
}

static int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	char *end;
	unsigned long read = strtoul(text, &end, (int)base);

	if (!isdigit((unsigned char)*text) || *end || read > UINT32_MAX)
		return -EINVAL;
	*value = (unsigned int)read;
	return 0;
}

#define BITS_PER_LONG	64
#define DECLARE_BITMAP(name, bits)	unsigned long name[((bits) + 63) / 64]
#define bitmap_parselist(text, to, bits)	(-EINVAL)
#define bitmap_copy(to, from, bits)	memcpy(to, from, sizeof(from))

static bool test_bit(long bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> (bit % BITS_PER_LONG) & 1;
}

#endif
