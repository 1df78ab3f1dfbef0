/* SPDX-License-Identifier: Apache-2.0 */
/* The program: sends one kind of hostile requests, one after the other on one connection, and
 * judges every reply. */
#include "tests/integration/hostile/hostile.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "tests/support/reply_check.h"

#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* The greatest: a host whose number was smaller than the last one's gets a new id, each time. */
#define SEQUENCE_NUMBER "2147483647"

enum { REPLY_CLIENT = 72005, COMPLAINTS_MAX = 10 };

struct hostile {
    CURL *easy;
    struct arena *arena;
    struct buffer reply;
    size_t sent, full, refused, failed;
};

static size_t receive(char *data, size_t size, size_t count, void *pointer)
{
    struct buffer *reply = pointer;

    buffer_add(reply, (struct text){data, size * count});
    return size * count;
}

static void complain(struct hostile *hostile, const char *words, const char *why)
{
    if (hostile->failed++ >= COMPLAINTS_MAX)
        return;
    printf("FAILED: %s: %s\n", words, why);
    if (hostile->reply.length > 0)
        printf(TEXT_FORMAT "\n", TEXT_ARG(text_first(buffer_text(&hostile->reply), 600)));
}

void hostile_claim(struct hostile *hostile, bool is_so, const char *words)
{
    hostile->reply.length = 0;
    if (!is_so)
        complain(hostile, words, "not so");
}

