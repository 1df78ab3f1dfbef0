/* SPDX-License-Identifier: Apache-2.0 */
/* Reading preferences, and which of three texts counts. */
#include "server/policy/limits/preferences.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/parse/client_age.h"
#include "server/parse/message.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#define EMAIL_MD5 "0123456789abcdef0123456789abcdef"

static const struct text stored = {
    .at = "<global_preferences>\n"
          "<mod_time>1000</mod_time>\n"
          "<disk_max_used_gb>10</disk_max_used_gb><disk_max_used_pct>50</disk_max_used_pct>\n"
          "<ram_max_used_busy_pct>40</ram_max_used_busy_pct>\n"
          "<work_buf_min_days> 0.25 </work_buf_min_days>\n"
          "<venue name=\"home\">\n<disk_max_used_gb>3</disk_max_used_gb>\n"
          "<max_cpus>2</max_cpus><mod_time>5</mod_time></venue>\n"
          "<venue name='work'/>\n"
          "<max_ncpus_pct>75</max_ncpus_pct>\n"
          "</global_preferences>\n",
    .length = 0,
};

static struct text stored_text(void)
{
    return text_from(stored.at);
}

static void the_general_part_is_read(void **state)
{
    struct global_preferences preferences;

    (void)state;
    preferences_parse_global(stored_text(), NO_TEXT, case_arena, &preferences);
    assert_real(preferences.mod_time, 1000, 0);
    assert_real(preferences.disk_max_used_gb, 10, 0);
    assert_real(preferences.disk_max_used_pct, 50, 0);
    assert_real(preferences.disk_min_free_gb, 0, 0);
    assert_real(preferences.ram_max_used_busy_fraction, 0.4, 1e-12);
    assert_real(preferences.work_buf_min_days, 0.25, 0);
    assert_real(preferences.max_ncpus_pct, 75, 0); /* after the venues */
    assert_real(preferences.max_cpus, 0, 0);
}

static void a_venue_replaces_the_general_part(void **state)
{
    struct global_preferences preferences;

    (void)state;
    preferences_parse_global(stored_text(), TEXT("home"), case_arena, &preferences);
    assert_real(preferences.disk_max_used_gb, 3, 0);
    assert_real(preferences.max_cpus, 2, 0);
    assert_real(preferences.max_ncpus_pct, 0, 0);
    assert_real(preferences.mod_time, 1000, 0);
    preferences_parse_global(TEXT("<max_cpus>1</max_cpus><venue name=\"a\"><max_cpus>5</max_cpus>"
                                  "</venue>"),
                             TEXT("a"), case_arena, &preferences);
    assert_real(preferences.max_cpus, 5, 0);
    preferences_parse_global(TEXT("<venue name=\"a\"><max_cpus>5</max_cpus></venue>"
                                  "<venue name=\"b\"><max_cpus>6</max_cpus></venue>"),
                             TEXT("a"), case_arena, &preferences);
    assert_real(preferences.max_cpus, 5, 0); /* not of the venue behind it */
    preferences_parse_global(stored_text(), TEXT("school"), case_arena, &preferences);
    assert_real(preferences.disk_max_used_gb, 10, 0);
}

