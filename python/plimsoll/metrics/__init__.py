"""What is being measured, as numbers for the monitoring that is there already: families of metrics, and the forms they are handed on in.

Model: `measured` reads the store and makes `families`; `prometheus` writes them as text and protobuf, `opentelemetry` as OTLP's JSON, and
`sending` brings those to a collector. Each metric is declared once (`families.DECLARED`); its names follow from that.

    Measured().families(["results/2026-11-23T08-00-58_ramp-oltp-db"])
"""
