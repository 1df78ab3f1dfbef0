/* SPDX-License-Identifier: Apache-2.0 */
/* The submission room: how scientists submit jobs over the web.
 *
 * `quartermaster --submit` is a process of its own, with rights of its own: it makes and cancels
 * jobs, and takes and gives their files. A request goes this way: a worker (submission.c) takes it
 * from the web server (peer.h) and reads the form (form.h). What the form says in BOINC's XML is
 * kept in a file without a name (spool.h), then read (rpc_request.h). The face (rpc_face.h) calls
 * the operations, which are plain functions of this header and those that it names, and writes what
 * they found as XML (rpc_reply.h). Below the face nothing knows of XML.
 *
 * Each operation begins with who asks (desk_submitter) and touches only what belongs to that
 * submitter: of others' batches and jobs it says that there is none. */
#ifndef SERVER_SUBMISSION_DESK_H
#define SERVER_SUBMISSION_DESK_H

#include "db/rows.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/passes/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct count_pauses;
struct db;
struct join_limits;

/* What operations work with; one thread at a time. No transaction is open before and after. They
 * answer STATUS_INVALID, STATUS_NOT_FOUND or STATUS_TOO_LARGE where the submitter asked for what
 * cannot be, other failures where we cannot do it; `failure` says why, in words for both. */
struct desk {
    struct db *db; /* NULL: away */
    const struct config *config;
    struct arena *arena; /* of the request */
    struct failure *failure;
    struct join_limits *limits;       /* on guessing keys; NULL: none */
    struct count_pauses *pauses;      /* of counting; NULL: none */
    struct text address;              /* of who asks */
    int64_t now;                      /* epoch */
    bool (*is_to_end)(void *context); /* the process stops; NULL: it does not */
    void *context;
};

struct submitter {
    int64_t userid; /* 0: nobody */
    struct text name;
    struct submitter_rights_row rights;
};

/* By the account's key. */
MUST_CHECK enum status desk_submitter(struct desk *desk, struct text authenticator,
                                      struct submitter *ret_submitter);
/* An application for which this submitter may make jobs. */
MUST_CHECK enum status desk_app(struct desk *desk, const struct submitter *submitter,
                                struct text name, struct app_row *ret_app);

/* As it was named; a number that is not 0 comes before the name. */
struct batch_named {
    int64_t id;
    struct text name;
};
MUST_CHECK enum status desk_batch(struct desk *desk, const struct submitter *submitter,
                                  const struct batch_named *named,
                                  struct owned_batch_row *ret_batch);

/* "WHAT: " and why, unless there are words already; answers `status`. */
enum status desk_failed(struct desk *desk, enum status status, const char *what);
/* For the passes that operations run. */
struct pass_owner desk_owner(struct desk *desk);

#endif
