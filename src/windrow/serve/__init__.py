"""A running job asked over HTTP: its answers as they are and as they change, SQL over them, its plan.

adhoc         SELECTs over the current answers, by DuckDB: it sees them and nothing else, and ends in time
app           The HTTP application: one route a question
backend       What can be asked of whatever is served: a job on Spark, or queries in replay
client        `windrow.connect(url)`: the answers of a job that runs elsewhere, as Arrow tables and pandas
events        Updates as server-sent events: each as soon as its batch is committed, from where a reader left off
guard         Who may ask: the right host and origin, the token where one is needed, requests of some size, and not too
              many
history       The figures of streams over the last minutes: they are there when a page opens
index_keys    What a request asks of an index: columns of its key by their names, the ends of a range as `seg>=1&seg<=3`
metrics       The figures of a job as Prometheus has them: names, types and units by its conventions
metrics_port  Metrics over HTTP, where `windrow run --metrics` says
openapi       What can be asked over HTTP, as OpenAPI says it, and as a page to read
overview      Streams and queries with their figures, as a page shows them, whatever runs them
plan_graph    The shared plan as a graph: streams, spaces of panes, windows, queries and sinks, and who shares what
plan_picture  The plan as a picture in a notebook: streams on the left, sinks on the right, what is shared drawn once
server        The server beside a job: a thread of its own, which ends with the job
spans         The batches of a job as OpenTelemetry spans: one for each batch that is done, from the notes that the job
              has of it
values        Rows as JSON and CSV: instants in ISO's way, what JSON has no number for as text
"""
