"""The logs that benchmarks read; they are not part of the project."""

TRACES = "../shared/traces"
"""Folder of the logs, if no other is given"""
KTH = "KTH-SP2-1996-2.swf.gz"
CTC = "CTC-SP2-1996-3.1-cln.swf.gz"
