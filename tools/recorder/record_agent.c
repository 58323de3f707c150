// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_agent.c
 * @brief	Check whether an agent of trace-cmd answers in a guest, in the protocol of our
 *		trace-cmd.
 *
 * The messages of an agent have no version, and the agent sends nothing by itself. It answers a
 * message that is of no use to it with "not supported", and waits for the next connection; nothing
 * in the guest is changed (lib/trace-cmd/trace-msg.c of trace-cmd, since 2.9).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <linux/vm_sockets.h>
#include <unistd.h>

#include "record.h"

/** Where trace-cmd's agents listen. */
#define AGENT_PORT	823
#define CONNECT_MS	1000
/** trace-cmd itself waits for so long. */
#define ANSWER_MS	5000

/** What each message of trace-cmd begins with, in the byte order of networks. */
struct message_head {
	uint32_t	size, command, command_size;
};

enum { MESSAGE_CLOSE = 0, MESSAGE_NOT_SUPPORTED = 5, MESSAGE_BYTES = 8192 };

static bool is_ready(int fd, short events, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	return poll(&poll_fd, 1, ms) == 1;
}

static bool connected(int fd)
{
	socklen_t size = sizeof(int);
	int error = 0;

	return is_ready(fd, POLLOUT, CONNECT_MS) &&
	       !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
}

/** Where tests have no vsock, a socket in their tree takes its place. */
static int agent_socket(uint32_t cid, struct sockaddr_storage *address, socklen_t *size)
{
	struct sockaddr_vm *vm = (struct sockaddr_vm *)address;
	struct sockaddr_un *un = (struct sockaddr_un *)address;

	memset(address, 0, sizeof(*address));
	if (!*record_root()) {
		vm->svm_family = AF_VSOCK;
		vm->svm_cid = cid;
		vm->svm_port = AGENT_PORT;
		*size = sizeof(*vm);
		return socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "%.90s/vsock%u", record_root(), cid);
	*size = sizeof(*un);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int connect_agent(uint32_t cid)
{
	struct sockaddr_storage address;
	socklen_t size;
	int fd = agent_socket(cid, &address, &size);

	if (fd < 0)
		return -1;
	if (!connect(fd, (struct sockaddr *)&address, size) ||
	    (errno == EINPROGRESS && connected(fd)))
		return fd;
	close(fd);
	return -1;
}

/** Return: the bytes of a whole head, or less if there is an end before, or -1 if none comes. */
static ssize_t read_head(int fd, struct message_head *head)
{
	size_t n = 0;

	while (n < sizeof(*head)) {
		ssize_t got;

		if (!is_ready(fd, POLLIN, ANSWER_MS))
			return -1;
		got = read(fd, (char *)head + n, sizeof(*head) - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static const char *ask(int fd)
{
	struct message_head head = {
		.size = htonl(sizeof(head)), .command = htonl(MESSAGE_CLOSE),
	};
	ssize_t n = 0;

	if (send(fd, &head, sizeof(head), MSG_NOSIGNAL) == sizeof(head))
		n = read_head(fd, &head);
	if (n < 0)
		return "the program at port 823 does not answer like trace-cmd's agent";
	if (!n)
		return "its agent closed the connection, as it does during another recording";
	if (n < (ssize_t)sizeof(head) || ntohl(head.command) != MESSAGE_NOT_SUPPORTED ||
	    ntohl(head.size) < sizeof(head) || ntohl(head.size) > MESSAGE_BYTES)
		return "the program at port 823 has another protocol than trace-cmd's agents since "
		       "2.9";
	return NULL;
}

const char *record_agent_refusal(uint32_t cid)
{
	const char *why;
	int fd;

	if (!cid)
		return "it has no vsock";
	fd = connect_agent(cid);
	if (fd < 0)
		return "no trace-cmd agent answers";
	why = ask(fd);
	close(fd);
	return why;
}
