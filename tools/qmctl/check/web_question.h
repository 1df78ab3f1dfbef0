/* SPDX-License-Identifier: Apache-2.0 */
/* A question to one of the project's own pages, by libcurl. */
#ifndef TOOLS_QMCTL_CHECK_WEB_QUESTION_H
#define TOOLS_QMCTL_CHECK_WEB_QUESTION_H

#include "server/base/buffer.h"
#include "server/base/text.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* Ready to be performed: HTTP or HTTPS, ended after so many seconds, the reply's body to `page`.
 * The machine's proxy (http_proxy) is used as by other programs, but not for the machine itself.
 * The caller cleans it up; NULL: no memory. `arena` and `page` outlive it. */
CURL *web_question(struct arena *arena, struct text url, long patience, struct buffer *page);

/* Whether the web server refuses a POST of so many bytes there because of its size (HTTP status
 * 413: nginx, client_max_body_size). It is asked before any of them is sent, and none is. */
bool web_question_is_too_large(struct arena *arena, struct text url, int64_t bytes);

/* Why a question that was performed got no answer, in libcurl's words; a certificate that is out of
 * date is asked for once more, for its dates. In the arena. */
struct text web_question_failure(struct arena *arena, CURL *easy, CURLcode result);

#endif
