"""Workloads: traces in and out (one file a format), transforms, generators."""

from sim.workload.model import Fidelity, Field, Header, Job, Note, Trace, Workload

__all__ = ["Fidelity", "Field", "Header", "Job", "Note", "Trace", "Workload"]
