/* SPDX-License-Identifier: Apache-2.0 */
/* Plain CGI: one request from the environment and standard input. A process for each upload is
 * cheap enough here, since nothing is opened but the folder. */
#include "server/upload/upload.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/upload/upload_intake.h"
#include "server/upload/upload_project.h"
#include "server/upload/upload_store.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    READ_SIZE = 64 * 1024,
    RESPONSE_MAX = 8192,
    DROP_S = 60,       /* after an answer that did not need the body */
    SWEEP_ONE_IN = 500 /* requests: nobody else is there to do it */
};
#define DAY_S 86400.0

/* How much of the body is still to come; INT64_MAX: until it ends. */
static int64_t body_length(void)
{
    int64_t length = INT64_MAX;

    if (!text_to_i64(text_from(getenv("CONTENT_LENGTH")), &length) || length < 0)
        return INT64_MAX;
    return length;
}

/* The next piece; 0: the end, or silence for so long. */
static size_t read_piece(char piece[READ_SIZE], int64_t left, double patience)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    size_t most = left < READ_SIZE ? (size_t)left : READ_SIZE;
    ssize_t got;

    do {
        if (most == 0 || poll(&wait, 1, (int)(patience * 1000)) == 0)
            return 0;
        got = read(STDIN_FILENO, piece, most);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : (size_t)got;
}

/* Returns how much of the body was not needed. */
static int64_t receive(struct upload_intake *intake)
{
    double patience = intake->project->config->upload_patience;
    int64_t left = body_length();
    char piece[READ_SIZE];
    size_t got;

    while (intake->stage < UPLOAD_TO_FINISH && (got = read_piece(piece, left, patience)) > 0) {
        upload_intake_add(intake, (struct text){piece, got});
        left -= (int64_t)got;
    }
    upload_intake_end(intake);
    if (intake->stage == UPLOAD_TO_FINISH)
        upload_intake_finish(intake);
    return left;
}

/* Web servers may fail to pass an answer on while they still have something to give. Behind the
 * body nothing need come, nor an end. */
static void drop_rest(int64_t left)
{
    uint64_t end_ns = clock_ns() + DROP_S * UINT64_C(1000000000);
    char piece[READ_SIZE];
    size_t got;

    while (clock_ns() < end_ns && (got = read_piece(piece, left, DROP_S)) > 0)
        left -= (int64_t)got;
}

static enum status write_response(const struct buffer *response)
{
    return file_write_all(STDOUT_FILENO, buffer_text(response)) ? STATUS_OK : STATUS_IO;
}

/* Our own fault: the client keeps its file and comes again. */
static enum status answer_later(void)
{
    struct upload_intake intake = {.decision =
                                       upload_not_possible("the project is not set up correctly")};
    struct buffer response = buffer_on_heap(RESPONSE_MAX);
    enum status status;

    upload_intake_response(&intake, &response);
    status = write_response(&response);
    buffer_free(&response);
    return status;
}

static void sweep_sometimes(const struct upload_project *project)
{
    double days = project->config->upload_partial_days;

    if (days > 0 && random_u64() % SWEEP_ONE_IN == 0)
        (void)upload_store_sweep(project->store, days * DAY_S);
}

enum status upload_run_cgi(const struct upload_options *options, struct failure *failure)
{
    struct upload_project *project = NULL;
    struct buffer response = buffer_on_heap(RESPONSE_MAX);
    struct upload_intake intake;
    enum status status;
    int64_t left;

    if (upload_project_load(options->project_dir, &project, failure) != STATUS_OK) {
        log_event(LOG_LEVEL_CRITICAL, "upload_not_possible", text_from(failure->text));
        return answer_later();
    }
    upload_intake_begin(&intake, project, text_from(getenv("REMOTE_ADDR")));
    left = receive(&intake);
    upload_intake_response(&intake, &response);
    status = write_response(&response);
    if (status != STATUS_OK)
        (void)fail(failure, status, "the web server broke the request off");
    close(STDOUT_FILENO); /* that is the whole answer */
    upload_intake_drop(&intake);
    drop_rest(left);
    sweep_sometimes(project);
    upload_project_release(project);
    buffer_free(&response);
    return status;
}
