"""Every key of the replay screen has a story: who adds a key adds one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from tests.tui.screens.replay import test_files as keeping
from tests.tui.screens.replay import test_looking as looking
from tests.tui.screens.replay import test_transport as playing
from tests.tui.screens.replay import test_what_if as changing
from tui.screens.replay.keys import Key, every_key

# action -> the test that presses its key
STORIES: dict[str, Callable[..., Any]] = {
    "toggle_play": playing.test_space_plays_and_pauses,
    "step(1)": playing.test_arrows_go_a_step_on_and_back,
    "step(-1)": playing.test_arrows_go_a_step_on_and_back,
    "speed(1)": playing.test_arrows_up_and_down_change_the_speed,
    "speed(-1)": playing.test_arrows_up_and_down_change_the_speed,
    "rewind": playing.test_r_plays_backwards_as_far_as_the_beginning,
    "decision(1)": playing.test_dot_and_comma_walk_decisions_across_steps,
    "decision(-1)": playing.test_dot_and_comma_walk_decisions_across_steps,
    "jump(1)": playing.test_brackets_go_to_events_of_the_chosen_kind,
    "jump(-1)": playing.test_brackets_go_to_events_of_the_chosen_kind,
    "choose_jump": playing.test_j_goes_to_the_next_event_of_a_kind,
    "longest": playing.test_capital_w_goes_to_the_start_of_the_job_that_waited_longest,
    "go_to": playing.test_g_goes_to_a_time_a_step_or_a_job,
    "go_begin": playing.test_end_and_home_go_to_the_end_and_the_beginning,
    "go_end": playing.test_end_and_home_go_to_the_end_and_the_beginning,
    "stops": playing.test_x_makes_it_stop_at_a_condition,
    "escape": playing.test_escape_closes_what_is_open_then_selects_nothing,
    "policy": changing.test_p_in_the_middle_switches_there_and_the_past_stays,
    "restart": changing.test_capital_p_is_another_policy_from_the_beginning_at_the_same_moment,
    "fork": changing.test_f_forks_and_capital_b_looks_at_the_other_branch,
    "branches": changing.test_f_forks_and_capital_b_looks_at_the_other_branch,
    "compare": changing.test_v_compares_with_another_policy_from_here_on_and_v_again_no_more,
    "compare_from_start": changing.test_comparing_from_here_shares_the_past_and_capital_v_does_not,
    "parted": changing.test_d_goes_to_where_both_first_differ,
    "reverse": changing.test_r_goes_back_to_what_moved_the_planned_start_of_the_selected_job,
    "reverse_processor": changing.test_capital_e_goes_back_to_when_the_processor_under_the_pointer_changed_hands,
    "reverse_boundary": changing.test_capital_d_goes_back_to_when_a_boundary_moved,
    "bookmark": changing.test_b_remembers_a_moment_and_an_apostrophe_goes_back_to_it,
    "bookmarks": changing.test_b_remembers_a_moment_and_an_apostrophe_goes_back_to_it,
    "find": looking.test_a_slash_finds_a_job_and_selects_it,
    "why": looking.test_w_walks_the_queue_and_tells_why,
    "colour": looking.test_c_colours_jobs_by_something_else,
    "next_panel": looking.test_tab_walks_the_focus_through_chart_and_panels,
    "previous_panel": looking.test_tab_walks_the_focus_through_chart_and_panels,
    "maximise": looking.test_z_shows_the_focused_panel_alone_and_back,
    "report": looking.test_i_tells_what_was_read,
    "trace": keeping.test_t_opens_another_trace_under_the_same_policy,
    "save": keeping.test_s_saves_a_session_that_brings_the_moment_back,
    "copy_session": keeping.test_capital_y_copies_the_session_as_a_line,
    "picture": keeping.test_capital_s_saves_a_picture_of_the_screen,
    "theme": keeping.test_capital_t_shows_everything_in_another_look,
    "help": looking.test_a_question_mark_lists_every_key,
    "quit": keeping.test_q_leaves_and_the_last_session_is_kept,
}
STORIES |= {
    f"toggle_panel({name!r})": looking.test_a_number_hides_a_panel_and_shows_it_again for _, name, *_ in looking.PANELS
}


@pytest.mark.parametrize("key", every_key(), ids=lambda key: key.action)
def test_every_key_has_a_story_that_presses_it(key: Key) -> None:
    story = STORIES.get(key.action)
    assert story is not None, f"{key.action}: no test presses {key.keys}"
    pressed = inspect.getsource(story) + repr(looking.PANELS)
    for each in key.keys.split(","):
        assert f'"{each}"' in pressed or f"'{each}'" in pressed, f"{story.__name__} does not press {each}"
