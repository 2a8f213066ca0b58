"""A running job: start, watch, restart, add, drop, progress, and what it keeps in its checkpoint.

batch_reports     What Spark tells of batches that have run: only what was not read before, and each report by one call
                  to the JVM
batches           What Spark's own logs in a checkpoint say of a batch: when it began, and whether it is done
bring_back        Bringing a query back in the checkpoint of a job that does not run: its next start runs it again
causes            Why a Spark query has died: what will pass, what one of our queries has caused, and what ends the job
checkpoint        What Windrow itself keeps in a checkpoint, beside Spark's
checkpoint_files  How Spark writes its own files into a checkpoint on local disk: without a process for each of them
clean_state       State in the checkpoint of a stopped job that the queries of its last run do not know: what it is, and
                  its end
culprits          Which queries have stopped a batch: by what the error says, or by trying them on the same batch
drift             How the queries that are asked for differ from those that a checkpoint has run: nothing drifts without
                  a word
file_names        Names that people give to streams and queries, as names of files: whatever is in them, they lead
                  nowhere else
first_windows     From which window queries answer on a checkpoint, by the state that its last finished batch has left
forget_state      State that is to be deleted: the plan that runs has its names, so that a batch that runs again deletes
                  the same
group_offsets     How far topics are read, told to consumer groups now and then: the tools that people have show the lag
                  by these
hangs             Tasks that hang: Spark waits for them for ever, so somebody has to look whether anything moves
history_note      What a checkpoint notes of the histories that its streams begin with: until when each goes, and if it
                  is over
hold              One job a checkpoint: whoever comes second is told who has it
job               A running job: one Spark query a stream, all its results written to their sinks, and queries that come
                  and go
job_indexes       The indexes of a job, asked from outside: read as they are published, never from state
job_life          How a job lives on and ends: dead Spark queries are looked after, somebody waits, and all is let go of
                  at the end
job_requests      Requests to a running job from another process: files in its checkpoint, each answered by another
job_view          What may be read of a running job: what runs, how it does, its answers, and what its indexes hold
keep_expiry       How the rows of each query expire, as its checkpoint has it: operators hold other rows with each way
keepers           Which Spark query keeps the rejected events of a stream, where several read it: one, so that each is
                  kept once
look_after        What becomes of a Spark query that dies: it is started again, perhaps without queries that failed, or
                  given up
measures          What differs each time a task runs: how long it took, what its worker had in memory
plain_plans       Plans whose rows stay in Python run as they are: Spark writes and looks up no code for them
progress          How a job is doing, as figures to print and to read: `job.progress()`
rates             Speeds and delays of a stream, from its recent batches
recovery          What has died in a job and comes back: after which pause, how often, and when it is given up
refresh_tables    Tables that are read again while a job runs: their rows are in the checkpoint before a batch is joined
                  with them
reports           What another process tells of the batches that it wrote: a small file for each, beside the checkpoint
                  of a stream
reset_clock       Who may set the clock of a stream back: of a job that runs, and in the checkpoint of one that does not
reshard           A checkpoint with more shards, made from that of a stopped job
running           The Spark queries of a job, one a stream: which queries run in each, started, stopped, and changed
                  while they run
runs              From plans to what runs: one Spark query a stream
runs_there        Which runs a checkpoint has: how many stages each has is in the name of its folder
served_batch      What `foreachBatch` does where a Spark Connect server runs it: in a process beside the server, a
                  pickled copy
shedding          Load shedding in the driver: how far a stream is behind, and which share of its rows the next batch
                  takes
sink_writers      Who writes the rows of each query, and rejected events, by what their sinks are
spark_logs        Spark's own logs and state in the checkpoint of a stream, brought to another one
spark_query       One Spark query of a job: whether it runs, when its batch is done, how it is stopped, and why it has
                  stopped
state_at          Any horizon of a query with levels, from the state that a stream's last finished batch has left in its
                  checkpoint
statistics        The statistics of streams while they run, and as their checkpoint keeps them for the next start
status            How a job is doing, or did when it ended, from what its checkpoint holds: nothing is written, and
                  nobody is asked
status_note       How a job is doing, noted in its checkpoint now and then: who looks from outside disturbs nobody, also
                  afterwards
stream_drift      How the columns of streams differ from those that a checkpoint has read: no schema changes without a
                  word
stream_run        One stream of a job: the Spark query that runs over it
stream_totals     What the batches of one stream have come to: from Spark's own progress and the counts that slide sends
                  along
table_editions    Tables as a checkpoint has them: which batch joins with which rows, written down before it runs
waited            How long events have waited for their answers since the job began, as a histogram
watched           How the streams of a job are doing: what their batches have come to, as the figures that are shown
words             Words to all shards of a stream: files beside its checkpoint, which its Spark query reads as one more
                  source
"""
