"""The command line: results, exit codes, and errors that are no tracebacks."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from pdtheory.cli import main

DATA = Path(__file__).parent / "data"
KEYS = {
    "schedule", "num_stages", "num_workers", "num_microbatches", "tie_rule", "makespan", "idle_over_total",
    "idle_over_ideal", "in_flight", "weight_versions", "version_lag", "block_delay",
}  # fmt: skip


def invoke(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def good(*arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_analyze_json():
    found = json.loads(good("analyze", "pipedream", "--stages", 8, "--microbatches", 80, "--format", "json"))
    assert found.keys() >= KEYS
    assert found["block_delay"].keys() == {"warmup", "steady", "drain", "all"}
    assert found["block_delay"]["steady"] == {"max": 60, "mean": "63/2"}
    assert found["idle_over_total"] == "7/87"
    assert found["makespan"] == 174
    assert found["version_lag"] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_analyze_file_json_has_the_same_keys():
    file = DATA / "torchtitan_8-rank_1stage.csv"
    found = json.loads(good("analyze", file, "--format", "json"))
    assert found.keys() >= KEYS
    assert found["makespan"] == 38
    assert found["weight_updates"] == "one update per microbatch"
    flush = json.loads(good("analyze", file, "--update-per", "batch", "--format", "json"))
    assert flush["max_version_lag"] == [0] * 8


@pytest.mark.parametrize("format_", ["table", "csv", "md", "latex"])
def test_other_forms_tell_the_same(format_):
    text = good("analyze", "pipedream", "--stages", 4, "--format", format_)
    assert "block delay, steady, max" in text
    assert "15/2" in text


def test_durations_latency_and_tie_rule():
    found = json.loads(
        good("analyze", "1f1b", "--stages", 2, "--microbatches", 2, "--durations", "F=1/2,B=1", "--latency", "0.25",
             "--tie", "reads-first", "--format", "json")
    )  # fmt: skip
    # The longest path: 0F0, transfer, 1F0, 1B0, 1F1, 1B1, transfer, 0B1.
    assert found["makespan"] == 5
    assert found["tie_rule"] == "reads-first"


def test_formula_json():
    rows = json.loads(good("formula", "pipedream", "max_block_delay", "--format", "json"))
    assert rows[0]["quantity"] == "max_block_delay"
    assert len(rows) == 4
    for row in rows:
        assert row.keys() >= {"quantity", "formula", "domain", "verdict", "evidence", "negative_control"}
        assert row["verdict"] == "PROVED"
        assert row["negative_control"]["verdict"] == "REFUTED"
    assert rows[0]["formula"] == "S**2 - ceiling(S/2)"


def test_formula_for_one_rule_and_export(tmp_path):
    folder = tmp_path / "smt"
    text = good("formula", "pipedream", "max_block_delay", "--tie", "updates-first", "--export-smt", folder)
    assert "S**2 - S " in text
    files = sorted(folder.iterdir())
    assert files
    for file in files:
        assert file.suffix == ".smt2"
        assert "(check-sat)" in file.read_text()


def test_formula_without_a_solver_is_skipped_and_fails():
    code = (
        "import sys; sys.modules['z3'] = None\n"
        "from pdtheory.cli import main\n"
        "main(['formula', 'gpipe', 'ticks', '--format', 'json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    (row,) = json.loads(done.stdout)
    assert row["verdict"] == "SKIPPED"
    assert row["formula"] == "2*M + 2*S - 2"
    assert "pip install" in done.stderr


def test_schedules_lists_the_catalog():
    rows = json.loads(good("schedules", "--format", "json"))
    assert {"pipedream", "pipedream-strict", "naive", "gpipe", "1f1b", "local-sgd"} <= {row["name"] for row in rows}


def test_show_in_the_terminal():
    text = good("show", "1f1b", "--stages", 2, "--microbatches", 2)
    assert "worker 0 F0 F1    B0    B1" in text
    assert "makespan 6" in text
    assert "0F0 2F0" not in good("show", DATA / "torchtitan_8-rank_1stage.csv", "--durations", "F=1/2,I=1,W=1")


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_show_writes_the_same_picture_each_time(tmp_path, suffix):
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    for path in (first, second):
        good("show", "pipedream", "-o", path)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 5000


def test_export_round_trip(tmp_path):
    path = tmp_path / "s.csv"
    good("export", "pipedream-strict", "--stages", 4, "--microbatches", 12, "--to", "torch-csv", "-o", path)
    assert "good. 4 workers, 4 stages, 12 microbatches" in good("check", path)
    own, again = (
        json.loads(good("analyze", *source, "--format", "json"))
        for source in (("pipedream-strict", "--stages", 4, "--microbatches", 12), (path,))
    )
    del own["schedule"], again["schedule"]
    assert own == again


def test_export_trace():
    assert json.loads(good("export", "gpipe", "--stages", 2, "--microbatches", 2, "--to", "chrome-trace"))[
        "traceEvents"
    ]


BAD = [
    (("analyze", "pipedream", "--stages", 2, "--durations", "F=1e999999999"), "finite number"),
    (("analyze", "pipedream", "--stages", 2, "--durations", "F=1e31"), "at most 10^30"),
    (("analyze", "pipedream", "--stages", 2, "--durations", ""), "is not KIND=NUMBER"),
    (("analyze", "local-sgd", "--stages", 4, "--runs", 10**20), "num_runs: must be at most"),
    (("analyze", "local-sgd", "--stages", 4, "--local-steps", 10**20), "local_steps: must be at most"),
    (("analyze", "pipedream", "--stages", 10**20, "--microbatches", 4), "num_stages: must be at most"),
    (("analyze", "pipedream", "--stages", 3000), "num_microbatches: must be at most 5592 with 3000 stages"),
    (("analyze", "absent.csv", "--stages", 2), "No such file"),
    (("export", "gpipe", "--stages", 2, "--to", "torch-csv", "--durations", "F=zz"), "finite number"),
    (("show", "pipedream", "-o", "picture"), "must end in"),
    (("analyze", "pipedrem", "--stages", 2), "Did you mean 'pipedream'"),
    (("analyze", "pipedream"), "--stages: is needed with a name"),
    (("analyze", "pipedream", "--stages", 0), "num_stages: must be at least 1"),
    (("analyze", "pipedream", "--stages", -3), "num_stages: must be at least 1"),
    (("analyze", "pipedream", "--stages", 2, "--microbatches", 0), "num_microbatches: must be at least 1"),
    (("analyze", "pipedream", "--stages", "2.5"), "not a valid integer"),
    (("analyze", "pipedream", "--stages", 2, "--tie", "up"), "unknown tie rule"),
    (("analyze", "pipedream", "--stages", 2, "--durations", "F=-1"), "must not be negative"),
    (("analyze", "pipedream", "--stages", 2, "--durations", "F=nan"), "finite number"),
    (("analyze", "pipedream", "--stages", 2, "--durations", "F=inf"), "finite number"),
    (("analyze", "pipedream", "--stages", 2, "--latency", "-1"), "must not be negative"),
    (("analyze", "gpipe", "--stages", 2, "--runs", 2), "--runs: is no option of gpipe"),
    (("analyze", "absent.csv"), "No such file"),
    (("analyze", "."), "Is a directory"),
    (("analyze", DATA / "torchtitan_8-rank_1stage.csv", "--stages", 2), "a file has its own"),
    (("check", "absent.csv"), "No such file"),
    (("formula", "pipedrem"), "Did you mean 'pipedream'"),
    (("formula", "pipedream", "max_blok_delay"), "Did you mean 'max_block_delay'"),
    (("formula", "pipedream", "ticks", "--tie", "nope"), "unknown tie rule"),
    (("analize", "pipedream"), "Did you mean 'analyze'"),
    (("show", "pipedream", "-o", "picture.gif"), "must end in"),
    (("show", "pipedream", "-o", "/no/such/folder/a.png"), "cannot be written"),
    (("export", "gpipe", "--stages", 2, "--to", "torch-csv", "-o", "/no/such/folder/a.csv"), "cannot be written"),
    (("export", "gpipe", "--stages", 2, "--to", "xml"), "is not one of"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda x: x if isinstance(x, str) else "")
def test_bad_usage_exits_2_with_a_reason(arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("content", ["", "0F0,0Q0\n", "0F0\n", "0F0,0F0,0B0\n", "0F0,0B0\n0F0,0B0\n", "0B0,0F0\n",
                                     "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"])  # fmt: skip
@pytest.mark.parametrize("command", ["check", "analyze"])
def test_bad_files_exit_2(tmp_path, command, content):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    result = invoke(command, path)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "command", [(), ("analyze",), ("formula",), ("check",), ("show",), ("export",), ("schedules",)]
)
def test_every_command_has_help(command):
    assert "Usage:" in good(*command, "--help")


@pytest.mark.parametrize(
    "command",
    ["export pipedream --stages 40 --to torch-csv", "show pipedream --stages 30 --microbatches 300", "--help"],
)
def test_a_reader_that_leaves_is_no_error(command):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m pdtheory.cli {command} | head -c 3; echo ${{PIPESTATUS[0]}} >&2"],
        capture_output=True,
        text=True,
    )
    assert len(done.stdout) == 3
    assert done.stderr == "0\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["schedules"], ["export", "gpipe", "--stages", "3", "--to", "torch-csv"]])
def test_a_full_disk_is_said(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "pdtheory.cli", *command], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: the result cannot be written: No space left")


def test_interrupting_a_proof(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "pdtheory.cli", "formula", "pipedream", "--export-smt", str(tmp_path / "smt")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert stdout == b""
    assert not (tmp_path / "smt").exists()


def test_pipes_and_links_are_written_through(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    arguments = ("export", "gpipe", "--stages", 1, "--microbatches", 1, "--to", "torch-csv", "-o")
    good(*arguments, link)
    assert link.is_symlink()
    assert target.read_text() == "0F0,0B0\n"
    assert target.stat().st_mode & 0o777 == 0o600
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    good(*arguments, pipe)
    assert reader.communicate(timeout=30)[0] == b"0F0,0B0\n"
    good(*arguments, tmp_path / ("x" * 250 + ".csv"))


def test_update_per_keeps_the_copies():
    own = good("analyze", "local-sgd", "--stages", 4, "--format", "json")
    assert good("analyze", "local-sgd", "--stages", 4, "--update-per", "microbatch", "--format", "json") == own


def test_narrow_terminals_are_told_what_is_cut():
    from pdtheory import get_schedule, run
    from pdtheory.text_chart import text_chart

    lines, note = text_chart(run(get_schedule("pipedream", 4, 12)), 40)
    assert all(len(line) <= 40 for line in lines)
    assert note.startswith("the first 7 of 30 columns are shown; ")


def test_progress_stays_off_where_stderr_is_no_terminal():
    assert invoke("formula", "gpipe", "ticks").stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupting_artifacts_leaves_whole_files_only(tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "paper_artifacts", "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not (out.exists() and any(out.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert b"Traceback" not in stderr
    assert process.returncode == 130
    for path in out.iterdir():
        assert not path.name.endswith(".part")
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".png":
            assert path.read_bytes().endswith(b"IEND\xaeB`\x82")