static void odd_texts_give_defaults_or_what_can_be_read(void **state)
{
    static const struct {
        double gb;
        const char *text;
    } cases[] = {
        {0, ""},
        {0, "<"},
        {0, "<!--"},
        {0, "no tags at all"},
        {0, "<disk_max_used_gb>many</disk_max_used_gb>"},
        {0, "<disk_max_used_gb>-3</disk_max_used_gb>"},
        {0, "<disk_max_used_gb>nan</disk_max_used_gb>"},
        {0, "<disk_max_used_gb/>"},
        {0, "<!-- <disk_max_used_gb>4</disk_max_used_gb> -->"},
        {4, "<?xml version=\"1.0\"?><disk_max_used_gb>4</disk_max_used_gb>"},
        {4, "a & b <x <disk_max_used_gb>4</disk_max_used_gb>"},
        {4, "<venue name=\"a\"><disk_max_used_gb>9</disk_max_used_gb></venue>"
            "<disk_max_used_gb>4</disk_max_used_gb>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct global_preferences preferences;

        preferences_parse_global(text_from(cases[i].text), NO_TEXT, case_arena, &preferences);
        assert_real(preferences.disk_max_used_gb, cases[i].gb, 0);
    }
}

static void any_bytes_can_be_read(void **state)
{
    static const char *pieces[] = {
        "<",   ">",        "/",        "venue", " name=\"",           "\"",     "<!--", "-->",
        "<a>", "</venue>", "mod_time", "1e400", "<venue name=\"a\">", "app_id", "=",    " "};
    struct random random = {.state = 9};

    (void)state;
    for (int round = 0; round < 3000; round++) {
        char text[400];
        size_t length = 0;
        struct global_preferences global;
        struct project_preferences project;
        struct arena_mark mark = arena_mark(case_arena);

        while (length < 300) {
            const char *piece = pieces[random_next(&random) % 16];

            memcpy(text + length, piece, strlen(piece));
            length += strlen(piece);
        }
        preferences_parse_global((struct text){.at = text, .length = length}, TEXT("a"), case_arena,
                                 &global);
        preferences_parse_project((struct text){.at = text, .length = length}, TEXT("a"),
                                  case_arena, &project);
        assert_true(global.mod_time >= 0);
        arena_rewind(case_arena, mark);
    }
}

static void project_preferences_are_read(void **state)
{
    const struct text text =
        TEXT("<project_preferences><resource_share>50</resource_share>"
             "<project_specific><app_id>3</app_id><app_id>7</app_id>"
             "<allow_non_preferred_apps>1</allow_non_preferred_apps></project_specific>"
             "<no_cpu>1</no_cpu><no_ati>1</no_ati><no_cuda>0</no_cuda><no_rsc>asic</no_rsc>"
             "<max_jobs>5</max_jobs><max_cpus>-1</max_cpus><allow_beta_work/>"
             "<venue name=\"work\"><resource_share>10</resource_share><no_gpus>1</no_gpus></venue>"
             "</project_preferences>");
    struct project_preferences preferences;

    (void)state;
    preferences_parse_project(text, NO_TEXT, case_arena, &preferences);
    assert_real(preferences.resource_share, 50, 0);
    assert_int_equal(preferences.app_id_count, 2);
    assert_i64(preferences.app_ids[0], 3);
    assert_i64(preferences.app_ids[1], 7);
    assert_true(preferences.allow_non_preferred_apps);
    assert_true(preferences.allow_beta_work);
    assert_true(preferences.no_cpu);
    assert_false(preferences.no_gpus);
    assert_int_equal(preferences.no_resource_count, 2);
    assert_text(preferences.no_resources[0], "ATI");
    assert_text(preferences.no_resources[1], "asic");
    assert_i64(preferences.max_jobs, 5);
    assert_i64(preferences.max_cpus, 0);
    preferences_parse_project(text, TEXT("work"), case_arena, &preferences);
    assert_real(preferences.resource_share, 10, 0);
    assert_true(preferences.no_gpus);
    assert_false(preferences.no_cpu);
    assert_int_equal(preferences.app_id_count, 0);
    preferences_parse_project(TEXT("<no_rsc>x</no_rsc>"), NO_TEXT, case_arena, &preferences);
    assert_int_equal(preferences.no_resource_count, 1);
    preferences_parse_project(TEXT("<max_jobs>9.99e14</max_jobs>"), NO_TEXT, case_arena,
                              &preferences);
    assert_i64(preferences.max_jobs, INT64_C(999000000000000));
    preferences_parse_project(TEXT("<max_jobs>1.005e15</max_jobs>"), NO_TEXT, case_arena,
                              &preferences);
    assert_i64(preferences.max_jobs, 0);
}

static void of_very_many_forbidden_resources_the_first_32_count(void **state)
{
    struct buffer buffer = buffer_in(case_arena);
    struct project_preferences preferences;

    (void)state;
    buffer_add_string(&buffer, "<no_rsc></no_rsc><no_rsc> </no_rsc>");
    for (int i = 1; i <= 40; i++)
        buffer_print(&buffer, "<no_rsc>type %d</no_rsc>", i);
    preferences_parse_project(buffer_text(&buffer), NO_TEXT, case_arena, &preferences);
    assert_int_equal(preferences.no_resource_count, 32);
    assert_text(preferences.no_resources[0], "type 1");
    assert_text(preferences.no_resources[31], "type 32");
}

static void a_project_may_name_its_own_elements(void **state)
{
    const struct text text = TEXT("<?xml version=\"1.0\"?><!-- - --><><a>1</a><b/><long> 2 </long>"
                                  "<venue name=\"home\"><a>3</a></venue>");

    (void)state;
    assert_text(preferences_value(text, NO_TEXT, TEXT("a")), "1");
    assert_text(preferences_value(text, NO_TEXT, TEXT("b")), "");
    assert_text(preferences_value(text, TEXT("work"), TEXT("long")), "2");
    assert_text(preferences_value(text, TEXT("home"), TEXT("a")), "3");
}

static void an_absent_share_is_100(void **state)
{
    struct project_preferences preferences;

    (void)state;
    preferences_parse_project(NO_TEXT, NO_TEXT, case_arena, &preferences);
    assert_real(preferences.resource_share, 100, 0);
    assert_false(preferences.no_cpu);
}

static struct text prefs_at(int64_t mod_time, int gb)
{
    return text_print(case_arena,
                      "<mod_time>%lld</mod_time><disk_max_used_gb>%d</disk_max_used_gb>"
                      "<venue name=\"home\"><disk_max_used_gb>%d</disk_max_used_gb></venue>",
                      (long long)mod_time, gb, gb + 100);
}

/* Times of master, working and stored preferences (-1: none); their disk limits are 1, 2 and 3 GB,
 * and 100 more at home, where the host is. Now is 5000. */
static void the_table_of_three_decides(void **state)
{
    static const struct {
        int gb; /* of those in force */
        bool store, send;
        int64_t master, working, stored;
        bool may_store, same_email;
    } cases[] = {
        {0, false, false, -1, -1, -1, true, true},
        {103, false, true, -1, -1, 100, true, true},
        {101, true, false, 100, -1, -1, true, true},
        {101, true, false, 200, -1, 100, true, true},
        {101, false, false, 100, -1, 100, true, true}, /* equal: the request's */
        {103, false, true, 100, -1, 200, true, true},
        {2, false, false, -1, 50, -1, true, true}, /* in force on the host: no venue */
        {2, false, true, -1, 50, 100, true, true},
        {2, false, false, -1, 100, 100, true, true},
        {2, true, false, 200, 50, 100, true, true},
        {2, false, true, 100, 50, 200, true, true},
        {2, false, false, 100, 300, 200, true, true},
        {101, false, false, 200, -1, 100, false, true},
        {101, false, false, 200, -1, 100, true, false},
        {101, false, false, 9000, -1, 8000, true, true}, /* both in the future: now, equal */
        {101, true, false, 9000, -1, 100, true, true},
        {101, true, false, 0, -1, -1, true, true},
        {103, false, false, -1, -1, 0, true, true}, /* never edited: nothing newer */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct message message;
        struct preferences_decision decision;
        struct text kept = NO_TEXT;

        memset(&message, 0, sizeof(message));
        message.global_prefs_source_email_hash =
            cases[i].same_email ? TEXT(EMAIL_MD5) : TEXT("other");
        if (cases[i].master >= 0) {
            message.has_global_preferences = true;
            message.global_preferences = prefs_at(cases[i].master, 1);
        }
        if (cases[i].working >= 0) {
            message.has_working_global_preferences = true;
            message.working_global_preferences = prefs_at(cases[i].working, 2);
        }
        if (cases[i].stored >= 0)
            kept = prefs_at(cases[i].stored, 3);
        decision = preferences_decide(&message, kept, TEXT("home"), cases[i].may_store, EMAIL_MD5,
                                      5000, case_arena);
        if ((int)decision.in_force.disk_max_used_gb != cases[i].gb ||
            decision.store != cases[i].store || decision.send != cases[i].send)
            fail_msg("case %zu: %g GB, store %d, send %d", i, decision.in_force.disk_max_used_gb,
                     decision.store, decision.send);
        assert_true(decision.in_force.mod_time <= 5000);
    }
}

static void an_absent_hash_stores_nothing(void **state)
{
    struct message message;

    (void)state;
    memset(&message, 0, sizeof(message));
    message.has_global_preferences = true;
    message.global_preferences = prefs_at(100, 1);
    assert_false(
        preferences_decide(&message, NO_TEXT, NO_TEXT, true, EMAIL_MD5, 5000, case_arena).store);
}

static void the_rule_of_the_connection_period_is_the_clients_where_no_other_is_set(void **state)
{
    const int64_t first = CLIENT_KEEPS_A_BUFFER;
    static const enum config_edf_min_queue fixed[] = {
        EDF_MIN_QUEUE_ALWAYS, EDF_MIN_QUEUE_WHEN_NOT_IDLE, EDF_MIN_QUEUE_NEVER};
    struct config config = {.edf_min_queue = EDF_MIN_QUEUE_BY_CLIENT};

    (void)state;
    assert_int_equal(preferences_connection_rule(&config, 0), EDF_MIN_QUEUE_ALWAYS);
    assert_int_equal(preferences_connection_rule(&config, first - 1), EDF_MIN_QUEUE_ALWAYS);
    assert_int_equal(preferences_connection_rule(&config, first), EDF_MIN_QUEUE_WHEN_NOT_IDLE);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        config.edf_min_queue = fixed[i];
        assert_int_equal(preferences_connection_rule(&config, first - 1), fixed[i]);
        assert_int_equal(preferences_connection_rule(&config, first), fixed[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_general_part_is_read),
        cmocka_unit_test(a_venue_replaces_the_general_part),
        cmocka_unit_test(odd_texts_give_defaults_or_what_can_be_read),
        cmocka_unit_test(any_bytes_can_be_read),
        cmocka_unit_test(project_preferences_are_read),
        cmocka_unit_test(of_very_many_forbidden_resources_the_first_32_count),
        cmocka_unit_test(a_project_may_name_its_own_elements),
        cmocka_unit_test(an_absent_share_is_100),
        cmocka_unit_test(the_table_of_three_decides),
        cmocka_unit_test(an_absent_hash_stores_nothing),
        cmocka_unit_test(the_rule_of_the_connection_period_is_the_clients_where_no_other_is_set),
    };

    return cmocka_run_group_tests(tests, case_arena_setup, case_arena_teardown);
}
