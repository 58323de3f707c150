// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/hypertrace: settings that can be changed while the module runs.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "ht.h"

static struct dentry *top;

/* What has been written, without a newline at its end. Return: its length or a negative errno. */
static ssize_t take_text(char *text, size_t size, const char __user *from, size_t n)
{
	if (n >= size)
		return -E2BIG;
	if (copy_from_user(text, from, n))
		return -EFAULT;
	text[n] = '\0';
	strim(text);
	return n;
}

/* A file of one setting: how it is shown, and how it is changed with the lock held. */
struct ht_file {
	const char	*name;
	void		(*show)(struct seq_file *seq);
	int		(*change)(char *text);	/* NULL: it is only shown */
};

static void show_enabled(struct seq_file *seq)
{
	seq_printf(seq, "%d\n", ht_is_on());
}

static int change_enabled(char *text)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret)
		return ret;
	if (on)
		return ht_start();
	ht_stop();
	return 0;
}

static void show_mode(struct seq_file *seq)
{
	seq_puts(seq, ht_settings.packed ? "packed\n" : "plain\n");
}

static int change_mode(char *text)
{
	bool packed = !strcmp(text, "packed");

	if (!packed && strcmp(text, "plain"))
		return -EINVAL;
	ht_settings.packed = packed;
	return ht_restart();
}

static void show_most(struct seq_file *seq)
{
	seq_printf(seq, "%u\n", ht_settings.most);
}

static int change_most(char *text)
{
	unsigned int most;
	int ret = kstrtouint(text, 0, &most);

	if (ret)
		return ret;
	ht_settings.most = most;
	return ht_restart();
}

static void show_functions(struct seq_file *seq)
{
	seq_printf(seq, "%s\n", ht_settings.functions);
}

static int change_functions(char *text)
{
	int ret;

	strscpy(ht_settings.functions, text, sizeof(ht_settings.functions));
	ret = ht_restart();
	if (ret) {
		ht_settings.functions[0] = '\0';
		ht_start();
	}
	return ret;
}

static void show_syscalls(struct seq_file *seq)
{
	if (ht_settings.some_syscalls)
		seq_printf(seq, "%*pbl\n", HT_MAX_SYSCALLS, ht_settings.syscalls);
	else
		seq_puts(seq, "all\n");
}

/* Numbers, as "0-3,17"; "all". */
static int change_syscalls(char *text)
{
	DECLARE_BITMAP(ids, HT_MAX_SYSCALLS);
	int ret;

	if (!strcmp(text, "all")) {
		WRITE_ONCE(ht_settings.some_syscalls, false);
		return 0;
	}
	ret = bitmap_parselist(text, ids, HT_MAX_SYSCALLS);
	if (ret)
		return ret;
	bitmap_copy(ht_settings.syscalls, ids, HT_MAX_SYSCALLS);
	WRITE_ONCE(ht_settings.some_syscalls, true);
	return 0;
}

static void show_stats(struct seq_file *seq)
{
	struct ht_cpu_stats stats;
	unsigned int cpu;

	seq_puts(seq, "cpu events calls lost\n");
	for_each_online_cpu(cpu) {
		ht_cpu_stats(cpu, &stats);
		seq_printf(seq, "%u %llu %llu %llu\n", cpu, stats.events, stats.calls, stats.lost);
	}
	seq_printf(seq, "functions missed: %llu\n", ht_functions_missed());
}

static void show_user(struct seq_file *seq)
{
	seq_puts(seq, "# write: ID VALUE\n");
}

static int change_user(char *text)
{
	struct ht_event event = { .kind = HT_USER };
	unsigned long long value = 0;
	unsigned int id;

	if (sscanf(text, "%u %lli", &id, &value) < 1)
		return -EINVAL;
	event.field[0] = id;
	event.field[1] = value;
	ht_report(&event);
	return 0;
}

static const struct ht_file files[] = {
	{ "enabled", show_enabled, change_enabled },
	{ "mode", show_mode, change_mode },
	{ "most", show_most, change_most },
	{ "functions", show_functions, change_functions },
	{ "syscalls", show_syscalls, change_syscalls },
	{ "stats", show_stats, NULL },
	{ "user", show_user, change_user },
};

static int file_show(struct seq_file *seq, void *unused)
{
	const struct ht_file *file = seq->private;

	ht_settings_lock();
	file->show(seq);
	ht_settings_unlock();
	return 0;
}

static int file_open(struct inode *inode, struct file *file)
{
	return single_open(file, file_show, inode->i_private);
}

static ssize_t file_write(struct file *opened, const char __user *from, size_t n, loff_t *at)
{
	const struct ht_file *file = ((struct seq_file *)opened->private_data)->private;
	char text[HT_LIST_SIZE];
	ssize_t ret = take_text(text, sizeof(text), from, n);
	int changed;

	if (ret < 0)
		return ret;
	/* root may write to a file that nobody may */
	if (!file->change)
		return -EACCES;
	ht_settings_lock();
	changed = file->change(text);
	ht_settings_unlock();
	return changed ? changed : ret;
}

static const struct file_operations file_operations = {
	.owner = THIS_MODULE, .open = file_open, .read = seq_read, .llseek = seq_lseek,
	.release = single_release, .write = file_write,
};

/* A file per tracepoint, in events/. */
static int event_get(void *data, u64 *value)
{
	*value = ((struct ht_probe *)data)->wanted;
	return 0;
}

static int event_set(void *data, u64 value)
{
	struct ht_probe *probe = data;
	int ret;

	if (value > 1)
		return -EINVAL;
	ht_settings_lock();
	probe->wanted = value;
	ret = ht_restart();
	ht_settings_unlock();
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(event_operations, event_get, event_set, "%llu\n");

void ht_control_init(void)
{
	struct ht_probe *probe;
	struct dentry *folder;
	int i;

	top = debugfs_create_dir("hypertrace", NULL);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, files[i].change ? 0600 : 0400, top,
				    (void *)&files[i], &file_operations);
	folder = debugfs_create_dir("events", top);
	for (probe = ht_probes; probe->name; probe++)
		if (probe->group && probe->tracepoint)
			debugfs_create_file_unsafe(probe->name, 0600, folder, probe,
						   &event_operations);
}

void ht_control_exit(void)
{
	debugfs_remove(top);
}
