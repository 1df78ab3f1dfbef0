/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/host/host_said.h"

#include "server/base/buffer.h"
#include "server/parse/message.h"
#include "server/parse/message_writer.h"

#include "server/base/banned.h"

/* The same as count for said_digest (parse.c). */
static bool takes(const struct message_writer *writer, const struct element *element)
{
    return element_is_lasting(element) &&
           (element->child != CONTEXT_APP_VERSIONS || writer->message->anonymous_platform);
}

struct text host_said_write(const struct message *message, struct arena *arena)
{
    struct buffer buffer = buffer_in(arena);
    const struct message_writer writer = {
        .message = message, .buffer = &buffer, .takes = takes, .skips_zero = true};

    buffer.length_max = HOST_SAID_BYTES_MAX;
    message_write(&writer);
    return buffer.overflowed ? NO_TEXT : buffer_text(&buffer);
}
