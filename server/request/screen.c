/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said about a request without the database: whether the project sends work to such a
 * client, system and processor at all, and what its user should know. Nothing ends here: whoever is
 * refused work still reports, and a request that asks for nothing still learns about its account.
 * What is found is kept for every attempt at the transaction, in request->early. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/policy/host/bounds.h"
#include "server/policy/limits/amounts.h"
#include "server/rpc/request_delay.h"

#include "server/base/banned.h"

/* Names from the client that are repeated to its user are cut to this many bytes. */
enum { SHOWN_NAME = 80 };

/* s */
static const double upgrade_hint_least = 3600, upgrade_notice_last = 3 * 86400.0;

/* A version number as config.xml may still spell it: without the release. */
static int64_t full_version(int64_t version)
{
    return version < 10000 ? version * 100 : version;
}

static const char *version_words(struct request *request, int64_t version)
{
    return text_string(request->arena,
                       text_print(request->arena, "%lld.%lld.%lld", (long long)(version / 10000),
                                  (long long)(version / 100 % 100), (long long)(version % 100)));
}

static void forbid_work(struct request *request, const struct refusal *refusal)
{
    request->work_forbidden = true;
    answer_refuse(request->arena, &request->early, refusal);
    answer_delay(&request->early, delay_of_request(request, DELAY_NOT_ACCEPTED, 0));
}

static bool is_banned(struct request *request, const struct config_patterns *patterns,
                      struct text name, struct text detail)
{
    if (patterns->first == NULL)
        return false;
    return config_matches(
        patterns,
        text_string(request->arena, text_print(request->arena, TEXT_FORMAT "\t" TEXT_FORMAT,
                                               TEXT_ARG(bound_head(name, BOUND_STRING)),
                                               TEXT_ARG(bound_head(detail, BOUND_STRING)))));
}

static void screen_client(struct request *request)
{
    int64_t least = full_version(request->config->min_core_client_version);

    if (request->client_version < least)
        forbid_work(request, &(struct refusal){.reason = REASON_CLIENT_NOT_ACCEPTED,
                                               .need = (double)least,
                                               .have = (double)request->client_version});
}

static void screen_upgrade(struct request *request)
{
    int64_t announced = full_version(request->config->min_core_client_version_announced);
    double left = (double)request->config->min_core_client_upgrade_deadline - request->now;
    long long hours = (long long)(left / 3600);

    if (request->work_forbidden || request->client_version >= announced ||
        left < upgrade_hint_least)
        return;
    answer_say(request->arena, &request->early,
               left < upgrade_notice_last ? MESSAGE_NOTICE : MESSAGE_LOW,
               "In " COUNT_FORMAT " and " COUNT_FORMAT
               " this project will need BOINC client %s; yours is %s",
               COUNT_ARG(hours / 24, "day"), COUNT_ARG(hours % 24, "hour"),
               version_words(request, announced), version_words(request, request->client_version));
}

static void screen_system(struct request *request)
{
    const struct message *message = &request->message;
    const struct config *config = request->config;

    if (is_banned(request, &config->ban_os, message->os_name, message->os_version))
        forbid_work(request,
                    &(struct refusal){.reason = REASON_OS_NOT_ACCEPTED,
                                      .name = bound_head(message->os_name, SHOWN_NAME),
                                      .type = bound_head(message->os_version, SHOWN_NAME)});
    if (is_banned(request, &config->ban_cpu, message->p_vendor, message->p_model))
        forbid_work(request, &(struct refusal){.reason = REASON_CPU_NOT_ACCEPTED,
                                               .name = bound_head(message->p_vendor, SHOWN_NAME),
                                               .type = bound_head(message->p_model, SHOWN_NAME)});
    if (message->p_vendor.length == 0 || message->os_name.length == 0)
        answer_say(request->arena, &request->early, MESSAGE_NOTICE, "Your BOINC client does not %s",
                   message->p_vendor.length > 0  ? "tell the operating system"
                   : message->os_name.length > 0 ? "tell the vendor of the processor"
                                                 : "describe this computer: host_info is "
                                                   "missing or empty");
}

/* Accounts take turns by the first key in the body (server/process/waiting.h), the parser takes the
 * last. Clients write one; who writes another before it would be served on somebody else's turn. */
static bool is_out_of_turn(const struct request *request)
{
    return request->transport.has_account &&
           request_account(request->message.authenticator) != request->transport.account;
}

static enum next refuse_out_of_turn(struct request *request)
{
    request->early.kind = ANSWER_NUCLEUS;
    answer_refuse(request->arena, &request->early, &(struct refusal){.reason = REASON_TWO_KEYS});
    answer_delay(&request->early, delay_of_request(request, DELAY_NOT_ACCEPTED, 0));
    return NEXT_REPLY;
}

enum next step_screen(struct request *request)
{
    if (is_out_of_turn(request))
        return refuse_out_of_turn(request);
    screen_client(request);
    screen_system(request);
    screen_upgrade(request);
    if (request->config->dont_send_jobs || request->stop_work) {
        request->work_forbidden = true;
        if (message_wants_work(&request->message))
            answer_refuse(request->arena, &request->early,
                          &(struct refusal){.reason = request->stop_work ? REASON_STOP_WORK
                                                                         : REASON_DONT_SEND_JOBS});
    }
    return NEXT_STEP;
}
