"""The machine: processors and nodes, plans of their future use, the Ousterhout matrix, and the turns of its rows."""
