/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/password.h"

#include "server/base/crypto.h"

#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { PASSWORD_BYTES_MAX = 72, COST_MIN = 4 }; /* what bcrypt looks at, and knows */

/* The hash of this password with the salt and cost of `setting`, "" when the library refuses. */
static void crypt_password(struct text password, const char *setting,
                           char ret_hash[PASSWORD_HASH_SIZE])
{
    struct crypt_data *data = calloc(1, sizeof(*data));
    char phrase[PASSWORD_BYTES_MAX + 1] = "";
    const char *hash;

    ret_hash[0] = '\0';
    if (data == NULL || password.length > PASSWORD_BYTES_MAX) {
        free(data);
        return;
    }
    if (password.length > 0)
        memcpy(phrase, password.at, password.length);
    hash = crypt_r(phrase, setting, data);
    if (hash != NULL && strlen(hash) == PASSWORD_HASH_SIZE - 1)
        memcpy(ret_hash, hash, PASSWORD_HASH_SIZE);
    explicit_bzero(phrase, sizeof(phrase));
    explicit_bzero(data, sizeof(*data));
    free(data);
}

enum status password_hash(struct text password, char ret_hash[PASSWORD_HASH_SIZE],
                          struct failure *failure)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE] = "";

    ret_hash[0] = '\0';
    if (crypt_gensalt_rn("$2y$", PASSWORD_COST, NULL, 0, setting, sizeof(setting)) != NULL)
        crypt_password(password, setting, ret_hash);
    return ret_hash[0] == '\0' ? fail(failure, STATUS_IO, "libcrypt makes no hash") : STATUS_OK;
}

/* $2a$, $2b$ and $2y$ are the same for text without bytes above 127. */
int password_cost(struct text hash)
{
    int cost;

    if (hash.length != PASSWORD_HASH_SIZE - 1 || memcmp(hash.at, "$2", 2) != 0 ||
        (hash.at[2] != 'a' && hash.at[2] != 'b' && hash.at[2] != 'y') || hash.at[3] != '$' ||
        hash.at[6] != '$')
        return 0;
    if (hash.at[4] < '0' || hash.at[4] > '9' || hash.at[5] < '0' || hash.at[5] > '9')
        return 0;
    cost = (hash.at[4] - '0') * 10 + hash.at[5] - '0';
    return cost < COST_MIN || cost > PASSWORD_COST_MAX ? 0 : cost;
}

bool password_fits(struct text hash, struct text password)
{
    char setting[PASSWORD_HASH_SIZE] = "", again[PASSWORD_HASH_SIZE];

    if (password_cost(hash) == 0)
        return false;
    memcpy(setting, hash.at, hash.length);
    crypt_password(password, setting, again);
    return again[0] != '\0' && secret_equal(text_from(again), hash);
}

/* Each step of cost doubles the time: 2^spent + ... + 2^(most - 1) is what 2^spent lacks of 2^most.
 */
void password_spend(int spent, int most)
{
    char setting[PASSWORD_HASH_SIZE], hash[PASSWORD_HASH_SIZE];

    for (int cost = spent == 0 ? most : spent; cost < most + (spent == 0); cost++) {
        snprintf(setting, sizeof(setting), "$2y$%02d$abcdefghijklmnopqrstuu", cost);
        crypt_password(NO_TEXT, setting, hash);
    }
}
