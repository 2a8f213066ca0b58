"""Row expressions over Arrow columns with Spark's answers: one family of functions a file.

Values are `pyarrow` arrays as long as the table. Types are Spark's, written as Arrow's: INT is `int32`, TIMESTAMP is
`timestamp[us, tz=UTC]`, TIMESTAMP_NTZ is `timestamp[us]`, the type of NULL is `null`. What fails gives NULL.

    types, decimals, columns     the ground: Spark's types, exact decimals, arrays with their NULLs
    casts, read_*, write_text    one type into another, written (CAST) or implied
    registry, calls, forms       names to functions, syntax to names, and the syntax that is no call
    arithmetic ... instants      the functions themselves
"""
