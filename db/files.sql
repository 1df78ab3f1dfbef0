-- SPDX-License-Identifier: Apache-2.0
-- The file database: which sticky files hosts hold. A database of its own, beside a project's and
-- without any tie to it: it may be away, or be made anew, and no request fails.

-- What is not listed by its host any more has no row. A file that was sent and not yet seen has
-- first_seen 0. Names are bytes. The second index answers by itself who holds a file, from one
-- stretch of it; what changes with every request is not in it.
CREATE TABLE IF NOT EXISTS host_file (
    hostid     BIGINT NOT NULL,
    name       VARBINARY(255) NOT NULL,
    nbytes     DOUBLE NOT NULL,
    status     INT NOT NULL,
    priority   INT NOT NULL,
    expiry     BIGINT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL,
    last_used  BIGINT NOT NULL,
    PRIMARY KEY (hostid, name),
    KEY file_host (name, hostid, nbytes, status, first_seen)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

-- What hosts are to do with files: repeated with their replies until it is done, or has been told
-- often enough (tries). xml: what a client is told, but for deletion. One that has ended (outcome:
-- db/files.h) stays for some days, to be seen.
CREATE TABLE IF NOT EXISTS file_order (
    hostid     BIGINT NOT NULL,
    name       VARBINARY(255) NOT NULL,
    action     INT NOT NULL,
    created    BIGINT NOT NULL,
    delivered  BIGINT NOT NULL,
    xml        MEDIUMBLOB NOT NULL,
    tries      INT NOT NULL DEFAULT 0,
    ended      BIGINT NOT NULL DEFAULT 0,
    outcome    INT NOT NULL DEFAULT 0,
    PRIMARY KEY (hostid, name, action)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

-- As earlier versions of this file made it.
ALTER TABLE file_order
    ADD COLUMN IF NOT EXISTS tries INT NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS ended BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS outcome INT NOT NULL DEFAULT 0;

-- One row per connection. A transaction begins by writing a new token into the row of its connection
-- and commits only if it is still there: then it is the one that began. Nobody else locks a row
-- that is in use.
CREATE TABLE IF NOT EXISTS qm_connection (
    id         BIGINT NOT NULL PRIMARY KEY,
    token      BIGINT NOT NULL,
    commits    BIGINT NOT NULL DEFAULT 0,
    made       BIGINT NOT NULL,
    KEY qm_connection_made (made)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
