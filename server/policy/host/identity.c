/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that tell one machine from another. Texts are compared bytewise, whatever the database's
 * collation thinks equal. */
#include "server/policy/host/identity.h"

#include "server/parse/message.h"
#include "server/policy/host/bounds.h"

#include "server/base/banned.h"

/* s; how long after a host's last request a first contact counts as a repetition of it. */
static const double repeat_window = 600;

void identity_hash_cpid(struct text host_cpid, struct text email_addr, char ret_hex[MD5_HEX_SIZE])
{
    md5_hex(host_cpid, email_addr, ret_hex);
}

bool identity_is_cross_project_id(struct text id)
{
    return text_is_hex(id, CROSS_PROJECT_ID_LENGTH);
}

enum host_decision identity_decide_host(const struct host_row *host, bool forwarded, int64_t userid,
                                        int64_t rpc_seqno)
{
    if (host == NULL)
        return HOST_SEARCH_BY_CPID;
    if (host->userid != userid)
        return HOST_SEARCH_ALIKE;
    /* An equal number is a repetition: the reply was lost, or the transport repeated the request.
     * A smaller one comes from a copied or restored state. */
    if (!forwarded && rpc_seqno < host->rpc_seqno)
        return HOST_SEARCH_ALIKE;
    return HOST_USE;
}

/* A byte that is no UTF-8 may stand in the database as '?'. */
static bool stored_differs(struct text sent, struct text stored)
{
    sent = bound_head(sent, BOUND_STRING);
    if (sent.length != stored.length)
        return true;
    for (size_t i = 0; i < sent.length; i++) {
        bool is_replaced = stored.at[i] == '?' && (unsigned char)sent.at[i] >= 0x80;

        if (sent.at[i] != stored.at[i] && !is_replaced)
            return true;
    }
    return false;
}

bool identity_host_differs(const struct message *message, const struct host_row *host)
{
    return bound_int32(message->p_ncpus) != host->p_ncpus ||
           stored_differs(message->p_vendor, host->p_vendor) ||
           stored_differs(message->p_model, host->p_model) ||
           stored_differs(message->os_name, host->os_name) ||
           stored_differs(message->os_version, host->os_version);
}

bool identity_may_search_alike(const struct message *message, const struct text *exempt_userids,
                               size_t exempt_count, int64_t userid, struct host_row *ret_like)
{
    if (message->allow_multiple_clients == 1)
        return false;
    for (size_t i = 0; i < exempt_count; i++) {
        int64_t exempt;

        if (text_to_i64(exempt_userids[i], &exempt) && exempt == userid)
            return false;
    }
    if (message->domain_name.length == 0 || message->ip_addr.length == 0 ||
        message->os_name.length == 0 || message->p_model.length == 0)
        return false;
    *ret_like = (struct host_row){
        .domain_name = bound_head(message->domain_name, BOUND_STRING),
        .last_ip_addr = bound_head(message->ip_addr, BOUND_STRING),
        .os_name = bound_head(message->os_name, BOUND_STRING),
        .p_model = bound_head(message->p_model, BOUND_STRING),
        .m_nbytes = message->m_nbytes,
    };
    return true;
}

bool identity_jobs_are_lost(const struct message *message, enum host_found found,
                            int64_t stored_rpc_time, double now)
{
    if (message->other_result_count > 0)
        return false;
    if (found == HOST_FOUND_BY_CPID && message->allow_multiple_clients == 1)
        return false;
    /* A client that cannot list its jobs may still have them, unless it starts from nothing. */
    if (!message->has_other_results && message->hostid != 0)
        return false;
    return now - (double)stored_rpc_time > repeat_window;
}

bool identity_is_zombie(const struct host_row *host)
{
    return host->userid == 0;
}

int64_t identity_next_host(struct zombie_walk *walk, const struct host_row *zombie)
{
    int64_t next = zombie->rpc_seqno;

    if (walk->count == ZOMBIE_HOPS_MAX || next <= 0)
        return 0;
    walk->seen[walk->count++] = zombie->id;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->seen[i] == next)
            return 0;
    }
    return next;
}
