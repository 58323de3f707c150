// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_view.c
 * @brief	kshark-virt view: start KernelShark with our plugins and files under names it takes.
 *
 * What KernelShark 2.2.1 makes necessary (kernelshark.cpp, libkshark-tepdata.c):
 * - a file is a trace-cmd file if and only if its name ends in ".dat", whatever is in it;
 * - the argument of -a is split at blanks, the one of -p at commas;
 * - files are opened several times, which a pipe does not allow.
 * So files get other names by symbolic links in a private directory where that is needed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "trace_dat.h"
#include "xen_clock.h"
#include "xen_meta.h"
#include "xentrace_reader.h"

/** Our plugins and where they are, as seen from the directory of this command. */
static const struct {
	const char	*file;
	const char	*directory;
} plugins[] = {
	{ "plugin-xentrace.so", KSHARK_VIRT_PLUGIN_DIR },
	{ "plugin-virt.so", KSHARK_VIRT_PLUGIN_DIR },
	{ "plugin-kvm_combo.so", KSHARK_VIRT_COMBO_DIR },
};

enum file_kind { FILE_UNKNOWN, FILE_XENTRACE, FILE_TRACE_CMD };

struct view {
	const struct ksv_command *command;
	const char	*session;
	bool		dry_run;
	bool		correct_skew;
	char		hz[24];		/* as XEN_CPUHZ; empty if not given */
	bool		absolute;
	bool		no_combos;
	char		**files;	/* as given */
	int		n_files;
	char		**extra;	/* arguments for KernelShark */
	int		n_extra;
	char		**names;	/* malloc'ed names to hand over */
	char		*plugin_list;
	char		*temp;		/* private directory, or NULL */
};

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t child_pid;

/** KernelShark gets what we get; without it, the signal ends our preparations. */
static void on_signal(int number)
{
	caught_signal = number;
	if (child_pid > 0)
		kill((pid_t)child_pid, number);
}

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &action, NULL);
}

/* --- the private directory ------------------------------------------------------------------- */

static int make_temp(struct view *view)
{
	const char *dir = getenv("TMPDIR");

	if (view->temp)
		return 0;
	/* -a could not take names in a directory with a blank. */
	if (!dir || !*dir || strchr(dir, ' '))
		dir = "/tmp";
	if (asprintf(&view->temp, "%s/kshark-virt-XXXXXX", dir) < 0) {
		view->temp = NULL;
		return -ENOMEM;
	}
	if (mkdtemp(view->temp))
		return 0;
	ksv_error("%s: cannot make a temporary directory: %s; set TMPDIR", dir, strerror(errno));
	free(view->temp);
	view->temp = NULL;
	return -EIO;
}

static void remove_temp(struct view *view)
{
	DIR *dir = view->temp ? opendir(view->temp) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	if (view->temp)
		rmdir(view->temp);
	free(view->temp);
	view->temp = NULL;
}

/* --- files ----------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static enum file_kind kind_of(const char *path)
{
	char head[sizeof(trace_dat_magic)];
	FILE *file;
	size_t n;

	if (xentrace_check(path))
		return FILE_XENTRACE;
	file = fopen(path, "re");
	if (!file)
		return FILE_UNKNOWN;
	n = fread(head, 1, sizeof(head), file);
	fclose(file);
	return n == sizeof(head) && !memcmp(head, trace_dat_magic, n) ? FILE_TRACE_CMD :
									FILE_UNKNOWN;
}

/** Does KernelShark take a file of this name for what it is? */
static bool name_fits(const char *name, enum file_kind kind)
{
	switch (kind) {
	case FILE_XENTRACE:
		return !ends_with(name, ".dat");
	case FILE_TRACE_CMD:
		return ends_with(name, ".dat");
	default:
		return true;
	}
}

