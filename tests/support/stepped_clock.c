// Clocks that a test sets on one host: what lies in the file STEPPED_CLOCK is added, "wall_ns monotonic_ns", as soon as it is there.
// Preloaded into the processes of that host (LD_PRELOAD); all other clocks are left as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long added[2];

static void look(void) {
    static long long looked_s;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    // Once in ten milliseconds, so that a clock stays as quick as it is.
    long long now_s = now.tv_sec * 100LL + now.tv_nsec / 10000000;
    if (now_s == looked_s) return;
    looked_s = now_s;
    const char *path = getenv("STEPPED_CLOCK");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return;
    if (fscanf(file, "%lld %lld", &added[0], &added[1]) != 2) added[0] = added[1] = 0;
    fclose(file);
}

int clock_gettime(clockid_t clock, struct timespec *found) {
    int result = syscall(SYS_clock_gettime, clock, found);
    if (result || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) return result;
    look();
    long long sum = found->tv_sec * 1000000000LL + found->tv_nsec + added[clock == CLOCK_MONOTONIC];
    found->tv_sec = sum / 1000000000LL;
    found->tv_nsec = sum % 1000000000LL;
    return 0;
}
