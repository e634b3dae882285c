"""Also tests sim.workload.models.sud."""

import numpy as np
import pytest

from sim.support.errors import ParameterError
from sim.workload.model import Field, Workload
from sim.workload.models.generated import MODELS, generate, offered
from sim.workload.replay import read


@pytest.mark.parametrize("model", MODELS)
def test_generated_workload_has_the_load_and_is_reproducible(model: str) -> None:
    like = read("lublin-128", jobs=400)
    made = [generate(model, 500, 128, seed=3, load=0.6, like=like) for _ in range(2)]
    assert np.array_equal(made[0].table, made[1].table)
    assert offered(Workload.of(made[0])) == pytest.approx(0.6, rel=0.02)
    assert not np.array_equal(made[0].table, generate(model, 500, 128, seed=4, load=0.6, like=like).table)


def test_generated_jobs_follow_their_model() -> None:
    like = read("lublin-128", jobs=400)
    made = Workload.of(generate("sud", 800, like=like))
    assert made.procs == 128
    assert offered(made) == pytest.approx(offered(like), rel=0.02)
    run = generate("sud", 4000, 256).column(Field.RUN)
    shares = np.histogram(run, bins=8, range=(60, 14400))[0] / len(run)
    assert (np.abs(shares - 1 / 8) < 0.02).all()
    for model, said in (("hyper-erlang", "--like TRACE"), ("sud", "--procs N"), ("sad", "did you mean 'sud'")):
        with pytest.raises(ParameterError, match=said):
            generate(model, 10)
