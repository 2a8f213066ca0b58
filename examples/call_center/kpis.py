"""The 144 KPIs of the call center, one query each: three aggregates of six fields by eight keys.

python examples/call_center/kpis.py
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

KEYS = ("instance", "serviceId", "agentId", "mediaId", "interactionLegId", "agentSite", "callSite", "direction")
FIELDS = ("alertingTime", "busyTime", "wrapUpTime", "waitTime", "helpTime", "availableTime")
FUNCTIONS = ("SUM", "COUNT", "AVG")
WINDOW = "[RANGE 24 HOURS SLIDE 10 SECONDS]"


class Kpi(NamedTuple):
    """A name, and the query that answers it over the stream `calls`."""

    name: str
    text: str


def kpi_queries(window: str = WINDOW) -> list[Kpi]:
    """All KPIs as queries of their own.

    >>> kpis = kpi_queries()
    >>> len(kpis), kpis[0].name
    (144, 'sum_alertingTime_by_instance')
    >>> print(kpis[0].text)
    SELECT instance, SUM(alertingTime) AS sum_alertingTime
    FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
    GROUP BY instance
    """
    return [_kpi(key, field, function, window) for key, field, function in product(KEYS, FIELDS, FUNCTIONS)]


def _kpi(key: str, field: str, function: str, window: str) -> Kpi:
    answer = f"{function.lower()}_{field}"
    text = f"SELECT {key}, {function}({field}) AS {answer}\nFROM calls {window}\nGROUP BY {key}"
    return Kpi(f"{answer}_by_{key}", text)


if __name__ == "__main__":
    for kpi in kpi_queries():
        print(f"-- {kpi.name}\n{kpi.text};\n")
