/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* labload: the only workload of the lab, static, used in dom0 and in every domU.
 *   labload tsc                       print "tsc=<rdtsc> realtime=<s.ns> monotonic=<s.ns>"
 *   labload burn  CPU                 spin for ever on guest CPU number CPU
 *   labload mix   CPU BURN_US SLEEP_US   spin BURN_US, sleep SLEEP_US, repeat
 *   labload sleep CPU SLEEP_US        only wake up every SLEEP_US
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t rdtsc(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void pin(int cpu)
{
    cpu_set_t s;
    CPU_ZERO(&s);
    CPU_SET(cpu, &s);
    sched_setaffinity(0, sizeof s, &s); /* ignored if the CPU does not exist */
}

static void spin_us(uint64_t us)
{
    uint64_t end = now_us() + us;
    volatile uint64_t x = 0;
    do
        for (int i = 0; i < 2000; i++)
            x += i;
    while (now_us() < end);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "tsc")) {
        struct timespec r, m;
        uint64_t a = rdtsc();
        clock_gettime(CLOCK_REALTIME, &r);
        clock_gettime(CLOCK_MONOTONIC, &m);
        printf("tsc=%llu realtime=%lld.%09ld monotonic=%lld.%09ld\n",
               (unsigned long long)a, (long long)r.tv_sec, r.tv_nsec,
               (long long)m.tv_sec, m.tv_nsec);
        return 0;
    }
    if (argc < 3)
        return 2;
    pin(atoi(argv[2]));
    if (!strcmp(argv[1], "burn"))
        for (;;)
            spin_us(1000000);
    if (!strcmp(argv[1], "mix") && argc >= 5)
        for (;;) {
            spin_us(strtoull(argv[3], 0, 0));
            usleep(atoi(argv[4]));
        }
    if (!strcmp(argv[1], "sleep") && argc >= 4)
        for (;;)
            usleep(atoi(argv[3]));
    return 2;
}
