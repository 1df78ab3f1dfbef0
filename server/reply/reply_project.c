/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that a project keeps in files of its own and that every full reply repeats: links and news
 * feeds for the user's client (gui_urls.xml) and files for it to show (project_files.xml). In links
 * and feeds the administrator may leave blanks for what differs by user; they are filled here. */
#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/project/blob.h"
#include "server/project/project.h"
#include "server/reply/reply.h"
#include "server/reply/reply_parts.h"

#include "server/base/banned.h"

static struct text number_text(const struct reply *reply, int64_t number)
{
    return text_print(reply->sources->arena, "%lld", (long long)number);
}

/* A key that opens less than the account's own, and stops when the password changes; "" is the weak
 * one. */
static struct text derived_key(const struct reply *reply, const char *purpose)
{
    const struct user_row *user = reply->sources->user;
    struct arena *arena = reply->sources->arena;
    char hex[MD5_HEX_SIZE];

    md5_hex(user->authenticator,
            text_print(arena, TEXT_FORMAT "%s", TEXT_ARG(user->passwd_hash), purpose), hex);
    return text_print(arena, "%lld_%s", (long long)user->id, hex);
}

/* What stands for a blank; false: it is no blank. Who has the weak key must never get the strong
 * one. */
static bool fill(const struct reply *reply, struct text blank, struct text *ret_text)
{
    const struct reply_sources *sources = reply->sources;

    if (text_is(blank, "userid"))
        *ret_text = number_text(reply, sources->user->id);
    else if (text_is(blank, "user_name"))
        *ret_text = sources->user->name;
    else if (text_is(blank, "hostid"))
        *ret_text = number_text(reply, sources->host->id);
    else if (text_is(blank, "teamid"))
        *ret_text = number_text(reply, sources->user->teamid);
    else if (text_is(blank, "team_name"))
        *ret_text = sources->team_name;
    else if (text_is(blank, "master_url"))
        *ret_text = sources->config->master_url;
    else if (text_is(blank, "project_name"))
        *ret_text = sources->config->long_name;
    else if (text_is(blank, "authenticator"))
        *ret_text = sources->has_weak_key ? derived_key(reply, "") : sources->user->authenticator;
    else if (text_is(blank, "weak_auth"))
        *ret_text = derived_key(reply, "");
    else if (text_is(blank, "rss_auth"))
        *ret_text = derived_key(reply, "notify_rss");
    else
        return false;
    return true;
}

static struct text rest_after(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

/* The text with its <x/> blanks filled. */
static struct text filled(const struct reply *reply, struct text text)
{
    struct buffer out = buffer_in(reply->sources->arena);

    while (text.length > 0) {
        size_t open = text_find(text, TEXT("<"));
        buffer_add(&out, text_first(text, open));
        text = rest_after(text, open);
        size_t close = text_find(text, TEXT("/>"));
        struct text value;
        if (text.length > 0 && close < text.length &&
            fill(reply, (struct text){.at = text.at + 1, .length = close - 1}, &value)) {
            buffer_add_xml(&out, value);
            text = rest_after(text, close + 2);
        } else if (text.length > 0) {
            buffer_add_char(&out, '<');
            text = rest_after(text, 1);
        }
    }
    return buffer_text(&out);
}

/* Without what stands between <ifteam> and </ifteam>, or without these tags alone. */
static struct text for_team(const struct reply *reply, struct text text)
{
    struct buffer out = buffer_in(reply->sources->arena);
    bool has_team = reply->sources->user->teamid > 0;

    while (text.length > 0) {
        size_t open = text_find(text, TEXT("<ifteam>"));
        buffer_add(&out, text_first(text, open));
        if (open == text.length)
            break;
        text = rest_after(text, open + TEXT("<ifteam>").length);
        size_t close = text_find(text, TEXT("</ifteam>"));
        if (has_team)
            buffer_add(&out, text_first(text, close));
        if (close == text.length)
            break;
        text = rest_after(text, close + TEXT("</ifteam>").length);
    }
    return buffer_text(&out);
}

void reply_gui_urls(struct reply *reply, const char *element)
{
    const struct project_blocks *blocks = reply->sources->blocks;

    if (blocks != NULL && blocks->gui_urls.length > 0)
        reply_blob(reply, element, filled(reply, for_team(reply, blocks->gui_urls)));
}

void reply_rss_feeds(struct reply *reply, const char *element)
{
    const struct project_blocks *blocks = reply->sources->blocks;

    if (blocks != NULL && blocks->rss_feeds.length > 0)
        reply_blob(reply, element, filled(reply, for_team(reply, blocks->rss_feeds)));
}

void reply_project_files(struct reply *reply, const char *element)
{
    const struct project_blocks *blocks = reply->sources->blocks;

    if (blocks == NULL || blocks->project_files.block.length == 0)
        return;
    /* The records first, and outside of the block: older clients look the references up while they
     * read it. */
    if (blob_is_sound(reply->sources->arena, blocks->project_files.infos))
        lines_verbatim(reply, blocks->project_files.infos);
    reply_blob(reply, element, blocks->project_files.block);
}
