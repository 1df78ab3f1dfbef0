/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/emulation.h"

#include "tests/support/test.h"
#include "tools/lab/volunteers/host/life.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define DAY 86400.0

struct population emulation_steady(void)
{
    struct population population = population_measured();

    population.always_on = true;
    population.error_rate = population.abandon_rate = population.estimate_sigma = 0;
    population.flops_min = population.flops_max = 1e9;
    population.gpu_efficiency = 1;
    return population;
}

struct emulation *emulation_create(void)
{
    struct emulation *emulation = calloc(1, sizeof(*emulation));

    assert_non_null(emulation);
    emulation->population = emulation_steady();
    for (size_t p = 0; p < EMULATION_PROJECTS_MAX; p++)
        emulation->projects[p] = (struct emulated_project){
            .serves = {true}, .run_time = 3600, .bound = 30 * DAY, .request_delay = 10};
    return emulation;
}

void emulation_begin(struct emulation *emulation, uint64_t seed)
{
    assert_true(
        volunteer_init(&emulation->volunteer, &emulation->population, seed, 0, EMULATION_BEGIN));
}

void emulation_free(struct emulation *emulation)
{
    volunteer_question_free(&emulation->question);
    volunteer_free(&emulation->volunteer);
    free(emulation);
}

struct reply {
    struct incoming incoming;
    struct incoming_job jobs[100];
    char names[100][32];
    struct incoming_file files[100];
    char file_names[100][32];
    struct text acks[VOLUNTEER_JOBS_MAX];
    char acked[VOLUNTEER_JOBS_MAX][32];
};

/* Acknowledged names are copies: the host's own go as it reads. */
static void acknowledge(struct emulation *emulation, struct emulated_project *project,
                        struct reply *reply)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;

    for (size_t i = 0; i < outgoing->job_count; i++) {
        size_t at = reply->incoming.ack_count;

        if (!outgoing->jobs[i].is_own || !outgoing->jobs[i].done)
            continue;
        snprintf(reply->acked[at], sizeof(reply->acked[at]), "%s", outgoing->jobs[i].name);
        reply->acks[at] = text_from(reply->acked[at]);
        reply->incoming.ack_count++;
        project->reported++;
    }
}

static void add_job(struct emulation *emulation, struct emulated_project *project, size_t resource,
                    struct reply *reply)
{
    const struct fetch_resource *processor = &emulation->volunteer.fetch.resources[resource];
    size_t at = reply->incoming.job_count++;

    snprintf(reply->names[at], sizeof(reply->names[at]), "job_%llu",
             (unsigned long long)++emulation->number);
    reply->jobs[at] = (struct incoming_job){
        .name = text_from(reply->names[at]),
        .workunit = text_from(reply->names[at]),
        .app = resource == CLIENT_CPU ? TEXT("for CPUs") : TEXT("for GPUs"),
        .version = project - emulation->projects,
        .deadline = emulation->volunteer.now + project->bound,
        .operations =
            project->run_time * processor->flops * (project->optimism > 0 ? project->optimism : 1),
        .use.flops = processor->flops * (project->optimism > 0 ? project->optimism : 1),
        .use.cpus = resource == CLIENT_CPU ? 1 : project->coproc_cpus,
        .use.coproc = resource,
        .use.coprocs = resource == CLIENT_CPU ? 0 : 1,
    };
    reply->jobs[at].version_use = reply->jobs[at].use;
    project->sent++;
    if (project->file_bytes <= 0)
        return;
    snprintf(reply->file_names[at], sizeof(reply->file_names[at]), "file_%llu",
             (unsigned long long)emulation->number);
    reply->files[at] = (struct incoming_file){.name = text_from(reply->file_names[at]),
                                              .bytes = project->file_bytes,
                                              .priority = project->file_priority,
                                              .life = project->file_life,
                                              .sticky = true};
    if (project->file_is_output) {
        reply->jobs[at].output = reply->files[at];
        return;
    }
    reply->jobs[at].files = &reply->files[at];
    reply->jobs[at].file_count = 1;
}

