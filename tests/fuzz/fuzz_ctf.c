/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_ctf.c
 * @brief	Any events in packets of CTF: what is read of them is a trace.dat.
 *
 * libbabeltrace2 reads them; our part is what it finds: fields of any type, clocks, CPUs, losses.
 * Metadata and the heads of packets are sound, and no array has a length of its own: the library
 * aborts on two fields of one name and on a packet that ends within a byte, and allocates 2^32
 * elements. The command survives that, as a process without rights reads the folder; tests/hostile
 * has such folders.
 *
 * Input: packets, each with its length, stream, CPU, lost events and duration in front.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctf_convert.h"
#include "ctf_metadata.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* it does not free all that it has of a stream that it refuses */
const char *__lsan_default_suppressions(void)
{
	return "leak:libbabeltrace2\nleak:babeltrace-plugin-ctf\nleak:libglib\n";
}

static void check(bool is)
{
	if (!is)
		abort();
}

static char folder[64];

static void remove_folder(void)
{
	static const char *const names[] = { "metadata", "stream" };
	char path[96];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

/** The head of a packet: struct head, then its events. */
struct head {
	uint8_t		size, stream, cpu, lost, duration;
};

/** The packet header and context of the metadata; sizes are in bits. */
struct packet {
	uint32_t	magic;
	uint8_t		uuid[16];
	uint32_t	stream;
	uint64_t	begin_ns, end_ns, content_size, packet_size, lost;
	uint32_t	cpu;
} __attribute__((packed));

/** Write the packets of the input. Return: the size of the file. */
static size_t put_packets(uint8_t *to, const uint8_t *data, size_t size)
{
	uint64_t time_ns = 1000, lost = 0;
	struct packet packet;
	struct head head;
	size_t n = 0;

	while (size >= sizeof(head)) {
		memcpy(&head, data, sizeof(head));
		data += sizeof(head);
		size -= sizeof(head);
		if (head.size > size)
			head.size = (uint8_t)size;
		lost += head.lost;
		packet = (struct packet){
			.magic = 0xc1fc1fc1,
			.uuid = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 'b', 'o', 'x', '-' },
			.stream = head.stream & 1, .begin_ns = time_ns,
			.end_ns = time_ns + head.duration * 1000u,
			.content_size = 8 * (sizeof(packet) + head.size),
			.packet_size = 8 * (sizeof(packet) + head.size), .lost = lost,
			.cpu = head.cpu,
		};
		time_ns = packet.end_ns;
		memcpy(to + n, &packet, sizeof(packet));
		memcpy(to + n + sizeof(packet), data, head.size);
		n += sizeof(packet) + head.size;
		data += head.size;
		size -= head.size;
	}
	return n;
}

static void put_file(const char *name, const uint8_t *data, size_t size)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/** The writer's file is one that the check of trace.dat files accepts. */
static void check_file(int fd)
{
	char path[32], problem[512];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(trace_dat_check(path, problem, sizeof(problem), NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ctf_library *library;
	struct foreign_outcome outcome = { 0 };
	struct ctf_folder found = { 0 };
	char problem[512] = "";
	int fd, spool, ret;
	uint8_t *packets;

	if (!library) {
		library = ctf_library_load(problem, sizeof(problem));
		snprintf(folder, sizeof(folder), "%s/fuzz-ctf-XXXXXX",
			 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
		if (!library)
			return 0;
		check(mkdtemp(folder));
		atexit(remove_folder);
		put_file("metadata", (const uint8_t *)ctf_metadata, strlen(ctf_metadata));
	}
	packets = malloc(size * sizeof(struct packet) + 1);
	check(packets);
	put_file("stream", packets, put_packets(packets, data, size));
	free(packets);
	if (ctf_folder_read(folder, &found, problem, sizeof(problem))) {
		check(*problem);
		ctf_folder_free(&found);
		return 0;
	}
	fd = memfd_create("fd", MFD_CLOEXEC);
	spool = memfd_create("spool", MFD_CLOEXEC);
	check(fd >= 0 && spool >= 0);
	ret = ctf_convert(library, &found, fd, spool, 64 << 20, &outcome);
	check(!ret || *outcome.problem);
	if (!ret)
		check_file(fd);
	close(fd);
	close(spool);
	ctf_folder_free(&found);
	return 0;
}
