/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times come from clients and from rows, so each is bounded where it enters: whatever a
 * client says, a share lies between 0 and 1, and counts for no other host but through the crowd's
 * mean. Invariant: where no observation was begun there is no mean. */
#include "server/policy/version/presence.h"

#include "server/base/arena.h"
#include "server/base/between.h"
#include "server/parse/message.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

#define LENGTH     (2 * 86400.0) /* s of an observation, at least: about as long as deadlines are */
#define KEPT       0.98          /* of the weight of the observations before */
#define WEIGHT_MAX (1 / (1 - KEPT))
#define PRIOR      5.0            /* observations that the crowd's mean counts as */
#define AGE_MAX    (1.5 * LENGTH) /* of a longer observation nobody knows when the gain was */

enum { WORD = 4, WORDS = 6, CROWD_HOSTS_MIN = 10 };

/* --- as it is kept: six words of four bytes, the lowest byte first -----------------------------
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

struct learned_presence presence_read(struct text stored)
{
    struct learned_presence presence = {0};

    if (stored.length != (size_t)WORDS * WORD || read_word(stored.at) == 0)
        return presence;
    presence.begun = read_word(stored.at);
    presence.active = read_word(stored.at + WORD);
    presence.gpu_active = read_word(stored.at + 2 * WORD);
    presence.weight = read_real(stored.at + 3 * WORD, WEIGHT_MAX);
    presence.cpu = read_real(stored.at + 4 * WORD, 1);
    presence.gpu = read_real(stored.at + 5 * WORD, 1);
    return presence;
}

struct text presence_write(const struct learned_presence *presence, struct arena *arena)
{
    char bytes[WORDS * WORD];

    write_word(bytes, presence->begun);
    write_word(bytes + WORD, presence->active);
    write_word(bytes + 2 * WORD, presence->gpu_active);
    write_real(bytes + 3 * WORD, presence->weight);
    write_real(bytes + 4 * WORD, presence->cpu);
    write_real(bytes + 5 * WORD, presence->gpu);
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
static bool read_counts(double now, const struct message *message, struct learned_presence *ret_now)
{
    double gpu = message->has_total_gpu_active_duration ? message->total_gpu_active_duration
                                                        : message->total_active_duration;

    return message->has_total_active_duration && to_seconds(now, 1, &ret_now->begun) &&
           to_seconds(message->total_active_duration, 0, &ret_now->active) &&
           to_seconds(gpu, 0, &ret_now->gpu_active);
}

/* A host that was away for long may have computed right after the contact. */
static double share_of(double gain, double age)
{
    return fmin(gain / (age <= AGE_MAX ? age : LENGTH), 1);
}

static void close_observation(struct learned_presence *presence, const struct learned_presence *now)
{
    double age = now->begun - presence->begun;
    double cpu = share_of(now->active - presence->active, age);
    double gpu = share_of(now->gpu_active - presence->gpu_active, age);

    presence->weight = (float)(KEPT * presence->weight + 1);
    presence->cpu += (float)((cpu - presence->cpu) / presence->weight);
    presence->gpu += (float)((gpu - presence->gpu) / presence->weight);
}

/* Whether the client has lost its counts, or a clock was set back: what is open leads nowhere. */
static bool is_broken(const struct learned_presence *presence, const struct learned_presence *now)
{
    return now->begun < presence->begun || now->active < presence->active ||
           now->gpu_active < presence->gpu_active;
}

bool presence_contact(struct learned_presence *presence, double now, const struct message *message)
{
    struct learned_presence read = {0};

    if (!read_counts(now, message, &read))
        return false;
    if (presence->begun != 0 && !is_broken(presence, &read)) {
        if (read.begun - presence->begun < LENGTH)
            return false;
        close_observation(presence, &read);
    }
    presence->begun = read.begun;
    presence->active = read.active;
    presence->gpu_active = read.gpu_active;
    return true;
}

/* --- what is expected ------------------------------------------------------------------------- */

struct presence_shares presence_of_crowd(const struct text *stored, size_t count)
{
    double weight = 0, cpu = 0, gpu = 0;
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        struct learned_presence presence = presence_read(stored[i]);

        known += presence.weight > 0;
        weight += presence.weight;
        cpu += presence.weight * presence.cpu;
        gpu += presence.weight * presence.gpu;
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
    bool has_crowd = crowd.cpu > 0 || crowd.gpu > 0;
    struct presence_shares prior = has_crowd ? crowd : reported;

    if (presence->begun == 0)
        return (struct presence_shares){0};
    return (struct presence_shares){mix(presence->weight, presence->cpu, prior.cpu),
                                    mix(presence->weight, presence->gpu, prior.gpu)};
}
