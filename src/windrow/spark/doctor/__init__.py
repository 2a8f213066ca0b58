"""What `windrow doctor` finds out: what executors are like, and whether a job would run on them.

examine       What an executor is like, found out by a task on it
findings      From what executors are like to what is wrong with them: what keeps a job from running, and what only
              harms it
trial_places  The places that a script names, tried from the driver, and what executors need to try them too
visit         A small job that visits every executor: tasks that take a moment, until each has done one
"""
