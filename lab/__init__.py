"""What papers compare with, and no query can ask for: kept beside the package, and tested with it.

tuple_driven  Slides by the times of events alone
"""
