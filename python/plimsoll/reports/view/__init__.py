"""The view model of the report page: stored runs in, plain numbers and names out.

Model: each file declares the records it makes as typed dictionaries, which are JSON as they stand. The page's types in page/src/model.ts
are made from them (dev/page_model.py). A record is called ``…View`` where the class that it shows has its name; the page drops that.
"""
