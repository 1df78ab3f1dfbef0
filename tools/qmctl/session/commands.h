/* SPDX-License-Identifier: Apache-2.0 */
/* One function per subcommand; main.c has the table. */
#ifndef TOOLS_QMCTL_SESSION_COMMANDS_H
#define TOOLS_QMCTL_SESSION_COMMANDS_H

#include "tools/qmctl/session/project_session.h"

enum exit_code command_init(struct session *session);
enum exit_code command_adopt(struct session *session);
enum exit_code command_deploy_nginx(struct session *session);
enum exit_code command_deploy_systemd(struct session *session);
enum exit_code command_deploy_mariadb(struct session *session);
enum exit_code command_deploy_apache(struct session *session);
enum exit_code command_keys(struct session *session);
enum exit_code command_keys_rotate(struct session *session);
enum exit_code command_sign(struct session *session);
enum exit_code command_app_add(struct session *session);
enum exit_code command_app_list(struct session *session);
enum exit_code command_buda_check(struct session *session);
enum exit_code command_buda_forget(struct session *session);
enum exit_code command_buda_list(struct session *session);
enum exit_code command_buda_show(struct session *session);
enum exit_code command_app_show(struct session *session);
enum exit_code command_app_set(struct session *session);
enum exit_code command_app_deprecate(struct session *session);
enum exit_code command_app_classes(struct session *session);
enum exit_code command_app_estimates(struct session *session);
enum exit_code command_app_forget(struct session *session);
enum exit_code command_platform_list(struct session *session);
enum exit_code command_platform_add(struct session *session);
enum exit_code command_version_add(struct session *session);
enum exit_code command_version_list(struct session *session);
enum exit_code command_version_set(struct session *session);
enum exit_code command_version_deprecate(struct session *session);
enum exit_code command_hosts(struct session *session);
enum exit_code command_host_ban(struct session *session);
enum exit_code command_host_clear(struct session *session);
enum exit_code command_host_sweep(struct session *session);
enum exit_code command_host_unban(struct session *session);
enum exit_code command_host_delete(struct session *session);
enum exit_code command_user_add(struct session *session);
enum exit_code command_user_delete(struct session *session);
enum exit_code command_user_list(struct session *session);
enum exit_code command_user_set(struct session *session);
enum exit_code command_user_show(struct session *session);
enum exit_code command_jobs_create(struct session *session);
enum exit_code command_jobs_cancel(struct session *session);
enum exit_code command_jobs_priority(struct session *session);
enum exit_code command_jobs_revalidate(struct session *session);
enum exit_code command_jobs_retry(struct session *session);
enum exit_code command_jobs_sweep(struct session *session);
enum exit_code command_jobs_transition(struct session *session);
enum exit_code command_jobs_list(struct session *session);
enum exit_code command_jobs_show(struct session *session);
enum exit_code command_jobs_results(struct session *session);
enum exit_code command_jobs_export(struct session *session);
enum exit_code command_batch_abort(struct session *session);
enum exit_code command_batch_add(struct session *session);
enum exit_code command_batch_list(struct session *session);
enum exit_code command_batch_retire(struct session *session);
enum exit_code command_batch_set(struct session *session);
enum exit_code command_batch_show(struct session *session);
enum exit_code command_submitter_add(struct session *session);
enum exit_code command_submitter_list(struct session *session);
enum exit_code command_submitter_remove(struct session *session);
enum exit_code command_submitter_set(struct session *session);
enum exit_code command_transition(struct session *session);
enum exit_code command_purge(struct session *session);
enum exit_code command_queue(struct session *session);
enum exit_code command_failures(struct session *session);
enum exit_code command_files(struct session *session);
enum exit_code command_files_init(struct session *session);
enum exit_code command_files_orders(struct session *session);
enum exit_code command_files_send(struct session *session);
enum exit_code command_files_get(struct session *session);
enum exit_code command_files_delete(struct session *session);
enum exit_code command_files_sweep(struct session *session);
enum exit_code command_drain(struct session *session);
enum exit_code command_resume(struct session *session);
enum exit_code command_host(struct session *session);
enum exit_code command_completion(struct session *session);
enum exit_code command_manual(struct session *session);
enum exit_code command_status(struct session *session);
enum exit_code command_why(struct session *session);
enum exit_code command_replay(struct session *session);
enum exit_code command_check_config(struct session *session);

#endif
