/* SPDX-License-Identifier: Apache-2.0 */
/* What a request says when it says nothing, and which client says it. */
#include "server/parse/message.h"

#include "server/base/banned.h"

void message_init(struct message *message)
{
    *message = (struct message){
        .resource_share_fraction = 1,
        .rrs_fraction = 1,
        .prrs_fraction = 1,
        .allow_multiple_clients = -1,
        .sandbox = -1,
        .p_ncpus = 1,
    };
}

struct text message_type_name(struct text type)
{
    static const struct {
        const char *type, *name;
    } names[] = {{"NVIDIA", "NVIDIA GPU"},
                 {"ATI", "AMD GPU"},
                 {"intel_gpu", "Intel GPU"},
                 {"apple_gpu", "Apple GPU"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(type, names[i].type))
            return text_from(names[i].name);
    return type;
}

static int64_t bounded(int64_t number, int64_t most)
{
    if (number < 0)
        return 0;
    return number < most ? number : most;
}

/* Two digits each for minor and release, so that no number can pass for a newer version. */
int64_t message_client_version(const struct message *message)
{
    return 10000 * bounded(message->client_major, 9999) + 100 * bounded(message->client_minor, 99) +
           bounded(message->client_release, 99);
}
