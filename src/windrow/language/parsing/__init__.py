"""From tokens to statements, one layer of the grammar a file; each class adds its layer to the one before.

TokenParser < ExpressionParser < DurationParser < WindowParser < QueryParser < TypeParser < StatementParser
"""
