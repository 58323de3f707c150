// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_plugins.c
 * @brief	Where our plugins are, for KernelShark's option -p.
 *
 * KernelShark 2.2.1 splits the argument of -p at commas.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "own_directory.h"
#include "view.h"

/** Our plugins and where they are, as seen from the directory of this command. */
static const struct {
	const char	*file;
	const char	*directory;
	unsigned int	shows;		/* enum view_plugins */
	bool		optional;	/* all else works without it, as with an older folder */
} plugins[] = {
	{ "plugin-xentrace.so", KSHARK_VIRT_PLUGIN_DIR, 0, false },
	{ "plugin-hypertrace.so", KSHARK_VIRT_PLUGIN_DIR, VIEW_GUESTS, true },
	{ "plugin-lttng.so", KSHARK_VIRT_PLUGIN_DIR, VIEW_FOLDERS, true },
	{ "plugin-qemu.so", KSHARK_VIRT_PLUGIN_DIR, 0, true },
	{ "plugin-virt.so", KSHARK_VIRT_PLUGIN_DIR, 0, false },
	{ "plugin-kvm_combo.so", KSHARK_VIRT_COMBO_DIR, 0, false },
};

/**
 * A plugin's path: $KSHARK_VIRT_PLUGIN_DIR, else where it was built or installed.
 *
 * Return: malloc'ed; NULL after a message, or with ENOENT for one that need not be there.
 */
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
	if (!real && errno == ENOENT && plugins[i].optional) {
		free(path);
		errno = ENOENT;
		return NULL;
	}
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
	errno = real ? 0 : EINVAL;
	return real;
}

/** A list with one more path. Return: malloc'ed, or NULL; frees @list. */
static char *append(char *list, const char *path)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", list ? list : "", list ? "," : "", path) < 0)
		longer = NULL;
	free(list);
	return longer;
}

char *view_plugin_list(unsigned int *shown)
{
	char *own = own_directory();
	char *list = NULL;

	*shown = 0;
	for (size_t i = 0; own && i < ARRAY_SIZE(plugins); i++) {
		char *path = plugin_path(own, i);

		if (!path && errno == ENOENT)
			continue;
		if (!path) {
			free(list);
			list = NULL;
			break;
		}
		*shown |= plugins[i].shows;
		list = append(list, path);
		free(path);
		if (!list)
			break;
	}
	free(own);
	return list;
}
