/* SPDX-License-Identifier: Apache-2.0 */
/* The history is folded as it is read: of each job only what it was told of is kept, and what two
 * lines say against each other is marked at once. */
#include "tools/lab/campaign/history.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

static void *or_abort(void *memory)
{
    if (memory == NULL)
        abort(); /* an auditor without memory has nothing to say */
    return memory;
}

struct told_machine *history_machine(const struct history *history, int64_t number)
{
    struct told_machine *machine;

    HASH_FIND(hh, history->machines, &number, sizeof(number), machine);
    return machine;
}

struct told_host *history_host(const struct history *history, int64_t id)
{
    struct told_host *host;

    HASH_FIND(hh, history->hosts, &id, sizeof(id), host);
    return host;
}

struct told_machine *history_machine_of_host(const struct history *history, int64_t id)
{
    const struct told_host *host = history_host(history, id);

    return host == NULL ? NULL : host->machine;
}

struct told_job *history_job(const struct history *history, struct text name)
{
    struct told_job *job;

    HASH_FIND(hh, history->jobs, name.at, name.length, job);
    return job;
}

static struct told_machine *make_machine(struct history *history, int64_t number)
{
    struct told_machine *machine = or_abort(calloc(1, sizeof(*machine)));

    machine->number = number;
    HASH_ADD(hh, history->machines, number, sizeof(machine->number), machine);
    if (history->last_born != NULL)
        history->last_born->next_born = machine;
    else
        history->first_born = machine;
    history->last_born = machine;
    return machine;
}

static struct told_host *make_host(struct history *history, int64_t id,
                                   struct told_machine *machine)
{
    struct told_host *host = history_host(history, id);

    if (host != NULL)
        return host;
    host = or_abort(calloc(1, sizeof(*host)));
    host->id = id;
    host->machine = machine;
    HASH_ADD(hh, history->hosts, id, sizeof(host->id), host);
    return host;
}

static struct told_job *make_job(struct history *history, struct text name)
{
    struct told_job *job = history_job(history, name);

    if (job != NULL)
        return job;
    job = or_abort(calloc(1, sizeof(*job)));
    job->name = or_abort(text_keep(name));
    HASH_ADD_KEYPTR(hh, history->jobs, job->name, name.length, job);
    return job;
}

static bool is_limited(const struct told_job *job)
{
    return !text_starts(text_from(job->name), TEXT("aimed_"));
}

/* The job leaves the host that was told of it. */
static void leave_host(struct history *history, const struct told_job *job)
{
    struct told_host *host = job->machine == NULL ? NULL : history_host(history, job->hostid);

    if (host != NULL && job->acked_for == NULL && is_limited(job) && host->in_progress > 0)
        host->in_progress--;
}

static void take_acknowledgement(struct history *history, struct told_machine *machine,
                                 struct text name, bool was_reported)
{
    struct told_job *job = make_job(history, name);

    history->acks++;
    leave_host(history, job);
    job->acked_for = machine;
    job->has_odd_ack = job->has_odd_ack || !was_reported || !job->is_reported;
}

static void take_job_told(struct history *history, struct told_machine *machine, int64_t hostid,
                          struct text name, bool was_listed)
{
    struct told_job *job = make_job(history, name);
    struct told_host *host = make_host(history, hostid, machine);

    job->came_again = job->came_again || was_listed || job->acked_for != NULL;
    if (job->machine != NULL) {
        job->went_to_two = job->went_to_two || job->machine != machine;
        return;
    }
    history->handouts++;
    job->machine = machine;
    job->hostid = hostid;
    if (job->acked_for != NULL || !is_limited(job))
        return;
    host->in_progress++;
    if (host->in_progress > host->most_in_progress)
        host->most_in_progress = host->in_progress;
}

static void take_figure(struct history *history, struct text name, int64_t count)
{
    size_t i = 0;

    while (i < history->figure_count && !text_is(name, history->figures[i].name))
        i++;
    if (i == FIGURES_MAX || name.length >= sizeof(history->figures[i].name)) {
        history->odd_lines++;
        return;
    }
    if (i == history->figure_count)
        memcpy(history->figures[history->figure_count++].name, name.at, name.length);
    history->figures[i].count += count;
}

