"""The driver of mail users: real servers on the target, and people who work with them."""
