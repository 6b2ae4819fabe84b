"""What tools and skills for the agents of a run have to do, by numbers that are kept, and the tests
that show each.
"""

from typing import NamedTuple

CATALOGUE = "tests/agent/test_tool_servers.py"
CONTEXT = "tests/agent/test_context_catalogue.py"
EXPLORING = "tests/agent/test_exploration.py"
WORKING = "tests/agent/test_work.py"
SKILL_FILES = "tests/agent/test_skill_files.py"
TOOLS = "tests/cli/test_tools_in_a_run.py"
SKILLS = "tests/cli/test_skills_in_a_run.py"
COMMAND = "tests/cli/test_capabilities.py"
FILE = "tests/settings/test_capability_file.py"
THREAD = "tests/bot/test_calls_in_threads.py"
ONCE = "tests/recovery/test_calls_made_once.py"
SERVER = "tests/temporal/test_actions_on_server.py"


class Behaviour(NamedTuple):
    """One sentence, the tests that show it, and what is otherwise here."""

    sentence: str
    shown: tuple[str, ...]
    otherwise: str = ""


def _in(path: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{path}::test_{name}" for name in names)


BEHAVIOURS: dict[int, Behaviour] = {
    1: Behaviour(
        "Without configuration the menu has the providers in a fixed order, and no action",
        (
            *_in(TOOLS, "without_configuration_agents_are_offered_the_providers_and_no_action"),
            *_in(CONTEXT, "the_catalogue_is_sorted_and_has_only_what_there_is"),
        ),
    ),
    2: Behaviour(
        "Providers, tools and skills are one flat list; descriptions name their origin",
        (
            *_in(COMMAND, "servers_tools_and_skills_are_listed_with_what_becomes_of_a_request"),
            *_in(CATALOGUE, "tools_are_listed_with_safe_names_their_parameters_and_their_origin"),
        ),
    ),
    3: Behaviour(
        "Two tools that map to one name stay callable under distinct names, and it is told",
        _in(CATALOGUE, "tools_with_the_same_name_are_both_reached_and_the_collision_is_told"),
    ),
    4: Behaviour(
        "Names with spaces, dots or slashes are made safe, and the original tool is reached",
        _in(CATALOGUE, "a_tool_with_an_unusual_name_is_reached_by_its_safe_one"),
    ),
    5: Behaviour(
        "Required, typed and enumerated parameters are seen; optional ones are not required",
        _in(CATALOGUE, "tools_are_listed_with_safe_names_their_parameters_and_their_origin"),
    ),
    6: Behaviour(
        "A server that cannot start leaves the rest intact and is listed with its reason",
        (
            *_in(CATALOGUE, "a_dead_server_leaves_the_others_in_the_catalogue"),
            *_in(TOOLS, "a_server_that_is_missing_is_told_and_the_run_goes_on"),
        ),
    ),
    7: Behaviour(
        "Lists of several pages are complete", _in(CATALOGUE, "a_list_of_several_pages_is_complete")
    ),
    8: Behaviour(
        "Each provider answers a valid request, and one without its parameters with a result",
        (
            *_in(CONTEXT, "tests_and_linters_are_the_hosts_and_get_only_names"),
            *_in(CONTEXT, "parameters_that_do_not_fit_are_answered_with_the_entry"),
            *_in(
                "tests/agent/test_context_files.py",
                "a_file_comes_exactly_as_it_stands_with_its_lines_in_the_heading",
            ),
            *_in(
                "tests/agent/test_context_past.py",
                "the_log_is_newest_first_and_can_be_narrowed",
                "the_difference_is_from_where_the_work_began_to_the_files_as_they_are",
            ),
            *_in(
                "tests/agent/test_context_search.py",
                "expressions_are_perls_and_paths_may_be_folders_or_globs",
            ),
        ),
        "there are eight providers, not twelve",
    ),
    9: Behaviour(
        "An unknown name and a provider that raises are results, and the work goes on",
        (
            *_in(CONTEXT, "an_unknown_capability_is_answered_with_those_there_are"),
            *_in(WORKING, "one_capability_that_breaks_stops_neither_its_siblings_nor_the_work"),
        ),
    ),
    10: Behaviour(
        "No path outside of the work tree is read, nor one behind a link that leads out",
        (
            *_in(
                "tests/agent/test_context_files.py",
                "what_is_not_a_readable_file_of_the_repository_is_a_result_that_says_why",
            ),
            *_in("tests/agent/test_hostile_files.py", "nothing_outside_is_read_through_a_link"),
        ),
    ),
    11: Behaviour(
        "A base is never an option of git, and a pathological expression ends in time",
        (
            *_in("tests/agent/test_context_past.py", "a_base_is_a_commit_and_never_an_option"),
            *_in("tests/agent/test_context_search.py", "a_pathological_expression_ends_in_time"),
        ),
    ),
    12: Behaviour(
        "Commands that providers run see no key",
        (
            *_in("tests/agent/test_context_past.py", "git_sees_no_key_of_this_process"),
            *_in("tests/sandbox/test_environment.py", "nothing_of_our_environment_is_passed_on"),
        ),
    ),
    13: Behaviour(
        "Two empty lists have no effect",
        _in(EXPLORING, "two_empty_lists_mean_that_the_answer_is_asked_for"),
    ),
    14: Behaviour(
        "Results are told in the order of the requests, whichever came first",
        (
            *_in(TOOLS, "what_reads_is_called_and_told_in_the_order_of_the_requests"),
            *_in(
                EXPLORING,
                "what_was_asked_for_comes_in_the_order_of_asking_whatever_finished_first",
                "actions_that_name_a_provider_are_looked_up_after_the_requests",
            ),
        ),
    ),
    15: Behaviour(
        "A model that never stops is asked exactly as often as it has turns",
        _in(
            EXPLORING,
            "a_model_that_never_stops_looking_gets_exactly_its_turns_and_is_told_the_last",
        ),
        "there is no exploring without an answer, so there are no 0 turns",
    ),
    16: Behaviour(
        "A turn with only actions, or only requests, is read",
        _in(
            "tests/agent/test_answers.py",
            "an_explore_is_an_answer_in_every_phase_and_may_leave_a_list_out",
            "a_look_with_actions_alone_is_an_answer",
        ),
    ),
    17: Behaviour(
        "The same tool twice in a turn with other arguments is called twice",
        (
            *_in(
                EXPLORING, "one_capability_twice_in_a_turn_with_other_parameters_is_looked_up_twice"
            ),
            *_in(TOOLS, "calls_with_different_arguments_are_made_in_order_after_one_approval"),
        ),
    ),
    18: Behaviour(
        "A repeat is answered from the record, and turns of repeats end the work",
        _in(
            EXPLORING,
            "a_repeat_is_answered_with_a_pointer_to_the_first_result",
            "turns_that_bring_nothing_new_are_told_once_then_the_answer_is_asked_for_then_the"
            "_work_ends",
        ),
    ),
    19: Behaviour(
        "Neither a wrong type nor the wrong list keeps a request from its executor",
        (
            *_in(
                TOOLS,
                "a_tool_among_the_requests_for_context_is_called_all_the_same",
                # Its actions all claim to be providers.
                "what_reads_is_called_and_told_in_the_order_of_the_requests",
            ),
            *_in(EXPLORING, "actions_that_name_a_provider_are_looked_up_after_the_requests"),
        ),
    ),
    20: Behaviour(
        "A failure is told as one, with its parameters",
        (
            *_in(CATALOGUE, "each_way_of_a_call_has_its_status_and_a_sentence"),
            *_in(SKILLS, "success_follows_the_scripts_and_not_the_words"),
        ),
    ),
    21: Behaviour(
        "One that fails or breaks stops neither its siblings nor the work",
        _in(WORKING, "one_capability_that_breaks_stops_neither_its_siblings_nor_the_work"),
    ),
    22: Behaviour(
        "What readiness is does not depend on whether there are actions",
        _in(EXPLORING, "two_empty_lists_mean_that_the_answer_is_asked_for"),
        "readiness is the finished work itself, so the prompt needs no rule with two wordings",
    ),
    23: Behaviour(
        "Each question begins with the one before, byte for byte",
        (
            *_in(WORKING, "each_question_begins_with_the_one_before_byte_for_byte"),
            *_in(
                "tests/prompts/test_assemble.py",
                "the_system_part_is_the_same_in_every_round_and_every_run",
            ),
        ),
    ),
    24: Behaviour(
        "Requests, tokens and time have limits, each with its reason; results are cut at the source",
        (
            *_in(
                EXPLORING,
                "more_requests_than_a_turn_may_have_are_left_out_and_that_is_said",
                "tokens_that_run_low_make_the_next_question_the_last_and_end_the_work_when_they"
                "_are_gone",
                "time_that_is_over_ends_the_work_but_not_an_answer_that_has_come",
            ),
            *_in(CATALOGUE, "a_long_result_is_cut_where_it_arrives"),
        ),
    ),
    25: Behaviour(
        "Who writes the answer has seen the results",
        (
            *_in(TOOLS, "what_reads_is_called_and_told_in_the_order_of_the_requests"),
            *_in("tests/bot/test_tool_and_skill.py", "at_the_terminal", "in_the_thread"),
        ),
    ),
    26: Behaviour(
        "A malformed answer goes back a bounded number of times; truncation and refusal differ",
        _in(
            EXPLORING,
            "a_malformed_answer_goes_back_with_its_fault_three_times_and_then_the_work_ends",
            "a_cut_off_answer_is_told_to_be_shorter_and_ends_as_truncated",
            "a_refusal_ends_the_work_at_once_in_the_models_words",
        ),
    ),
    27: Behaviour(
        "mcpServers, skillsDirs and both options are read; no file is an empty configuration",
        (
            *_in(
                FILE,
                "servers_of_both_kinds_and_folders_are_read",
                "a_missing_file_means_nothing_unless_a_person_named_it",
            ),
            *_in(COMMAND, "other_files_are_named_by_options"),
            *_in(TOOLS, "a_file_that_is_named_for_a_run_counts_for_its_later_commands_too"),
        ),
    ),
    28: Behaviour("Placeholders are replaced, several in one value too", _in(FILE, "placeholders")),
    29: Behaviour(
        "A missing variable puts its server out of use, by name; defaults and escapes work",
        (
            *_in(FILE, "missing_variables_and_those_of_the_bot_are_named_together", "placeholders"),
            *_in(THREAD, "a_server_gets_no_variable_that_the_workflow_does_not_name"),
            *_in(TOOLS, "a_run_does_not_begin_without_what_it_requires"),
        ),
    ),
    30: Behaviour(
        "Bad JSON, wrong types and a file that is not there are one message with all problems",
        (
            *_in(
                FILE,
                "all_problems_are_told_at_once_with_their_lines",
                "what_is_no_such_file_says_where",
            ),
            *_in(TOOLS, "a_bad_file_stops_a_run_before_a_model_is_asked"),
        ),
    ),
    31: Behaviour(
        "Secret values are in no payload, journal, comment or log",
        (
            *_in(
                "tests/security/test_secrets_of_servers.py",
                "a_secret_in_forty_encodings_reaches_nothing_but_in_those_that_are_listed",
            ),
            *_in(SERVER, "payloads_have_neither_arguments_nor_results_nor_the_configuration"),
            *_in(THREAD, "a_call_is_shown_with_its_arguments_and_made_once_after_an_approval"),
        ),
    ),
    32: Behaviour(
        ".forge/skills counts without configuration; a folder counts once; paths begin at the file",
        (
            *_in(COMMAND, "a_skill_is_performed_by_a_model_and_leaves_nothing"),
            *_in(
                SKILL_FILES,
                "skills_directly_inside_a_folder_are_found_in_order_and_the_first_of_a_name_wins",
            ),
            *_in(COMMAND, "other_files_are_named_by_options"),
        ),
    ),
    33: Behaviour(
        "A call connects, calls and disconnects; no process stays, after a timeout neither",
        (
            *_in(CATALOGUE, "a_call_that_hangs_ends_in_time_and_leaves_no_process"),
            *_in(
                "tests/agent/test_http_servers.py",
                "its_tools_are_listed_and_called_with_the_header_and_its_value_is_masked",
            ),
        ),
    ),
    34: Behaviour(
        "Silence in the handshake and a slow call end within the limit, with its name",
        _in(
            CATALOGUE,
            "a_server_that_is_silent_in_the_handshake_ends_in_time_with_all_its_processes",
            "a_call_that_hangs_ends_in_time_and_leaves_no_process",
        ),
    ),
    35: Behaviour(
        "An error of a tool is a failure; text is joined, structure kept, a picture a reference",
        _in(CATALOGUE, "each_way_of_a_call_has_its_status_and_a_sentence"),
    ),
    36: Behaviour(
        "Arguments that do not fit are answered without the server",
        _in(CATALOGUE, "arguments_that_do_not_fit_are_answered_without_the_server"),
    ),
    37: Behaviour(
        "A server sees the usual variables and those that it was given",
        _in(CATALOGUE, "a_server_sees_the_variables_that_it_was_given_and_no_others"),
    ),
    38: Behaviour(
        "What may change something is called at most once, and waits for a person",
        (
            *_in(
                TOOLS,
                "a_call_that_may_change_something_stands_with_its_arguments_and_is_made_once",
                "a_call_without_an_answer_is_asked_about_and_not_made_again",
            ),
            *_in(
                ONCE,
                "a_call_is_made_at_most_once_wherever_forge_bot_is_killed",
                "a_call_is_made_at_most_once_at_every_boundary",
            ),
        ),
    ),
    39: Behaviour(
        "A failing tool is never told as a success, and no parameter is lost",
        (
            *_in(CATALOGUE, "each_way_of_a_call_has_its_status_and_a_sentence"),
            *_in(TOOLS, "a_tool_that_reports_an_error_has_failed_and_is_not_repeated"),
            *_in(
                "tests/agent/test_npm_servers.py",
                "structured_results_pictures_and_wrong_arguments_are_told",
            ),
        ),
    ),
    40: Behaviour(
        "Skills directly inside a folder are found in order; the first of a name wins",
        _in(
            SKILL_FILES,
            "skills_directly_inside_a_folder_are_found_in_order_and_the_first_of_a_name_wins",
        ),
    ),
    41: Behaviour(
        "A skill without name or description is refused; YAML in its forms is read",
        _in(
            SKILL_FILES,
            "a_bad_skill_is_a_problem_with_its_place",
            "front_matter_is_yaml_with_folded_text_lists_and_nested_values",
            "a_byte_order_mark_crlf_and_a_missing_last_newline_are_read",
        ),
    ),
    42: Behaviour(
        "Discovery keeps no body; it stands only in the prompt of who performs the skill",
        (
            *_in(SKILL_FILES, "the_catalogue_keeps_no_instructions_and_files_are_named_by_kind"),
            *_in(
                SKILLS,
                "instructions_are_read_when_the_skill_is_chosen_and_references_when_asked_for",
            ),
        ),
    ),
    43: Behaviour(
        "Who performs a skill has instructions, request, reason and names; usage is counted",
        _in(
            SKILLS,
            "instructions_are_read_when_the_skill_is_chosen_and_references_when_asked_for",
            "the_models_answers_of_a_skill_count",
        ),
    ),
    44: Behaviour(
        "Only scripts of the skill run, if allowed, without our variables, and end in time",
        _in(
            SKILLS,
            "only_listed_scripts_run_and_what_they_leave_is_removed",
            "a_skill_whose_front_matter_names_tools_has_only_those",
            "a_script_sees_none_of_our_variables",
            "a_script_that_does_not_end_is_ended_in_time",
            "success_follows_the_scripts_and_not_the_words",
        ),
    ),
    45: Behaviour(
        "In batches, the questions of a skill lie in batches too",
        _in("tests/cli/test_batch_runs.py", "the_questions_of_a_skill_lie_in_batches_too"),
    ),
    49: Behaviour(
        "Killed after any line of its journal, a run repeats nothing that was done",
        (
            *_in(
                WORKING,
                "work_killed_after_any_line_of_its_journal_ends_the_same_and_repeats_nothing",
            ),
            *_in(ONCE, "a_call_is_made_at_most_once_at_every_boundary"),
        ),
    ),
    50: Behaviour(
        "Configuration of another branch does not count, a fork starts nothing, a stranger"
        " approves nothing",
        (
            *_in(THREAD, "servers_of_the_runs_branch_do_not_count", "a_stranger_approves_no_call"),
            *_in(
                "tests/gate/test_events.py",
                "labels_on_pull_requests_start_nothing",
                "checks_of_a_branch_with_the_same_name_in_a_fork_do_not_count",
            ),
        ),
    ),
}
"""46 to 48 are of runs on a Temporal server, whose tests stand in tests/temporal."""