/** A free name in the private directory. Return: malloc'ed, or NULL without memory. */
static char *temp_name(const struct view *view, const char *base, enum file_kind kind)
{
	const char *ending = name_fits(base, kind) ? "" : kind == FILE_XENTRACE ? ".xen" : ".dat";
	size_t n = strlen(base);
	char *name, *p;

	if (*ending && ends_with(base, ".dat"))
		n -= strlen(".dat");
	for (int i = 1; ; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "%d-", i);
		if (asprintf(&name, "%s/%s%.*s%s", view->temp, number, (int)n, base, ending) < 0)
			return NULL;
		for (p = name + strlen(view->temp) + 1; *p; p++) {
			if (isspace((unsigned char)*p))
				*p = '_';
		}
		if (access(name, F_OK) && errno == ENOENT)
			return name;
		free(name);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int link_to(const char *target, const char *name)
{
	char *absolute = realpath(target, NULL);
	int ret = absolute && !symlink(absolute, name) ? 0 : -errno;

	if (ret)
		ksv_error("%s: cannot link to %s: %s", name, target, strerror(-ret));
	free(absolute);
	return ret;
}

static int link_sidecar(const char *sidecar, const char *name)
{
	char *link = xen_meta_path(name);
	int ret = link ? link_to(sidecar, link) : -ENOMEM;

	free(link);
	return ret;
}

/** Everything from a pipe into a file. */
static int copy_to_file(int in, const char *from, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char buffer[65536];
	ssize_t n = 0;

	if (out < 0)
		goto write_error;
	while (!caught_signal && (n = read(in, buffer, sizeof(buffer))) != 0) {
		ssize_t done = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ksv_error("%s: cannot read: %s", from, strerror(errno));
			close(out);
			return -EIO;
		}
		while (done < n) {
			ssize_t m = write(out, buffer + done, n - done);

			if (m < 0 && errno != EINTR)
				goto write_error;
			done += m > 0 ? m : 0;
		}
	}
	if (!close(out))
		return caught_signal ? -EINTR : 0;
	out = -1;
write_error:
	ksv_error("%s: cannot write: %s; set TMPDIR to a place with more room", to,
		  strerror(errno));
	if (out >= 0)
		close(out);
	return -EIO;
}

/** Standard input or a FIFO: copy it, then see what it is. */
static int hand_over_pipe(struct view *view, const char *path, char **handed)
{
	bool is_stdin = !strcmp(path, "-");
	const char *from = is_stdin ? "standard input" : path;
	char *raw = NULL, *name = NULL;
	int fd, ret;

	fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (!caught_signal)
			ksv_error("%s: %s", path, strerror(errno));
		return -EIO;
	}
	ret = make_temp(view);
	if (!ret && asprintf(&raw, "%s/.copy", view->temp) < 0) {
		raw = NULL;
		ret = -ENOMEM;
	}
	if (!ret)
		ret = copy_to_file(fd, from, raw);
	if (!is_stdin)
		close(fd);
	if (ret)
		goto out;
	name = temp_name(view, is_stdin ? "stdin" : base_name(path), kind_of(raw));
	ret = name && !rename(raw, name) ? 0 : -ENOMEM;
	if (ret)
		free(name);
	else
		*handed = name;
out:
	free(raw);
	return ret;
}

/** A regular file: as it is, if KernelShark can take it like that. */
static int hand_over_file(struct view *view, const char *path, bool appended, char **handed)
{
	enum file_kind kind = kind_of(path);
	char *sidecar = kind != FILE_UNKNOWN ? xen_meta_find(path) : NULL;
	char *expected = xen_meta_path(path);
	const char *why = NULL;
	int ret = -ENOMEM;

	if (!name_fits(path, kind))
		why = kind == FILE_XENTRACE ? "KernelShark takes *.dat for trace-cmd files" :
		      "KernelShark takes only *.dat for trace-cmd files";
	else if (appended && strchr(path, ' '))
		why = "KernelShark cannot append a file with a blank in its name";
	else if (sidecar && expected && strcmp(sidecar, expected) != 0)
		why = "its sidecar has another name";
	if (!why) {
		/* An option is what begins with a dash. */
		if (asprintf(handed, "%s%s", *path == '-' ? "./" : "", path) < 0)
			*handed = NULL;
		ret = *handed ? 0 : -ENOMEM;
		goto out;
	}
	ret = make_temp(view);
	if (ret)
		goto out;
	*handed = temp_name(view, base_name(path), kind);
	ret = *handed ? link_to(path, *handed) : -ENOMEM;
	if (!ret && sidecar)
		ret = link_sidecar(sidecar, *handed);
	if (!ret)
		ksv_error("%s: opened as %s, because %s; sessions that are saved with this name "
			  "cannot be restored", path, *handed, why);
out:
	free(sidecar);
	free(expected);
	return ret;
}

