/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/rpc_reply.h"

#include <inttypes.h>

#include "server/base/banned.h"

static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/* U+FFFE and U+FFFF, which are valid UTF-8 and in no XML. */
static bool is_no_character(struct text character)
{
    return character.length == 3 && (unsigned char)character.at[0] == 0xEF &&
           (unsigned char)character.at[1] == 0xBF && (unsigned char)character.at[2] >= 0xBE;
}

static void escape_character(struct buffer *to, struct text character)
{
    unsigned char c = (unsigned char)*character.at;

    if (c == '&')
        buffer_add_string(to, "&amp;");
    else if (c == '<')
        buffer_add_string(to, "&lt;");
    else if (c == '>')
        buffer_add_string(to, "&gt;");
    else if (c == '\r')
        buffer_add_string(to, "&#13;");
    else if ((c < ' ' && c != '\n' && c != '\t') || is_no_character(character))
        buffer_add_char(to, '?');
    else
        buffer_add(to, character);
}

void rpc_escape(struct buffer *to, struct text text)
{
    while (text.length > 0) {
        size_t length = text_character(text);

        if (length == 0)
            buffer_add_char(to, '?');
        else
            escape_character(to, text_first(text, length));
        length = length == 0 ? 1 : length;
        text.at += length;
        text.length -= length;
    }
}

static void begin_text(struct rpc_reply *reply)
{
    buffer_print(&reply->text, "%s<" TEXT_FORMAT ">\n", declaration, TEXT_ARG(reply->root));
}

void rpc_reply_begin(struct rpc_reply *reply, struct text root, rpc_send *send, void *context)
{
    *reply = (struct rpc_reply){.text = buffer_on_heap(0),
                                .root = root.length > 0 ? root : TEXT("error"),
                                .send = send,
                                .context = context};
    begin_text(reply);
}

static void send_text(struct rpc_reply *reply)
{
    reply->send(reply->context, buffer_text(&reply->text));
    reply->text.length = 0;
    reply->is_begun = true;
}

static void add_error(struct rpc_reply *reply, int error, struct text words)
{
    rpc_add_integer(reply, "error_num", error);
    rpc_add_text(reply, "error_msg", words);
}

void rpc_reply_end(struct rpc_reply *reply, int error, struct text words)
{
    if (error != 0) {
        if (!reply->is_begun) {
            reply->text.length = 0;
            begin_text(reply);
        }
        if (text_is(reply->root, "error"))
            add_error(reply, error, words);
        rpc_add_open(reply, "error");
        add_error(reply, error, words);
        buffer_add_string(&reply->text, "</error>\n");
    }
    buffer_print(&reply->text, "</" TEXT_FORMAT ">\n", TEXT_ARG(reply->root));
    send_text(reply);
    buffer_free(&reply->text);
}

void rpc_add_open(struct rpc_reply *reply, const char *name)
{
    buffer_print(&reply->text, "<%s>\n", name);
}

void rpc_add_close(struct rpc_reply *reply, const char *name)
{
    buffer_print(&reply->text, "</%s>\n", name);
    if (reply->text.length >= RPC_REPLY_PIECE)
        send_text(reply);
}

void rpc_add_text(struct rpc_reply *reply, const char *name, struct text value)
{
    buffer_print(&reply->text, "    <%s>", name);
    rpc_escape(&reply->text, value);
    buffer_print(&reply->text, "</%s>\n", name);
}

void rpc_add_integer(struct rpc_reply *reply, const char *name, int64_t value)
{
    buffer_print(&reply->text, "    <%s>%" PRId64 "</%s>\n", name, value, name);
}

void rpc_add_real(struct rpc_reply *reply, const char *name, double value)
{
    buffer_print(&reply->text, "    <%s>%.15g</%s>\n", name, value, name);
}
