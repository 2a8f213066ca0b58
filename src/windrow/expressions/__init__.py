"""Row expressions over Arrow columns with Spark's answers: one family of functions a file.

Values are `pyarrow` arrays as long as the table. Types are Spark's, written as Arrow's: INT is `int32`, TIMESTAMP is
`timestamp[us, tz=UTC]`, TIMESTAMP_NTZ is `timestamp[us]`, the type of NULL is `null`. What fails gives NULL.

arithmetic     + - * / % div, pmod, and what else keeps to exact types: overflow and division by zero give NULL
calls          What function a syntax node calls, by Spark's name, and with which arguments
casts          One type into another: as CAST does, where what does not fit is NULL, and as Spark does unasked
choose         One value out of several: CASE, IF, COALESCE, GREATEST and their kin
columns        Arrays taken apart into values and a mask of what is NULL, and put together again
compare        Comparisons and logic with three values: NaN equals NaN and is the greatest number, NULL is unknown
dates          Parts of dates and days counted from them
decimals       Exact decimals: the integers inside them, the types that Spark gives their results, and rounding
evaluate       Row expressions without Spark: a syntax tree and a table in, a column out, equal to what Spark gives
evaluate_text  Row expressions given as text, as plans have them
forms          The syntax that is no call: columns, literals, CASE, CAST, IN, BETWEEN, LIKE, intervals, structs and
               their fields
instants       Timestamps: the time of day in them, numbers of them, and intervals of fixed length added to them
literals       Numbers as they are written: their value and the type that Spark gives them
mathematics    Functions of doubles
read_numbers   Numbers and booleans written as texts
read_times     Dates and timestamps written as texts, in the several forms that Spark reads; the time zone is UTC
regexes        Java's regular expressions for Arrow's matcher, RE2, as far as both mean the same by them
registry       The functions that replay evaluates: a name, what each argument is taken as, and the code over columns
rounding       CEIL, FLOOR, ROUND and BROUND: on the decimal digits that a number shows, not on its binary value
search         Texts looked for in texts: LIKE, RLIKE, INSTR, STARTSWITH and their kin
texts          Texts cut, joined, padded and changed
types          Spark's types as Arrow's, and which type two of them meet in
write_text     Values written as Spark writes them
"""