static bool check_readable(const char *path, struct stat *st)
{
	if (stat(path, st) || access(path, R_OK)) {
		ksv_error("%s: %s", path, strerror(errno));
		return false;
	}
	if (S_ISDIR(st->st_mode)) {
		ksv_error("%s: is a directory, not a trace", path);
		return false;
	}
	return true;
}

/** KernelShark would only say that there is no data. Return: false if the file is of no use. */
static bool check_trace_dat(const char *path)
{
	char problem[512];

	if (kind_of(path) != FILE_TRACE_CMD ||
	    trace_dat_check(path, problem, sizeof(problem), NULL))
		return true;
	ksv_error("%s: %s", path, problem);
	return false;
}

/** Leave files out that cannot be read. Return: -EIO if none is left. */
static int drop_unreadable(struct view *view)
{
	struct stat st;
	int n = 0;

	for (int i = 0; i < view->n_files; i++)
		if (stat(view->files[i], &st) || !S_ISREG(st.st_mode) ||
		    check_trace_dat(view->files[i]))
			view->files[n++] = view->files[i];
	if (n < view->n_files && n)
		ksv_error("opening the rest without %s", view->n_files - n > 1 ? "them" : "it");
	if (!n && view->n_files)
		return -EIO;
	view->n_files = n;
	return 0;
}

static int hand_over_all(struct view *view)
{
	struct stat st;
	int ret;

	/* First the checks, so that no pipe is read in vain. */
	for (int i = 0; i < view->n_files; i++) {
		if (!strcmp(view->files[i], "-")) {
			if (isatty(STDIN_FILENO)) {
				ksv_error("standard input is a terminal, not a trace");
				return -EINVAL;
			}
		} else if (!check_readable(view->files[i], &st)) {
			return -ENOENT;
		}
	}
	ret = drop_unreadable(view);
	for (int i = 0; i < view->n_files && !ret; i++) {
		const char *path = view->files[i];

		if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
			ret = hand_over_pipe(view, path, &view->names[i]);
		else
			ret = hand_over_file(view, path, i > 0, &view->names[i]);
		if (ret == -ENOMEM)
			ksv_error("not enough memory");
	}
	return ret;
}

/* --- plugins --------------------------------------------------------------------------------- */

/** The directory of this command. Return: malloc'ed, or NULL. */
static char *own_directory(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	char *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		*slash = '\0';
	return path;
}

/** A plugin's path: $KSHARK_VIRT_PLUGIN_DIR, else where it was built or installed. */
static char *plugin_path(const char *own, size_t i)
{
	const char *chosen = getenv("KSHARK_VIRT_PLUGIN_DIR");
	bool absolute = plugins[i].directory[0] == '/';
	char *path, *real;
	int n;

	if (chosen && *chosen)
		n = asprintf(&path, "%s/%s", chosen, plugins[i].file);
	else
		n = asprintf(&path, "%s%s%s/%s", absolute ? "" : own, absolute ? "" : "/",
			     plugins[i].directory, plugins[i].file);
	if (n < 0)
		return NULL;
	/* One path for one plugin: KernelShark crashes when it loads it under two. */
	real = realpath(path, NULL);
	if (!real)
		ksv_error("%s: %s; build or install the plugins, or set KSHARK_VIRT_PLUGIN_DIR",
			  path, strerror(errno));
	else if (strchr(real, ','))
		ksv_error("%s: KernelShark cannot load plugins with a comma in their path", real);
	free(path);
	if (real && strchr(real, ',')) {
		free(real);
		real = NULL;
	}
	return real;
}

