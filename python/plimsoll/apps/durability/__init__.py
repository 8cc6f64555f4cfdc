"""The driver of database durability: refreshes are committed while the server is killed, and looked for after its restart.

Model: `options` says what can be asked for, `holder` keeps a database that can be killed, `keeper` is its process where the engine is
embedded, `account` says what has to be there, `trial` is what is carried out, `driver` is the whole.
"""
