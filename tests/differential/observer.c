/*
 * Preloaded into a process, writes down every request that it makes of a file: the same observer for fio and for us.
 *
 * Model: the log is a shared mapping of the file named by OBSERVER_LOG; it begins with the number of records, and clones that are forked
 * or threads of their own take their places in it by counting that up. The calls do what they did before.
 * Limits: positioned calls, libaio and flushes only; what goes through a mapping, io_uring or read and write at a moving position is not
 * seen. A read that is shorter than asked is written down as asked.
 *
 *     cc -shared -fPIC -O1 observer.c -o observer.so -ldl && OBSERVER_LOG=log LD_PRELOAD=./observer.so fio job.fio
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS_MAX = 400000 };

struct record {
    uint64_t instant_ns, inode, offset, length;
    uint32_t task, op;
};

struct log {
    _Atomic uint64_t count;
    struct record records[RECORDS_MAX];
};

static struct log *observed;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("OBSERVER_LOG");
    int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof(struct log)) != 0)
        return;
    void *mapping = mmap(NULL, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    observed = mapping == MAP_FAILED ? NULL : mapping;
    close(fd);
}

static void note(char op, int fd, uint64_t offset, uint64_t length) {
    struct stat facts;
    if (!observed || fstat(fd, &facts) != 0)
        return;
    uint64_t index = atomic_fetch_add(&observed->count, 1);
    if (index >= RECORDS_MAX)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t instant_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    observed->records[index] =
        (struct record){instant_ns, facts.st_ino, offset, length, (uint32_t)syscall(SYS_gettid), (uint32_t)op};
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread64(int fd, void *buffer, size_t length, off64_t offset) {
    note('r', fd, (uint64_t)offset, length);
    return NEXT(pread64)(fd, buffer, length, offset);
}

ssize_t pread(int fd, void *buffer, size_t length, off_t offset) {
    note('r', fd, (uint64_t)offset, length);
    return NEXT(pread)(fd, buffer, length, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t length, off64_t offset) {
    note('w', fd, (uint64_t)offset, length);
    return NEXT(pwrite64)(fd, buffer, length, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t length, off_t offset) {
    note('w', fd, (uint64_t)offset, length);
    return NEXT(pwrite)(fd, buffer, length, offset);
}

int fsync(int fd) {
    note('f', fd, 0, 0);
    return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
    note('f', fd, 0, 0);
    return NEXT(fdatasync)(fd);
}

static void note_allocation(int fd, int mode, off_t offset, off_t length) {
    if (mode & FALLOC_FL_PUNCH_HOLE)
        note('t', fd, (uint64_t)offset, (uint64_t)length);
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    note_allocation(fd, mode, offset, length);
    return NEXT(fallocate)(fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
    note_allocation(fd, mode, offset, length);
    return NEXT(fallocate64)(fd, mode, offset, length);
}

/* As in linux/aio_abi.h; libaio's own header need not be installed. */
struct iocb {
    uint64_t data;
    uint32_t key, flags;
    uint16_t opcode;
    int16_t priority;
    uint32_t fd;
    uint64_t buffer, length, offset;
};

int io_submit(void *context, long count, struct iocb **blocks) {
    static const char ops[] = {'r', 'w', 'f', 'f'};
    int (*next)(void *, long, struct iocb **) = (int (*)(void *, long, struct iocb **))dlsym(RTLD_NEXT, "io_submit");
    int taken = next(context, count, blocks);
    for (int index = 0; index < taken; index++)
        if (blocks[index]->opcode < sizeof ops)
            note(ops[blocks[index]->opcode], (int)blocks[index]->fd, blocks[index]->offset, blocks[index]->length);
    return taken;
}
