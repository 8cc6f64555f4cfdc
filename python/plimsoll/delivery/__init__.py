"""Stored runs on their way home: packed once, sent until they are there, never there twice.

Model: a parcel (`plimsoll.store.parcel`) is made in a temporary file and handed to a destination, which says that it has the run, that it
may have it later (`NotNow`: try again), or that it will not (an error in a sentence). Whoever receives compares digests, so that a delivery
whose answer was lost on the way is repeated without harm. Where parcels lie as files, or come as mails, `receiving` makes runs of them.

    order = Order(destination_of("https://lab7:8642", {"token_file": "token"}))
    deliver(open_run("latest"), order, Patience(for_s=3600))
"""
