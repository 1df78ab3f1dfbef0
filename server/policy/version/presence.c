/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times come from clients and from rows, so each is bounded where it enters: whatever a
 * client says, a share lies between 0 and 1, and counts for no other host but through the crowd's
 * mean. Invariant: a horizon that nothing was begun for has no mean. */
#include "server/policy/version/presence.h"

#include "server/base/arena.h"
#include "server/base/between.h"
#include "server/parse/message.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define SHORTEST    (6 * 3600.0) /* s */
#define KEPT        0.98         /* of the weight of the observations before */
#define WEIGHT_MAX  (1 / (1 - KEPT))
#define PRIOR       5.0 /* observations that the crowd's mean counts as */
#define STRETCH_MAX 1.5 /* horizons: of a longer observation nobody knows when the gain was */

enum { WORD = 4, WORDS = 6, CROWD_HOSTS_MIN = 10 };

double presence_length(size_t horizon)
{
    return ldexp(SHORTEST, (int)horizon);
}

/* --- as it is kept: for each horizon six words of four bytes, the lowest byte first ------------
 */

static uint32_t read_word(const char *at)
{
    uint32_t word = 0;

    for (int i = 0; i < WORD; i++)
        word |= (uint32_t)(unsigned char)at[i] << (8 * i);
    return word;
}

static float read_real(const char *at, double most)
{
    uint32_t word = read_word(at);
    float real;

    memcpy(&real, &word, sizeof(real));
    return (float)between(real, 0, most);
}

static void write_word(char *at, uint32_t word)
{
    for (int i = 0; i < WORD; i++)
        at[i] = (char)(unsigned char)(word >> (8 * i));
}

static void write_real(char *at, float real)
{
    uint32_t word;

    memcpy(&word, &real, sizeof(word));
    write_word(at, word);
}

static struct presence_horizon read_horizon(const char *at)
{
    struct presence_horizon horizon = {.begun = read_word(at)};

    if (horizon.begun == 0)
        return horizon;
    horizon.active = read_word(at + WORD);
    horizon.gpu_active = read_word(at + 2 * WORD);
    horizon.weight = read_real(at + 3 * WORD, WEIGHT_MAX);
    horizon.cpu = read_real(at + 4 * WORD, 1);
    horizon.gpu = read_real(at + 5 * WORD, 1);
    return horizon;
}

struct learned_presence presence_read(struct text stored)
{
    struct learned_presence presence = {0};

    if (stored.length != (size_t)PRESENCE_HORIZONS * WORDS * WORD)
        return presence;
    for (size_t i = 0; i < PRESENCE_HORIZONS; i++)
        presence.horizons[i] = read_horizon(stored.at + i * WORDS * WORD);
    return presence;
}

struct text presence_write(const struct learned_presence *presence, struct arena *arena)
{
    char bytes[PRESENCE_HORIZONS * WORDS * WORD];

    for (size_t i = 0; i < PRESENCE_HORIZONS; i++) {
        const struct presence_horizon *horizon = &presence->horizons[i];
        char *at = bytes + i * WORDS * WORD;

        write_word(at, horizon->begun);
        write_word(at + WORD, horizon->active);
        write_word(at + 2 * WORD, horizon->gpu_active);
        write_real(at + 3 * WORD, horizon->weight);
        write_real(at + 4 * WORD, horizon->cpu);
        write_real(at + 5 * WORD, horizon->gpu);
    }
    return text_copy(arena, (struct text){bytes, sizeof(bytes)});
}

/* --- a contact -------------------------------------------------------------------------------- */

/* Whole seconds that are above 0 and fit into a word. */
static bool to_seconds(double value, double least, uint32_t *ret_seconds)
{
    if (!(value >= least && value < (double)UINT32_MAX))
        return false;
    *ret_seconds = (uint32_t)value;
    return true;
}

/* A client that does not count for its coprocessors uses them as its CPUs. */
static bool read_counts(double now, const struct message *message, struct presence_horizon *ret_now)
{
    double gpu = message->has_total_gpu_active_duration ? message->total_gpu_active_duration
                                                        : message->total_active_duration;

    return message->has_total_active_duration && to_seconds(now, 1, &ret_now->begun) &&
           to_seconds(message->total_active_duration, 0, &ret_now->active) &&
           to_seconds(gpu, 0, &ret_now->gpu_active);
}

/* A host that was away for long may have computed right after the contact. */
static double share_of(double gain, double age, double length)
{
    return fmin(gain / (age <= STRETCH_MAX * length ? age : length), 1);
}

static void close_horizon(struct presence_horizon *horizon, const struct presence_horizon *now,
                          double length)
{
    double age = now->begun - horizon->begun;
    double cpu = share_of(now->active - horizon->active, age, length);
    double gpu = share_of(now->gpu_active - horizon->gpu_active, age, length);

    horizon->weight = (float)(KEPT * horizon->weight + 1);
    horizon->cpu += (float)((cpu - horizon->cpu) / horizon->weight);
    horizon->gpu += (float)((gpu - horizon->gpu) / horizon->weight);
}

/* Whether the client has lost its counts, or a clock was set back: what is open leads nowhere. */
static bool is_broken(const struct presence_horizon *horizon, const struct presence_horizon *now)
{
    return now->begun < horizon->begun || now->active < horizon->active ||
           now->gpu_active < horizon->gpu_active;
}

bool presence_contact(struct learned_presence *presence, double now, const struct message *message)
{
    struct presence_horizon read = {0};
    bool is_changed = false;

    if (!read_counts(now, message, &read))
        return false;
    for (size_t i = 0; i < PRESENCE_HORIZONS; i++) {
        struct presence_horizon *horizon = &presence->horizons[i];
        double length = presence_length(i);

        if (horizon->begun != 0 && !is_broken(horizon, &read)) {
            if (read.begun - horizon->begun < length)
                continue;
            close_horizon(horizon, &read, length);
        }
        horizon->begun = read.begun;
        horizon->active = read.active;
        horizon->gpu_active = read.gpu_active;
        is_changed = true;
    }
    return is_changed;
}

/* --- what is expected ------------------------------------------------------------------------- */

struct presence_shares presence_of_crowd(const struct text *stored, size_t count)
{
    double weight = 0, cpu = 0, gpu = 0;
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        struct learned_presence presence = presence_read(stored[i]);
        const struct presence_horizon *horizon = &presence.horizons[PRESENCE_TWO_DAYS];

        known += horizon->weight > 0;
        weight += horizon->weight;
        cpu += horizon->weight * horizon->cpu;
        gpu += horizon->weight * horizon->gpu;
    }
    if (known < CROWD_HOSTS_MIN)
        return (struct presence_shares){0};
    return (struct presence_shares){cpu / weight, gpu / weight};
}

static double mix(double weight, double own, double prior)
{
    return (weight * own + PRIOR * prior) / (weight + PRIOR);
}

struct presence_shares presence_expect(const struct learned_presence *presence,
                                       struct presence_shares crowd,
                                       struct presence_shares reported)
{
    const struct presence_horizon *horizon = &presence->horizons[PRESENCE_TWO_DAYS];
    bool has_crowd = crowd.cpu > 0 || crowd.gpu > 0;
    struct presence_shares prior = has_crowd ? crowd : reported;

    if (horizon->begun == 0)
        return (struct presence_shares){0};
    return (struct presence_shares){mix(horizon->weight, horizon->cpu, prior.cpu),
                                    mix(horizon->weight, horizon->gpu, prior.gpu)};
}
