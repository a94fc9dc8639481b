"""The names that users rely on, what importing costs, and the README's examples."""

import doctest
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pdtheory as pd

NAMES = [
    "Analysis",
    "BlockDelays",
    "ClosedForm",
    "DeadlockError",
    "DelayStatistics",
    "Durations",
    "FormatError",
    "Kind",
    "MissingExtraError",
    "Op",
    "ParameterError",
    "PdTheoryError",
    "Schedule",
    "ScheduleError",
    "SteadyState",
    "System",
    "TieRule",
    "Timeline",
    "UnknownNameError",
    "Verdict",
    "Versions",
    "WeightPolicy",
    "Window",
    "analyze",
    "block_delays",
    "bounds",
    "chrome_trace",
    "closed_form",
    "fitted_form",
    "get_schedule",
    "quantities",
    "read_torch_csv",
    "run",
    "systems",
    "torch_csv",
    "versions",
]


def test_public_names_are_pinned():
    assert sorted(pd.__all__) == sorted(NAMES)
    assert all(getattr(pd, name) is not None for name in NAMES)


def test_import_is_light():
    code = (
        "import sys, pdtheory\n"
        "heavy = {'torch', 'matplotlib', 'z3', 'cvc5', 'sympy', 'networkx', 'rich', 'click'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_formula_needs_neither_torch_nor_matplotlib():
    code = (
        "import sys, pdtheory\n"
        "pdtheory.closed_form('gpipe', 'ticks')\n"
        "print(sorted({'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_function_is_not_hidden_by_a_module():
    code = (
        "import pdtheory.formulas, pdtheory.weight_versions\n"
        "import pdtheory as pd\n"
        "assert callable(pd.closed_form) and callable(pd.versions)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_analysis_shows_itself():
    found = pd.analyze("pipedream", num_stages=4)
    assert "block delay, steady, max: 14\nblock delay, steady, mean: 15/2" in str(found)
    assert found._repr_markdown_().startswith("| quantity | value |")
    assert repr(found) == (
        "Analysis(Schedule('pipedream', num_stages=4, num_microbatches=40, num_workers=4), tie_rule='stage-order')"
    )


def test_readme_examples_run():
    text = Path(__file__).parent.parent.joinpath("README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", "README.md", 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: pd.analyze(None),
        lambda: pd.analyze([["0F0", "0B0"]]),
        lambda: pd.analyze("pipedream", num_stages=2, durations={"F": 1}),
        lambda: pd.analyze("my.csv"),
        lambda: pd.run(pd.get_schedule("gpipe", 1, 1), "F=1"),
        lambda: pd.Schedule.from_orders([["0F0", None]]),
        lambda: pd.get_schedule(["x"], 4, 8),
        lambda: pd.WeightPolicy(1, 0),
        lambda: pd.WeightPolicy(0),
    ],
)
def test_wrong_types_are_the_projects_errors(call):
    with pytest.raises(pd.PdTheoryError):
        call()


def test_numpy_integers_are_integers():
    assert pd.analyze("pipedream", num_stages=np.int64(4)).schedule.num_microbatches == 40
    assert pd.get_schedule("local-sgd", 4, 8, local_steps=None).num_stages == 4


def test_errors_survive_pickling():
    for error in (
        pd.DeadlockError(["a waits for b"], where="x"),
        pd.UnknownNameError("schedule", "x", ["y"]),
        pd.ParameterError("is wrong", where="here", value=3, mend="Mend it"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.__dict__) == (str(error), error.__dict__)


def test_short_forms():
    assert repr(pd.closed_form("gpipe", "ticks")) == "ClosedForm('gpipe', 'ticks', 2*M + 2*S - 2, PROVED)"
    assert "max=14" in repr(pd.analyze("pipedream", num_stages=4).delays)
