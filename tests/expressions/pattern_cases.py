"""Cases of patterns: of dates and times, and regular expressions."""

from __future__ import annotations

from listed import listed

TIME_PATTERNS = listed("""
    to_date(z, 'yyyy-MM-dd'); to_timestamp(z, 'yyyy-MM-dd'); to_timestamp(z, 'yyyy-M-d'); to_timestamp(z, 'y-M-d')
    to_timestamp(z, 'dd/MM/yyyy HH:mm:ss'); to_timestamp(z, 'MMM d, yyyy'); to_timestamp(z, 'MMMM d, yyyy')
    to_timestamp(z, 'yyyyMMddHHmmss'); to_timestamp(z, "yyyy-MM-dd'T'HH:mm:ss[.SSSSSSSSS]XXX")
    to_timestamp(z, "yyyy-MM-dd'T'HH:mm:ss[.SSS]X"); to_timestamp(z, "yyyy-MM-dd'T'HH:mm:ssxxx")
    to_timestamp(z, "yyyy-MM-dd HH:mm:ss[.SSS]"); to_timestamp(z, "yyyy-MM-dd[ HH:mm[:ss[.SSS]]]")
    to_timestamp(z, 'yyyy-MM-dd HH:mm:ss'); to_timestamp(z, 'hh:mm a'); to_timestamp(z, 'h:mm a')
    to_timestamp(z, 'K:mm a'); to_timestamp(z, 'k:mm'); to_timestamp(z, 'H:mm'); to_timestamp(z, 'M/d/yy')
    to_timestamp(z, 'yyyy-DDD'); to_timestamp(z, 'yyyy'); to_timestamp(z, 'yy')
    to_timestamp(z, "'at' h 'o''clock'"); to_timestamp(z, 'd.M.y'); to_date(z, 'd.M.yyyy'); to_date(ts, 'yyyy')
    to_date(q, 'yyyy'); to_timestamp(q, 'yyyy'); to_timestamp(NULL, 'yyyy'); unix_timestamp(z)
    unix_timestamp(z, 'yyyy-MM-dd'); unix_timestamp(z, "yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX"); unix_timestamp(ts, 'yyyy')
    unix_timestamp(q, 'yyyy'); to_unix_timestamp(z, 'yyyy-MM-dd'); to_unix_timestamp(z)
    date_format(ts, 'yyyy-MM-dd HH:mm:ss.SSSSSS'); date_format(q, 'yyyy/M/d')
    date_format(nt, 'yy MMM MMMM E EEEE EEE D DDD'); date_format(ts, "h hh K KK k kk a H m s S SS SSS SSSSSSSSS")
    date_format(ts, "'year' y ''yyyy'' X XX XXX x xx xxx Z ZZZ [x]"); date_format(v, 'yyyy-MM-dd')
    date_format(ts, 'L LL LLL LLLL'); date_format(NULL, 'yyyy'); date_format(ts, ''); date_format(ts, 'yyyyMMdd')
    from_unixtime(j); from_unixtime(j, 'yyyy-MM-dd'); from_unixtime(k % 100000000000, 'yyyy-MM')
    from_unixtime(t, 'HH:mm'); date_format(timestamp_micros(l), 'yyyy-MM-dd')
""")

REGEXES = listed(r"""
    split(x, ','); split(x, ',', 2); split(x, ',', -1); split(x, ',', 0); split(x, ''); split(x, '', 3)
    split(x, '', 1); split(x, '[,_ ]'); split(x, '[,_ ]', 2); split(x, '(a|x)'); split(x, '\\.'); split(x, '\\|')
    split(x, '.'); split(x, '^'); split(x, '$'); split(x, '\\s+'); split(x, 'xx'); split(x, '(?i)X'); split(i, '1')
    split(x, ',')[0]; split(x, ',')[1]; split(x, ',')[3]; regexp_extract(x, '(a)(b)?', 2)
    regexp_extract(x, '(a|x)(.*)', 2); regexp_extract(x, '^(.*)$', 1); regexp_extract(x, '.*$', 0)
    regexp_extract(x, 'y$', 0); regexp_extract(x, '[a-c]+', 0); regexp_extract(x, '([a-c]+)')
    regexp_extract(x, '(?:a|b)(c)', 1); regexp_extract(w, '([0-9]+)\\.([0-9]+)', 2)
    regexp_extract(w, '(\\d+)[eE](\\d+)', 1); regexp_extract(url, '^([a-z]+)://([^/:]+)', 2)
    regexp_extract(url, '[?&]a=([^&#]*)', 1); regexp_extract(x, '(?i)(ABC|STRASSE|x)', 1)
    regexp_extract(x, '(?i)[A-B]+', 0); regexp_extract(x, '(a)|(b)', 2); regexp_extract(x, '(😀)x', 1)
    regexp_extract(x, '日.', 0); regexp_extract_all(x, '([a-c])', 1); regexp_extract_all(w, '\\d', 0)
    regexp_extract_all(x, '([a-c])'); regexp_replace(x, 'x', 'yy'); regexp_replace(x, '[aeiou]', '<$0>')
    regexp_replace(x, '(a)(b)?', '$2-$1'); regexp_replace(x, '$', '!'); regexp_replace(x, '^', '!')
    regexp_replace(x, '(x)', '$12'); regexp_replace(x, 'a', '\\$'); regexp_replace(x, 'a', '\\\\')
    regexp_replace(x, '[^a-z]', ''); regexp_replace(x, '\\s', '_'); regexp_replace(w, '[^0-9.]+', '')
    regexp_replace(x, '.', ''); regexp_count(x, 'x'); regexp_count(x, '[a-c]'); regexp_substr(x, '[a-c]+')
    regexp_instr(x, 'x'); regexp_instr(x, '[b-c]'); regexp_instr(x, '$'); x RLIKE '(?i)ABC'; x RLIKE '(?i)[^a]'
    regexp_like(x, '(?i)k')
""")
