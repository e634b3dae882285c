"""A live machine as values that widgets draw: charts, tables and steps of what was observed."""
