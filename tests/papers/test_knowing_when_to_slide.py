"""The examples of Salehi, Riahi, Michel and Aberer: Knowing When to Slide (2010)."""

from __future__ import annotations

import pytest

from windrow.schedule.graph import SlidingGraph
from windrow.schedule.graph_walk import GraphWalk
from windrow.schedule.optimize_graph import Limits, optimize, options_of
from windrow.schedule.progression import Progression

FIGURE_3 = (2, 4, 8, 24, 15, 12, 5, 22, 3, 11, 9)
STRONG = [(1, 2), (1, 3), (1, 5), (1, 11), (2, 4), (3, 9), (4, 8), (4, 12), (5, 15), (11, 22), (12, 24)]
WEAK = [(2, 22), (3, 12), (3, 15), (8, 24)]
FIGURE_4 = (7, 8, 12, 20)


def graph_of(slides) -> SlidingGraph:
    graph = SlidingGraph()
    for slide in slides:
        graph.add(Progression(slide))
    return graph


def edges(graph: SlidingGraph, strong: bool) -> list[tuple[int, int]]:
    return [(edge.start.slide, edge.end.slide) for edge in graph.edges() if edge.strong is strong]


@pytest.mark.parametrize("slides", [FIGURE_3, sorted(FIGURE_3), sorted(FIGURE_3, reverse=True)])
def test_figure_3_edge_by_edge(slides):
    graph = graph_of(slides)
    assert edges(graph, strong=True) == STRONG
    assert edges(graph, strong=False) == WEAK
    assert graph.node(graph.root).slide == 1


def test_a_weak_edge_becomes_strong_when_the_strong_one_leaves():
    graph = graph_of(FIGURE_3)
    graph.remove(Progression(12))
    assert (8, 24) in edges(graph, strong=True) and (3, 24) in edges(graph, strong=False)
    graph.add(Progression(12))
    assert (edges(graph, strong=True), edges(graph, strong=False)) == (STRONG, WEAK)


def test_slides_that_divide_each_other_need_no_dummy_root():
    graph = graph_of((4, 8, 2))
    assert graph.node(graph.root).slide == 2
    assert edges(graph, strong=True) == [(2, 4), (4, 8)]


def test_the_timer_of_section_vi_c_ticks_with_the_gcd():
    graph = graph_of((20_000_000, 30_000_000))
    assert graph.node(graph.root).slide == 10_000_000


def test_an_odd_count_tests_none_of_what_hangs_on_2():
    schedule = GraphWalk(clock=6)
    schedule.add_many(FIGURE_3)
    schedule.due(7)
    assert (schedule.comparisons, schedule.pushes) == (1 + 4, 1)  # the root, then 2, 3, 5 and 11


def test_the_walk_at_24_goes_down_to_24():
    schedule = GraphWalk(clock=23)
    schedule.add_many(FIGURE_3)
    assert [FIGURE_3[query] for query in schedule.due(24)] == [2, 3, 4, 8, 12, 24]
    assert schedule.comparisons == 1 + 4 + 1 + 1 + 2 + 1  # the root; 2 3 5 11; 4 under 2; 9 under 3; 8 12 under 4; 24
    assert schedule.pushes == 7


def test_figure_4_takes_5_tests_a_tuple_before_and_three_and_three_quarters_after():
    plain, optimized = GraphWalk(), GraphWalk().optimized()
    for schedule in (plain, optimized):
        schedule.add_many(FIGURE_4)
    found = [[(t, q.tolist()) for t, q in schedule.advance(8400)] for schedule in (plain, optimized)]
    assert found[0] == found[1]
    assert plain.comparisons == 5 * 8400
    assert optimized.comparisons == 3.75 * 8400
    assert optimized.graph.dummies == [Progression(4)]
    assert edges(optimized.graph, strong=True) == [(1, 4), (1, 7), (4, 8), (4, 12), (4, 20)]


def test_the_optimization_of_figure_4_by_equations_2_and_3():
    (option,) = options_of(Progression(1), [Progression(slide) for slide in FIGURE_4])
    assert option.saved == (4 - 2.75) / 4  # C_0 = 4 tests of the root's children, C_1 = 2 + 3/4, S_n = 1
    assert option.factor(Limits(cost=lambda dummies: 2 * dummies)) == option.saved / 2


@pytest.mark.parametrize(
    ("limits", "dummies"), [(Limits(node=0.3), 1), (Limits(node=0.32), 0), (Limits(graph=0.32), 0)]
)
def test_both_limits_of_algorithm_3_keep_a_dummy_out_that_saves_too_little(limits, dummies):
    graph = graph_of(FIGURE_4)
    optimize(graph, limits)
    assert len(graph.dummies) == dummies


def test_a_window_added_after_958_tuples_with_slide_10_slides_after_two_more():
    schedule = GraphWalk()
    schedule.add_many(FIGURE_3)
    for count in range(1, 959):
        schedule.due(count)
    schedule.add(100, 10)
    due = [count for count in range(959, 981) if 100 in schedule.due(count)]
    assert due == [960, 970, 980]