/* The next word as a number; 0 and false when it is none. */
static bool next_number(struct text *rest, int64_t *ret_number)
{
    *ret_number = 0;
    return text_to_i64(text_split(rest, ' '), ret_number);
}

static bool take_birth(struct history *history, int64_t number, struct text rest)
{
    struct told_machine *machine;
    int64_t user;

    if (!next_number(&rest, &user) || history_machine(history, number) != NULL)
        return false;
    machine = make_machine(history, number);
    machine->user = user;
    machine->vendor = or_abort(text_keep(text_split(&rest, ' ')));
    return true;
}

static bool take_of_machine(struct history *history, char kind, struct told_machine *machine,
                            struct text rest)
{
    struct text word;
    int64_t number;

    switch (kind) {
    case 'q':
        history->requests++;
        machine->is_settled = false;
        return next_number(&rest, &machine->rpc_seqno);
    case 'r':
        if (rest.length == 0)
            return false;
        history->reports++;
        make_job(history, rest)->is_reported = true;
        return true;
    case 'i':
        if (!next_number(&rest, &number))
            return false;
        machine->hostid = number;
        machine->rpc_seqno = 0;
        make_host(history, number, machine);
        return true;
    case 'a':
        word = text_split(&rest, ' ');
        if (word.length == 0)
            return false;
        take_acknowledgement(history, machine, word, text_is(rest, "1"));
        return true;
    case 'g':
        if (!next_number(&rest, &number))
            return false;
        word = text_split(&rest, ' ');
        if (word.length == 0)
            return false;
        take_job_told(history, machine, number, word, text_is(rest, "1"));
        return true;
    case 'e':
        machine->is_settled = true;
        return true;
    case 'd':
        machine->is_gone = true;
        return true;
    default:
        return false;
    }
}

void history_take(struct history *history, struct text line)
{
    struct text rest = line, kind = text_split(&rest, ' '), name;
    struct told_machine *machine;
    int64_t number;
    bool is_understood = false;

    if (text_is(kind, "n")) {
        name = text_split(&rest, ' ');
        is_understood = next_number(&rest, &number);
        if (is_understood)
            take_figure(history, name, number);
    } else if (kind.length == 1 && next_number(&rest, &number)) {
        if (kind.at[0] == 'b')
            is_understood = take_birth(history, number, rest);
        else if ((machine = history_machine(history, number)) != NULL)
            is_understood = take_of_machine(history, kind.at[0], machine, rest);
    }
    history->odd_lines += !is_understood;
}

bool history_read(struct history *history, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool is_read;

    if (file == NULL)
        return errno == ENOENT;
    while ((length = getline(&line, &capacity, file)) > 0) {
        if (line[length - 1] == '\n')
            history_take(history, (struct text){line, (size_t)length - 1});
    }
    is_read = ferror(file) == 0;
    free(line);
    fclose(file);
    return is_read;
}

FILE *history_append(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    off_t length = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_END);
    FILE *file = NULL;
    char last = 0;

    while (length > 0 && last != '\n') {
        if (pread(descriptor, &last, 1, length - 1) != 1)
            length = -1;
        else
            length -= last != '\n';
    }
    if (length >= 0 && ftruncate(descriptor, length) == 0)
        file = fdopen(descriptor, "a");
    if (file == NULL && descriptor >= 0)
        close(descriptor);
    return file;
}

void history_clear(struct history *history)
{
    struct told_machine *machine = history->machines, *next_machine;
    struct told_host *host = history->hosts, *next_host;
    struct told_job *job = history->jobs, *next_job;

    /* The tables, and then what is in them. */
    HASH_CLEAR(hh, history->machines);
    HASH_CLEAR(hh, history->hosts);
    HASH_CLEAR(hh, history->jobs);
    for (; job != NULL; job = next_job) {
        next_job = job->hh.next;
        free(job->name);
        free(job);
    }
    for (; host != NULL; host = next_host) {
        next_host = host->hh.next;
        free(host);
    }
    for (; machine != NULL; machine = next_machine) {
        next_machine = machine->hh.next;
        free(machine->vendor);
        free(machine);
    }
    *history = (struct history){0};
}
