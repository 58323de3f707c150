// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_escape.c
 * @brief	Names as text, CSV and JSON: nothing has an effect, everything can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "escape.h"
#include "options.h"
#include "output.h"

static const struct {
	const char	*name, *text, *csv, *json;
} names[] = {
	{ "qemu-system-x86", "qemu-system-x86", "qemu-system-x86", "\"qemu-system-x86\"" },
	{ "", "", "", "\"\"" },
	{ "Zürich 東京 \U0001f600", "Zürich 東京 \U0001f600", "Zürich 東京 \U0001f600",
	  "\"Zürich 東京 \U0001f600\"" },
	{ "\x1b[2J", "\\x1b[2J", "\\x1b[2J", "\"\\u001b[2J\"" },
	{ "a\r\n\tb\a\x7f", "a\\x0d\\x0a\\x09b\\x07\\x7f", "a\\x0d\\x0a\\x09b\\x07\\x7f",
	  "\"a\\r\\n\\tb\\u0007\\u007f\"" },
	{ "a\\x1b", "a\\\\x1b", "a\\\\x1b", "\"a\\\\x1b\"" },
	/* controls beyond ASCII, directions, what cannot be seen, what is no character */
	{ "\xc2\x9b" "2J", "\\u009b2J", "\\u009b2J", "\"\\u009b2J\"" },
	{ "a\u202eb\u2066\u200f", "a\\u202eb\\u2066\\u200f", "a\\u202eb\\u2066\\u200f",
	  "\"a\\u202eb\\u2066\\u200f\"" },
	{ "\ufffe\U0001ffff\ufeff", "\\ufffe\\U0001ffff\\ufeff", "\\ufffe\\U0001ffff\\ufeff",
	  "\"\\ufffe\\ud83f\\udfff\\ufeff\"" },
	{ "\u0383\u05ff", "\\u0383\\u05ff", "\\u0383\\u05ff", "\"\\u0383\\u05ff\"" },
	{ "\U000e0041", "\\U000e0041", "\\U000e0041", "\"\\udb40\\udc41\"" },
	/* no UTF-8: alone, cut off, longer than needed, a surrogate, beyond the last */
	{ "\xff|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80",
	  "\\xff|\\xe2\\x82|\\xc0\\xaf|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80",
	  "\\xff|\\xe2\\x82|\\xc0\\xaf|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80",
	  "\"\ufffd|\ufffd\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd\"" },
	{ "a,\"b\"", "a,\"b\"", "\"a,\"\"b\"\"\"", "\"a,\\\"b\\\"\"" },
	/* formulas, and numbers that look like one */
	{ "=1+1", "=1+1", "'=1+1", "\"=1+1\"" },
	{ "@SUM(A1,A2)", "@SUM(A1,A2)", "\"'@SUM(A1,A2)\"", "\"@SUM(A1,A2)\"" },
	{ "-1", "-1", "-1", "\"-1\"" },
	{ "+2.5e-07", "+2.5e-07", "+2.5e-07", "\"+2.5e-07\"" },
	{ "-.5", "-.5", "-.5", "\"-.5\"" },
	{ "-", "-", "'-", "\"-\"" },
	{ "-1e", "-1e", "'-1e", "\"-1e\"" },
	{ "-1e+", "-1e+", "'-1e+", "\"-1e+\"" },
	{ "+.", "+.", "'+.", "\"+.\"" },
	{ "-1-cmd", "-1-cmd", "'-1-cmd", "\"-1-cmd\"" },
	{ "'=1", "'=1", "''=1", "\"'=1\"" },
	{ "\uff1d1", "\uff1d1", "'\uff1d1", "\"\uff1d1\"" },
	{ "\t=1", "\\x09=1", "\\x09=1", "\"\\t=1\"" },
};

/** What is written by a function, as a string. */
struct written {
	struct output	out;
	char		text[4096];
	int		pipe[2];
};

static void begin(struct written *written)
{
	assert_int_equal(out_open(&written->out, NULL), KSV_EXIT_OK);
	assert_int_equal(pipe(written->pipe), 0);
	written->out.fd = written->pipe[1];
}

static const char *end(struct written *written)
{
	ssize_t n;

	out_flush(&written->out);
	close(written->pipe[1]);
	n = read(written->pipe[0], written->text, sizeof(written->text) - 1);
	assert_true(n >= 0);
	written->text[n] = '\0';
	close(written->pipe[0]);
	return written->text;
}

static void test_kinds(void **state)
{
	static struct written written;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t size = strlen(names[i].name);
		char *text = escape_dup(names[i].name);

		assert_string_equal(text, names[i].text);
		free(text);
		begin(&written);
		out_text(&written.out, names[i].name);
		assert_string_equal(end(&written), names[i].text);
		begin(&written);
		out_csv(&written.out, names[i].name, size);
		assert_string_equal(end(&written), names[i].csv);
		begin(&written);
		out_json(&written.out, names[i].name, size);
		assert_string_equal(end(&written), names[i].json);
	}
}

