"""What there is: processors, free ones over future time, the Ousterhout matrix, and the turns of its rows."""
