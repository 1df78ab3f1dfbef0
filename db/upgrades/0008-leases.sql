-- SPDX-License-Identifier: Apache-2.0
-- Which ids a worker of a pass (qmctl transition, qmctl purge) has for itself, until which moment of
-- the database's clock. Whoever takes some changes the row with the token 0 first, so that two who
-- take at once wait for each other, or conflict where they are on two machines of a cluster.
CREATE TABLE IF NOT EXISTS qm_lease (
    pass        VARCHAR(32) NOT NULL,
    appid       BIGINT NOT NULL,
    token       BIGINT NOT NULL,
    first_id    BIGINT NOT NULL,
    last_id     BIGINT NOT NULL,
    valid_until BIGINT NOT NULL,
    changes     BIGINT NOT NULL,
    PRIMARY KEY (pass, appid, token)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
