/* SPDX-License-Identifier: Apache-2.0 */
/* A body is parsed from a copy of just its length, so that a sanitizer sees what is read beyond. */
#include "tests/support/requests.h"

#include "server/base/arena.h"
#include "tests/support/test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const struct parse_limits usual = {.results_max = 100000, .depth_max = 100};

struct holder {
    struct parsed parsed;
    char *body;
};

struct parsed *parse_within(struct text body, const struct parse_limits *limits, size_t memory_max)
{
    struct holder *holder = calloc(1, sizeof *holder);
    struct parsed *parsed = &holder->parsed;

    must(holder != NULL);
    holder->body = malloc(body.length);
    must(holder->body != NULL || body.length == 0);
    if (body.length > 0)
        memcpy(holder->body, body.at, body.length);
    parsed->arena = arena_create(memory_max);
    must(parsed->arena != NULL);
    message_init(&parsed->message);
    parsed->status = parse_request((struct text){holder->body, body.length}, limits, parsed->arena,
                                   &parsed->message, &parsed->failure);
    return parsed;
}

struct parsed *parse_body(struct text body)
{
    return parse_within(body, &usual, (size_t)1 << 30);
}

struct parsed *parse_string(const char *body)
{
    return parse_body(text_from(body));
}

struct parsed *parse_accepted(const char *body)
{
    struct parsed *parsed = parse_string(body);

    if (parsed->status != STATUS_OK)
        fail_msg("%s: %s", body, parsed->failure.text);
    return parsed;
}

void parsed_free(struct parsed *parsed)
{
    struct holder *holder = (struct holder *)(void *)parsed; /* its first member */

    if (parsed == NULL)
        return;
    arena_destroy(parsed->arena);
    free(holder->body);
    free(holder);
}

struct text capture_read_path(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *at;
    long length;

    must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    length = ftell(file);
    must(length > 0 && fseek(file, 0, SEEK_SET) == 0);
    at = malloc((size_t)length);
    must(at != NULL && fread(at, 1, (size_t)length, file) == (size_t)length);
    fclose(file);
    return (struct text){at, (size_t)length};
}

const char *const *capture_paths(void)
{
    static glob_t found;

    if (found.gl_pathc == 0)
        must(glob("tests/captures/*.xml", 0, NULL, &found) == 0);
    return (const char *const *)found.gl_pathv;
}

void message_of_a_host(struct message *ret_message)
{
    message_init(ret_message);
    ret_message->platforms[0] = TEXT("x86_64-pc-linux-gnu");
    ret_message->platform_count = 1;
    ret_message->has_other_results = true;
    ret_message->p_ncpus = 4;
    ret_message->p_vendor = TEXT("GenuineIntel");
    ret_message->p_model = TEXT("i7");
    ret_message->os_name = TEXT("Linux Debian");
    ret_message->os_version = TEXT("12");
    ret_message->m_nbytes = 4e9;
    ret_message->domain_name = TEXT("box");
    ret_message->ip_addr = TEXT("10.0.0.1");
}

struct text capture_read(const char *number)
{
    const char *const *path = capture_paths();

    for (; *path != NULL; path++)
        if (text_starts(text_from(strrchr(*path, '/') + 1), text_from(number)))
            break;
    must(*path != NULL);
    return capture_read_path(*path);
}

void text_free(struct text text)
{
    union {
        const char *given;
        char *owned;
    } pointer = {text.at};

    free(pointer.owned);
}