/* NULL: the answer is as wanted. */
static const char *judge(struct hostile *hostile, CURLcode result, enum wanted wanted)
{
    struct text reply = buffer_text(&hostile->reply);
    const struct reply_element *root;
    const char *fault = NULL;
    long status = 0;
    bool is_full;

    if (result != CURLE_OK)
        return curl_easy_strerror(result);
    curl_easy_getinfo(hostile->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return "the HTTP status is not 200";
    arena_reset(hostile->arena);
    root = reply_read(hostile->arena, reply, REPLY_CLIENT, &fault);
    if (root == NULL)
        return fault;
    is_full = reply_child(root, "userid") != NULL;
    hostile->full += is_full;
    hostile->refused += !is_full;
    if (!is_full && reply_child(root, "message") == NULL)
        return "a refusal without words";
    if (wanted == WANTED_FULL && !is_full)
        return "refused";
    if (wanted == WANTED_REFUSAL && is_full)
        return "not refused";
    return NULL;
}

void hostile_send(struct hostile *hostile, struct text body, enum wanted wanted, const char *format,
                  ...)
{
    const char *why;
    char words[200];
    va_list arguments;

    hostile->sent++;
    hostile->reply.length = 0;
    curl_easy_setopt(hostile->easy, CURLOPT_POSTFIELDS, body.length == 0 ? "" : body.at);
    curl_easy_setopt(hostile->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.length);
    why = judge(hostile, curl_easy_perform(hostile->easy), wanted);
    if (why == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    complain(hostile, words, why);
}

size_t hostile_sent(const struct hostile *hostile)
{
    return hostile->sent;
}

static const struct {
    const char *name, *value;
} needed[] = {
    {"authenticator", HOSTILE_ACCOUNT}, {"hostid", "4242"},
    {"rpc_seqno", SEQUENCE_NUMBER},     {"platform_name", "x86_64-pc-linux-gnu"},
    {"core_client_major_version", "7"}, {"core_client_minor_version", "20"},
    {"core_client_release", "5"},
};

struct buffer hostile_begin(const char *without)
{
    struct buffer body = buffer_on_heap(0);

    buffer_add_string(&body, "<scheduler_request>\n");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (strcmp(needed[i].name, without) != 0)
            buffer_print(&body, "    <%s>%s</%s>\n", needed[i].name, needed[i].value,
                         needed[i].name);
    return body;
}

/* With the content of the first element of that name replaced. */
static void add_replaced(struct buffer *body, struct text *text, const char *name,
                         const char *content)
{
    char open[60], close[60];

    (void)snprintf(open, sizeof open, "<%s>", name);
    (void)snprintf(close, sizeof close, "</%s>", name);
    size_t from = text_find(*text, text_from(open)), until = text_find(*text, text_from(close));
    buffer_add(body, text_first(*text, from));
    buffer_print(body, "%s%s", open, content);
    *text = (struct text){text->at + until, text->length - until};
}

/* A captured request as one of host 4242. */
static struct buffer read_capture(struct arena *arena, const char *path)
{
    struct buffer body = buffer_on_heap(0);
    struct failure failure = {0};
    struct text text;

    if (file_read(arena, path, (size_t)1 << 20, &text, &failure) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", path, failure.text);
        exit(2);
    }
    add_replaced(&body, &text, "hostid", "4242");
    add_replaced(&body, &text, "rpc_seqno", SEQUENCE_NUMBER);
    buffer_add(&body, text);
    return body;
}

/* Cut short at every step-th byte: refused, all of it. */
static void cut(struct hostile *hostile, struct text body, size_t step)
{
    size_t whole = text_trim(body).length;

    for (size_t length = 0; length < whole; length += step)
        hostile_send(hostile, text_first(body, length), WANTED_REFUSAL, "cut at %zu", length);
    hostile_send(hostile, text_first(body, whole - 1), WANTED_REFUSAL, "the last byte is missing");
    hostile_send(hostile, body, WANTED_FULL, "not cut");
}

/* Each byte in turn: one bit of it the other way round, or another byte that means something. */
static void flip(struct hostile *hostile, struct text body, size_t step)
{
    static const char others[] = {'<', '>', '/', '&', '\0', '\n', ' ', '\xff', ']', '\''};
    struct buffer copy = buffer_on_heap(0);

    buffer_add(&copy, body);
    for (size_t i = 0; i < body.length; i += step) {
        copy.at[i] = (char)(body.at[i] ^ 1 << i % 8);
        hostile_send(hostile, buffer_text(&copy), WANTED_ANY, "bit flipped at %zu", i);
        if (i / step % 4 == 0) {
            copy.at[i] = others[i / step / 4 % sizeof others];
            hostile_send(hostile, buffer_text(&copy), WANTED_ANY, "byte replaced at %zu", i);
        }
        copy.at[i] = body.at[i];
    }
    hostile_send(hostile, body, WANTED_FULL, "not flipped");
    buffer_free(&copy);
}

static int usage(void)
{
    (void)fputs("usage: hostile URL cut CAPTURE STEP | flip CAPTURE STEP | texts SQL | numbers | "
                "bodies SECRET\n",
                stderr);
    return 2;
}

static bool run(struct hostile *hostile, int argc, char *argv[])
{
    const char *part = argc > 2 ? argv[2] : "";
    bool is_cut = strcmp(part, "cut") == 0;

    if ((is_cut || strcmp(part, "flip") == 0) && argc == 5) {
        struct arena *arena = arena_create((size_t)4 << 20);
        struct buffer body = read_capture(arena, argv[3]);
        size_t step = (size_t)strtoul(argv[4], NULL, 10);

        (is_cut ? cut : flip)(hostile, buffer_text(&body), step > 0 ? step : 1);
        buffer_free(&body);
        arena_destroy(arena);
    } else if (strcmp(part, "texts") == 0 && argc == 4) {
        hostile_texts(hostile, argv[3]);
    } else if (strcmp(part, "numbers") == 0 && argc == 3) {
        hostile_numbers(hostile);
    } else if (strcmp(part, "bodies") == 0 && argc == 4) {
        hostile_bodies(hostile, argv[3]);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char *argv[])
{
    struct hostile hostile = {.reply = buffer_on_heap(0), .arena = arena_create((size_t)256 << 20)};
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: text/xml");

    headers = curl_slist_append(headers, "Expect:");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    hostile.easy = curl_easy_init();
    if (argc < 3 || hostile.easy == NULL || hostile.arena == NULL)
        return usage();
    curl_easy_setopt(hostile.easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(hostile.easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(hostile.easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(hostile.easy, CURLOPT_WRITEDATA, &hostile.reply);
    curl_easy_setopt(hostile.easy, CURLOPT_TIMEOUT, 120L);
    curl_easy_setopt(hostile.easy, CURLOPT_NOSIGNAL, 1L);
    if (!run(&hostile, argc, argv))
        return usage();
    printf("%s: %zu requests, %zu taken, %zu refused, %zu failed\n", argv[2], hostile.sent,
           hostile.full, hostile.refused, hostile.failed);
    curl_easy_cleanup(hostile.easy);
    curl_slist_free_all(headers);
    curl_global_cleanup();
    buffer_free(&hostile.reply);
    arena_destroy(hostile.arena);
    return hostile.failed > 0;
}
