/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/session/confirm.h"

#include "db/db.h"
#include "server/base/shown.h"
#include "tools/qmctl/session/output.h"

#include <stdio.h>
#include <unistd.h>

#include "server/base/banned.h"

/* The answer is the word itself, so that nobody deletes by a key pressed too often. */
static enum exit_code ask(struct session *session, struct text words, const char *nature,
                          struct text word)
{
    char line[256] = "";

    must(session->command->asks);
    if (option_given(session, "yes"))
        return EXIT_DONE;
    if (session->db != NULL)
        (void)db_end(session->db);
    if (isatty(STDIN_FILENO) != 1)
        return usage_failed(session, "%s %s: without a terminal to ask at it needs --yes",
                            session->command->name, nature);
    shown_write(stderr, words, "\n");
    fputs("\nThis ", stderr);
    shown_write(stderr, text_from(nature), "");
    fputs(". Type ", stderr);
    shown_write(stderr, word, "");
    fputs(" to go on: ", stderr);
    if (fgets(line, sizeof(line), stdin) != NULL &&
        text_equal(text_trim(text_from(line)), text_trim(word)))
        return EXIT_DONE;
    fputs("nothing was done\n", stderr);
    return EXIT_FAILED;
}

enum exit_code confirm(struct session *session, struct text lost, struct text word)
{
    return ask(session, lost, "cannot be undone", word);
}

enum exit_code confirm_change(struct session *session, struct text changes, struct text word)
{
    return ask(session, changes, "changes a running project", word);
}
