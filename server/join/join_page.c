/* SPDX-License-Identifier: Apache-2.0 */
#include "server/join/join_page.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/project/catalog.h"

#include "server/base/banned.h"

static const struct {
    const char *word, *file;
} pages[] = {
    [JOIN_NONE] = {"none", ""},
    [JOIN_CONFIG] = {"get_project_config", "/get_project_config.php"},
    [JOIN_CREATE] = {"create_account", "/create_account.php"},
    [JOIN_LOOKUP] = {"lookup_account", "/lookup_account.php"},
};

static const struct {
    int number;
    const char *text;
} errors[JOIN_ERROR_COUNT] = {
#define JOIN_ERROR_ROW(name, number, text) [JOIN_##name] = {number, text},
    JOIN_ERRORS(JOIN_ERROR_ROW)
#undef JOIN_ERROR_ROW
};

enum join_page join_page_of(struct text path)
{
    for (size_t i = JOIN_NONE + 1; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (text_ends(path, text_from(pages[i].file)))
            return (enum join_page)i;
    return JOIN_NONE;
}

enum join_page join_page_asked(struct text method, struct text script, struct text path)
{
    enum join_page page = join_page_of(script);

    if (!text_is(method, "GET"))
        return JOIN_NONE;
    return page != JOIN_NONE ? page : join_page_of(path);
}

const char *join_page_word(enum join_page page)
{
    return pages[page].word;
}

int join_error_number(enum join_error error)
{
    return errors[error].number;
}

static void begin(struct buffer *page, const char *root)
{
    buffer_print(page, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" ?>\n<%s>\n", root);
}

void join_write_error(struct buffer *page, enum join_error error)
{
    begin(page, "error");
    buffer_print(page, "    <error_num>%d</error_num>\n", errors[error].number);
    buffer_add_element(page, 4, "error_msg", text_from(errors[error].text));
    buffer_add_string(page, "</error>\n");
}

void join_write_key(struct buffer *page, struct text authenticator)
{
    begin(page, "account_out");
    buffer_add_element(page, 4, "authenticator", authenticator);
    buffer_add_string(page, "</account_out>\n");
}

/* --- get_project_config ----------------------------------------------------------------------- */

static void write_platform(struct buffer *page, const struct platform_row *platform,
                           struct text plan_class)
{
    buffer_add_string(page, "<platform>\n");
    buffer_add_element(page, 4, "platform_name", platform->name);
    buffer_add_element(page, 4, "user_friendly_name", platform->user_friendly_name);
    if (plan_class.length > 0)
        buffer_add_element(page, 4, "plan_class", plan_class);
    buffer_add_string(page, "</platform>\n");
}

/* Whether an earlier version in the list is for the same platform and plan class. */
static bool is_repeated(const struct catalog_rows *rows, size_t index)
{
    const struct app_version_row *version = &rows->versions[index];

    for (size_t i = 0; i < index; i++)
        if (rows->versions[i].platformid == version->platformid && !rows->versions[i].deprecated &&
            text_equal(rows->versions[i].plan_class, version->plan_class))
            return true;
    return false;
}

/* One for each pair of platform and plan class that has a version. */
static void write_platforms(struct buffer *page, const struct catalog_rows *rows)
{
    buffer_add_string(page, "<platforms>\n");
    for (size_t p = 0; p < rows->platform_count; p++)
        for (size_t v = 0; v < rows->version_count; v++)
            if (rows->versions[v].platformid == rows->platforms[p].id &&
                !rows->versions[v].deprecated && !is_repeated(rows, v))
                write_platform(page, &rows->platforms[p], rows->versions[v].plan_class);
    buffer_add_string(page, "</platforms>\n");
}

/* Line ends stay, since the Manager shows them, and bytes above 127, which it may not unescape. It
 * takes escaped tags for HTML. */
static void write_terms(struct buffer *page, struct text terms)
{
    buffer_add_string(page, "<terms_of_use>\n");
    for (size_t i = 0; i < terms.length; i++) {
        if (terms.at[i] == '\n' || (unsigned char)terms.at[i] > 127)
            buffer_add_char(page, terms.at[i]);
        else if (terms.at[i] != '\r')
            buffer_add_xml(page, (struct text){.at = terms.at + i, .length = 1});
    }
    buffer_add_string(page, "\n</terms_of_use>\n");
}

void join_write_config(struct buffer *page, const struct join_project *project)
{
    const struct config *config = project->config;

    begin(page, "project_config");
    buffer_add_element(page, 0, "name", config->long_name);
    buffer_add_element(page, 0, "master_url", config->master_url);
    if (config->web_rpc_url_base.length > 0)
        buffer_add_element(page, 0, "web_rpc_url_base", config->web_rpc_url_base);
    if (project->is_stopped)
        buffer_print(page, "<error_num>%d</error_num>\n", errors[JOIN_DOWN].number);
    buffer_print(page, "<web_stopped>%d</web_stopped>\n", project->is_stopped);
    if (config->disable_account_creation || project->terms_are_lost)
        buffer_add_string(page, "<account_creation_disabled/>\n");
    if (config->disable_account_creation_rpc)
        buffer_add_string(page, "<client_account_creation_disabled/>\n");
    buffer_print(page, "<min_passwd_length>%lld</min_passwd_length>\n",
                 (long long)config->min_passwd_length);
    buffer_print(page, "<sched_stopped>%d</sched_stopped>\n", project->is_stopped);
    if (config->min_core_client_version > 0)
        buffer_print(page, "<min_client_version>%lld</min_client_version>\n",
                     (long long)config->min_core_client_version);
    if (project->catalog != NULL)
        write_platforms(page, &project->catalog->rows);
    if (project->terms_of_use.length > 0)
        write_terms(page, project->terms_of_use);
    buffer_add_string(page, "</project_config>\n");
}
