// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_regions.c
 * @brief	Read QEMU's list of memory regions, and ask QEMU for it by QMP.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "kvm_regions.h"

/* --- the list -------------------------------------------------------------------------------- */

/** What is being read: a view is of memory, of ports, or of neither, such as that of a PCI bus. */
struct view {
	bool	is_memory, is_port, any;
};

static bool begins(const char **text, const char *with)
{
	size_t n = strlen(with);

	if (strncmp(*text, with, n) != 0)
		return false;
	*text += n;
	return true;
}

/** Hexadecimal digits. */
static bool take_hex(const char **text, uint64_t *value)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **text) || !**text)
		return false;
	errno = 0;
	*value = strtoull(*text, &end, 16);
	*text = end;
	return !errno;
}

/** "virtio-mmio owner:{dev id=disk0}": "virtio-mmio disk0"; only a device with an id has it. */
static void take_name(const char *text, size_t size, char name[KVM_REGION_NAME])
{
	static const char *const ends[] = { " @0000", " owner:{", " parent:{", " KVM" };
	static const char owner[] = " owner:{dev id=";
	char line[512];
	const char *id;
	size_t n;

	snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line) - 1),
		 text);
	id = strstr(line, owner);
	id = id ? id + strlen(owner) : "";
	n = strlen(line);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *end = strstr(line, ends[i]);

		if (end && (size_t)(end - line) < n)
			n = (size_t)(end - line);
	}
	text_format(name, KVM_REGION_NAME, "%.*s%s%.*s", (int)n, line, *id ? " " : "",
		    (int)strcspn(id, "}"), id);
}

int kvm_regions_add(struct kvm_regions *regions, const struct device_region *region)
{
	struct device_region copy = *region;

	if (regions->n == DEVICE_MAX_REGIONS) {
		regions->n_left_out++;
		return 0;
	}
	copy.name = strdup(region->name);
	if (!copy.name || ARRAY_GROW(regions->all, regions->n, regions->room)) {
		free((char *)(uintptr_t)copy.name);
		return -ENOMEM;
	}
	regions->all[regions->n++] = copy;
	return 0;
}

/**
 * "  00000000feb02a00-00000000feb02bff (prio 0, i/o): virtio-mmio": a device, or a ROM that takes
 * writes as commands. What is called as the root is a hole between devices.
 */
static int take_region(const char *text, size_t size, const struct view *view, const char *root,
		       struct kvm_regions *regions)
{
	struct device_region region = { .is_port = view->is_port };
	char name[KVM_REGION_NAME];
	const char *at = text + strspn(text, " ");

	if (!take_hex(&at, &region.first) || !begins(&at, "-") || !take_hex(&at, &region.last) ||
	    !begins(&at, " (prio "))
		return 0;
	at += strspn(at, "-0123456789");
	if (!begins(&at, ", i/o): ") && !begins(&at, ", romd): "))
		return 0;
	if (region.first > region.last || at > text + size)
		return 0;
	take_name(at, size - (size_t)(at - text), name);
	if (!*name || !strcmp(name, root))
		return 0;
	region.name = name;
	return kvm_regions_add(regions, &region);
}

int kvm_regions_parse(const char *text, struct kvm_regions *regions)
{
	struct view view = { 0 };
	char root[KVM_REGION_NAME] = "";
	bool any = false;
	int ret = 0;

	for (const char *line = text; *line && !ret; ) {
		size_t size = strcspn(line, "\n");
		const char *at = line;

		if (begins(&at, "FlatView #")) {
			view = (struct view){ 0 };
			*root = '\0';
		} else if (begins(&at, " AS \"memory\"")) {
			view.is_memory = any = true;
		} else if (begins(&at, " AS \"I/O\"")) {
			view.is_port = any = true;
		} else if (begins(&at, " Root memory region: ")) {
			text_format(root, sizeof(root), "%.*s",
				    (int)strcspn(at, "\r\n"), at);
		} else if (view.is_memory != view.is_port) {
			ret = take_region(line, size - (size && line[size - 1] == '\r'), &view,
					  root, regions);
		}
		line += size + (line[size] == '\n');
	}
	return ret || any ? ret : -EINVAL;
}

void kvm_regions_free(struct kvm_regions *regions)
{
	for (size_t i = 0; i < regions->n; i++)
		free((char *)(uintptr_t)regions->all[i].name);
	free(regions->all);
	*regions = (struct kvm_regions){ 0 };
}

/* --- QMP ------------------------------------------------------------------------------------- */

struct talk {
	int		fd;
	struct json_tokener *tokener;
	char		*text;		/* what was received, and is not taken yet */
	size_t		n, at, total;
};

