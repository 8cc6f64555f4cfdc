"""What `import plimsoll` offers: the verbs that measure (`measuring`), and stored results (`stored`)."""
