"""Commands: reading arguments and printing.

demos/            What `windrow demo` runs: live streams made here, and queries over them
app               The command line itself, and the arguments that several commands have
ask               `windrow ask`: what an index of a job holds now, asked in SQL from another terminal
bench             The benchmarks of a checkout: one module a question, in the folder `benchmarks` beside `src`
change            What changes in a job from another terminal: queries that come and go, and a clock that goes back
choices           `windrow choices`: the table of all ways that can be asked for
clean             `windrow clean`: what a stopped job's checkpoint holds that nobody asks for, and its end
compact           `windrow compact`: small files of a sink's folder become larger ones
console           `windrow console` and `windrow run --console`: a page for a job that runs, or for sample streams
doctor            `windrow doctor`: what every executor is like, and whether a job would run there
drafted           What a script comes to, found without Spark where that is possible, which takes no second
figures           The figures of a job as text: one line a stream for a log, named rows for a screen
job_commands      Commands to a job by its checkpoint: `add`, `drop`, `resume`, `ask`, `reset-clock`, `clean`,
                  `reshard`, `compact`, `status`
json_log          A job told in JSON: one line an event, for who gathers the logs of many programs and asks them
                  questions
launch            From the arguments of a command to a session on a Spark that keeps quiet
machine_commands  Commands for a machine: `demo`, `warm`, `doctor`, `pack` and `bench`
main              The command line with all its commands, in the order in which `windrow --help` lists them
mistakes          How a command ends: 0 when all is well, 1 when a job died, 2 when the user has something to mend
pack              `windrow pack`: this environment as an archive, for executors that have none of it
reshard           `windrow reshard`: a checkpoint with more shards, from that of a stopped job
run               Running a script: until its input ends, or until it is stopped
run_commands      Commands that begin a job, or a page without one: `run` and `console`
script_commands   Commands that tell what a script comes to: `explain`, `check` and `choices`
status            `windrow status`: how a job is doing, or did when it ended, by its checkpoint
view              What is seen of a job while it runs: a table that changes in a terminal, a line now and then in a log
warm              `windrow warm`: do now what the first jobs on a machine would otherwise wait for
watch             A job until it ends, or until it is asked to
"""
