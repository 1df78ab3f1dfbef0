/* SPDX-License-Identifier: Apache-2.0 */
/* Where a project is on its machine and in the web, as the samples of config/ ask for it: from
 * config.xml, and from the options of `qmctl deploy`. */
#ifndef TOOLS_QMCTL_DEPLOY_DEPLOY_PLACE_H
#define TOOLS_QMCTL_DEPLOY_DEPLOY_PLACE_H

#include "config/sample.h"
#include "tools/qmctl/session/project_session.h"

enum { DEPLOY_VALUES_MAX = 24, DEPLOY_PARTS_MAX = 16 };

struct deploy_place {
    const char *file_name; /* the path of the project's URL as the name of a file; of a project at
                              the root of a host the last part of its folder's path */
    const char *project;   /* the folder, absolute, without links */
    const char *socket, *uploads_socket, *submission_socket;
    const char *group; /* the web server's, and the name of its user */
    const char *program;
    bool is_https;        /* by master_url */
    bool is_root;         /* no path in master_url */
    bool has_tls;         /* a certificate is given */
    bool has_boinc_pages; /* html/user/index.php */
    bool takes_uploads;
    struct text
        downloads_elsewhere; /* their URL, where it is no place of the samples; else empty */
    struct sample_value values[DEPLOY_VALUES_MAX];
    struct sample_part parts[DEPLOY_PARTS_MAX];
    struct sample_filling filling; /* of these two */
};

/* All texts live in the session's arena. STATUS_INVALID: something has no place in a configuration,
 * or the URLs are not such as the samples serve; STATUS_NOT_FOUND: there is no such group. */
MUST_CHECK enum status deploy_place_find(struct session *session, struct deploy_place *ret_place);

/* Adds a value, which has to live as long as the place. STATUS_INVALID: it has characters that a
 * configuration would want quoted. */
MUST_CHECK enum status deploy_place_set(struct session *session, struct deploy_place *place,
                                        const char *word, const char *value);
/* Sets a part of samples, whether or not it was set before. */
void deploy_place_set_part(struct deploy_place *place, const char *word, bool holds);

/* The value that samples are filled with; "" for a word that has none. */
const char *deploy_place_value(const struct deploy_place *place, const char *word);

/* What the web server lacks: "FOLDER cannot be entered by www-data", for a path that it has to
 * enter or read (`wanted` of R_OK, W_OK and X_OK). Empty: nothing, or there is no such path. */
struct text deploy_lacks(struct session *session, const struct deploy_place *place,
                         const char *path, int wanted);

#endif
