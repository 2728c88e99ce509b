"""Progress: rows in parallel, honest times, and few lines where nobody watches."""

from io import StringIO

from rich.console import Console

from spadework.harness.progress import ProgressDisplay, remaining


def shown(*, terminal: bool, steps: int = 100, seconds: float = 1.0) -> str:
    out, now = StringIO(), [0.0]
    console = Console(file=out, force_terminal=terminal, width=120)
    with ProgressDisplay(console, every_s=20.0, clock=lambda: now[0]) as progress:
        for step in range(1, steps + 1):
            now[0] += seconds
            progress.update("spade", step, steps, "regret [0.1]")
            progress.update("fixed", step, steps)
        progress.note("| row | [score] |")
    return out.getvalue()


def test_without_a_terminal_there_is_a_line_now_and_then_and_one_at_the_end() -> None:
    lines = shown(terminal=False).splitlines()
    spade = [line for line in lines if line.startswith("spade")]
    assert 5 <= len(spade) <= 7
    assert spade[-1].startswith("spade  100/100  done in")
    assert lines[-1] == "| row | [score] |"


def test_on_a_terminal_every_row_has_its_bar_and_text_is_taken_literally() -> None:
    out = shown(terminal=True)
    assert "spade" in out and "fixed" in out and "100/100" in out and "regret [0.1]" in out


def test_the_time_left_of_a_resumed_row_counts_only_the_steps_seen() -> None:
    out, now = StringIO(), [0.0]
    progress = ProgressDisplay(Console(file=out, width=120), every_s=0.0, clock=lambda: now[0])
    progress.update("row", 90, 100)
    now[0] = 60.0
    progress.update("row", 92, 100)
    assert out.getvalue().splitlines() == ["row  90/100  -:-- left", "row  92/100  4:00 left"]


def test_times_are_written_in_minutes_and_hours() -> None:
    assert remaining(elapsed_s=10, done=1, left=9) == "1:30 left"
    assert remaining(elapsed_s=100, done=1, left=100) == "2:46:40 left"
    assert remaining(elapsed_s=5, done=0, left=9) == "-:-- left"
    assert remaining(elapsed_s=65, done=9, left=0) == "done in 1:05"
