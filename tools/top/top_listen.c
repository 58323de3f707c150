// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_listen.c
 * @brief	Serve counters over HTTP by libmicrohttpd.
 *
 * The formats and their content types: OpenMetrics 1.0, "Protocol Negotiation"; Prometheus,
 * "Exposition formats".
 */
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "escape.h"
#include "top_listen.h"

#ifdef KSHARK_VIRT_MICROHTTPD
#include <microhttpd.h>

/** Prometheus needs one connection, and each takes memory. */
#define MOST_CONNECTIONS	32
#define CONNECTION_BYTES	((size_t)32 << 10)
/** A connection without a byte for so long is closed. */
#define SILENCE_S		10U
/** Connections that wait until they are accepted. */
#define BACKLOG			16

enum { OPENMETRICS, PROMETHEUS, N_FORMATS };

static const struct {
	const struct top_format	*format;
	const char		*type;
} formats[N_FORMATS] = {
	[OPENMETRICS] = { &top_openmetrics,
			  "application/openmetrics-text; version=1.0.0; charset=utf-8" },
	[PROMETHEUS] = { &top_prometheus, "text/plain; version=0.0.4; charset=utf-8" },
};

/** The functions of the library that are used. */
#define MHD_FUNCTIONS(X)							\
	X(start_daemon) X(stop_daemon) X(create_response_from_fd64)		\
	X(create_response_from_buffer) X(destroy_response) X(add_response_header) \
	X(queue_response) X(lookup_connection_value)

struct library {
	void	*handle;
#define MEMBER(name)	__typeof__(&MHD_##name) name;
	MHD_FUNCTIONS(MEMBER)
};

struct top_listen {
	struct library		http;
	struct MHD_Daemon	*daemon;
	pthread_mutex_t		mutex;			/* of: */
	struct MHD_Response	*counters[N_FORMATS];
	char			url[128];
};

/* --- the library ----------------------------------------------------------------------------- */

static bool load_library(struct library *library)
{
	bool is_whole;

	library->handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	is_whole = library->handle;
#define LOAD(name)							\
	if (is_whole) {							\
		void *symbol = dlsym(library->handle, "MHD_" #name);	\
									\
		memcpy(&library->name, &symbol, sizeof(symbol));	\
		is_whole = symbol;					\
	}
	MHD_FUNCTIONS(LOAD)
	return is_whole;
}

/* --- answers --------------------------------------------------------------------------------- */

static enum MHD_Result answer_text(const struct top_listen *listen,
				   struct MHD_Connection *connection, unsigned int status,
				   const char *text, const char *allow)
{
	struct MHD_Response *response =
		listen->http.create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
							 MHD_RESPMEM_PERSISTENT);
	enum MHD_Result ret = MHD_NO;

	if (!response)
		return MHD_NO;
	if (listen->http.add_response_header(response, "Content-Type",
					     "text/plain; charset=utf-8") &&
	    (!allow || listen->http.add_response_header(response, "Allow", allow)))
		ret = listen->http.queue_response(connection, status, response);
	listen->http.destroy_response(response);
	return ret;
}

static enum MHD_Result answer_counters(struct top_listen *listen,
				       struct MHD_Connection *connection)
{
	const char *accept = listen->http.lookup_connection_value(connection, MHD_HEADER_KIND,
								  "Accept");
	int format = accept && strstr(accept, "application/openmetrics-text") ? OPENMETRICS :
										PROMETHEUS;
	enum MHD_Result ret;

