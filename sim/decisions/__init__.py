"""What a policy may say: decisions, reasons, and the words of each."""
