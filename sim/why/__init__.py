"""The one place that answers why: a job waits, starts, is suspended; who changed what, and when."""
