"""What queries are told: rows, differences, clusters with their numbers, and what is made of them.

audience          Which queries have been told of the last answers that new ones are compared with
changed_items     The rows that a window holds, as changes: those that have come, and those that have gone
changed_rows      Changes as their reader sees them: `-` what a group had, `+` what it has
cluster_rows      The clusters of answered windows, in columns
comparisons       Answers that are compared with the last ones, since who asks for them is told only what has changed
corrections       Answers of windows that late events may correct: as they are told first, and again
differences       Answers as changes: what differs from the window before
finish            What is left to do with the rows that slide emits: HAVING, rankings, the select list, ORDER BY and
                  LIMIT
follow            Clusters from answer to answer: a number for each that it keeps as long as it lives
followers         The clusters of a space's answers, followed from answer to answer
framed_sums       Sums, means and variances of the frames of rows
join_levels       AGING, RECURRING and levels that are compared: answers of levels at one instant, put together by what
                  each holds
line_differences  Answers as changes, where each key or each level has windows of its own: what differs from the window
                  before
look_up           Answers with what tables have to tell of their groups
over_calls        LAG, FIRST_VALUE, SUM and the like OVER the rows of each window, in batches of answers
places            Where an answer stands among those that it is compared with
query_answers     What queries are told of the windows that a shard answers: rows, or how these differ from those before
rankings          ROW_NUMBER, RANK and DENSE_RANK of the rows of each window, in batches of answers
row_followers     The clusters of windows that count rows, followed from window to window of each group
rows              Answers as the rows of a query
sorted_rows       The rows of windows in order, partition by partition, and the frames of each row as stretches of them
told_alike        Which queries are told the rows of windows as they are, so that rows are made once for all that ask
                  alike
top               ORDER BY and LIMIT within each window
window_rows       The rows that windows hold, as their answers
windows           Answered windows, in columns
"""