	pthread_mutex_lock(&listen->mutex);
	/* the library keeps what it still sends */
	ret = listen->http.queue_response(connection, MHD_HTTP_OK, listen->counters[format]);
	pthread_mutex_unlock(&listen->mutex);
	return ret;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *n_data, void **state)
{
	struct top_listen *listen = arg;

	(void)version;
	(void)data;
	/* what is sent along is read and not used */
	if (!*state || *n_data) {
		*state = listen;
		*n_data = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer_text(listen, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "use GET\n", "GET, HEAD");
	if (!strcmp(url, "/metrics"))
		return answer_counters(listen, connection);
	if (!strcmp(url, "/"))
		return answer_text(listen, connection, MHD_HTTP_OK,
				   "kshark-virt top: /metrics has the counters\n", NULL);
	return answer_text(listen, connection, MHD_HTTP_NOT_FOUND,
			   "not found: /metrics has the counters\n", NULL);
}

/* --- counters -------------------------------------------------------------------------------- */

/** Write counters into memory. Return: NULL: see errno. */
static struct MHD_Response *make_response(const struct top_listen *listen, int number,
					  const struct top_interval *counters)
{
	const struct top_format *format = formats[number].format;
	static struct output out;	/* of one thread */
	struct MHD_Response *response = NULL;
	off_t size = -1;

	out = (struct output){ .fd = memfd_create("kshark-virt metrics", MFD_CLOEXEC) };
	if (out.fd < 0)
		return NULL;
	out.pos = out.buffer;
	out.end = out.buffer + sizeof(out.buffer);
	format->interval(&out, counters);
	if (format->end)
		format->end(&out, NULL);
	out_flush(&out);
	errno = out.error;
	if (!out.error)
		size = lseek(out.fd, 0, SEEK_END);
	if (size >= 0) {
		response = listen->http.create_response_from_fd64((uint64_t)size, out.fd);
		errno = ENOMEM;
	}
	if (!response)
		close(out.fd);
	else if (!listen->http.add_response_header(response, "Content-Type",
						   formats[number].type)) {
		listen->http.destroy_response(response);
		response = NULL;
	}
	return response;
}

int top_listen_put(struct top_listen *listen, const struct top_interval *counters)
{
	struct MHD_Response *made[N_FORMATS];

	for (int i = 0; i < N_FORMATS; i++) {
		made[i] = make_response(listen, i, counters);
		if (made[i])
			continue;
		while (i--)
			listen->http.destroy_response(made[i]);
		return errno ? -errno : -ENOMEM;
	}
	for (int i = 0; i < N_FORMATS; i++) {
		struct MHD_Response *before;

		pthread_mutex_lock(&listen->mutex);
		before = listen->counters[i];
		listen->counters[i] = made[i];
		pthread_mutex_unlock(&listen->mutex);
		if (before)
			listen->http.destroy_response(before);
	}
	return 0;
}

/* --- listening ------------------------------------------------------------------------------- */

/** Take ADDRESS:PORT apart. Return: false if it is something else. */
static bool split_address(const char *where, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(where, ':'), *from = where, *to = colon;

	*port = colon ? colon + 1 : where;
	if (!**port || strspn(*port, "0123456789") != strlen(*port) || strlen(*port) > 5 ||
	    atoi(*port) > UINT16_MAX)
		return false;
	if (!colon) {
		from = "127.0.0.1";
		to = from + strlen(from);
	} else if (*from == '[') {
		from++;
		to--;
		if (to < from || *to != ']')
			return false;
	} else if (memchr(from, ':', (size_t)(to - from))) {
		return false;
	}
	if (from == to || (size_t)(to - from) >= size)
		return false;
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	return true;
}

static int listen_at(const struct addrinfo *at)
{
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol), on = 1;

	if (fd < 0)
		return -1;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	on = errno;
	close(fd);
	errno = on;
	return -1;
}

static void set_url(struct top_listen *listen, int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char host[64] = "?", port[8] = "?";
	bool is_v6;

	if (!getsockname(fd, (struct sockaddr *)&address, &size))
		getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
			    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	is_v6 = strchr(host, ':');
	snprintf(listen->url, sizeof(listen->url), "http://%s%s%s:%s/metrics", is_v6 ? "[" : "",
		 host, is_v6 ? "]" : "", port);
}

/** Return: a socket, or -1 with @problem set. */
static int open_socket(const char *where, char *problem, size_t size)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *found = NULL;
	const char *port;
	char host[256];
	int fd = -1, ret;

	if (!split_address(where, host, sizeof(host), &port)) {
		text_format(problem, size, "--listen %s: give PORT or ADDRESS:PORT, for example "
			    "9435 or [::1]:9435", where);
		return -1;
	}
	ret = getaddrinfo(host, port, &hints, &found);
	if (ret) {
		text_format(problem, size, "--listen %s: %s", where,
			    ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
		return -1;
	}
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = listen_at(at);
	if (fd < 0)
		text_format(problem, size, "--listen %s: %s", where, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

const char *top_listen_url(const struct top_listen *listen)
{
	return listen->url;
}

/** Signals are for the thread that waits for them. Return: false without a thread. */
static bool start_daemon(struct top_listen *listen, int fd)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	listen->daemon = listen->http.start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, listen,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return listen->daemon;
}

void top_listen_stop(struct top_listen *listen)
{
	if (!listen)
		return;
	if (listen->daemon)
		listen->http.stop_daemon(listen->daemon);
	for (int i = 0; i < N_FORMATS; i++)
		if (listen->counters[i])
			listen->http.destroy_response(listen->counters[i]);
	if (listen->http.handle)
		dlclose(listen->http.handle);
	pthread_mutex_destroy(&listen->mutex);
	free(listen);
}

struct top_listen *top_listen_start(const char *where, char *problem, size_t size)
{
	const struct top_interval nothing = { .n = 0 };
	struct top_listen *listen = calloc(1, sizeof(*listen));
	int fd;

	text_format(problem, size, "not enough memory");
	if (!listen)
		return NULL;
	pthread_mutex_init(&listen->mutex, NULL);
	fd = open_socket(where, problem, size);
	if (fd >= 0 && !load_library(&listen->http)) {
		text_format(problem, size, "--listen needs libmicrohttpd (Debian: apt-get install "
			    "libmicrohttpd12)");
	} else if (fd >= 0) {
		set_url(listen, fd);
		text_format(problem, size, "--listen %s: %s", where, strerror(ENOMEM));
		if (!top_listen_put(listen, &nothing) && start_daemon(listen, fd))
			return listen;
	}
	if (fd >= 0)
		close(fd);
	top_listen_stop(listen);
	return NULL;
}

#else

struct top_listen *top_listen_start(const char *where, char *problem, size_t size)
{
	(void)where;
	text_format(problem, size, "this build has no --listen: build it where libmicrohttpd-dev "
		    "is installed");
	return NULL;
}

int top_listen_put(struct top_listen *listen, const struct top_interval *counters)
{
	(void)listen;
	(void)counters;
	return -ENOTSUP;
}

void top_listen_stop(struct top_listen *listen)
{
	(void)listen;
}

const char *top_listen_url(const struct top_listen *listen)
{
	(void)listen;
	return "";
}

#endif