static int send_text(const struct talk *talk, const char *text)
{
	size_t n = strlen(text), done = 0;

	while (done < n) {
		ssize_t sent = send(talk->fd, text + done, n - done, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return -errno;
		done += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

#define PIECE	(64 << 10)

static int receive(struct talk *talk)
{
	ssize_t n = recv(talk->fd, talk->text, PIECE, 0);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	talk->at = 0;
	talk->n = (size_t)n;
	talk->total += talk->n;
	return talk->total > KVM_REGIONS_BYTES ? -EFBIG : 0;
}

/** The next object. @object: to be given to json_object_put() */
static int next_object(struct talk *talk, struct json_object **object)
{
	int ret = 0;

	*object = NULL;
	while (!ret && !*object) {
		if (talk->at == talk->n) {
			ret = receive(talk);
			continue;
		}
		*object = json_tokener_parse_ex(talk->tokener, talk->text + talk->at,
						(int)(talk->n - talk->at));
		talk->at += json_tokener_get_parse_end(talk->tokener);
		if (!*object &&
		    json_tokener_get_error(talk->tokener) != json_tokener_continue)
			ret = -EPROTO;
	}
	return ret;
}

/** Send a command, and wait for what it returns; what else the monitor reports is left out. */
static int ask(struct talk *talk, const char *command, struct json_object **answer)
{
	int ret = send_text(talk, command);

	*answer = NULL;
	while (!ret && !*answer) {
		struct json_object *object, *value;

		ret = next_object(talk, &object);
		if (!ret && json_object_is_type(object, json_type_object) &&
		    json_object_object_get_ex(object, "return", &value))
			*answer = json_object_get(value);
		else if (!ret && (!json_object_is_type(object, json_type_object) ||
				  json_object_object_get_ex(object, "error", NULL)))
			ret = -EPROTO;
		json_object_put(object);
	}
	return ret;
}

static int converse(struct talk *talk, struct kvm_regions *regions)
{
	struct json_object *object = NULL, *done = NULL, *answer = NULL;
	int ret = next_object(talk, &object);

	if (!ret && (!json_object_is_type(object, json_type_object) ||
		     !json_object_object_get_ex(object, "QMP", NULL)))
		ret = -EPROTO;
	if (!ret)
		ret = ask(talk, "{\"execute\":\"qmp_capabilities\"}\n", &done);
	if (!ret)
		ret = ask(talk, "{\"execute\":\"human-monitor-command\",\"arguments\":"
			  "{\"command-line\":\"info mtree -f -o\"}}\n", &answer);
	if (!ret)
		ret = json_object_is_type(answer, json_type_string) ?
		      kvm_regions_parse(json_object_get_string(answer), regions) : -EPROTO;
	json_object_put(object);
	json_object_put(done);
	json_object_put(answer);
	return ret;
}

/** As the monitor sees its files: it may have a root of its own. */
static int path_of(const char *root, const struct kvm_live_guest *guest, char path[PATH_MAX])
{
	bool is_absolute = *guest->control == '/';
	int n = snprintf(path, PATH_MAX, "%s/proc/%d/%s%s%s", root, guest->pid,
			 is_absolute ? "root" : "cwd", is_absolute ? "" : "/", guest->control);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/** A link to the socket stands for its path, which is too long for an address. */
static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int link = open(path, O_PATH | O_CLOEXEC), fd, ret = 0;

	if (link < 0)
		return -errno;
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", link);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* if there is no room, EAGAIN: it serves others */
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    fcntl(fd, F_SETFL, 0))
		ret = errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (ret && fd >= 0)
		close(fd);
	close(link);
	return ret ? ret : fd;
}

int kvm_regions_connect(const char *root, const struct kvm_live_guest *guest)
{
	char path[PATH_MAX];
	int ret = path_of(root, guest, path);

	return ret ? ret : connect_to(path);
}

int kvm_regions_talk(int fd, struct kvm_regions *regions)
{
	struct talk talk = {
		.fd = fd, .tokener = json_tokener_new(), .text = malloc(PIECE),
	};
	int ret = talk.tokener && talk.text ? converse(&talk, regions) : -ENOMEM;

	if (talk.tokener)
		json_tokener_free(talk.tokener);
	free(talk.text);
	return ret;
}

const char *kvm_regions_problem(int ret)
{
	switch (ret) {
	case -ETIMEDOUT:
		return "does not answer, or serves another program";
	case -EPROTO:
	case -EINVAL:
	case -EFBIG:
		return "does not list its devices";
	case -ECONNRESET:
		return "has closed the connection";
	case -ENOENT:
		return "has no socket";
	default:
		return "cannot be asked";
	}
}
