-- SPDX-License-Identifier: Apache-2.0
-- Figures that outlive a process, as lines of words: what each process counts in a minute ('minute')
-- or five ('slot') that begin then, and what one process finds out for all of them: jobs by state
-- each hour ('project') and now ('now'), waiting jobs that nobody can have ('stuck').
CREATE TABLE IF NOT EXISTS qm_figures (
    kind       VARCHAR(16) NOT NULL,
    begin      BIGINT NOT NULL,
    process    BIGINT NOT NULL,
    figures    BLOB NOT NULL,
    PRIMARY KEY (kind, begin, process)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
-- Who counts the project's jobs, and who looks for jobs that nobody can have.
INSERT IGNORE INTO qm_duty (name, due) VALUES ('project figures', 0), ('stuck jobs', 0);
