"""Cases of arrays, maps, structs and JSON."""

from __future__ import annotations

from listed import listed

ARRAYS = listed("""
    size(ai); size(ax); cardinality(ad); size(mp); array_size(ai); element_at(ai, 1); element_at(ai, -1)
    element_at(ai, 3); element_at(ax, 2); element_at(mp, 'a'); element_at(mp, x); try_element_at(ai, 2); get(ai, 0)
    get(ai, t); ai[0]; ai[i]; ax[1]; mp['a']; mp[x]; array_contains(ai, 1); array_contains(ai, i)
    array_contains(ai, l); array_contains(ax, 'a'); array_contains(ax, x); array_contains(ad, d)
    array_contains(ad, 0.0D); array_position(ai, 2); array_position(ax, 'a'); array_position(ad, d)
    array_join(ax, ','); array_join(ax, ',', '-'); array_join(split(x, ','), '|'); array_min(ai); array_max(ai)
    array_min(ax); array_max(ax); array_min(ad); array_max(ad); sort_array(ai); sort_array(ai, false)
    sort_array(ax); sort_array(ax, false); sort_array(ad); sort_array(ad, false); array_sort(ai); array_sort(ax)
    array_distinct(ai); array_distinct(ax); array_distinct(ad); slice(ai, 1, 2); slice(ai, -2, 2); slice(ai, 2, 0)
    slice(ax, 2, 5); map_keys(mp); map_values(mp); map_contains_key(mp, 'a'); map_contains_key(mp, x)
    map('a', i, 'b', j); map('a', 1); map(1, x, 2, y); map('k', d)['k']; array(i, j); array(1, 2); array(i, l, 1.5D)
    array(x, 'a'); array(i, NULL); struct(1 AS a, i AS b); struct(i, 'x' AS c); named_struct('a', 1, 'b', x)
    named_struct('a', array(i)); st.num; st['txt']; struct(st AS s).s.num; split(x, ',')[i]; size(split(x, ','))
    element_at(split(x, ','), -1); array(st)[0].num
""")

LAMBDAS = listed("""
    transform(ai, x -> x + 1); transform(ai, (x, k) -> x + k); transform(ai, (x, k) -> k); transform(ax, x -> upper(x))
    transform(ai, x -> x * i + l); transform(array(i, 1), x -> x > 0); transform(split(x, ','), z -> z)
    transform(split(x, ','), z -> upper(z)); transform(split(x, ','), z -> CAST(z AS INT)); transform(ai, x -> 'a')
    transform(ai, x -> transform(ax, y -> concat(y, x, y))); transform(ax, x -> struct(x AS a, i AS b))
    transform(array(st), s -> s.num + i)
    transform(array(struct(ts AS ts)), s -> date_format(s.ts, 'yyyy')); transform(ai, x -> coalesce(x, i, 0))
    filter(ai, x -> x > i); filter(ai, (x, k) -> k < 2); filter(ax, x -> x = y); filter(ad, x -> x > d)
    filter(ai, x -> NULL); exists(ai, x -> x > i); exists(ai, x -> x IS NULL); exists(ax, x -> x LIKE 'a%')
    forall(ai, x -> x > 0); forall(ad, x -> x <= d); forall(ax, x -> x IS NOT NULL); size(filter(ai, x -> x > 1))
    aggregate(ai, 0, (a, x) -> a + x); aggregate(ai, 0L, (a, x) -> a + coalesce(x, 0), a -> a * 2)
    aggregate(ai, i, (a, x) -> greatest(a, x)); aggregate(ax, '', (a, x) -> concat(a, x), a -> length(a))
    reduce(ad, 0D, (a, x) -> a + x); reduce(ai, struct(0 AS n, 0L AS s), (a, x) -> struct(a.n + 1 AS n, a.s + x AS s)).n
    zip_with(ai, ad, (x, y) -> x * y); zip_with(ai, ax, (x, y) -> concat(y, x)); zip_with(ai, ai, (x, y) -> x = y)
    zip_with(ai, array(i), (x, y) -> struct(x AS a, y AS b)); map_filter(mp, (k, v) -> v > i); map_filter(mp, (k, v) -> k = y)
    transform_values(mp, (k, v) -> v + 1); transform_values(mp, (k, v) -> k); transform_values(mp, (k, v) -> length(k) + v)
""")

JSON = listed("""
    get_json_object(js, '$.a'); get_json_object(js, '$.b'); get_json_object(js, '$.c')
    get_json_object(js, '$.c[0]'); get_json_object(js, '$.c[2].d'); get_json_object(js, '$.e')
    get_json_object(js, '$'); get_json_object(js, '$[0]'); get_json_object(js, '$[2].a')
    get_json_object(js, '$.a.b'); get_json_object(js, "$['a.b']"); get_json_object(js, '$.c[1][0]')
    get_json_object(js, '$.zz'); json_array_length(js); to_json(st); to_json(struct(i, x, d, f, m, n, b))
    to_json(struct(q, ts, nt)); to_json(struct(ai, ax, ad, mp)); to_json(ai); to_json(mp)
    to_json(struct(struct(i AS a) AS s, array(st) AS r)); get_json_object(js, '$.a[0]'); get_json_object(js, '$[2]')
    get_json_object(js, '$[1]'); to_json(struct(x, y)); to_json(struct(bi)); to_json(array(bi))
    from_json(js, 'a INT, b STRING, c ARRAY<INT>, e DOUBLE'); from_json(js, 'a INT').a; from_json(js, 'b BOOLEAN, a TINYINT')
    from_json(js, 'a BIGINT, e FLOAT'); from_json(js, 'a DECIMAL(10,2), e DECIMAL(38,18)'); from_json(js, 'A INT')
    from_json(js, 'a STRUCT<b: STRING, c: ARRAY<STRING>>'); from_json(js, 'STRUCT<`a.b`: INT>'); from_json(js, 'c ARRAY<ARRAY<INT>>')
    from_json(js, 'MAP<STRING, STRING>'); from_json(js, 'ARRAY<STRUCT<a: INT>>'); from_json(js, 'MAP<STRING, DOUBLE>')
    from_json(js, 'c ARRAY<STRING>, a STRING'); from_json(js, 'ARRAY<STRING>'); from_json(js, 'a MAP<STRING, STRING>, b INT')
    from_json(to_json(struct(v AS a)), 'a DATE').a; from_json(to_json(struct(w AS a)), 'a DOUBLE'); from_json(to_json(struct(i AS a)), 'a TIMESTAMP')
    from_json(to_json(struct(q AS a, ts AS b)), 'a DATE, b TIMESTAMP').b; from_json(to_json(mp), 'MAP<STRING, INT>')
    from_json(to_json(struct(w AS a, x AS b)), 'a DECIMAL(10,2), b STRING'); from_json(NULL, 'a INT')
""")
