// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_cmdline.c
 * @brief	Read the facts about a machine from the arguments of its monitor.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_live.h"

/** Arguments of a process, of which the last one may be cut off. */
struct words {
	const char	*next, *end;
};

static const char *next_word(struct words *words)
{
	const char *word = words->next;
	const char *nul = memchr(word, '\0', (size_t)(words->end - word));

	if (!nul)
		return NULL;
	words->next = nul + 1;
	return word;
}

/** Is it that option, written with one dash or two? @value: behind its "=", or NULL. */
static bool is_option(const char *word, const char *name, const char **value)
{
	size_t n = strlen(name);

	if (*word != '-')
		return false;
	word += word[1] == '-' ? 2 : 1;
	if (strncmp(word, name, n) != 0 || (word[n] && word[n] != '='))
		return false;
	*value = word[n] ? word + n + 1 : NULL;
	return true;
}

/** QEMU's text up to a comma; two of them are one that belongs to it. */
static char *qemu_text(const char *text)
{
	char *copy = malloc(strlen(text) + 1), *to = copy;

	if (!copy)
		return NULL;
	for (; *text; text++) {
		if (*text == ',' && *++text != ',')
			break;
		*to++ = *text;
	}
	*to = '\0';
	return copy;
}

/** Behind @key= in a list of QEMU's, such as debug-threads=on,guest=web; else NULL. */
static const char *qemu_member(const char *list, const char *key)
{
	size_t n = strlen(key);

	while (*list) {
		if (!strncmp(list, key, n) && list[n] == '=')
			return list + n + 1;
		for (; *list; list++) {
			if (*list == ',' && *++list != ',')
				break;
		}
	}
	return NULL;
}

static int take_text(char **to, char *text)
{
	if (!text)
		return -ENOMEM;
	if (*to || !*text) {
		free(text);
		return 0;
	}
	*to = text;
	return 0;
}

/** -name web, -name guest=web,debug-threads=on */
static int take_name(const char *value, struct kvm_live_guest *guest)
{
	const char *member = qemu_member(value, "guest");
	const char *equals = strchr(value, '='), *comma = strchr(value, ',');

	/* without a key in front, the first is the name */
	if (!member && equals && (!comma || equals < comma))
		return 0;
	return take_text(&guest->name, qemu_text(member ? member : value));
}

/** guest-cid=3 of QEMU's device, also as "guest-cid":3; cid=3 of the others. */
static void take_cid(const char *word, struct kvm_live_guest *guest)
{
	const char *cid = strstr(word, "guest-cid");
	unsigned long long value;

	cid = cid ? cid + strlen("guest-cid") : strstr(word, "cid=");
	if (!cid)
		return;
	if (!strncmp(cid, "cid=", 4))
		cid += 3;
	cid += strspn(cid, "\":= ");
	if (!isdigit((unsigned char)*cid))
		return;
	errno = 0;
	value = strtoull(cid, NULL, 10);
	/* below are the hypervisor and the host */
	if (!errno && value > 2 && value < UINT32_MAX && !guest->cid)
		guest->cid = (uint32_t)value;
}

static bool is_qemu(const char *program)
{
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	return !strncmp(program, "qemu", 4) || strstr(program, "kvm");
}

/** Options whose value is the machine's name: --id of firecracker, --name of the others. */
static int take_option(const char *word, struct words *words, bool qemu,
		       struct kvm_live_guest *guest)
{
	const char *value;

	if (is_option(word, "uuid", &value)) {
		value = value ? value : next_word(words);
		return value ? take_text(&guest->uuid, strdup(value)) : 0;
	}
	if (!is_option(word, "name", &value) && (qemu || !is_option(word, "id", &value)))
		return 0;
	value = value ? value : next_word(words);
	if (!value)
		return 0;
	return qemu ? take_name(value, guest) : take_text(&guest->name, strdup(value));
}

/* --- the socket for QMP ---------------------------------------------------------------------- */

/** The value of an option, which may be a word of its own; NULL: it is another option. */
static const char *value_of(const char *word, struct words *words, const char *name)
{
	const char *value;

	if (!is_option(word, name, &value))
		return NULL;
	return value ? value : next_word(words);
}

/** chardev=mon0 of a list, or mon0 without a key in front; NULL: neither is there. */
static char *chardev_of(const char *value)
{
	const char *member = qemu_member(value, "chardev");

	if (!member && !strchr(value, '='))
		member = value;
	if (!member && value[strcspn(value, "=,")] == ',')
		member = value;
	return member ? qemu_text(member) : NULL;
}

static bool is_control(const char *value)
{
	const char *mode = qemu_member(value, "mode");

	return mode && !strncmp(mode, "control", strlen("control"));
}

/**
 * -qmp unix:PATH,server=on; -qmp chardev:ID, -mon chardev=ID,mode=control
 * @id: receives the ID
 */
static int take_control(const char *word, struct words *words, struct kvm_live_guest *guest,
			char **id)
{
	const char *value = value_of(word, words, "qmp");

	value = value ? value : value_of(word, words, "qmp-pretty");
	if (value && !strncmp(value, "unix:", 5))
		return take_text(&guest->control, qemu_text(value + 5));
	if (value && !strncmp(value, "chardev:", 8))
		return take_text(id, qemu_text(value + 8));
	value = value ? NULL : value_of(word, words, "mon");
	return value && is_control(value) ? take_text(id, chardev_of(value)) : 0;
}

/** -chardev socket,id=ID,path=PATH: one that was given a connection (fd=...) has no path. */
static int take_chardev(const char *word, struct words *words, const char *id,
			struct kvm_live_guest *guest)
{
	const char *value = value_of(word, words, "chardev"), *member;
	char *called;
	bool same;

	member = value && !strncmp(value, "socket,", 7) ? qemu_member(value, "id") : NULL;
	if (!member)
		return 0;
	called = qemu_text(member);
	if (!called)
		return -ENOMEM;
	same = !strcmp(called, id);
	free(called);
	member = same ? qemu_member(value, "path") : NULL;
	return member ? take_text(&guest->control, qemu_text(member)) : 0;
}

/** The first one that has a path. */
static int find_control(const char *text, size_t size, struct kvm_live_guest *guest)
{
	struct words words = { text, text + size };
	const char *word;
	char *id = NULL;
	int ret = 0;

	next_word(&words);
	while (!ret && (word = next_word(&words)))
		ret = take_control(word, &words, guest, &id);
	words = (struct words){ text, text + size };
	while (!ret && id && !guest->control && (word = next_word(&words)))
		ret = take_chardev(word, &words, id, guest);
	free(id);
	return ret;
}

/* --- all ------------------------------------------------------------------------------------- */

int kvm_live_cmdline(const char *text, size_t size, struct kvm_live_guest *guest)
{
	struct words words = { text, text + size };
	const char *word = next_word(&words);
	bool qemu = word && is_qemu(word);
	int ret = 0;

	while (!ret && word && (word = next_word(&words))) {
		take_cid(word, guest);
		ret = take_option(word, &words, qemu, guest);
	}
	return !ret && qemu ? find_control(text, size, guest) : ret;
}
