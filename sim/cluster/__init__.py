"""Observed clusters: their state as polled from a scheduler, its changes, and the plans of their schedulers.

A picture is the state of a cluster at one poll.
"""
