"""Classes of attacks on bots that run models in repositories, and where each is shown to fail here.
A test checks it both ways.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Class:
    """One class: what is tried, the tests that show what comes of it, and what no test without
    GitHub can show.

    `red_at` is the last commit at which the tests of a class failed: an attack that had got
    through.
    """

    name: str
    shown: tuple[str, ...] = ()
    not_shown: str = ""
    red_at: str = ""


_ACTION = (
    "lies in the files of the action and the workflows, which linters look at: zizmor and"
    " actionlint, with no finding allowed"
)

CLASSES: dict[str, Class] = {
    "S1": Class("Script injection through titles, bodies and branches", not_shown=_ACTION),
    "S2": Class(
        "Prompt injection that leads to writing",
        (
            "tests/bot/test_runs.py::test_neither_token_nor_key_is_in_anything_that_can_be_read",
            "tests/security/test_token.py::test_a_worker_gets_nothing_that_has_the_token_in_it_whatever_it_is_called",
            "tests/security/test_commits.py::test_a_worker_cannot_report_what_people_say_or_what_was_published",
        ),
    ),
    "S3": Class(
        "Hidden text",
        (
            "tests/prompts/test_untrusted.py::test_hidden_text_does_not_reach_the_model",
            "tests/prompts/test_untrusted.py::test_cleaning_twice_changes_nothing_more",
            "tests/bot/test_commands.py::test_hidden_text_is_named_and_an_estimate_given",
        ),
        "how GitHub itself draws hidden text, of which the corpus holds measured samples",
    ),
    "S4": Class(
        "Text that is edited after the label",
        (
            "tests/bot/test_commands.py::test_an_issue_that_was_edited_after_the_label_is_worked_on_as_it_was",
        ),
    ),
    "S5": Class(
        "Approval of what has changed since",
        (
            "tests/bot/test_runs.py::test_an_approval_of_a_version_that_has_changed_is_refused_with_the_new_one",
        ),
    ),
    "S6": Class(
        "Forged comments of the bot",
        (
            "tests/security/test_threads.py::test_copies_quotations_edits_bots_and_floods_move_nothing_and_are_answered_once",
        ),
    ),
    "S7": Class(
        "Forged records in the branch",
        (
            "tests/security/test_threads.py::test_an_approval_that_somebody_wrote_into_the_record_is_asked_about_before_anything_is_published",
            "tests/security/test_commits.py::test_a_state_that_the_reports_do_not_lead_to_is_not_believed",
            "tests/security/test_commits.py::test_what_was_reported_before_cannot_be_changed_or_taken_back",
        ),
    ),
    "S8": Class(
        "Commands in quotations, code, HTML, edits and comments of bots",
        (
            "tests/gate/test_commands.py::test_a_comment_says_what_the_table_says_and_the_gate_does_with_it_what_stands_there",
            "tests/bot/test_uncertain_comments.py::test_a_command_that_nobody_sees_carries_nothing_on_and_is_not_answered",
            "tests/security/test_threads.py::test_copies_quotations_edits_bots_and_floods_move_nothing_and_are_answered_once",
        ),
    ),
    "S9": Class("Who may do what", ("tests/gate/test_authorise.py::test_who_may_do_what",)),
    "S10": Class(
        "Labels by people who may only label",
        (
            "tests/gate/test_authorise.py::test_who_may_do_what",
            "tests/bot/test_runs.py::test_a_stranger_starts_nothing_and_approves_nothing",
        ),
    ),
    "S11": Class(
        "Approval by oneself, or by somebody who has left",
        (
            "tests/security/test_threads.py::test_an_approval_of_somebody_who_has_lost_the_role_does_not_count_later",
        ),
        "one person with the role may both ask and approve; a rule for a second person is the"
        " branch's own protection",
    ),
    "S12": Class(
        "Jobs that somebody else runs again",
        ("tests/gate/test_authorise.py::test_who_may_do_what",),
    ),
    "S13": Class(
        "Bots that act for strangers",
        (
            "tests/gate/test_authorise.py::test_who_may_do_what",
            "tests/gate/test_authorise.py::test_the_own_bot_may_wake_its_run_and_nothing_else",
        ),
    ),
    "S14": Class(
        "Injection into outputs of a step",
        ("tests/security/test_outputs.py::test_no_value_can_add_an_output_of_its_own",),
    ),
    "S15": Class(
        "Keys read from files, environment and processes",
        (
            "tests/security/test_threads.py::test_a_project_command_reads_no_secret_from_environment_processes_or_files",
            "tests/security/test_token.py::test_a_supervisor_closes_its_memory_and_environment_to_other_processes_of_its_user",
            "tests/sandbox/test_environment.py::test_nothing_of_our_environment_is_passed_on",
            "tests/sandbox/test_walls.py::test_a_password_in_gits_settings_is_not_shown",
            "tests/sandbox/test_walls.py::test_a_password_in_the_settings_of_a_submodule_or_work_tree_is_not_shown",
            "tests/runs/test_signed_offers.py::test_the_key_is_lent_to_git_in_a_file_of_this_user_that_goes_and_stands_nowhere_else",
        ),
        "root keeps nothing from root: outside the sandbox only the three jobs of the reusable"
        " workflow are a wall",
    ),
    "S16": Class(
        "Keys let out through what is written",
        (
            "tests/security/test_commits.py::test_a_key_in_a_file_is_found_in_whatever_form_it_was_written",
            "tests/security/test_commits.py::test_a_key_is_found_in_documents_in_binary_files_and_in_messages",
            "tests/prompts/test_escape.py::test_a_picture_becomes_a_link_to_it",
        ),
        "encryption, and forms nobody thought of: no key that the model's provider lets you limit"
        " should be without a limit",
    ),
    "S17": Class(
        "Calls to hosts outside",
        (
            "tests/sandbox/test_setup_network.py::test_the_machines_own_proxy_is_not_asked_for_names_of_networks_behind_it",
            "tests/sandbox/test_walls.py::test_an_attack_ends_at_the_walls",
            "tests/sandbox/test_walls.py::test_after_all_attacks_nothing_has_changed_and_nobody_was_called",
        ),
    ),
    "S18": Class(
        "Options and settings for git",
        (
            "tests/git/test_calls_of_git.py::test_hooks_never_run_wherever_they_lie",
            "tests/git/test_differences_and_patches.py::test_a_revision_is_never_an_option",
            "tests/agent/test_context_past.py::test_programs_that_a_repository_configures_are_not_run",
        ),
    ),
    "S19": Class(
        "Paths that lead out, links, submodules, floods of files",
        (
            "tests/agent/test_edits.py::test_a_path_that_leads_out_is_refused",
            "tests/security/test_commits.py::test_links_and_submodules_are_not_pushed",
            "tests/security/test_commits.py::test_commits_of_somebody_else_or_on_another_history_are_not_pushed",
            "tests/security/test_commits.py::test_more_files_or_bytes_than_any_task_needs_are_not_pushed",
        ),
    ),
    "S20": Class(
        "Files that decide what runs, or who decides",
        (
            "tests/security/test_commits.py::test_a_change_to_what_decides_about_others_is_not_pushed_without_a_person",
            "tests/security/test_commits.py::test_a_path_that_a_standing_rule_leaves_to_a_person_is_not_pushed_by_a_worker",
            "tests/bot/test_commands.py::test_files_that_the_token_cannot_push_come_as_a_patch",
            "tests/bot/test_commands.py::test_a_task_that_asks_for_workflow_files_alone_is_told_so_before_anything_is_spent",
        ),
    ),
    "S21": Class(
        "Configuration from a branch",
        (
            "tests/security/test_threads.py::test_the_configuration_of_the_runs_branch_does_not_count",
        ),
    ),
    "S22": Class("Poisoned caches", not_shown=_ACTION),
    "S23": Class(
        "Code of forks beside secrets",
        (
            "tests/gate/test_events.py::test_checks_of_a_branch_with_the_same_name_in_a_fork_do_not_count",
        ),
        _ACTION,
    ),
    "S24": Class("Tokens that may too much", not_shown=_ACTION),
    "S25": Class("Actions that are not pinned", not_shown=_ACTION),
    "S26": Class(
        "Events twice, late or never",
        (
            "tests/bot/test_runs.py::test_the_same_event_twice_changes_nothing",
            "tests/bot/test_runs.py::test_a_lost_event_is_made_up_for_by_the_next_one_and_two_approvals_are_one",
            "tests/bot/test_order.py::test_deliveries_in_any_order_and_twice_end_in_the_same_state",
        ),
    ),
    "S27": Class(
        "Jobs at the same time",
        (
            "tests/bot/test_order.py::test_two_jobs_at_once_are_one_run",
            "tests/security/test_commits.py::test_what_a_branch_got_after_it_was_looked_at_does_not_go_out",
        ),
    ),
    "S28": Class(
        "Floods of comments",
        (
            "tests/security/test_threads.py::test_copies_quotations_edits_bots_and_floods_move_nothing_and_are_answered_once",
            "tests/gate/test_commands.py::test_the_longest_comment_of_one_sign_is_read_in_a_moment",
            "tests/prompts/test_untrusted.py::test_hostile_text_is_cleaned_in_bounded_time",
        ),
    ),
    "S29": Class(
        "Bots that answer each other",
        (
            "tests/gate/test_authorise.py::test_the_own_bot_may_wake_its_run_and_nothing_else",
            "tests/security/test_threads.py::test_copies_quotations_edits_bots_and_floods_move_nothing_and_are_answered_once",
        ),
    ),
    "S30": Class(
        "Documents that call people, close issues or leave their block",
        (
            "tests/prompts/test_escape.py::test_no_document_calls_refers_closes_or_loads_anything",
            "tests/bot/test_fit.py::test_whatever_a_document_says_it_stays_in_its_fold_and_in_its_room",
        ),
    ),
    "S31": Class(
        "Verdicts that the judged one writes",
        (
            "tests/engine/test_verdicts.py::test_no_verdict_is_made_out_of_what_says_none",
            "tests/engine/test_verdicts.py::test_a_yes_of_any_sort_beside_a_critical_finding_is_unreadable",
        ),
    ),
    "S32": Class(
        "Poisoned memory",
        (
            "tests/security/test_commits.py::test_runs_of_branches_that_are_not_merged_are_no_memory",
        ),
    ),
    "S33": Class(
        "Secrets in records and logs",
        (
            "tests/agent/test_journal.py::test_secrets_of_the_environment_never_reach_the_file_and_the_kept_text_is_what_is_used",
            "tests/security/test_commits.py::test_a_key_that_a_later_commit_takes_back_is_found_all_the_same",
            "tests/bot/test_runs.py::test_neither_token_nor_key_is_in_anything_that_can_be_read",
        ),
    ),
    "S34": Class(
        "Approval out of tiredness",
        (
            "tests/bot/test_checkpoint.py::test_a_person_reads_decision_risks_findings_answers_and_digest_before_the_documents",
        ),
    ),
    "S35": Class(
        "Setup with network on code that a model edited",
        (
            "tests/security/test_setup_with_network.py::test_setup_on_a_fresh_machine_runs_the_base_commit_and_not_what_a_model_edited",
            "tests/security/test_setup_with_network.py::test_every_task_of_a_wave_and_the_verification_see_what_setup_installed_and_their_own_code",
            "tests/security/test_setup_with_network.py::test_of_an_approved_patch_only_manifests_and_lock_files_reach_setup",
            "tests/security/test_setup_with_network.py::test_setup_that_could_pass_the_proxy_waits_for_a_consent",
            "tests/security/test_third_party_only.py::test_an_approved_dependency_is_fetched_and_the_project_is_built_without_network",
            "tests/security/test_third_party_only.py::test_an_approved_patch_that_does_not_fit_the_base_is_an_error_and_nothing_is_fetched",
            "tests/security/test_third_party_only.py::test_every_tool_installs_without_scripts_of_the_project_or_is_named",
            "tests/security/test_third_party_only.py::test_a_folder_among_the_packages_makes_a_command_one_that_may_build_with_network",
            "tests/cli/test_preflight.py::test_setup_that_nothing_holds_to_the_proxy_is_asked_about_before_a_run",
            "tests/cli/test_preflight.py::test_setup_without_a_sandbox_is_said_to_have_no_proxy_before_a_run_and_at_its_question",
            "tests/sandbox/test_setup_network.py::test_a_configured_registry_is_reached_and_another_local_server_is_not",
            "tests/sandbox/test_setup_network.py::test_a_tunnel_to_an_address_of_this_machine_or_its_network_is_refused",
        ),
        "what third-party packages do while they are installed: they have the network, and no"
        " secret",
        red_at="7997ad5",
    ),
    "S36": Class(
        "Modifier labels that somebody adds who may not approve",
        (
            "tests/security/test_people_in_threads.py::test_a_modifier_label_of_somebody_who_may_not_approve_is_ignored_and_said",
            "tests/security/test_people_in_threads.py::test_a_modifier_label_that_an_app_or_nobody_known_added_is_ignored",
            "tests/security/test_people_in_threads.py::test_a_modifier_label_that_was_added_again_counts_by_who_added_it_last",
            "tests/security/test_people_in_threads.py::test_a_modifier_label_of_somebody_who_could_approve_counts",
        ),
        red_at="7997ad5",
    ),
    "S37": Class(
        "Files that run, decide or instruct by themselves elsewhere",
        (
            "tests/security/test_protected_paths.py::test_what_runs_decides_or_instructs_by_itself_somewhere_is_not_pushed_without_a_person",
            "tests/security/test_protected_paths.py::test_the_reason_for_which_a_path_is_protected_is_said",
            "tests/security/test_protected_paths.py::test_what_a_repository_adds_to_the_table_is_not_pushed_either",
            "tests/security/test_protected_paths.py::test_the_part_of_a_manifest_that_installs_builds_or_runs_is_not_pushed_without_a_person",
            "tests/security/test_protected_paths.py::test_the_rest_of_a_manifest_is_pushed_like_any_file",
            "tests/security/test_protected_paths.py::test_a_new_manifest_and_one_that_goes_are_judged_by_the_same_part",
            "tests/security/test_protected_paths.py::test_a_manifest_that_cannot_be_read_is_protected",
            "tests/security/test_protected_paths.py::test_ordinary_files_are_not_taken_for_protected_ones",
            "tests/security/test_protected_paths.py::test_the_page_lists_the_table_as_it_is",
            "tests/sandbox/test_protected.py::test_files_that_run_or_instruct_by_themselves_are_neither_changed_nor_left_behind",
        ),
        red_at="7997ad5",
    ),
    "S38": Class(
        "Commands that the gate refused, read again later",
        (
            "tests/security/test_people_in_threads.py::test_an_approval_that_was_sent_through_an_app_does_not_count_when_the_thread_is_read_again",
            "tests/github_api/test_conversations.py::test_a_comment_says_through_which_app_it_was_sent_and_what_sort_of_account_wrote_it",
        ),
        red_at="7997ad5",
    ),
    "S39": Class(
        "Approval of text that nobody was shown",
        (
            "tests/security/test_hidden_documents.py::test_a_design_that_hides_text_goes_back_and_then_before_a_person_who_sees_it",
            "tests/security/test_hidden_documents.py::test_an_author_who_takes_the_hidden_text_out_is_asked_once_more_and_nobody_else",
            "tests/security/test_hidden_documents.py::test_over_mcp_a_document_that_hides_text_is_to_be_revised",
            "tests/security/test_hidden_documents.py::test_what_a_person_hides_in_an_approved_document_is_shown_over_mcp",
            "tests/security/test_hidden_documents.py::test_what_a_person_hides_in_a_document_that_waits_is_said_and_shown",
            "tests/security/test_hidden_documents.py::test_what_somebody_hides_in_a_document_that_the_question_does_not_show_is_said",
            "tests/security/test_hidden_documents.py::test_a_comment_with_a_question_shows_a_document_that_hides_text_as_it_is_written",
            "tests/security/test_hidden_documents.py::test_what_a_request_hides_is_said_where_agents_of_a_client_read_it",
        ),
        "addresses of links, labels of one short word and what stands far to the right in code can"
        " be seen, by who looks for it",
        red_at="7997ad5",
    ),
    "S40": Class(
        "Text that is edited between a command and our reading",
        (
            "tests/security/test_people_in_threads.py::test_text_that_was_edited_after_a_lost_start_is_asked_about_and_not_worked_on",
            "tests/security/test_people_in_threads.py::test_a_title_that_was_edited_after_a_lost_start_is_asked_about",
            "tests/security/test_people_in_threads.py::test_text_that_was_edited_after_a_refresh_does_not_become_the_request",
            "tests/security/test_people_in_threads.py::test_text_that_was_edited_after_a_lost_refresh_is_asked_about",
            "tests/security/test_people_in_threads.py::test_a_comment_that_was_edited_is_left_out_of_the_request_and_said",
        ),
        "an edit just before the command, which the person may not have seen",
        red_at="7997ad5",
    ),
    "S41": Class(
        "Titles that act in commits and pull requests",
        (
            "tests/prompts/test_escape.py::test_a_title_makes_no_program_act",
            "tests/security/test_people_in_threads.py::test_titles_of_strangers_and_models_make_nothing_act_in_commits_and_in_the_pull_request",
        ),
        red_at="7997ad5",
    ),
    "S42": Class(
        "System calls that lead out of the sandbox",
        (
            "tests/sandbox/test_walls.py::test_an_attack_ends_at_the_walls",
            "tests/sandbox/test_walls.py::test_after_all_attacks_nothing_has_changed_and_nobody_was_called",
            "tests/sandbox/test_setup.py::test_with_network_nothing_of_this_machine_is_reached",
            "tests/sandbox/test_seccomp.py::test_without_namespaces_unix_sockets_are_streams",
            "tests/sandbox/test_seccomp.py::test_without_a_process_namespace_a_command_changes_itself_only",
            "tests/sandbox/test_seccomp.py::test_objects_of_the_users_other_programs_are_refused_without_a_namespace_for_them",
            "tests/sandbox/test_seccomp.py::test_a_call_that_is_not_listed_is_refused_and_a_newer_one_is_said_not_to_exist",
            "tests/sandbox/test_limits.py::test_shared_memory_is_bounded_in_all_its_files_together",
        ),
        "on aarch64 the filter is only computed; a hole in the kernel behind a call of the list;"
        " under Landlock, guessed names in `/dev/shm`",
        red_at="7997ad5",
    ),
    "S43": Class(
        "Other bytes at paths that were approved once",
        (
            "tests/security/test_approved_bytes.py::test_what_an_approved_patch_makes_is_pushed_and_nothing_else_at_its_paths",
            "tests/security/test_approved_bytes.py::test_other_bytes_instead_of_the_approved_ones_are_not_pushed",
            "tests/security/test_approved_bytes.py::test_an_approved_file_does_not_become_executable_or_go_away_unasked",
            "tests/security/test_approved_bytes.py::test_a_line_in_a_patch_that_looks_like_a_file_name_approves_no_file",
            "tests/security/test_approved_bytes.py::test_a_patch_that_is_replaced_after_its_approval_approves_nothing",
            "tests/security/test_approved_bytes.py::test_a_new_patch_of_the_same_task_is_not_approved_by_the_answer_to_the_old_one",
            "tests/security/test_approved_bytes.py::test_a_patch_that_was_changed_after_its_approval_is_not_applied",
            "tests/security/test_approved_bytes.py::test_the_frozen_request_is_not_changed_by_a_worker",
        ),
        red_at="7997ad5",
    ),
    "S44": Class(
        "An agent answers for the person",
        (
            "tests/security/test_answers.py::test_no_answer_counts_that_comes_without_a_terminal",
            "tests/security/test_answers.py::test_an_answer_of_a_script_is_recorded_as_one",
            "tests/security/test_answers.py::test_an_answer_at_a_terminal_is_recorded_as_one",
            "tests/security/test_answers.py::test_a_terminal_that_a_coding_agent_made_is_none",
            "tests/security/test_answers.py::test_a_hosts_shell_does_not_answer_by_a_script_that_lies_there",
            "tests/security/test_answers.py::test_a_run_that_asks_nothing_is_sent_back_without_a_terminal_and_not_as_from_one",
            "tests/security/test_answers.py::test_a_hosts_shell_does_not_answer_in_any_spelling",
            "tests/security/test_answers.py::test_a_hosts_shell_may_look_and_go_on",
            "tests/security/test_answers.py::test_the_reason_says_whose_answer_it_is",
            "tests/security/test_answers.py::test_an_open_question_is_neither_ended_nor_gone_round_by_a_model",
            "tests/security/test_answers.py::test_where_the_client_can_ask_its_person_decides_whether_a_question_is_passed_over",
            "tests/mcp_server/test_whole.py::test_nothing_is_posted_to_the_issue_before_a_person_says_so",
        ),
        "an agent whose program has a name that we do not know, or that leaves its own tree of"
        " processes, can make a terminal; the hook refuses the lines and scripts that it can read",
        red_at="7997ad5",
    ),
    "S45": Class(
        "Small holes in the thread",
        (
            "tests/security/test_people_in_threads.py::test_a_reply_mark_in_a_comment_of_another_workflow_silences_no_command",
            "tests/security/test_people_in_threads.py::test_a_bare_approval_in_the_second_of_a_new_version_does_not_count_for_it",
            "tests/gate/test_gate.py::test_a_reply_mark_of_another_workflow_does_not_silence_an_answer",
        ),
        red_at="7997ad5",
    ),
    "S46": Class(
        "Traces that a worker leaves",
        (
            "tests/security/test_traces.py::test_a_key_in_the_name_of_a_file_is_found_and_not_said",
            "tests/security/test_traces.py::test_a_key_that_the_names_of_several_files_spell_is_found",
            "tests/security/test_traces.py::test_a_key_in_the_name_of_a_protected_file_is_not_said_in_the_reason",
            "tests/security/test_traces.py::test_a_key_in_the_author_or_committer_of_a_commit_is_found",
            "tests/security/test_traces.py::test_a_key_in_a_line_of_a_commit_that_no_log_shows_is_found",
            "tests/security/test_traces.py::test_a_key_is_found_in_the_forms_that_addresses_have",
            "tests/git/test_discarding.py::test_a_nested_repository_goes_like_every_other_leftover",
            "tests/git/test_discarding.py::test_a_folder_of_the_project_is_not_left_a_repository_of_its_own",
            "tests/recovery/test_stopped.py::test_killed_while_a_command_has_left_things_a_run_puts_them_aside",
            "tests/cli/test_runs.py::test_here_a_persons_own_repositories_stay_and_those_that_commands_leave_go",
        ),
        "a secret in pieces of less than four characters among the names of several files",
        red_at="7997ad5",
    ),
    "S47": Class(
        "Hidden text in formulas, footnotes and links",
        (
            "tests/prompts/test_untrusted.py::test_hidden_text_does_not_reach_the_model",
            "tests/prompts/test_untrusted.py::test_what_is_seen_stays_letter_by_letter",
            "tests/prompts/test_untrusted.py::test_formulas_that_only_hide_go_whole_and_words_between_them_stay",
            "tests/prompts/test_untrusted.py::test_text_in_the_background_of_a_dark_page_is_hidden_and_black_is_not",
        ),
        "how GitHub itself draws formulas: black, which nobody sees on a dark page, is not looked"
        " for, since it is what formulas are drawn in",
        red_at="7997ad5",
    ),
    "S48": Class(
        "Tools and skills from outside",
        (
            "tests/cli/test_tools_in_a_run.py::test_a_call_that_may_change_something_stands_with_its_arguments_and_is_made_once",
            "tests/cli/test_tools_in_a_run.py::test_an_approval_of_another_version_makes_no_call",
            "tests/cli/test_tools_in_a_run.py::test_an_approval_does_not_hold_for_a_server_that_is_configured_otherwise",
            "tests/cli/test_skills_in_a_run.py::test_an_approval_does_not_hold_for_a_skill_that_was_changed",
            "tests/cli/test_skills_in_a_run.py::test_only_listed_scripts_run_and_what_they_leave_is_removed",
            "tests/bot/test_calls_in_threads.py::test_a_server_gets_no_variable_that_the_workflow_does_not_name",
            "tests/bot/test_calls_in_threads.py::test_a_stranger_approves_no_call",
            "tests/bot/test_calls_in_threads.py::test_servers_of_the_runs_branch_do_not_count",
            "tests/recovery/test_calls_made_once.py::test_a_server_that_kills_us_while_it_is_called_is_asked_about_and_called_once",
            "tests/security/test_secrets_of_servers.py::test_a_secret_in_forty_encodings_reaches_nothing_but_in_those_that_are_listed",
        ),
        "a server that says of itself that it only reads; what it does with what it is given; a"
        " secret in the encodings that docs/capabilities.md lists",
        red_at="be2eac3",
    ),
    "S49": Class(
        "Credentials of registries read by the project's code",
        (
            "tests/security/test_registry_credentials.py::test_pip_fetches_with_them_and_neither_the_build_nor_the_tests_see_them",
            "tests/security/test_registry_credentials.py::test_what_a_package_prints_of_them_is_struck_out",
            "tests/security/test_registry_credentials.py::test_what_a_package_writes_down_of_them_ends_setup",
            "tests/security/test_registry_credentials.py::test_a_command_that_cannot_be_divided_gets_none_and_that_is_said",
            "tests/security/test_registry_credentials.py::test_a_repository_cannot_ask_for_another_secret_of_the_machine",
            "tests/security/test_registry_credentials.py::test_npm_fetches_with_them_in_a_run_and_nothing_of_the_run_has_them",
            "tests/security/test_registry_credentials.py::test_only_what_is_known_to_fetch_gets_them",
        ),
        "a package of a third party that is built from source while it is fetched sees them",
        red_at="3300dfd",
    ),
    "S50": Class(
        "Links in the tree where commands judge that lead what we write or remove out of the sandbox",
        (
            "tests/security/test_links_out.py::test_a_link_that_setup_puts_where_its_files_are_kept_leads_nowhere",
            "tests/security/test_links_out.py::test_nothing_is_removed_or_written_through_a_link_that_tests_make",
            "tests/security/test_links_out.py::test_a_link_of_a_commit_wins_over_what_setup_left_and_nothing_behind_it_changes",
        ),
        red_at="86af24d",
    ),
    "S51": Class(
        "Repositories that commands make, and git obeys outside of the sandbox",
        (
            "tests/security/test_repositories_of_commands.py::test_a_repository_that_tests_make_in_the_place_of_a_submodule_runs_nothing_outside",
            "tests/security/test_repositories_of_commands.py::test_nor_does_one_where_commands_judge",
            "tests/security/test_repositories_of_commands.py::test_what_a_model_asks_git_about_a_submodule_that_a_person_filled_runs_nothing",
        ),
        red_at="43323eef",
    ),
    "S52": Class(
        "Versions whose digests begin alike",
        (
            "tests/security/test_digests_that_begin_alike.py::test_the_beginning_of_a_digest_does_not_approve_another_version_that_begins_so",
        ),
        red_at="43323eef",
    ),
    "S53": Class(
        "Files that commands built from other edits, or that tests left, believed by a later judgement",
        (
            "tests/security/test_poisoned_leftovers.py::test_bytecode_that_tests_of_an_earlier_commit_left_makes_no_red_test_green",
            "tests/security/test_poisoned_leftovers.py::test_ignored_files_that_edits_left_are_not_run_where_what_go_compiles_is_kept",
            "tests/security/test_poisoned_leftovers.py::test_ignored_files_that_tests_made_in_the_runs_own_tree_make_no_red_test_green",
            "tests/security/test_poisoned_leftovers.py::test_nothing_that_a_command_changed_made_or_removed_is_there_at_the_next_judgement",
            "tests/security/test_poisoned_leftovers.py::test_tests_that_run_again_do_not_see_what_their_run_before_left",
            "tests/security/test_poisoned_leftovers.py::test_what_a_killed_command_made_is_removed_too",
            "tests/security/test_poisoned_leftovers.py::test_what_go_compiled_for_all_runs_reaches_commands_as_a_copy_only",
            "tests/security/test_poisoned_leftovers.py::test_what_the_try_of_an_edit_left_is_gone_before_the_judgement_and_what_setup_left_stays",
            "tests/security/test_poisoned_leftovers.py::test_what_they_left_beside_what_was_built_stays_and_nothing_is_built_for_that",
        ),
        "reruns within folders that a build made; without setup commands, ignored files of a person that"
        " a command changed; with `--here`, only Python's bytecode is removed then",
        red_at="f19490ac",
    ),
    "S54": Class(
        "Output, files and pipes that keep their reader busy",
        (
            "tests/git/test_calls_of_git.py::test_pipes_that_a_command_left_where_git_reads_files_stop_no_git",
            "tests/project/test_reading.py::test_a_file_of_signs_that_fit_nothing_is_not_searched_for_definitions",
            "tests/security/test_floods_of_output.py::test_a_line_of_a_million_signs_is_read_in_a_moment",
            "tests/security/test_floods_of_output.py::test_of_a_long_line_both_ends_are_shown_and_what_is_around_it_counts",
        ),
        "files of half a million characters that a parser itself takes minutes for",
        red_at="f19490ac",
    ),
    "S55": Class(
        "Credentials in git's own folder, read by the project's code",
        (
            "tests/security/test_credentials_in_gits_folder.py::test_files_that_are_not_gits_are_not_read",
            "tests/security/test_credentials_in_gits_folder.py::test_a_setting_with_a_secret_is_not_read",
            "tests/security/test_credentials_in_gits_folder.py::test_an_address_that_a_pull_left_in_a_reflog_is_not_read",
            "tests/security/test_credentials_in_gits_folder.py::test_the_run_of_a_work_tree_reads_what_git_reads_there",
        ),
        "in your own checkout (`--here`), files of the work tree, such as `.env`, and of other repositories in it",
        red_at="715feaa8",
    ),
    "S56": Class(
        "Objects that git shows in the place of those that are pushed",
        (
            "tests/security/test_objects_in_place_of_others.py::test_a_commit_that_git_shows_in_the_place_of_another_is_not_the_one_that_is_looked_at",
            "tests/security/test_objects_in_place_of_others.py::test_a_file_that_git_shows_in_the_place_of_another_is_not_the_one_that_is_looked_at",
            "tests/security/test_objects_in_place_of_others.py::test_parents_that_a_graft_leaves_out_are_looked_at",
        ),
        red_at="715feaa8",
    ),
    "S57": Class(
        "Documents, titles and formatters that keep us busy or fill the memory",
        (
            "tests/prompts/test_escape.py::test_the_longest_document_of_one_sign_is_read_in_a_moment",
            "tests/prompts/test_escape.py::test_the_longest_title_is_read_in_a_moment",
            "tests/runs/test_formatted_edits.py::test_a_file_that_a_formatter_made_half_a_gigabyte_is_not_read",
        ),
        red_at="715feaa8",
    ),
    "S58": Class(
        "Links in a run's folder that lead readers to files of this machine",
        (
            "tests/security/test_links_in_a_run.py::test_a_link_in_the_place_of_a_document_or_record_is_not_followed_out",
            "tests/security/test_links_in_a_run.py::test_over_mcp_a_document_that_is_a_link_is_not_followed_out",
        ),
        red_at="715feaa8",
    ),
    "S59": Class(
        "Regressions that pass for flaky, since reruns judge what another commit built",
        (
            "tests/cli/test_flaky.py::test_a_regression_that_a_test_sees_in_what_was_built_is_not_taken_for_flaky",
        ),
        "edits whose code fails at random: their tests are named as flaky",
        red_at="eee4d685",
    ),
    "S60": Class(
        "Files of a repository and requests that keep us busy outside of the sandbox",
        (
            "tests/security/test_files_of_rows_of_signs.py::test_a_file_of_one_sign_is_read_in_a_moment",
            "tests/security/test_files_of_rows_of_signs.py::test_a_makefile_that_includes_itself_many_times_is_read_once",
            "tests/security/test_files_of_rows_of_signs.py::test_a_request_of_one_sign_is_read_in_a_moment",
            "tests/security/test_files_of_rows_of_signs.py::test_files_of_one_sign_are_taken_into_the_graph_in_a_moment",
            "tests/security/test_files_of_rows_of_signs.py::test_names_behind_the_beginning_of_a_long_line_are_found",
            "tests/test_lazy_regex.py::test_no_pattern_for_lines_looks_for_blanks_over_the_ends_of_lines",
        ),
        red_at="eee4d685",
    ),
    "S61": Class(
        "Servers of tools that keep us busy, fill disk, memory or prompts, or hide text in them",
        (
            "tests/agent/test_http_servers.py::test_an_answer_without_end_is_not_read_to_its_end",
            "tests/agent/test_tool_servers.py::test_a_server_that_asks_without_end_is_heard_to_a_limit",
            "tests/agent/test_tool_servers.py::test_a_server_that_complains_without_end_fills_no_disk",
            "tests/agent/test_tool_servers.py::test_schemas_that_refer_to_themselves_or_are_huge_are_shown_in_short",
            "tests/agent/test_tool_servers.py::test_what_a_prompt_says_of_parameters_hides_nothing_and_leaves_its_line",
        ),
        "what a server does with memory and the disk of its own box before its time is up",
        red_at="21e824ed",
    ),
    "S62": Class(
        "Text that stands on the page where nobody can read it",
        (
            "tests/security/test_text_nobody_can_read.py::test_text_that_nobody_can_read_is_no_part_of_a_request",
            "tests/security/test_text_nobody_can_read.py::test_what_only_looks_alike_stays",
        ),
        "what maps and solids (`geojson`, `stl`) say besides what is drawn of them; words in the"
        " colour of a diagram's boxes",
        red_at="cb29cae4",
    ),
    "S63": Class(
        "Events forged on a Temporal server",
        (
            "tests/temporal/test_forged_events.py::test_forged_events_approve_nothing_and_keep_no_event_from_its_visit",
        ),
        "whoever can write to the namespace can begin runs",
        red_at="76e8e01c",
    ),
    "S64": Class(
        "Forged comments in the form of commands that were given by hand",
        (
            "tests/bot/test_by_hand.py::test_nor_are_they_where_that_workflow_reacts_to_what_it_wrote",
            "tests/bot/test_by_hand.py::test_words_that_only_look_like_those_of_a_dispatch_are_nobodys",
        ),
        "a workflow that repeats a stranger's words, and reacts to them, while the job by hand whose"
        " number they name is under way",
        red_at="16fda0fe",
    ),
    "S65": Class(
        "Repositories among the files of a change, which git obeys where somebody only looks",
        (
            "tests/security/test_repositories_in_a_change.py::test_a_repository_among_the_files_of_a_change_is_not_pushed_without_a_person",
            "tests/security/test_repositories_in_a_change.py::test_the_settings_of_a_repository_that_is_there_are_not_changed_without_a_person",
            "tests/security/test_repositories_in_a_change.py::test_folders_of_that_name_are_like_any_other",
        ),
        "the settings of a repository that stood in a folder of another name than `*.git` before",
        red_at="80685192",
    ),
    "S66": Class(
        "Words in diagrams and formulas that are no part of what is drawn, or lie under it",
        (
            "tests/security/test_text_nobody_can_read.py::test_text_that_nobody_can_read_is_no_part_of_a_request",
            "tests/security/test_text_nobody_can_read.py::test_what_only_looks_alike_stays",
        ),
        "names of one or two words in a diagram; states that are named by a line `name : words`;"
        " text that is far down or to the right, or behind a closed `<details>`",
        red_at="7496bdd9",
    ),
    "S67": Class(
        "Files that a command changes and dates back, where settings of git's keep it from seeing",
        (
            "tests/security/test_poisoned_leftovers.py::test_a_file_that_a_command_changed_without_a_trace_is_as_it_was_at_the_next_judgement",
        ),
        red_at="bca2bc0f",
    ),
}
