"""Cases of times that ask for the time zone of the session, at clocks that are put on and back among others."""

from __future__ import annotations

from listed import listed

# Around the hours that the clocks of Berlin and of Havana show twice or not at all, in a year that has both.
_PUT_BACK = "timestamp_seconds(1635638400 + (hash(x, i, l) % 30) * 1800)"
_PUT_ON = "timestamp_seconds(1616889600 + (hash(l, y) % 30) * 1800)"
_HAVANA = "timestamp_seconds(1636261200 + (hash(y, x) % 30) * 1200)"

ZONED = listed("""
    CAST(ts AS STRING); CAST(ts AS DATE); CAST(ts AS TIMESTAMP_NTZ); CAST(q AS TIMESTAMP); CAST(nt AS TIMESTAMP)
    CAST(v AS TIMESTAMP); CAST(v AS DATE); CAST(ts AS BIGINT); CAST(l % 100000 AS TIMESTAMP); concat(ts, x)
    TIMESTAMP '2020-01-02 03:04:05.6'; TIMESTAMP '2020-07-02 03:04:05+02:00'; year(ts); hour(ts); minute(nt); hour(v)
    second(ts); extract(SECOND FROM ts); dayofweek(ts); hour(q); hour(nt); date_trunc('MONTH', ts); trunc(ts, 'MM')
    to_date(z, 'yyyy-MM-dd'); to_timestamp(z, "yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX"); to_timestamp(z, 'dd/MM/yyyy HH:mm:ss')
    to_timestamp(v); to_date(ts); unix_timestamp(z, 'yyyy-MM-dd HH:mm:ss'); unix_timestamp(ts); unix_timestamp(nt)
    unix_timestamp(q); unix_micros(nt); unix_seconds(ts); date_format(ts, 'yyyy-MM-dd HH:mm:ss'); date_format(ts, 'XXX x Z')
    from_unixtime(l % 1000000000); date_add(ts, 1); datediff(ts, us); add_months(ts, 1); months_between(ts, us)
    make_timestamp(2021, 10, 31, 2, 30, 0); timestampdiff(MONTH, ts, us); timestampdiff(HOUR, us, ts); ts > q; ts = nt
    ts < '2020-02-29'; ts BETWEEN '1969-12-31' AND q; ts IS NULL; ts = us; greatest(ts, us); from_utc_timestamp(ts, 'Asia/Kolkata')
    to_utc_timestamp(v, 'Asia/Kolkata'); convert_timezone('Europe/Berlin', 'Asia/Tokyo', ts); to_json(struct(us, nt, q))
    from_json(to_json(struct(v AS a)), 'a TIMESTAMP').a; CASE ts WHEN q THEN 1 ELSE 2 END; xxhash64(ts); q + INTERVAL 1 HOUR
    nt + INTERVAL 1 DAY; transform(array(ts), t -> hour(t))
""")
ZONED += [
    case.format(time)
    for time in (_PUT_BACK, _PUT_ON, _HAVANA)
    for case in listed("""
        {}; CAST({} AS STRING); hour({}); date_trunc('HOUR', {}); date_trunc('DAY', {}); date_trunc('WEEK', {})
        CAST(CAST({} AS TIMESTAMP_NTZ) AS TIMESTAMP); CAST(CAST({} AS DATE) AS TIMESTAMP); {} + INTERVAL 1 DAY
        {} + INTERVAL 25 HOURS; {} - INTERVAL 30 MINUTES; {} + INTERVAL 1 MONTH; timestampadd(DAY, -1, {})
        timestampadd(HOUR, 12, {}); to_timestamp(CAST({} AS STRING)); date_format({}, 'yyyy-MM-dd HH:mm XXX')
    """)
]
