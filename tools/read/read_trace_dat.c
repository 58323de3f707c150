// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	read_trace_dat.c
 * @brief	kshark-virt-read: reads a trace.dat for a plugin of KernelShark, without rights.
 *
 * KernelShark has many threads and much memory, and a copy of its process would have both.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kvm_reader_wire.h"
#include "kvm_trace_symbols.h"
#include "trace_dat.h"

/** As every subcommand's (tools/cmd/options.h). */
enum { EXIT_USAGE = 2, EXIT_FILE };

/** A descriptor that kvm_apart_settle() does not replace. Return: it, or -1. */
static int keep(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/** Is standard input a plugin's end of kvm_reader_start()? */
static bool has_plugin(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_STREAM;
}

int main(int argc, char **argv)
{
	bool is_copy = argc == 3 && !strcmp(argv[2], KVM_READER_COPY);
	uint8_t *blocks;
	int fd, copy;

	if ((argc != 2 && !is_copy) || !has_plugin()) {
		fputs("KernelShark's plugins start kshark-virt-read, which reads a trace.dat for "
		      "them.\n", stderr);
		return EXIT_USAGE;
	}
	fd = keep(STDIN_FILENO);
	blocks = kvm_reader_map(STDOUT_FILENO);
	copy = is_copy ? keep(STDERR_FILENO) : -1;
	if (fd < 0 || !blocks || (is_copy && copy < 0))
		return EXIT_FILE;
	/* it reports a file that cannot be opened */
	if (is_copy && held_file_set_copy(argv[1], copy))
		return EXIT_FILE;
	if (!is_copy)
		held_file_hold(argv[1]);
	kvm_trace_keep_symbols();
	kvm_reader_child(argv[1], fd, blocks, kvm_trace_read_symbols);
}
