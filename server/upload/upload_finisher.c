/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_finisher.h"

#include "server/upload/upload_intake.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/base/banned.h"

struct job_queue {
    struct finisher_job *first, *last;
};

struct upload_finisher {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t given;
    struct job_queue waiting, done;
    bool ends;
    int event;
    pthread_t *threads;
    int thread_count;
};

static void put(struct job_queue *queue, struct finisher_job *job)
{
    job->next = NULL;
    if (queue->last == NULL)
        queue->first = job;
    else
        queue->last->next = job;
    queue->last = job;
}

static struct finisher_job *take(struct job_queue *queue)
{
    struct finisher_job *job = queue->first;

    if (job != NULL)
        queue->first = job->next;
    if (queue->first == NULL)
        queue->last = NULL;
    return job;
}

static struct finisher_job *next_job(struct upload_finisher *finisher)
{
    struct finisher_job *job;

    while ((job = take(&finisher->waiting)) == NULL && !finisher->ends)
        pthread_cond_wait(&finisher->given, &finisher->lock);
    return job;
}

static void *finisher_main(void *context)
{
    struct upload_finisher *finisher = context;
    struct finisher_job *job;
    uint64_t one = 1;

    pthread_mutex_lock(&finisher->lock);
    while ((job = next_job(finisher)) != NULL) {
        pthread_mutex_unlock(&finisher->lock);
        upload_intake_finish(job->intake);
        pthread_mutex_lock(&finisher->lock);
        put(&finisher->done, job);
        (void)!write(finisher->event, &one, sizeof(one));
    }
    pthread_mutex_unlock(&finisher->lock);
    return NULL;
}

enum status upload_finisher_start(int threads, struct upload_finisher **ret_finisher,
                                  struct failure *failure)
{
    struct upload_finisher *finisher = calloc(1, sizeof(*finisher));
    enum status status = STATUS_OK;

    if (finisher == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    pthread_mutex_init(&finisher->lock, NULL);
    pthread_cond_init(&finisher->given, NULL);
    finisher->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    finisher->threads = calloc((size_t)threads, sizeof(*finisher->threads));
    if (finisher->event < 0 || finisher->threads == NULL)
        status = fail(failure, STATUS_IO, "event: %s", strerror(errno));
    while (status == STATUS_OK && finisher->thread_count < threads) {
        if (pthread_create(&finisher->threads[finisher->thread_count], NULL, finisher_main,
                           finisher) == 0)
            finisher->thread_count++;
        else
            status = fail(failure, STATUS_IO, "no thread: %s", strerror(errno));
    }
    if (status != STATUS_OK) {
        upload_finisher_stop(finisher);
        return status;
    }
    *ret_finisher = finisher;
    return STATUS_OK;
}

void upload_finisher_stop(struct upload_finisher *finisher)
{
    if (finisher == NULL)
        return;
    pthread_mutex_lock(&finisher->lock);
    finisher->ends = true;
    pthread_cond_broadcast(&finisher->given);
    pthread_mutex_unlock(&finisher->lock);
    for (int i = 0; i < finisher->thread_count; i++)
        pthread_join(finisher->threads[i], NULL);
    if (finisher->event >= 0)
        close(finisher->event);
    pthread_cond_destroy(&finisher->given);
    pthread_mutex_destroy(&finisher->lock);
    free(finisher->threads);
    free(finisher);
}

void upload_finisher_give(struct upload_finisher *finisher, struct finisher_job *job)
{
    pthread_mutex_lock(&finisher->lock);
    put(&finisher->waiting, job);
    pthread_cond_signal(&finisher->given);
    pthread_mutex_unlock(&finisher->lock);
}

struct finisher_job *upload_finisher_take_back(struct upload_finisher *finisher)
{
    struct finisher_job *job;
    uint64_t count;

    pthread_mutex_lock(&finisher->lock);
    job = take(&finisher->done);
    if (finisher->done.first == NULL)
        (void)!read(finisher->event, &count, sizeof(count));
    pthread_mutex_unlock(&finisher->lock);
    return job;
}

int upload_finisher_event(const struct upload_finisher *finisher)
{
    return finisher->event;
}
