"""The machine: processors, free processors over future time, the Ousterhout matrix, and the turns of its rows."""
