"""The live page: the store in a browser, with what is being measured as it happens.

Model: the store is the only source, so runs of any process are seen, and a server that is started anew knows all there was. Reading is done
in threads, at most once per second for all browsers together. Nothing is served to whoever has no token (`plimsoll.web.guard`).

    serve(Settings(out="results", address="127.0.0.1", port=8642))
"""
