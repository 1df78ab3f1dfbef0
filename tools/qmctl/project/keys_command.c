/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, and signatures by them. */
#include "server/project/keys.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/pass_repeat.h"
#include "server/submit/version_document.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <stdio.h>

#include "server/base/banned.h"

static void show_key(struct output_table *table, const char *name, const char *state)
{
    struct session *session = table->session;
    struct text key;
    char fingerprint[MD5_HEX_SIZE] = "-";
    table_text(table, text_from(name));
    if (key_read(session->arena, session->config, name, &key, NULL) == STATUS_OK)
        md5_hex(text_trim(key), NO_TEXT, fingerprint);
    table_text(table, text_copy(session->arena, text_from(fingerprint)));
    table_text(table, text_from(state));
}

enum exit_code command_keys(struct session *session)
{
    static const char *const titles[] = {"key", "fingerprint", "state"};
    bool made[2];
    struct output_table table = TABLE_BEGIN(session, "keys", titles);
    enum status status = session_config(session);
    if (status == STATUS_OK)
        status = keys_create(session->arena, session->config, made, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    for (int i = 0; i < 2; i++) {
        const char *name =
            text_string(session->arena, text_print(session->arena, "%s_public", key_pairs[i]));
        show_key(&table, name, made[i] ? "made now" : "in use");
    }
    for (int i = 0;; i++) {
        struct text key;
        const char *name = text_string(session->arena, text_print(session->arena, "old_key_%d", i));
        if (key_read(session->arena, session->config, name, &key, NULL) != STATUS_OK)
            break;
        show_key(&table, name, "old");
    }
    table_print(&table);
    return EXIT_DONE;
}

static enum status resign_versions(struct session *session, const struct key_change *change,
                                   size_t *ret_count)
{
    struct version_entry_row *versions;
    enum status status = session_db_failed(
        session, db_admin_versions(session->db, session->arena, &versions, ret_count), "versions");
    for (size_t i = 0; i < *ret_count && status == STATUS_OK; i++) {
        struct text document;
        status = version_document_resign(session->arena, session->config,
                                         versions[i].app_version.xml_doc, change->keys.private_key,
                                         &document, &session->failure);
        if (status == STATUS_OK)
            status = session_db_failed(
                session,
                db_admin_version_save_document(session->db, versions[i].app_version.id, document),
                "version");
        progress(session, "versions signed", (int64_t)i + 1);
    }
    return status;
}

struct rotation {
    struct session *session;
    struct key_change change;
    size_t versions;
};

static enum status sign_and_commit(void *subject)
{
    struct rotation *rotation = subject;
    enum status status = resign_versions(rotation->session, &rotation->change, &rotation->versions);

    return status == STATUS_OK ? session_commit_catalog(rotation->session) : status;
}

/* The new key is in place. Where nobody knows whether the programs were committed they are signed
 * once more; where they were not, the old key comes back. */
static enum status commit_rotation(struct rotation *rotation)
{
    struct session *session = rotation->session;
    enum status status = session_commit_catalog(session);

    if (status == STATUS_DB_UNKNOWN) {
        status = repeat_transaction(session->db, sign_and_commit, rotation);
        if (status != STATUS_OK)
            shown_line(stderr, "The new key is in place, but it is unknown whether the versions "
                               "are signed with it: run qmctl keys rotate again.");
    } else if (status != STATUS_OK && keys_change_undo(session->arena, session->config,
                                                       &rotation->change, NULL) != STATUS_OK) {
        shown_line(stderr,
                   "The old key could not be restored: it is in old_key_%d and old_private_%d.",
                   rotation->change.number, rotation->change.number);
    }
    return status;
}

/* Programs are signed anew in a transaction that is committed only when the new key is in place:
 * a program signed by one key is no good to a client that was given the other. */
enum exit_code command_keys_rotate(struct session *session)
{
    static const char *const titles[] = {"old_key", "versions"};
    struct output_table done = TABLE_BEGIN(session, "keys", titles);
    struct rotation rotation = {.session = session};
    struct key_change *change = &rotation.change;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = keys_change_prepare(session->arena, session->config, change, &session->failure);
    if (status == STATUS_OK)
        status = resign_versions(session, change, &rotation.versions);
    if (status == STATUS_OK)
        status = keys_change_write(session->arena, session->config, change, &session->failure);
    if (status == STATUS_OK)
        status = commit_rotation(&rotation);
    if (status != STATUS_OK)
        return session_failed(session);
    table_text(&done, text_print(session->arena, "old_key_%d", change->number));
    table_number(&done, (int64_t)rotation.versions);
    table_tell(&done,
               text_print(session->arena,
                          "The old key is old_key_%d; signed again: " COUNT_FORMAT ". Restart "
                          "the server, or wait until it reads its keys again.",
                          change->number, COUNT_ARG(rotation.versions, "version")));
    return EXIT_DONE;
}

enum exit_code command_sign(struct session *session)
{
    static const char *const titles[] = {"file", "signature"};
    struct output_table table = TABLE_BEGIN(session, "signatures", titles);
    char md5[MD5_HEX_SIZE];
    int64_t bytes;
    struct text private_key, signature;
    enum status status = session_config(session);
    if (status == STATUS_OK)
        status = key_read(session->arena, session->config, "code_sign_private", &private_key,
                          &session->failure);
    if (status == STATUS_OK)
        status = md5_hex_of_file(session->arguments[0], md5, &bytes, &session->failure);
    if (status == STATUS_OK)
        status = rsa_sign_md5(session->arena, private_key, md5, &signature, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    table_text(&table, text_from(session->arguments[0]));
    table_words(&table, text_trim(signature));
    table_tell_lines(&table, text_trim(signature));
    return EXIT_DONE;
}