static void send_jobs(struct emulation *emulation, struct emulated_project *project,
                      struct reply *reply)
{
    const struct outgoing *outgoing = &emulation->question.outgoing;
    size_t most = project->jobs_max == 0 ? 100 : project->jobs_max;

    for (size_t r = 0; r < CLIENT_RESOURCES; r++) {
        double seconds = outgoing->demands[r].seconds, instances = outgoing->demands[r].instances;

        if (!project->keeps_silent_of_resources)
            reply->incoming.answers[r] = project->serves[r] ? FETCH_NONE_NOW : FETCH_UNSUPPORTED;
        while (project->serves[r] && (seconds > 1e-6 || instances > 1e-6) &&
               reply->incoming.job_count < most) {
            if (project->refuses_for_deadlines) {
                reply->incoming.no_work_deadlines = true;
                project->refused++;
                break;
            }
            add_job(emulation, project, r, reply);
            seconds -= project->run_time / outgoing->on_fraction;
            instances -= 1;
        }
    }
}

static void answer(struct emulation *emulation, struct emulated_project *project)
{
    struct reply *reply = calloc(1, sizeof(*reply));

    assert_non_null(reply);
    reply->incoming = (struct incoming){.request_delay = project->request_delay,
                                        .next_rpc_delay = project->next_rpc_delay,
                                        .hostid = 1,
                                        .send_full_workload = !project->no_full_workload,
                                        .deletes_by_priority = project->deletes_by_priority,
                                        .deletes_by_expiry = project->deletes_by_expiry,
                                        .jobs = reply->jobs,
                                        .acks = reply->acks};
    reply->incoming.is_down = project->is_down;
    if (!project->is_down) {
        acknowledge(emulation, project, reply);
        send_jobs(emulation, project, reply);
    }
    volunteer_hear(&emulation->volunteer, &emulation->question, &reply->incoming);
    free(reply);
}

static void show_page(struct emulation *emulation, struct emulated_project *project)
{
    project->pages_read++;
    if (project->page_count > 0) {
        memcpy(project->read, project->page, sizeof(project->read));
        project->read_count = project->page_count;
    }
    volunteer_hear_master(&emulation->volunteer, &emulation->question, project->page,
                          project->page_count);
}

/* Nobody is asked of whom the host knows nothing. */
static void see_scheduler(const struct emulation *emulation, struct emulated_project *project)
{
    size_t scheduler = emulation->question.scheduler;

    assert_true(scheduler < 8);
    project->rpcs_of[scheduler]++;
    if (emulation->population.reads_masters)
        assert_non_null(memchr(project->read, (int)scheduler, project->read_count));
    else
        assert_int_equal(scheduler, 0);
}

static void talk(struct emulation *emulation)
{
    struct emulated_project *project = &emulation->projects[emulation->question.project];

    if (emulation->question.request.reads_master) {
        show_page(emulation, project);
        return;
    }
    see_scheduler(emulation, project);
    assert_int_equal(emulation->question.request.project, emulation->question.attached);
    project->rpcs++;
    project->last_rpc = emulation->volunteer.now;
    if (emulation->look != NULL)
        emulation->look(emulation, emulation->context);
    if (project->is_silent || (project->dead >> emulation->question.scheduler & 1) != 0)
        volunteer_hear_nothing(&emulation->volunteer, &emulation->question);
    else
        answer(emulation, project);
}

void emulation_run(struct emulation *emulation, double days)
{
    struct volunteer *volunteer = &emulation->volunteer;
    double end = EMULATION_BEGIN + days * DAY;

    while (volunteer->now < end) {
        uint64_t before = emulation->events++;

        /* A host that does something all the time does something wrong. */
        assert_true(before < 1000000);
        if (volunteer_ask(volunteer, &emulation->question))
            talk(emulation);
        volunteer_live(volunteer, fmin(volunteer_next_event(volunteer), end));
    }
}
