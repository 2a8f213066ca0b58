"""Row expressions over Arrow columns with Spark's answers: one family of functions a file.

Values are `pyarrow` arrays as long as the table. Types are Spark's, written as Arrow's: INT is `int32`, TIMESTAMP is
`timestamp[us, tz=UTC]`, TIMESTAMP_NTZ is `timestamp[us]`, the type of NULL is `null`. What fails gives NULL.

arithmetic       + - * / % div, pmod, and what else keeps to exact types: overflow and division by zero give NULL
array_order      Arrays put in order, cut and made distinct, and their least and greatest elements
arrays           Arrays asked for their size, an element, or whether and where they hold a value
bits             Bits of whole numbers: & | ^ ~, shifts and counts
calls            What function a syntax node calls, by Spark's name, and with which arguments
casts            One type into another: as CAST does, where what does not fit is NULL, and as Spark does unasked
choose           One value out of several: CASE, IF, COALESCE, GREATEST and their kin
columns          Arrays taken apart into values and a mask of what is NULL, and put together again
compare          Comparisons and logic with three values: NaN equals NaN and is the greatest number, NULL is unknown
dates            Parts of dates and days counted from them
decimals         Exact decimals: the integers inside them, the types that Spark gives their results, and rounding
digests          Digests and codes of bytes: MD5, SHA, CRC-32, hexadecimal and base 64
evaluate         Row expressions without Spark: a syntax tree and a table in, a column out, equal to what Spark gives
evaluate_text    Row expressions given as text, as plans have them
families         The files that functions are in: each registers its own by being imported
forms            The syntax that is no call: columns, literals, CASE, CAST, IN, BETWEEN, LIKE and intervals
hashes           HASH and XXHASH64: Spark's hashes of several columns, each of which begins with the hash of those
                 before it
instants         Timestamps: the time of day in them, and numbers of them
intervals        Intervals that are written in a query, and times plus or minus them
json_paths       GET_JSON_OBJECT and JSON_ARRAY_LENGTH: parts of JSON texts
json_read        FROM_JSON: texts as structs, arrays and maps of a schema that is written in the query
json_text        JSON as Spark's parser reads it and writes it again: Python's values, with numbers as they are written
json_write       Values and rows as JSON, byte for byte as Spark writes them, a column at a time: TO_JSON, and files of
                 lines
lambdas          Functions that take functions: TRANSFORM, FILTER, EXISTS, FORALL, AGGREGATE, ZIP_WITH, and those over
                 maps
lists            Arrays taken apart: their elements in one column, and which row each belongs to
literals         Numbers as they are written: their value and the type that Spark gives them
local_engine     Row expressions without Spark, as whoever compiles queries asks for their types
made_values      Arrays, maps and structs made of other values, and what is taken out of them by brackets and dots
maps             Maps made, and asked for their keys and values
mathematics      Functions of doubles
months           Months counted and added, and dates and timestamps made of their parts
number_texts     Numbers written in other ways: FORMAT_NUMBER, FORMAT_STRING, CONV and BIN; and WIDTH_BUCKET
pattern_regexes  The regular expression of the texts that Java reads by a pattern of dates and times
patterns         SPLIT, REGEXP_REPLACE, REGEXP_EXTRACT and their kin: what regular expressions find in texts
read_numbers     Numbers and booleans written as texts
read_patterns    TO_DATE, TO_TIMESTAMP and UNIX_TIMESTAMP: texts read as times, by a pattern if one is given
read_times       Dates and timestamps written as texts, in the several forms that Spark reads
regexes          Java's regular expressions for Arrow's matcher, RE2, and for Python's, as far as all mean the same by
                 them
registry         The functions that replay evaluates: a name, what each argument is taken as, and the code over columns
rounding         CEIL, FLOOR, ROUND and BROUND: on the decimal digits that a number shows, not on its binary value
search           Texts looked for in texts: LIKE, RLIKE, INSTR, STARTSWITH and their kin
session_zones    The time zone of a session: which functions ask for it, and what they are given
texts            Texts cut, joined, padded and changed
time_patterns    Patterns of dates and times, such as `yyyy-MM-dd HH:mm:ss`: the parts of one, as Spark reads it
types            Spark's types as Arrow's, and which type two of them meet in
units            TIMESTAMPADD and TIMESTAMPDIFF: times moved by units, and units between times
urls             URLs: their parts as Java's URI has them, and texts in their code
words            Texts as words and codes: INITCAP, SPLIT_PART, SUBSTRING_INDEX, OVERLAY, LEVENSHTEIN, SOUNDEX, ASCII
                 and CHR
write_text       Values written as Spark writes them
write_times      Times written by a pattern: DATE_FORMAT, FROM_UNIXTIME, and the texts of times in files
zone_clocks      What the clocks of time zones show, with zones by their names or as offsets
zones            FROM_UTC_TIMESTAMP, TO_UTC_TIMESTAMP and CONVERT_TIMEZONE, with zones by their names or as offsets
"""
