"""Observation of real clusters: the states that their schedulers report, the changes between these states, and the
plans of the schedulers.

A picture is the state of a cluster at one poll.
"""
