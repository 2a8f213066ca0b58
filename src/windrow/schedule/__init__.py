"""Who slides now.

A schedule is given queries, each with a slide, and says which of them are due at each instant. `schedule_for` picks the
fastest for a set of slides.
"""

from windrow.schedule.choose import schedule_for
from windrow.schedule.schedule import Due, Schedule

__all__ = ["Due", "Schedule", "schedule_for"]