static int find_plugins(struct view *view)
{
	char *own = own_directory();
	int ret = own ? 0 : -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(plugins) && !ret; i++) {
		char *path = plugin_path(own, i);
		char *list;

		if (!path) {
			ret = -ENOENT;
			break;
		}
		if (asprintf(&list, "%s%s%s", view->plugin_list ? view->plugin_list : "",
			     view->plugin_list ? "," : "", path) < 0) {
			ret = -ENOMEM;
		} else {
			free(view->plugin_list);
			view->plugin_list = list;
		}
		free(path);
	}
	free(own);
	return ret;
}

/* --- the command line of KernelShark --------------------------------------------------------- */

static char **build_argv(const struct view *view, const char *program)
{
	char **argv = calloc(6 + 2 * view->n_files + view->n_extra, sizeof(*argv));
	int n = 0;

	if (!argv)
		return NULL;
	/* Nothing here is written to; execv() only lacks the const. */
	argv[n++] = (char *)(uintptr_t)program;
	argv[n++] = (char *)(uintptr_t)"-p";
	argv[n++] = view->plugin_list;
	if (view->session) {
		argv[n++] = (char *)(uintptr_t)"-s";
		argv[n++] = (char *)(uintptr_t)view->session;
	}
	for (int i = 0; i < view->n_files; i++) {
		if (i > 0)
			argv[n++] = (char *)(uintptr_t)"-a";
		argv[n++] = view->names[i];
	}
	for (int i = 0; i < view->n_extra; i++)
		argv[n++] = view->extra[i];
	return argv;
}

/** A session has the combos that it was saved with. */
static bool hides_combos(const struct view *view)
{
	return view->no_combos || view->session;
}

