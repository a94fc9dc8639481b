"""Artifacts: quick builds agree with what is expected, and a changed number is seen."""

import dataclasses

import pytest
from click.testing import CliRunner

from paper_artifacts import delay_statistics, microbatch_path
from paper_artifacts.__main__ import ARTIFACTS, main
from paper_artifacts.artifact import EXPECTED, differences, write
from pdtheory.tables import Table


def silent(words, done, total):
    pass


@pytest.mark.parametrize("name", ARTIFACTS)
def test_quick_build_agrees(name, tmp_path):
    result = ARTIFACTS[name].build(True, silent)
    assert differences(result, quick=True) == []
    written = {path.name for path in write(result, tmp_path)}
    assert {path.name for path in tmp_path.iterdir()} == written
    for stem in result.tables:
        assert {f"{stem}.csv", f"{stem}.json", f"{stem}.md", f"{stem}.tex"} <= written
    for stem in result.figures:
        assert {f"{stem}.pdf", f"{stem}.png"} <= written


def test_a_changed_number_is_seen():
    result = microbatch_path.build(False, silent)
    assert differences(result, quick=False) == []
    table = result.data["microbatch_path"]
    first = (*table.rows[0][:-1], table.rows[0][-1] + 1)
    changed = dataclasses.replace(
        result, data={"microbatch_path": dataclasses.replace(table, rows=(first, *table.rows[1:]))}
    )
    for quick in (False, True):
        assert any("microbatch_path.csv" in line for line in differences(changed, quick=quick))
    shorter = dataclasses.replace(result, data={"microbatch_path": dataclasses.replace(table, rows=table.rows[:-1])})
    assert differences(shorter, quick=False)


def test_an_unexpected_file_is_seen(tmp_path):
    result = microbatch_path.build(True, silent)
    assert differences(result, quick=True, expected=tmp_path)


def test_published_values_agree():
    table = (EXPECTED / "delay_statistics_published.csv").read_text().splitlines()
    assert len(table) == 13
    assert all(line.endswith(",yes") for line in table[1:])


@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_statistics_are_the_plain_simulators(size):
    from tests.plain_simulator import second_half_statistics

    found = delay_statistics.enumerate_statistics(size)
    mean, largest = second_half_statistics(size, 10 * size)
    assert float(found.half_mean) == pytest.approx(mean, rel=1e-12)
    assert found.half_max == largest


def test_unknown_artifact_exits_2():
    result = CliRunner().invoke(main, ["schedule"])
    assert result.exit_code == 2
    assert "Did you mean 'schedules'" in result.stderr


def test_check_fails_on_a_difference(tmp_path, monkeypatch):
    monkeypatch.setattr("paper_artifacts.artifact.EXPECTED", tmp_path)
    monkeypatch.setattr(
        "paper_artifacts.__main__.differences",
        lambda result, quick: differences(result, quick=quick, expected=tmp_path),
    )
    result = CliRunner().invoke(main, ["microbatch_path", "--check", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "DIFFERS microbatch_path.csv" in result.stdout


def test_unwritable_folder_exits_2(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["microbatch_path", "--out", str(tmp_path / "file" / "x")])
    assert result.exit_code == 2


def test_tables_escape():
    table = Table("t", ("a_b", "c"), (("x|y", ("S^2", "$S^2$")), (None, "50%")))
    assert "x\\|y" in table.markdown()
    assert "a\\_b & c" in table.latex()
    assert "$S^2$" in table.latex()
    assert "- & 50\\%" in table.latex()
