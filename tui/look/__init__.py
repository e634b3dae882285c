"""How things look: colours, themes, text, sheets of styled lines, and what a person chose. No widgets."""
