"""Congested areas of a city, as clusters that live and move.

animation  The windows one after another: a moving picture, and its last frame
answers    The answers and the positions, read back from the folders that they are written to
braille    Points drawn with characters: each is 2 dots wide and 4 dots high, and has one colour
check      The last clusters beside what pyarrow finds in the files of positions
colours    A colour for each cluster, by its number: the same as long as it lives
demo       The demo of clusters: congestions of a town, or players on a field, while they come, move and go
moments    The clusters of window after window: how old each one is, and the way it has come
picture    A window as a picture: its points, its clusters in their colours, and the ways that these have come
recording  Positions that were recorded, played again as if they happened now
roads      The roads of a small town: lines on a map, and where on it so many metres along a road are
scene      What is clustered: where the events come from, how far the field goes, and what things are called
screen     What is seen of the clusters in a terminal: the field, and a list beside it
traffic    The traffic of a small town on a morning that is the same each time: cars, and congestions that hold them up
"""
