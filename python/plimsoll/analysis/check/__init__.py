"""What a check of a target found: the answer in one sentence, its mark, and the doubts."""