/** One word as the shell reads it. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./,:=+@%";

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	}
	putchar('\'');
}

static void print_command(const struct view *view, char **argv)
{
	if (view->hz[0])
		printf("XEN_CPUHZ=%s ", view->hz);
	if (view->absolute)
		fputs("XEN_ABSTS=1 ", stdout);
	if (view->correct_skew)
		fputs("XEN_TSC_SKEW=correct ", stdout);
	if (hides_combos(view))
		fputs("KSHARK_VIRT_COMBOS=0 ", stdout);
	for (int i = 0; argv[i]; i++) {
		if (i)
			putchar(' ');
		print_word(argv[i]);
	}
	putchar('\n');
}

static void set_environment(const struct view *view)
{
	if (view->hz[0])
		setenv("XEN_CPUHZ", view->hz, 1);
	if (view->absolute)
		setenv("XEN_ABSTS", "1", 1);
	if (view->correct_skew)
		setenv("XEN_TSC_SKEW", "correct", 1);
	if (hides_combos(view))
		setenv("KSHARK_VIRT_COMBOS", "0", 1);
}

static bool have_display(void)
{
	static const char *const variables[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM",
	};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return true;
	}
	return false;
}

/** Start KernelShark and wait for its end. Return: its exit status. */
static int run_kernelshark(const struct view *view, char **argv)
{
	sigset_t block, before;
	int status = 0;
	pid_t pid;

	set_environment(view);
	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaddset(&block, caught[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (caught_signal) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return 128 + caught_signal;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
			signal(caught[i], SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		ksv_error("cannot start %s: %s; install KernelShark (Debian: apt-get install "
			  "kernelshark) or set KERNELSHARK", argv[0], strerror(errno));
		_exit(KSV_EXIT_USAGE);
	}
	child_pid = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		ksv_error("cannot start %s: %s", argv[0], strerror(errno));
		return KSV_EXIT_FILE;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int view_files(struct view *view)
{
	const char *program = getenv("KERNELSHARK");
	int status = KSV_EXIT_FILE;
	char **argv = NULL;
	struct stat st;

	if (!program || !*program)
		program = "kernelshark";
	if (view->session && !check_readable(view->session, &st))
		return KSV_EXIT_FILE;
	view->names = calloc(view->n_files + 1, sizeof(*view->names));
	if (!view->names)
		return KSV_EXIT_FILE;
	catch_signals();
	if (find_plugins(view)) {
		status = KSV_EXIT_USAGE;
		goto out;
	}
	if (hand_over_all(view)) {
		if (caught_signal)
			status = 128 + caught_signal;
		goto out;
	}
	argv = build_argv(view, program);
	if (!argv)
		goto out;
	if (view->dry_run) {
		print_command(view, argv);
		status = KSV_EXIT_OK;
	} else if (!have_display()) {
		ksv_error("no display: neither DISPLAY nor WAYLAND_DISPLAY is set.\n"
			  "Log in with 'ssh -X', start a virtual one with 'xvfb-run kshark-virt "
			  "view ...',\nor make a picture with 'scripts/view --screenshot OUT.png "
			  "FILE' of the source tree.");
		status = KSV_EXIT_USAGE;
	} else {
		status = run_kernelshark(view, argv);
	}
out:
	remove_temp(view);
	for (int i = 0; i < view->n_files; i++)
		free(view->names[i]);
	free(view->names);
	free(view->plugin_list);
	free(argv);
	return status;
}

/* --- our own command line -------------------------------------------------------------------- */

enum { KEY_CPU_HZ = 256, KEY_ABSOLUTE, KEY_SKEW, KEY_NO_COMBOS };

static const struct ksv_option view_option_table[] = {
	{ 's', "session", "FILE", "restore a KernelShark session instead of opening files" },
	{ KEY_CPU_HZ, "cpu-hz", "HZ", "frequency of the TSC in xentrace files, e.g. 2.4G" },
	{ KEY_ABSOLUTE, "absolute", NULL, "time 0 is TSC 0 instead of the first record" },
	{ KEY_SKEW, "correct-skew", NULL, "correct TSC differences between physical CPUs" },
	{ KEY_NO_COMBOS, "no-combos", NULL, "do not show hosts and guests as combos at once" },
	{ 'n', "dry-run", NULL, "print the command line instead of running it" },
};

static int view_option(void *arg, int key, const char *value)
{
	struct view *view = arg;
	uint64_t hz;

	switch (key) {
	case 's':
		view->session = value;
		break;
	case 'n':
		view->dry_run = true;
		break;
	case KEY_CPU_HZ:
		if (xen_clock_parse_hz(value, &hz))
			return ksv_usage_error(view->command, "--cpu-hz %s: not a CPU frequency; "
					       "write 2.4G, 2400M, 2399998K or Hz", value);
		snprintf(view->hz, sizeof(view->hz), "%llu", (unsigned long long)hz);
		break;
	case KEY_ABSOLUTE:
		view->absolute = true;
		break;
	case KEY_SKEW:
		view->correct_skew = true;
		break;
	case KEY_NO_COMBOS:
		view->no_combos = true;
		break;
	}
	return 0;
}

static int run_view(const struct ksv_command *command, int argc, char **argv)
{
	struct view view = { .command = command };
	int status, first, end = 1;

	/* What follows -- is not ours; getopt would mix it with the files. */
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		view.extra = argv + end + 1;
		view.n_extra = argc - end - 1;
		argv[end] = NULL;
	}
	status = ksv_parse(command, end, argv, view_option, &view, &first);
	if (status >= 0)
		return status;
	view.files = argv + first;
	view.n_files = end - first;
	if (view.session && view.n_files)
		return ksv_usage_error(command, "a session names its files itself; "
				       "'%s' is too much", view.files[0]);
	for (int i = 0, n = 0; i < view.n_files; i++) {
		n += !strcmp(view.files[i], "-");
		if (n > 1)
			return ksv_usage_error(command, "standard input can be read only once");
	}
	return view_files(&view);
}

const struct ksv_command cmd_view = {
	.name = "view",
	.args = "[OPTION...] [FILE...] [-- KERNELSHARK-ARGUMENT...]",
	.summary = "Open traces in KernelShark, with the plugins for virtual machines",
	.notes = "FILE: xentrace files (also compressed with gzip or zstd, from a pipe, or - for\n"
		 "standard input) and trace.dat files; the first is opened, others are appended.\n",
	.options = view_option_table,
	.n_options = ARRAY_SIZE(view_option_table),
	.run = run_view,
};
