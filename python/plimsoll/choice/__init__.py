"""Which storage to buy: demands, candidates, what bounds exclude, trials in virtual time, and the order of what is left."""
