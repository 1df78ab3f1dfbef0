/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/command_answer.h"

#include "server/base/json.h"

#include "server/base/banned.h"

bool answer_line_read(struct text line, struct answer_line *ret_answer)
{
    struct json_member id, verdict;
    struct json_object object;
    size_t members;

    *ret_answer = (struct answer_line){.has_verdict = false};
    if (json_read(line, &object, NULL) != STATUS_OK)
        return false;
    id = json_member(&object, "id");
    verdict = json_member(&object, "verdict");
    members = json_member_count(&object);
    json_object_free(&object);
    ret_answer->id = id.whole;
    ret_answer->has_verdict = verdict.kind == JSON_KIND_WHOLE;
    ret_answer->verdict = verdict.whole;
    return id.kind == JSON_KIND_WHOLE && members == 1U + ret_answer->has_verdict;
}
