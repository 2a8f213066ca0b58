"""Cases of digests, bits, words, numbers as texts, months, time zones and URLs."""

from __future__ import annotations

from listed import listed

CODES = listed(r"""
    md5(x); md5(bi); sha1(x); sha(x); sha2(x, 256); sha2(x, 0); sha2(bi, 512); sha2(x, 100); crc32(x); hex(x)
    hex(l); hex(t); hex(bi); unhex(w); unhex(hex(x)); base64(x); base64(bi); encode(x, 'utf-8')
    encode(x, 'UTF-16BE'); decode(encode(x, 'UTF-8'), 'UTF-8'); CAST(x AS BINARY); hash(x); hash(i, l, x, d)
    hash(t, s, b, f, e); hash(m, q, ts, nt); hash(bi, y); hash(NULL, i); xxhash64(x); xxhash64(i, l, x, d)
    xxhash64(t, s, b, f, e); xxhash64(m, q, ts, nt); xxhash64(bi, y); i & j; i | l; t ^ s; ~i; ~t; l & 255
    shiftleft(i, 1); shiftleft(l, t); shiftright(i, 2); shiftright(t, 1); shiftrightunsigned(i, 3)
    shiftrightunsigned(l, t); i << 2; l >> 1; bit_count(i); bit_count(l); bit_count(b); bit_count(t)
""")

WORDS = listed(r"""
    initcap(x); initcap(upper(x)); initcap(url); split_part(x, ',', 1); split_part(x, ',', -1)
    split_part(x, ',', 3); split_part(x, '', 1); split_part(x, 'x', 2); substring_index(x, ',', 2)
    substring_index(x, ',', -2); substring_index(x, 'xx', -1); substring_index(x, 'xx', 1)
    substring_index(x, '', 1); substring_index(x, ',', 0); overlay(x PLACING 'ZZ' FROM 2)
    overlay(x PLACING y FROM 1 FOR 0); overlay(x PLACING 'Q' FROM 3 FOR 1); overlay(x, '日', 2, 1); levenshtein(x, y)
    levenshtein(x, 'abd'); soundex(x); soundex(url); soundex(y); ascii(x); ascii(y); chr(i); chr(t); char(l)
    octet_length(x); bit_length(x); octet_length(bi); find_in_set(x, 'a,abc,,日本語'); url_encode(x); url_encode(url)
    url_encode('a~b*c-d._e'); url_decode(url_encode(x)); parse_url(url, 'HOST'); parse_url(url, 'PATH')
    parse_url(url, 'QUERY'); parse_url(url, 'QUERY', 'a'); parse_url(url, 'QUERY', 'zz'); parse_url(url, 'REF')
    parse_url(url, 'PROTOCOL'); parse_url(url, 'FILE'); parse_url(url, 'AUTHORITY'); parse_url(url, 'USERINFO')
    parse_url(x, 'PATH')
""")

NUMBER_TEXTS = listed(r"""
    format_number(d, 2); format_number(i, 0); format_number(l, 1); format_number(m, 1); format_number(f, 3)
    format_number(n, 4); format_number(d, -1); format_number(o, 0); format_string('%s-%s', x, i)
    format_string('%d items', i); format_string('%5d|%-5d|%05d', t, t, t); format_string('%.2f and %f', e, e)
    format_string('%10.3f|%-10.1f|%010.2f', e, e, e); format_string('%s %s %s %s', d, b, m, f)
    format_string('%x %%', l); format_string('%x', t); format_string('%5s|%-5s', x, y); format_string('plain')
    printf('%s', x); bin(l); bin(t); conv(w, 10, 16); conv(w, 10, -16); conv(w, 16, 2); conv(x, 36, 10)
    conv(l, 10, 16); conv(i, 10, -2); width_bucket(d, 0, 10, 5); width_bucket(e, 3, -3, 4)
    width_bucket(i, 0.0, 10.0, 2); format_number(d, 0); format_number(e, 1); format_number(d / 8, 2)
    conv(l, 10, -10); conv(x, 10, 16)
""")

CALENDAR = listed(r"""
    months_between(q, p); months_between(ts, us); months_between(ts, us, false); months_between(ts, q)
    next_day(q, 'Mon'); next_day(q, 'SU'); next_day(ts, 'friday'); next_day(q, 'x'); dayname(q); monthname(ts)
    make_date(2020, t, 15); make_date(s, 2, 29); make_date(2020, 2, t); make_timestamp(2020, 2, 29, t, 30, 12.5)
    make_timestamp(s, 1, 1, 0, 0, 0); make_timestamp(2020, 1, 1, 10, t, 60); make_timestamp(2020, 1, 1, 10, 0, t)
    q + INTERVAL 1 MONTH; q - INTERVAL 1 YEAR; ts + INTERVAL 1 MONTH; nt - INTERVAL '13' MONTH
    ts + INTERVAL 1 YEAR 2 MONTHS; timestampadd(MINUTE, t, ts); timestampadd(MONTH, t, ts); timestampadd(DAY, 1, q)
    dateadd(HOUR, 5, ts); date_add(WEEK, 1, ts); timestampdiff(MINUTE, ts, us); timestampdiff(DAY, ts, us)
    timestampdiff(MONTH, ts, us); timestampdiff(YEAR, us, ts); timestampdiff(QUARTER, ts, us)
    datediff(HOUR, ts, us); date_diff(SECOND, us, ts); extract(SECOND FROM ts); extract(DOY FROM q)
    date_part('dow', ts); from_utc_timestamp(ts, 'Europe/Berlin'); from_utc_timestamp(nt, 'America/New_York')
    from_utc_timestamp(ts, 'UTC'); from_utc_timestamp(ts, '+05:30'); to_utc_timestamp(ts, 'Europe/Berlin')
    to_utc_timestamp(ts, 'Australia/Sydney'); to_utc_timestamp(v, 'Asia/Kolkata'); to_utc_timestamp(ts, 'GMT-08:00')
    convert_timezone('Europe/Berlin', 'America/Los_Angeles', nt)
""")
_ZONES = "Europe/Berlin America/New_York Australia/Lord_Howe Africa/Casablanca"
# Seconds from 1901 to 2106, which hashes scatter.
_SECONDS = ("hash(x, i, l)", "hash(l, y) + 2147483648L")
CALENDAR += [
    f"{way}_utc_timestamp(timestamp_seconds({seconds}), '{zone}')"
    for way in ("from", "to")
    for seconds in _SECONDS
    for zone in _ZONES.split()
]
