/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	escape.h
 * @brief	Escape foreign names for output, so that they have no effect there.
 *
 * Names of tasks, domains and files can contain any bytes. The output is UTF-8. Control characters,
 * invisible characters, characters that change the direction of text, and codes that are no
 * characters, or none yet, are escaped, so that a reader can see and undo the escape:
 *
 *	\x1b		a byte: a control character, or one that is no UTF-8
 *	\u202e		a character, in hexadecimal; \U000e0001 beyond U+FFFF
 *	\\		a backslash
 *
 * Escape once, on output. Code that keeps or compares a name uses it unescaped.
 */
#ifndef KSHARK_VIRT_ESCAPE_H
#define KSHARK_VIRT_ESCAPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for one character, escaped, without a NUL. */
#define ESCAPE_PIECE	10

/**
 * text_char - decode a character
 * @size: bytes at @text, at least 1
 * @code: receives its code
 *
 * Return: its length, or 0 if the bytes at @text are not UTF-8.
 */
size_t text_char(const char *text, size_t size, uint32_t *code);

/** text_is_plain - can a character be shown: is it neither control, nor invisible, nor none? */
bool text_is_plain(uint32_t code);

/** text_is_formula - would a spreadsheet calculate it? What is a mere number is none. */
bool text_is_formula(const char *text, size_t size);

/** text_cut - how many of @size bytes there are without a character that is cut off at the end. */
size_t text_cut(const char *text, size_t size);

/** text_format - snprintf() that does not leave half a character. Return: as snprintf(). */
int text_format(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * escape_next - the next character of a text, escaped where it must be
 * @text: moved on
 * @end: behind the text
 * @piece: receives it, without a NUL
 *
 * Return: its length, or 0 at the end.
 */
size_t escape_next(const char **text, const char *end, char piece[ESCAPE_PIECE]);

/**
 * escape_text - a whole text, escaped
 * @buf: receives as much of it as fits, without half a character or escape, and a NUL
 *
 * Return: the length of all of it.
 */
size_t escape_text(char *buf, size_t size, const char *text);

/**
 * escape_xml - what stands for a character in XML, also in a value in double quotes
 *
 * Escaped text has no control characters, so that XML needs no more.
 *
 * Return: NULL: the character itself.
 */
const char *escape_xml(char c);

/** escape_dup - the same in memory of its own. Return: to be freed, or NULL. */
char *escape_dup(const char *text);

/**
 * escape_shell_dup - quoted for a shell, which takes it for one word and undoes it
 *
 * As it is if that needs no quotes; with bytes that cannot be shown in the form $'\ooo' of bash.
 *
 * Return: to be freed, or NULL.
 */
char *escape_shell_dup(const char *text);

/** escape_shell_words - several words for a shell, with a blank before each */
char *escape_shell_words(char *const *words, int n);

/**
 * escape_print - write a line: @before as it is, then in the style of printf(), escaped, a newline
 *
 * Line ends in what is formatted are escaped like the rest: one call, one line.
 */
void escape_print(FILE *file, const char *before, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void escape_vprint(FILE *file, const char *before, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#ifdef __cplusplus
}
#endif
#endif
