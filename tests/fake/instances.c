// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	instances.c
 * @brief	To be preloaded: instances of a tracefs that is only files. As in the kernel, one
 *		that is made has files at once, and is removed with them: the program FAKE_INSTANCE
 *		does that, as "make PATH" and "remove PATH".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int change(const char *what, const char *path)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		unsetenv("LD_PRELOAD");
		execl(getenv("FAKE_INSTANCE"), "fake-instance", what, path, (char *)NULL);
		_exit(127);
	}
	/* whatever signals come, it is done as a whole */
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		;
	return status ? -1 : 0;
}

int mkdir(const char *path, mode_t mode)
{
	int ret = (int)syscall(SYS_mkdir, path, mode);

	return ret || !strstr(path, "/instances/") ? ret : change("make", path);
}

int rmdir(const char *path)
{
	return strstr(path, "/instances/") ? change("remove", path) : (int)syscall(SYS_rmdir, path);
}
