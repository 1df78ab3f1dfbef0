/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that goes faster, for programs that are not ours: preloaded (LD_PRELOAD), it makes a real
 * client and its tasks live a day in minutes. Moments are BEGIN + (moment - BEGIN) * SPEED, and
 * what is waited for is so much shorter, by the environment: QM_FAST_CLOCK="BEGIN SPEED", BEGIN in
 * s since 1970. With QM_FAST_CLOCK_DATE_ONLY only the date is changed, not how long is waited: so a
 * server of ours agrees with the client about the date, and its threads go on as ever. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double begin, speed = 1;
static int date_only;

__attribute__((constructor)) static void read_environment(void)
{
    const char *value = getenv("QM_FAST_CLOCK");
    char *end = NULL;

    if (value == NULL)
        return;
    begin = strtod(value, &end);
    speed = strtod(end, NULL);
    if (!(speed > 0))
        speed = 1;
    date_only = getenv("QM_FAST_CLOCK_DATE_ONLY") != NULL;
}

static double seconds_of(const struct timespec *moment)
{
    return (double)moment->tv_sec + 1e-9 * (double)moment->tv_nsec;
}

static struct timespec timespec_of(double seconds)
{
    struct timespec moment = {.tv_sec = (time_t)seconds};

    moment.tv_nsec = (long)((seconds - (double)moment.tv_sec) * 1e9);
    return moment;
}

static double date(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return begin + (seconds_of(&now) - begin) * speed;
}

/* Relative waiting. */
static double shorter(double seconds)
{
    return date_only ? seconds : seconds / speed;
}

int clock_gettime(clockid_t clock, struct timespec *ret_moment)
{
    long failed = syscall(SYS_clock_gettime, clock, ret_moment);

    if (failed != 0)
        return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        *ret_moment = timespec_of(date());
    else if (!date_only && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
                            clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME))
        *ret_moment = timespec_of(seconds_of(ret_moment) * speed);
    return 0;
}

int gettimeofday(struct timeval *restrict ret_moment, void *restrict zone)
{
    struct timespec moment = timespec_of(date());

    (void)zone;
    ret_moment->tv_sec = moment.tv_sec;
    ret_moment->tv_usec = moment.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret_moment)
{
    time_t moment = (time_t)date();

    if (ret_moment != NULL)
        *ret_moment = moment;
    return moment;
}

int nanosleep(const struct timespec *span, struct timespec *ret_left)
{
    struct timespec real = timespec_of(shorter(seconds_of(span)));

    return (int)syscall(SYS_nanosleep, &real, ret_left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span,
                    struct timespec *ret_left)
{
    struct timespec now;
    double seconds = seconds_of(span);

    if ((flags & TIMER_ABSTIME) != 0) {
        if (clock_gettime(clock, &now) != 0)
            return 0;
        seconds -= seconds_of(&now);
    }
    if (seconds > 0) {
        now = timespec_of(shorter(seconds));
        (void)syscall(SYS_nanosleep, &now, ret_left);
    }
    return 0;
}

int usleep(useconds_t microseconds)
{
    struct timespec span = timespec_of(1e-6 * (double)microseconds);

    return nanosleep(&span, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};

    (void)nanosleep(&span, NULL);
    return 0;
}

int select(int count, fd_set *restrict read_set, fd_set *restrict write_set,
           fd_set *restrict error_set, struct timeval *restrict timeout)
{
    struct timespec real;

    if (timeout == NULL)
        return (int)syscall(SYS_pselect6, count, read_set, write_set, error_set, NULL, NULL);
    real = timespec_of(shorter((double)timeout->tv_sec + 1e-6 * (double)timeout->tv_usec));
    return (int)syscall(SYS_pselect6, count, read_set, write_set, error_set, &real, NULL);
}

int poll(struct pollfd *items, nfds_t count, int milliseconds)
{
    struct timespec real = timespec_of(shorter(1e-3 * (double)milliseconds));

    return (int)syscall(SYS_ppoll, items, count, milliseconds < 0 ? NULL : &real, NULL, 0);
}
