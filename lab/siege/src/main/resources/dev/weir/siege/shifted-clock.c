/*
 * A wall clock that another process sets, for one process: built as a library and named in LD_PRELOAD.
 * The file that SHIFTED_CLOCK names has the nanoseconds by which CLOCK_REALTIME is shifted, as the machine
 * writes 64 bits. No other clock is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find(void) {
  const char *path = getenv("SHIFTED_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (file >= 0) {
    void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    shift = mapped == MAP_FAILED ? 0 : mapped;
    close(file);
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real) {
    find();
  }
  int result = real(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME && shift) {
    int64_t nanos = now->tv_nsec + *shift % 1000000000;
    now->tv_sec += *shift / 1000000000;
    if (nanos < 0 || nanos >= 1000000000) {
      now->tv_sec += nanos < 0 ? -1 : 1;
      nanos += nanos < 0 ? 1000000000 : -1000000000;
    }
    now->tv_nsec = nanos;
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  (void)zone;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) {
    *now = exact.tv_sec;
  }
  return exact.tv_sec;
}
