"""Forecasts of when waiting jobs of an observed cluster will start, and the score of these forecasts (how accurate they
were).
"""
