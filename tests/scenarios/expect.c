/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario expects: of the last reply and of the rows behind it. */
#include "server/base/arena.h"
#include "server/policy/refusal/reason.h"
#include "tests/scenarios/story.h"

#include <string.h>

#include "server/base/banned.h"

const struct reply_element *reply_at(const struct story *story, struct text path)
{
    const struct reply_element *element = story->root;

    while (element != NULL && path.length > 0)
        element = reply_child(element, text_string(story->arena, text_split(&path, '/')));
    return element;
}

/* Numbers are compared as numbers: 61 is 61.000000, and within 60..62. */
static bool is_alike(struct text got, struct text wanted)
{
    size_t dots = text_find(wanted, TEXT(".."));
    double a, b, most;

    if (dots < wanted.length && text_to_real(got, &a) &&
        text_to_real(text_first(wanted, dots), &b) &&
        text_to_real((struct text){.at = wanted.at + dots + 2, .length = wanted.length - dots - 2},
                     &most))
        return a >= b && a <= most;
    if (text_to_real(got, &a) && text_to_real(wanted, &b))
        return a - b <= 1e-6 && b - a <= 1e-6;
    return text_equal(got, wanted);
}

/* NUMBER or LEAST..MOST */
static bool is_within(struct story *story, double got, struct text wanted)
{
    size_t dots = text_find(wanted, TEXT(".."));

    if (dots == wanted.length)
        return is_alike(text_print(story->arena, "%.6f", got), wanted);
    struct text most = {.at = wanted.at + dots + 2, .length = wanted.length - dots - 2};
    return got >= story_number(story, text_first(wanted, dots)) && got <= story_number(story, most);
}

static void want_words(struct story *story, const struct words *words, size_t least,
                       const char *usage)
{
    if (words->count < least)
        story_fail(story, "%s", usage);
}

/* element PATH [VALUE] */
static void expect_element(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 1, "expect element PATH [VALUE]");
    struct text path = words->items[0], name = path;
    const struct reply_element *element = reply_at(story, path);

    if (words->count == 1) {
        if ((element != NULL) != wanted)
            story_fail(story, wanted ? "it is not there" : "it is there");
        return;
    }
    while (text_find(name, TEXT("/")) < name.length)
        text_split(&name, '/');
    bool found = false;
    for (; element != NULL; element = reply_again(element))
        found = found || is_alike(element->text, words->items[1]);
    if (found != wanted)
        story_fail(story, wanted ? "none has that value" : "one has that value");
}

/* count ELEMENT NUMBER */
static void expect_count(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 2, "expect count ELEMENT NUMBER");
    size_t count = reply_children(story->root, text_string(story->arena, words->items[0]));

    if (is_within(story, (double)count, words->items[1]) != wanted)
        story_fail(story, "there are %zu", count);
}

/* acked NAME ... */
static void expect_acked(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 1, "expect acked NAME ...");
    for (size_t i = 0; i < words->count; i++)
        if (reply_names(story->root, "result_ack", words->items[i]) != wanted)
            story_fail(story, TEXT_FORMAT " is %sacknowledged", TEXT_ARG(words->items[i]),
                       wanted ? "not " : "");
}

/* all_acked: whatever the request reported, each once */
static void expect_all_acked(struct story *story, const struct words *words, bool wanted)
{
    const struct message *message = &story->request.message;

    (void)words;
    (void)wanted;
    for (size_t i = 0; i < message->result_count; i++)
        if (!reply_names(story->root, "result_ack", message->results[i].name))
            story_fail(story, TEXT_FORMAT " is not acknowledged",
                       TEXT_ARG(message->results[i].name));
    if (reply_children(story->root, "result_ack") != message->result_count)
        story_fail(story, "%zu results were reported", message->result_count);
    size_t tags = 0;
    struct text rest = story->body;
    for (size_t at; (at = text_find(rest, TEXT("<result>\n"))) < rest.length; tags++)
        rest = (struct text){.at = rest.at + at + 1, .length = rest.length - at - 1};
    if (tags != message->result_count)
        story_fail(story, "the request has %zu results, the server saw %zu", tags,
                   message->result_count);
}

/* jobs NUMBER */
static void expect_jobs(struct story *story, const struct words *words, bool wanted)
{
    size_t count = reply_children(story->root, "result");

    if (words->count == 0 && !wanted) {
        if (count > 0)
            story_fail(story, "there are %zu", count);
        return;
    }
    want_words(story, words, 1, "expect jobs NUMBER");
    if (is_within(story, (double)count, words->items[0]) != wanted)
        story_fail(story, "there are %zu", count);
    for (const struct reply_element *result = reply_child(story->root, "result"); result != NULL;
         result = reply_again(result))
        if (!reply_names(story->root, "workunit", reply_child_text(result, "wu_name")))
            story_fail(story, "a result without its workunit");
}

