"""Windows as values: where each begins and ends, over time and over rows.

calendar          Days, weeks, months and years as the clocks of a place show them: where each begins, as instants
chains            Which windows nest, so that one chain can answer them, whoever asks for them
coarser           Panes that become coarser with age: an old one is cut only where a window that still reaches it begins
                  or ends
cuts              Where time is cut into panes: at the edges of all windows that share them, and nowhere else
early             Windows that answer while they fill
early_rows        Windows of rows that answer while they fill
horizon           How far back a query with levels is asked, and the stretch of time that this gives
levels            Nested windows: one range and slide for each level, the finest first
own_granules      How many granules each of several nested levels holds alone, where these are whole
parts             What is folded for a window: one window, or several whose answers are told apart by a column
predicate_window  Windows that open at a row with one condition and close at a row with another
row_levels        Nested windows that count rows: one range and slide for each level
row_window        Windows that count rows: in their range, in their slide, or in both
session_window    Windows of rows that follow each other closely
slide_ends        The instants at which windows that slide together end
time_window       Time windows: where each begins and ends
uneven            Time windows that are not all as long as each other: by the calendar of a place, and those that grow
                  step by step
"""
