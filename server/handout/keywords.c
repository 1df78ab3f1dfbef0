/* SPDX-License-Identifier: Apache-2.0 */
/* A file that cannot be read is no file: nobody is refused work for a preference that is lost. */
#include "server/handout/keywords.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum { FILE_BYTES_MAX = 65536 };

static struct id_list read_line(struct arena *arena, struct text line)
{
    int64_t *ids = ARENA_ARRAY(arena, MESSAGE_KEYWORDS_MAX, int64_t);
    struct id_list list = {.ids = ids};

    while (ids != NULL && line.length > 0 && list.count < MESSAGE_KEYWORDS_MAX)
        if (text_to_i64(text_split(&line, ' '), &ids[list.count]))
            list.count++;
    return list;
}

void keywords_read(const struct request *request, struct host_view *view)
{
    const struct message *message = &request->message;
    struct text file = NO_TEXT;
    const char *path;

    if (!request->config->keyword_sched)
        return;
    view->keywords_yes = (struct id_list){message->keywords_yes, message->keyword_yes_count};
    view->keywords_no = (struct id_list){message->keywords_no, message->keyword_no_count};
    if (message->keyword_yes_count + message->keyword_no_count > 0)
        return;
    path = text_string(request->arena, text_print(request->arena, TEXT_FORMAT "/kw_prefs/%lld",
                                                  TEXT_ARG(request->config->project_dir_path),
                                                  (long long)request->visit.user.id));
    if (file_read(request->arena, path, FILE_BYTES_MAX, &file, NULL) != STATUS_OK)
        return;
    view->keywords_yes = read_line(request->arena, text_split(&file, '\n'));
    view->keywords_no = read_line(request->arena, text_split(&file, '\n'));
}
