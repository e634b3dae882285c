"""The dialogs, and what each of them edits."""
