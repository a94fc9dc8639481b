"""PyTorch's compute-only CSV and Chrome traces."""

import json
import os
import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pdtheory import FormatError, ScheduleError, WeightPolicy, analyze, chrome_trace, get_schedule, run, systems
from pdtheory.formats import read_torch_csv, torch_csv
from tests.strategies import schedules

DATA = Path(__file__).parent / "data"


@given(schedules(policies=False))
def test_round_trip(tmp_path_factory, schedule):
    path = tmp_path_factory.mktemp("csv") / "s.csv"
    path.write_text(torch_csv(schedule))
    again = read_torch_csv(path)
    assert list(again) == list(schedule)
    assert (again.num_stages, again.num_microbatches) == (schedule.num_stages, schedule.num_microbatches)


@pytest.mark.parametrize("name", [n for n in systems() if n not in ("local-sgd",)])
def test_a_file_gives_the_same_numbers_as_the_catalog(tmp_path, name):
    schedule = get_schedule(name, 4, 24)
    path = tmp_path / f"{name}.csv"
    path.write_text(torch_csv(schedule))
    again = read_torch_csv(path, weights=schedule.weights)
    assert analyze(again).to_dict() == analyze(schedule).to_dict()


def test_empty_cells_are_idle_and_rows_may_differ(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("0F0,, 0B0 \n,1F0,1B0,,\n\n")
    assert [[str(op) for op in row] for row in read_torch_csv(path)] == [["0F0", "0B0"], ["1F0", "1B0"]]


def test_empty_lines_are_no_ranks(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("0F0,0B0\n\n,,\n1F0,1B0\n\n")
    assert [len(row) for row in read_torch_csv(path)] == [2, 0, 2]


def test_what_is_no_regular_file_or_too_large_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="not a regular file"):
        read_torch_csv(tmp_path / "pipe")
    path = tmp_path / "s.csv"
    path.write_text("\n" * 20_000)
    with pytest.raises(FormatError, match="lines"):
        read_torch_csv(path)
    path.write_text("0F0,0F1,0F2,0B0,0B1,0B2")
    module = sys.modules["pdtheory.formats.torch_csv"]
    monkeypatch.setattr(module, "_MOST_ACTIONS", 5)
    with pytest.raises(FormatError, match="more than 5 actions"):
        read_torch_csv(path)
    monkeypatch.setattr(module, "_MOST_BYTES", 10)
    with pytest.raises(FormatError, match="more than 10 bytes"):
        read_torch_csv(path)


def test_large_indices_are_read(tmp_path):
    path = tmp_path / "s.csv"
    schedule = get_schedule("gpipe", 1, 1_000_001)
    path.write_text(torch_csv(schedule))
    again = read_torch_csv(path)
    assert again.num_microbatches == 1_000_001
    assert np.array_equal(again.microbatch, schedule.microbatch)


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    path.write_text("0F0,0F1,0F2,0B0,0B1,0B2\n")
    monkeypatch.setattr(sys.modules["pdtheory.formats.torch_csv"], "_LONGEST_LINE", 10)
    with pytest.raises(FormatError, match="a line of more than 10 characters"):
        read_torch_csv(path)


def test_errors_stay_short(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(",".join("x" * 100_000 for _ in range(5)))
    with pytest.raises(FormatError) as error:
        read_torch_csv(path)
    assert len(str(error.value)) < 1500
    path.write_text("16777216F0,0B0")
    with pytest.raises(FormatError, match="index above"):
        read_torch_csv(path)


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b"\xef\xbb\xbf0F0,0B0\r\n1F0,1B0\r\n")
    assert read_torch_csv(path).num_workers == 2


@pytest.mark.parametrize(
    ("file", "workers", "stages", "count", "makespan"),
    [
        ("torchtitan_8-rank_1stage.csv", 8, 8, 10, 38),
        ("torchtitan_custom_schedule.csv", 2, 4, 8, 50),
        ("pytorch_zb1p_2rank_2stagep_compute.csv", 2, 4, 8, 49),
    ],
)
def test_public_files(file, workers, stages, count, makespan):
    schedule = read_torch_csv(DATA / file)
    assert (schedule.num_workers, schedule.num_stages, schedule.num_microbatches) == (workers, stages, count)
    assert run(schedule).makespan == makespan
    # Behind a flush every forward of the batch reads the version that the one update changes.
    assert analyze(read_torch_csv(DATA / file, weights=WeightPolicy(None))).max_version_lag == (0,) * stages


def test_communication_files_are_refused_with_the_reason():
    with pytest.raises(FormatError, match=r"row 1, column 1: unknown action .*compute_comms"):
        read_torch_csv(DATA / "torchtitan_example_i1f1b_2rank_4mb_comms.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no action"),
        ("\n\n,,\n", "no action"),
        ("0F0,0Q0", r"row 1, column 2: unknown action .*'0Q0'"),
        ("0F0,0B0\n1F0,x,y", r"row 2, column 2: unknown action \(others: .*row 2, column 3: 'y'\)"),
        ("0F0,0BW0", "before October 2024"),
        ("0F0,0F0,0B0", r"row 1, column 2: op 0F0 occurs twice, it is also in row 1, column 1"),
        ("0F0,0B0\n0F0,0B0", r"row 2, column 1: op 0F0 is on two workers, it is also in row 1"),
        ('"0F0,0B0', "is not CSV"),
    ],
)
def test_bad_cells_are_named(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_torch_csv(path)


@pytest.mark.parametrize(
    ("text", "message"), [("0F0", "0B0 is missing"), ("0B0,0F0", "comes before"), ("0F0\n0B0", "several")]
)
def test_bad_orders_name_the_file(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ScheduleError, match=rf"bad.csv: .*{message}"):
        read_torch_csv(path)


def test_what_is_no_readable_file(tmp_path):
    with pytest.raises(FormatError, match="Is a directory"):
        read_torch_csv(tmp_path)
    with pytest.raises(FormatError, match="No such file"):
        read_torch_csv(tmp_path / "absent.csv")


@given(st.binary(min_size=1, max_size=400))
def test_garbage_is_an_error_not_a_traceback(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("garbage") / "g.csv"
    path.write_bytes(content)
    with pytest.raises((FormatError, ScheduleError)):
        read_torch_csv(path)


@pytest.mark.parametrize("unit", [b"\x00\xff\x13 garbage", b"lorem,ipsum\n", b"0F0", b"a" * 1000, b"0F0,0B0,"])
def test_long_garbage_is_refused(tmp_path, unit):
    path = tmp_path / "g.csv"
    path.write_bytes(unit * (4 * 2**20 // len(unit)))
    with pytest.raises((FormatError, ScheduleError)):
        read_torch_csv(path)


def test_chrome_trace_has_every_op_once():
    schedule = get_schedule("1f1b", 3, 4)
    events = json.loads(chrome_trace(run(schedule)))["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    assert sorted(e["name"] for e in slices) == sorted(str(op) for row in schedule for op in row)
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} == {"worker 0", "worker 1", "worker 2"}
    assert max(e["ts"] + e["dur"] for e in slices) == 1000 * run(schedule).makespan
