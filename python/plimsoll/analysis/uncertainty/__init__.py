"""What uncertain values make of a figure: which are drawn, between what the figure lies, and which of them matter."""
