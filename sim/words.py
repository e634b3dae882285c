"""Old import path of `sim.formatting`, kept for policies of users that still import from it."""

from __future__ import annotations

from sim.formatting import Clock as Clock
from sim.formatting import quoted as quoted
from sim.formatting import span as span
