/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a transaction and its part: every line that db/transaction_state.h draws leads
 * where it is drawn to, and every other event is refused. */
#include "db/transaction_state.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static const char *const done_names[] = {"IDLE", "READING", "WRITING", "SPOILED"};
static const char *const part_names[] = {"NONE", "BEGUN", "MARKED", "SAVED", "MIXED", "ENDED"};
static const char *const event_names[] = {
    "ASKS",        "WRITES",         "FAILS",         "COMMITS",       "ROLLS_BACK",
    "PART_BEGINS", "PART_IS_MARKED", "PART_IS_SAVED", "PART_IS_MIXED", "PART_ENDS"};
_Static_assert(sizeof(done_names) / sizeof(done_names[0]) == TRANSACTION_DONE_COUNT, "all states");
_Static_assert(sizeof(part_names) / sizeof(part_names[0]) == PART_COUNT, "all parts");
_Static_assert(sizeof(event_names) / sizeof(event_names[0]) == TRANSACTION_EVENT_COUNT,
               "all events");

/* The lines of both pictures, by the names in them. */
static const struct line {
    const char *from, *event, *to;
} done_lines[] = {
    {"IDLE", "ASKS", "READING"},       {"READING", "ASKS", "READING"},
    {"WRITING", "ASKS", "WRITING"},    {"SPOILED", "ASKS", "SPOILED"},
    {"READING", "WRITES", "WRITING"},  {"WRITING", "WRITES", "WRITING"},
    {"SPOILED", "WRITES", "SPOILED"},  {"READING", "FAILS", "SPOILED"},
    {"WRITING", "FAILS", "SPOILED"},   {"SPOILED", "FAILS", "SPOILED"},
    {"READING", "COMMITS", "IDLE"},    {"WRITING", "COMMITS", "IDLE"},
    {"IDLE", "ROLLS_BACK", "IDLE"},    {"READING", "ROLLS_BACK", "IDLE"},
    {"WRITING", "ROLLS_BACK", "IDLE"}, {"SPOILED", "ROLLS_BACK", "IDLE"},
};
static const struct line part_lines[] = {
    {"NONE", "PART_BEGINS", "BEGUN"},     {"BEGUN", "PART_BEGINS", "BEGUN"},
    {"ENDED", "PART_BEGINS", "BEGUN"},    {"BEGUN", "PART_IS_MARKED", "MARKED"},
    {"MARKED", "PART_IS_SAVED", "SAVED"}, {"SAVED", "PART_IS_SAVED", "SAVED"},
    {"MARKED", "PART_IS_MIXED", "MIXED"}, {"SAVED", "PART_IS_MIXED", "MIXED"},
    {"MIXED", "PART_IS_MIXED", "MIXED"},  {"BEGUN", "PART_ENDS", "ENDED"},
    {"MARKED", "PART_ENDS", "ENDED"},     {"SAVED", "PART_ENDS", "ENDED"},
    {"MIXED", "PART_ENDS", "ENDED"},
};

static const char *find_line(const struct line *lines, size_t count, const char *from,
                             const char *event)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].from, from) == 0 && strcmp(lines[i].event, event) == 0)
            return lines[i].to;
    return NULL;
}

static const char *drawn_done(const char *from, const char *event)
{
    if (strncmp(event, "PART_", strlen("PART_")) == 0)
        return strcmp(from, "IDLE") == 0 ? NULL : from;
    return find_line(done_lines, sizeof(done_lines) / sizeof(done_lines[0]), from, event);
}

static const char *drawn_part(const char *from, const char *event)
{
    if (strcmp(event, "COMMITS") == 0 || strcmp(event, "ROLLS_BACK") == 0)
        return "NONE";
    if (strncmp(event, "PART_", strlen("PART_")) != 0)
        return from;
    return find_line(part_lines, sizeof(part_lines) / sizeof(part_lines[0]), from, event);
}

static void every_line_leads_where_it_is_drawn_and_all_else_is_refused(void **state)
{
    size_t made = 0;

    (void)state;
    for (int done = 0; done < TRANSACTION_DONE_COUNT; done++)
        for (int part = 0; part < PART_COUNT; part++)
            for (int event = 0; event < TRANSACTION_EVENT_COUNT; event++) {
                const struct transaction_state from = {.done = (enum transaction_done)done,
                                                       .part = (enum transaction_part)part};
                const char *to_done = drawn_done(done_names[done], event_names[event]);
                const char *to_part = drawn_part(part_names[part], event_names[event]);
                struct transaction_state to = from;
                bool is_made = transaction_state_after(from, (enum transaction_event)event, &to);

                if (is_made != (to_done != NULL && to_part != NULL))
                    fail_msg("%s of %s, %s is %s", event_names[event], done_names[done],
                             part_names[part], is_made ? "made" : "refused");
                if (!is_made) {
                    assert_true(to.done == from.done && to.part == from.part);
                    continue;
                }
                assert_string_equal(done_names[to.done], to_done);
                assert_string_equal(part_names[to.part], to_part);
                made++;
            }
    assert_int_equal(made, (16 * PART_COUNT) + (3 * 13));
}

/* From IDLE; and IDLE never has a part. */
static void every_state_is_reached(void **state)
{
    bool is_reached[TRANSACTION_DONE_COUNT][PART_COUNT] = {{true}};
    size_t count = 1, before = 0;

    (void)state;
    while (count != before) {
        before = count;
        for (int done = 0; done < TRANSACTION_DONE_COUNT; done++)
            for (int part = 0; part < PART_COUNT; part++)
                for (int event = 0; event < TRANSACTION_EVENT_COUNT; event++) {
                    struct transaction_state to = {.done = (enum transaction_done)done,
                                                   .part = (enum transaction_part)part};

                    if (!is_reached[done][part] ||
                        !transaction_state_after(to, (enum transaction_event)event, &to) ||
                        is_reached[to.done][to.part])
                        continue;
                    is_reached[to.done][to.part] = true;
                    count++;
                }
    }
    assert_int_equal(count, 1 + (TRANSACTION_DONE_COUNT - 1) * PART_COUNT);
    for (int part = PART_NONE + 1; part < PART_COUNT; part++)
        assert_false(is_reached[TRANSACTION_IDLE][part]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_leads_where_it_is_drawn_and_all_else_is_refused),
        cmocka_unit_test(every_state_is_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
