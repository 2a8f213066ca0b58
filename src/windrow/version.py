"""The version of Windrow, for rooms that may not load all of it."""

VERSION = "0.1.0"