/** What cannot be seen, or is no character yet, up to both ends of its range. */
static void test_plain(void **state)
{
	static const uint32_t plain[] = {
		' ', '~', 0xa0, 0xe9, 0x377, 0x37a, 0x384, 0x5d0, 0x606, 0x200a, 0x2010,
		0x2027, 0x6771, 0xe000, 0xfe0f, 0xfffc, 0xfffd, 0x10000, 0x1f600, 0x20000,
		0x100000, 0x10fffd,
	};
	static const uint32_t hidden[] = {
		0, 0x1f, 0x7f, 0x9f, 0xad, 0x34f, 0x378, 0x379, 0x380, 0x383, 0x5ff, 0x600,
		0x605, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200f, 0x2028, 0x202e, 0x2065,
		0x3164, 0xd800, 0xdfff, 0xfdd0, 0xfdef, 0xfeff, 0xffff, 0x1000c, 0x1d173, 0x1fffe,
		0xe0000, 0xe0100, 0xeffff, 0x10fffe, 0x10ffff, 0x110000, UINT32_MAX,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (!text_is_plain(plain[i]))
			fail_msg("U+%04X is escaped", plain[i]);
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (text_is_plain(hidden[i]))
			fail_msg("U+%04X is not escaped", hidden[i]);
}

/** Columns are characters, not bytes; what is longer stays whole. */
static void test_columns(void **state)
{
	static struct written written;

	(void)state;
	assert_int_equal(out_columns("東京\x1b"), 6);
	begin(&written);
	out_text_left(&written.out, "é", 3);
	out_text_right(&written.out, "\x1b", 6);
	out_text_right(&written.out, "longer", 3);
	assert_string_equal(end(&written), "é    \\x1blonger");
}

static void test_cut(void **state)
{
	static const struct {
		const char	*text;
		size_t		size, kept;
	} cuts[] = {
		{ "abc", 3, 3 }, { "abc", 0, 0 }, { "aé", 3, 3 }, { "aé", 2, 1 }, { "a東", 4, 4 },
		{ "a東", 3, 1 }, { "a東", 2, 1 }, { "\U0001f600", 4, 4 }, { "\U0001f600", 3, 0 },
		{ "\U0001f600", 1, 0 }, { "é", 1, 0 },
		/* what is no UTF-8 anyway is not cut off */
		{ "a\xff", 2, 2 }, { "a\x80\x80", 3, 3 }, { "a\x80\x80\x80\x80", 5, 5 },
		{ "\xe2\xff", 2, 2 },
	};
	char buf[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++)
		assert_int_equal(text_cut(cuts[i].text, cuts[i].size), cuts[i].kept);
	assert_int_equal(text_format(buf, 5, "a%s", "é東"), 6);
	assert_string_equal(buf, "aé");
	assert_int_equal(text_format(buf, 8, "a%s", "é東"), 6);
	assert_string_equal(buf, "aé東");
	/* no half escapes either, and no later piece behind a gap */
	assert_int_equal(escape_text(buf, 6, "a\x1b" "b\x1b"), 10);
	assert_string_equal(buf, "a\\x1b");
	assert_int_equal(escape_text(buf, 5, "a\x1b" "b"), 6);
	assert_string_equal(buf, "a");
	assert_int_equal(escape_text(NULL, 0, "é"), 2);
}

/** A call is a line. */
static void test_print(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	escape_print(file, "kshark-virt: ", "%s: %d", "a\nkshark-virt: b\r\x1b[1A", 7);
	fclose(file);
	assert_string_equal(text, "kshark-virt: a\\x0akshark-virt: b\\x0d\\x1b[1A: 7\n");
	free(text);
}

/** A shell gives back what was quoted for it, as one word. */
static void test_shell(void **state)
{
	static const struct {
		const char *name, *quoted;
	} words[] = {
		{ "/tmp/trace.dat", "/tmp/trace.dat" },
		{ "", "''" },
		{ "a trace.dat", "'a trace.dat'" },
		{ "$(touch x); `y` \"z\" \\ * ~ !", "'$(touch x); `y` \"z\" \\ * ~ !'" },
		{ "it's", "'it'\\''s'" },
		{ "Zürich", "'Zürich'" },
		{ "a\nb'\\\xff", "$'a\\012b\\047\\134\\377'" },
		{ "\u202e9", "$'\\342\\200\\2569'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *quoted = escape_shell_dup(words[i].name), got[80], wanted[80];
		FILE *shell;
		size_t n;

		assert_string_equal(quoted, words[i].quoted);
		setenv("WORD", quoted, 1);
		shell = popen("bash -c 'eval \"set -- $WORD\"; printf \"<%s>\" \"$@\"'", "r");
		assert_non_null(shell);
		n = fread(got, 1, sizeof(got) - 1, shell);
		assert_int_equal(pclose(shell), 0);
		got[n] = '\0';
		snprintf(wanted, sizeof(wanted), "<%s>", words[i].name);
		assert_string_equal(got, wanted);
		free(quoted);
	}
}

/** What a shell reads as these words again, a blank before each. */
static void test_words(void **state)
{
	char plain[] = "plain", empty[] = "", two[] = "two words", quote[] = "it's";
	char *const words[] = { plain, empty, two, quote };
	char *text = escape_shell_words(words, 4);

	(void)state;
	assert_string_equal(text, " plain '' 'two words' 'it'\\''s'");
	free(text);
	text = escape_shell_words(words, 0);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