/* job NAME ... */
static void expect_job(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 1, "expect job NAME ...");
    for (size_t i = 0; i < words->count; i++)
        if (reply_names(story->root, "result", words->items[i]) != wanted)
            story_fail(story, TEXT_FORMAT " is %sthere", TEXT_ARG(words->items[i]),
                       wanted ? "not " : "");
}

/* message containing TEXT */
static void expect_message(struct story *story, const struct words *words, bool wanted)
{
    bool found = false;

    want_words(story, words, 2, "expect message containing TEXT");
    for (const struct reply_element *message = reply_child(story->root, "message"); message != NULL;
         message = reply_again(message))
        found = found || text_contains_nocase(message->text, words->items[1]);
    if (found != wanted)
        story_fail(story, wanted ? "no message says so" : "a message says so");
}

/* delay SECONDS | LEAST..MOST */
static void expect_delay(struct story *story, const struct words *words, bool wanted)
{
    struct text delay = reply_child_text(story->root, "request_delay");

    if (words->count == 0 && !wanted) {
        if (delay.length > 0)
            story_fail(story, "it is " TEXT_FORMAT, TEXT_ARG(delay));
        return;
    }
    want_words(story, words, 1, "expect delay SECONDS");
    if (is_within(story, delay.length > 0 ? story_number(story, delay) : 0, words->items[0]) !=
        wanted)
        story_fail(story, "it is \"" TEXT_FORMAT "\"", TEXT_ARG(delay));
}

static bool has_reason(const struct story *story, struct text word)
{
    const struct answer *answer = &story->request.attempt.answer;

    for (size_t i = 0; i < answer->reason_count; i++)
        if (text_is(word, reason_word(answer->reasons[i])))
            return true;
    return false;
}

/* reason WORD ...: why no job was sent, by the words of the log and the counters */
static void expect_reason(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 1, "expect reason WORD ...");
    for (size_t i = 0; i < words->count; i++)
        if (has_reason(story, words->items[i]) != wanted)
            story_fail(story, "it is %sone of %zu", wanted ? "not " : "",
                       story->request.attempt.answer.reason_count);
}

/* text BYTES: anywhere in the reply as it goes over the wire */
static void expect_text(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 1, "expect text BYTES");
    if (text_contains(story->reply, words->items[0]) != wanted)
        story_fail(story, wanted ? "it is not there" : "it is there");
}

/* rows [NUMBER] TABLE COLUMN=VALUE ...; without a number: at least one */
static void expect_rows(struct story *story, const struct words *words, bool wanted)
{
    struct text number = NO_TEXT;
    struct words rest = *words;

    want_words(story, words, 1, "expect rows [NUMBER] TABLE COLUMN=VALUE ...");
    if (words->items[0].length > 0 && words->items[0].at[0] >= '0' &&
        words->items[0].at[0] <= '9') {
        want_words(story, words, 2, "expect rows NUMBER TABLE COLUMN=VALUE ...");
        number = rest.items[0];
        rest.items++;
        rest.count--;
    }
    struct text count = world_ask(
        story,
        text_print(story->arena, "SELECT COUNT(*) FROM `" TEXT_FORMAT "` WHERE TRUE" TEXT_FORMAT,
                   TEXT_ARG(rest.items[0]),
                   TEXT_ARG(world_conditions(story, rest.items + 1, rest.count - 1))));
    double rows = story_number(story, count);
    if (number.length > 0 ? is_within(story, rows, number) != wanted : (rows > 0) != wanted)
        story_fail(story, "there are " TEXT_FORMAT, TEXT_ARG(count));
}

/* same A B */
static void expect_same(struct story *story, const struct words *words, bool wanted)
{
    want_words(story, words, 2, "expect same A B");
    if (is_alike(words->items[0], words->items[1]) != wanted)
        story_fail(story, "\"" TEXT_FORMAT "\" and \"" TEXT_FORMAT "\"", TEXT_ARG(words->items[0]),
                   TEXT_ARG(words->items[1]));
}

void expect_anything(struct story *story, const struct words *words)
{
    static const struct {
        const char *name;
        void (*run)(struct story *story, const struct words *words, bool wanted);
    } kinds[] = {
        {"acked", expect_acked}, {"all_acked", expect_all_acked}, {"count", expect_count},
        {"delay", expect_delay}, {"element", expect_element},     {"job", expect_job},
        {"jobs", expect_jobs},   {"message", expect_message},     {"rows", expect_rows},
        {"same", expect_same},   {"text", expect_text},           {"reason", expect_reason},
    };
    struct words rest = *words;
    bool wanted = true;

    if (story->root == NULL)
        story_fail(story, "nothing was sent yet");
    if (rest.count > 0 && text_is(rest.items[0], "no")) {
        wanted = false;
        rest.items++;
        rest.count--;
    }
    for (size_t i = 0; rest.count > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(rest.items[0], kinds[i].name)) {
            rest.items++;
            rest.count--;
            kinds[i].run(story, &rest, wanted);
            return;
        }
    story_fail(story, "expect knows no such thing");
}
