"""The sliding graph against its definition, edge by edge."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from windrow.schedule.graph import SlideEdge, SlidingGraph
from windrow.schedule.optimize_graph import Limits, optimize, options_of
from windrow.schedule.progression import Progression, sparsest_over

progressions = st.builds(
    lambda slide, offset: Progression(slide, offset % slide), st.integers(1, 60), st.just(0) | st.integers(0, 6)
)


def by_definition(nodes: set[Progression]) -> list[SlideEdge]:
    """Edges lead to what a node holds, with nothing between; those from the greatest slide are strong."""
    tops = {node for node in nodes if not any(other.holds(node) for other in nodes - {node})}
    edges = []
    if len(tops) > 1:
        edges += [SlideEdge(sparsest_over(tops), top, True) for top in tops]
    for end in nodes:
        holders = {node for node in nodes - {end} if node.holds(end)}
        starts = {start for start in holders if not any(start.holds(other) for other in holders - {start})}
        edges += [SlideEdge(start, end, start.slide == max(s.slide for s in starts)) for start in starts]
    return sorted(edges)


def grown(nodes) -> SlidingGraph:
    graph = SlidingGraph()
    for node in nodes:
        graph.add(node)
    return graph


@settings(deadline=None)
@given(st.lists(progressions, max_size=25))
def test_edges_are_those_of_the_definition_in_whatever_order_nodes_come(nodes):
    assert grown(nodes).edges() == by_definition(set(nodes))


@settings(deadline=None)
@example([Progression(2), Progression(4), Progression(3)], [0])
@given(st.lists(progressions, min_size=1, max_size=20, unique=True), st.lists(st.integers(0, 19), max_size=15))
def test_a_graph_that_nodes_have_left_is_that_of_the_others(nodes, leaving):
    graph, left = grown(nodes), set(nodes)
    for place in leaving:
        node = nodes[place % len(nodes)]
        if node in left:
            left.discard(node)
            graph.remove(node)
        else:
            left.add(node)
            graph.add(node)
        assert graph.edges() == by_definition(left)
    assert list(graph) == sorted(left)


@settings(deadline=None)
@given(st.lists(progressions, min_size=2, max_size=20, unique=True), st.lists(progressions, max_size=8, unique=True))
def test_an_optimized_graph_tests_less_and_keeps_only_dummies_that_hold_two(nodes, later):
    plain, graph = grown(nodes), grown(nodes)
    optimize(graph, Limits())
    assert (graph.tests_per_step() < plain.tests_per_step()) == bool(graph.dummies)
    assert set(graph) - set(graph.dummies) == set(nodes)
    for node in later:
        graph.add(node)
    for node in nodes:
        if node not in later:
            graph.remove(node)
    assert set(graph) - set(graph.dummies) == set(later)
    for dummy in graph.dummies:
        number = graph.add(dummy, dummy=True)
        assert len(graph.children(number)) >= 2 or len(set(graph)) == 1


@settings(deadline=None)
@given(st.lists(progressions, min_size=2, max_size=20, unique=True))
def test_without_limits_nothing_is_left_to_optimize(nodes):
    graph = grown(nodes)
    optimize(graph, Limits())
    assert all(
        options_of(graph.node(number), [graph.node(child) for child in graph.children(number)]) == []
        for number in graph.numbers()
    )


def test_limits_keep_dummies_out():
    """77 hangs on 7. 4 saves 3 * 3/4 - 1 of the 6 tests under the root, 0.208; then 11 2 * 10/11 - 1 of 4, 0.205."""
    slides = [Progression(slide) for slide in (7, 8, 12, 20, 33, 55, 77)]
    dummies = {}
    for name, limits in {
        "none": Limits(),
        "node": Limits(node=0.206),
        "graph": Limits(graph=0.2),
        "dear": Limits(graph=0.2, cost=lambda count: count**2),
        "too much": Limits(node=1.0),
    }.items():
        graph = grown(slides)
        optimize(graph, limits)
        dummies[name] = [dummy.slide for dummy in graph.dummies]
    assert dummies == {"none": [4, 11], "node": [4], "graph": [4, 11], "dear": [4], "too much": []}


def test_where_more_dummies_cost_no_more_several_are_added_at_once():
    graph = grown([Progression(slide) for slide in (7, 8, 12, 20, 33, 55, 77)])
    optimize(graph, Limits(graph=0.3, cost=lambda count: 1.0))
    assert [dummy.slide for dummy in graph.dummies] == [4, 11]
