/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_confine.h
 * @brief	Take all rights from a process that reads a hostile file, except the few it needs.
 */
#ifndef KSHARK_VIRT_KVM_CONFINE_H
#define KSHARK_VIRT_KVM_CONFINE_H

#include <stdbool.h>

/** This variable in the environment leaves a process unconfined, so that valgrind can count. */
#define KVM_UNCONFINED	"KSHARK_VIRT_UNCONFINED"

/**
 * kvm_confine - leave this process nothing but its open files and its memory
 *
 * A process of root becomes the user who called sudo, or nobody. Landlock (from Linux 5.13 on)
 * forbids to open files; seccomp forbids to start processes and to reach others, except through
 * open files. On a kernel without one of them, the other works alone.
 *
 * Return: false if root could not give its rights up; the process must end then.
 */
bool kvm_confine(void);

/** kvm_confine_writer - the same for a process that writes to files that it has open. */
bool kvm_confine_writer(void);

/**
 * kvm_confine_to - as kvm_confine_writer(), but files can be opened for reading
 * @folder: in which, or below which, they are
 *
 * A process of root keeps the right to read files of others (CAP_DAC_READ_SEARCH), as the folder
 * may be root's own. On a kernel without Landlock, all files can be opened for reading.
 */
bool kvm_confine_to(const char *folder);

#endif
