"""Synthetic uniform distribution (SUD) of Zotkin et al.: run times uniform between 1 and 240 minutes.

It shows whether a result comes from very short jobs, of which real logs are full. The paper gives the run times, 256
processors and 18,415 jobs. The rest comes from elsewhere: widths from Lublin and Feitelson, arrivals from a Poisson
process, estimates exact.
"""

from __future__ import annotations

import numpy as np

from sim.workload.columns import NumberIds
from sim.workload.model import Field, Header, Trace
from sim.workload.models import lublin

PROCS, JOBS = 256, 18_415
SHORTEST, LONGEST = 60.0, 240 * 60.0
LOAD = 0.75
"""Offered load by default, because the paper gives none."""


def generate(jobs: int, procs: int, seed: int, load: float | None = None) -> Trace:
    """Return a trace with the offered load `load` (None: `LOAD`); times are whole seconds.

    >>> run = generate(jobs=1000, procs=256, seed=1).column(Field.RUN)
    >>> bool(60 <= run.min() < 300), bool(14100 < run.max() <= 14400), bool(110 < run.mean() / 60 < 130)
    (True, True, True)
    """
    lublin.check_wanted(jobs, procs, seed)
    rng = np.random.default_rng(seed)
    width = lublin.sizes(jobs, procs, rng)
    run = np.rint(rng.uniform(SHORTEST, LONGEST, size=jobs))
    gaps = rng.exponential(size=jobs)
    between = float(gaps[1:].sum())
    scale = float((width * run).sum()) / (procs * (LOAD if load is None else load) * between) if between else 1.0
    table = np.full((jobs, len(Field)), -1.0)
    table[:, Field.ID] = np.arange(1, jobs + 1)
    table[:, Field.SUBMIT] = np.rint((np.cumsum(gaps) - gaps[:1].sum()) * scale)
    table[:, Field.RUN] = table[:, Field.ESTIMATE] = run
    table[:, Field.PROCS_USED] = table[:, Field.PROCS_ASKED] = width
    table[:, Field.STATUS] = 1
    return Trace(f"sud-{procs}", "generated", NumberIds.up_to(jobs), table, Header(max_procs=procs))
