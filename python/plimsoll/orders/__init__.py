"""Order entry, derived from TPC-C: who orders what, what lies in the database, and what has to hold there. Pure: no clock, files or engine.

Model: the business of the TPC-C specification, revision 5.11: warehouses of ten districts each, their customers, orders and stock, and five
kinds of transactions on them. `scale` counts, `draws` and `population` fill the tables, `requests` draws what a terminal asks for,
`statements` and `functions` say how that is done in SQL, `consistency` what must hold afterwards. Amounts are whole cents and shares whole
ten-thousandths, so that sums are exact on every engine.
Limits: derived, not comparable with published results: no screens, deliveries are done at once and not from a queue, no price per tpmC.

    request = Customers(scale, constants, Draws(1, "terminal", 1)).request("new-order", warehouse=1, district=1)
"""

#: Stands wherever a figure of this workload does.
BANNER = "derived from TPC-C, not comparable with published TPC-C results"
