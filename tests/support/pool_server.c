/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/pool_server.h"

#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "tests/support/test.h"

void pool_server_pass(struct pool_server *server, double seconds)
{
    double end = server->clock + seconds, pause = 0;

    for (; server->clock <= end; server->clock += pause > 0.001 ? pause : 0.001)
        assert_status(STATUS_OK,
                      filler_step(server->filler, server->serving.db, server->clock, &pause));
}

void pool_server_open(struct pool_server *server, struct test_database *database, int64_t id,
                      size_t jobs_max)
{
    *server = (struct pool_server){.clock = 1000};
    serving_open(&server->serving, database);
    server->serving.pool = pool_create(jobs_max, false);
    server->filler = filler_create(server->serving.pool, server->serving.config, id);
    assert_non_null(server->filler);
}

void pool_server_close(struct pool_server *server)
{
    filler_destroy(server->filler);
    pool_destroy(server->serving.pool);
    serving_close(&server->serving);
}
