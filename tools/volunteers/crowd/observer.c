/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/volunteers/crowd/observer.h"

#include "server/base/banned.h"

const char *rpc_outcome_word(enum rpc_outcome outcome)
{
    static const char *const words[] = {
#define RPC_OUTCOME_WORD(name, word) word,
        RPC_OUTCOMES(RPC_OUTCOME_WORD)
#undef RPC_OUTCOME_WORD
    };

    return (unsigned)outcome < RPC_OUTCOME_COUNT ? words[outcome] : "?";
}
