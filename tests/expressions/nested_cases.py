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

JSON = listed("""
    get_json_object(js, '$.a'); get_json_object(js, '$.b'); get_json_object(js, '$.c')
    get_json_object(js, '$.c[0]'); get_json_object(js, '$.c[2].d'); get_json_object(js, '$.e')
    get_json_object(js, '$'); get_json_object(js, '$[0]'); get_json_object(js, '$[2].a')
    get_json_object(js, '$.a.b'); get_json_object(js, "$['a.b']"); get_json_object(js, '$.c[1][0]')
    get_json_object(js, '$.zz'); json_array_length(js); to_json(st); to_json(struct(i, x, d, f, m, n, b))
    to_json(struct(q, ts, nt)); to_json(struct(ai, ax, ad, mp)); to_json(ai); to_json(mp)
    to_json(struct(struct(i AS a) AS s, array(st) AS r)); get_json_object(js, '$.a[0]'); get_json_object(js, '$[2]')
    get_json_object(js, '$[1]'); to_json(struct(x, y)); to_json(struct(bi)); to_json(array(bi))
""")
