"""From SQL text to what runs: `compile` lists the rules, the others are rules, costs of alternatives, and `explain`.

agree                   What queries ask for that holds for all that runs over one scan: they must agree
ask_in_where            Sub-queries in the ON of inner joins, asked in WHERE: there they become joins of their own
bind_alike              Queries that differ only in how long a window is and how far it slides are bound once: thousands
                        are asked so
check_wishes            A wish that cannot be right is refused, with the reason and with what can be
choices                 The table of choices: every way that there is to run a query, what it costs, where it comes
                        from, and its file
choose_expiry           Choose who lets the rows of a plan expire: every way states its cost, and the cheapest is taken
choose_maintenance      How each partial of a window is maintained: every alternative states its cost, the cheapest wins
choose_phantoms         Which spaces are fed from one finer grouping: a phantom, which no query asked for, where it
                        saves work
choose_row_maintenance  How each partial of a window that counts rows is maintained
chosen_events           What stands in FROM and only chooses among the events of one stream, and computes columns of
                        them
coarsen_panes           Whether panes that finer windows have left are merged into the granules of wider ones, or why
                        not
compile                 Compiles SQL text to the stages that run for it: read this first
count_distinct          Count distinct values by counting the rows that DISTINCT leaves
count_stages            In how many stages a query runs, with all that its streams are made of: a checkpoint keeps the
                        number
cut_into_stages         Cut a plan that no key can spread into stages that a key can: between them, rows go to other
                        shards
deduplicate             DEDUPLICATE BY: queries over a stream read, in its place, a stream of its events without
                        duplicates
derive_streams          Windows over windows, and over functions that remember: what has a window behind it becomes a
                        stream
expire_rows             A query over changes has its rows expire as it was asked for, or else in the cheapest way
explain                 Plans as text: what runs, what is kept, and why it was chosen
explain_changes         Plans over changes as text: what runs, how rows expire, by what they are spread, and why
explain_choices         What a scan has one of, as text: its schedules, the index of its clusters, and which blocks
                        leave memory
explain_held            What a plan over changes must hold in memory, with an estimate, what of it is in blocks, and
                        whether it has room
explain_joined          Joins with tables as text: what is joined before the panes, where, and why
explain_query           A query over a space as text: what its answers are made of, and which of them are told
explain_rows            Windows that count rows as text: what they keep, and why
explain_space           A space as text: who shares it, what its panes or rows keep, and how its windows are folded, and
                        why so
explain_stages          Stages, and streams that are made of answers, as text: of which query, whose clock, in which
                        stage, and why there
explain_summary         The first three lines of explain: what is read, what is kept and shared, what was chosen and
                        what was asked for
explain_windows         Windows over time as text: as they are written, and how panes are cut for them
figures                 What plans are made by: events in a second, groups, widths, shares, as they were measured, or
                        else assumed
groupings_of_keys       GROUPING SETS, CUBE and ROLLUP in windows by key and from condition to condition: each is within
                        a window
held_in_memory          What the steps of a plan over changes must hold in memory: an estimate, and what is certain by
                        measured figures
index_clusters          Clusters of rows that come and go are looked up by the index that was asked for, as those of
                        panes are
inline_views            Views: queries with a name, read as WITH by those that name them
join_indexes            Requests joined with indexes: each is answered once, in the batch in which all streams have
                        passed it
join_runs               Which queries run together: as few runs as there can be, since each scans its streams and costs
                        a batch of its own
joined_answers          Joins with the answers of sessions, of rows or of a calendar: these do not end together, and are
                        read as a stream
keep_rows               Whether the panes of a space keep partials or rows: both estimated, from measured or assumed
                        figures
look_up_tables          A table that tells more of a group, and nothing of its rows, is looked up for answers: panes
                        need no join
nest_windows            Windows of one or several queries that nest: of which one is told from another, or all from one
                        chain
number_rows             Queries whose windows count rows: those over the same rows share panes, others have a space each
one_window              Whether all that a query reads is within one window whose answers can be joined, compared and
                        grouped again
over_events             OVER in order of time, with a frame: each event with what is folded of those before it, by
                        windows that there are
over_frames             OVER as it is written: which function is called, over which frame, and what of it cannot be
                        answered
over_numbers            ROW_NUMBER and RANK of the events of a stream in order of their times: how many came before, so
                        no row is kept
over_partitions         `SUM(x) OVER (PARTITION BY k)` of the rows of a window: a sub-query that has the value for the
                        key of each row
over_within             OVER in a sub-query whose rows a query around it chooses: one query, whose QUALIFY is what WHERE
                        was around it
place_expiry            Who lets rows expire: scans by negative tuples, operators by time probing, or a step of its own
                        above the joins
plan_changes            What plans over changes need: by what the rows of their leaves are spread, which tables, which
                        users' code
plan_stages             All queries that run together, as stages: what one key can spread, and what goes from one stage
                        to the next
plan_stream             What a stage does with one stream: the spaces that answer its queries, and what was asked for of
                        all of them
push_distinct           Take duplicates out before a join or a union rather than after it
push_windows            A window over UNION ALL, or over a join with tables, as the same window over each stream: it
                        holds the same
read_choose             What users ask for by name, read and checked: the wishes of a session, of a query, or of a
                        command
refuse_large            Refuse what cannot fit into the memory of a shard before it starts, where that is known by
                        measured figures
refuse_shards           Refuses a DISTRIBUTE BY that sends all events to a shard that there is not
round_slide             SLIDE ABOUT: a slide close to one that is scheduled already becomes that one, so that their
                        windows share edges
rows_or_partials        Whether a window keeps its rows or partials of its panes: by the space that each takes
rule                    What a rule is: it gives a query as it runs beside others, and leaves alone what it is not for
rules                   All rules of the compiler, in the order in which they are applied
shard_key               By what the rows of a plan over changes can be spread over shards, so that rows that meet are in
                        the same one
share_clusters          Queries that cluster the same points by the same algorithm share their summaries, whatever else
                        they ask of them
share_panes             Queries over the same rows and groups share panes: one space, whatever their windows and
                        aggregates
shed_rows               SHED ABOVE: by which hash the rows of a stream are chosen that are taken where not all are
spell_names             Streams, tables, views and indexes by the names that they were declared with, in whatever case a
                        query has them
stay_in_shard           Whether a window over the answers of another is folded in the shards that give them, or in a
                        stage more
time_of_rows            What rows call the time of their events: those of a stream, or what a view, a branch or a sub-
                        query makes of it
wishes                  What users ask for beside their queries: by name, and with the memory and the shards that there
                        are
within_windows          Joins, set operators and sub-queries within one window that is none over time with a slide: over
                        its answers
"""
