"""WINDOW and OFFSET begin a clause in their place and are names everywhere else; SESSION(...) is a call."""

from __future__ import annotations

from sqlglot import Token, TokenType

_KINDS = (["TUMBLING"], ["HOPPING"], ["SESSION"])
"""`WINDOW TUMBLING (SIZE 1 MINUTE)`, as ksqlDB has it."""

_LENGTHS = (TokenType.NUMBER, TokenType.STRING, TokenType.INTERVAL, TokenType.DASH)


def name_clause_words(tokens: list[Token]) -> list[Token]:
    """Make a plain name of each WINDOW or OFFSET that begins no clause, and of SESSION where a bracket follows.

    >>> from windrow.language.tokenize import statement_tokens
    >>> tokens = name_clause_words(statement_tokens("SELECT window FROM s GROUP BY window WINDOW 1 MINUTE")[0][0])
    >>> [token.token_type.name for token in tokens if token.text.lower() == "window"]
    ['VAR', 'VAR', 'WINDOW']
    """
    return [_renamed(token) if _is_name(tokens, index) else token for index, token in enumerate(tokens)]


def _is_name(tokens: list[Token], index: int) -> bool:
    behind = [token.token_type for token in tokens[index + 1 : index + 4]]
    if tokens[index].token_type == TokenType.SESSION:
        return behind[:1] == [TokenType.L_PAREN]
    if tokens[index].token_type not in (TokenType.WINDOW, TokenType.OFFSET):
        return False
    if [token.text.upper() for token in tokens[index + 1 : index + 2]] in _KINDS and behind[1:2] == [TokenType.L_PAREN]:
        return False
    operand = behind[:1] == [TokenType.DASH] and _follows_operand(tokens, index)
    clause = bool(behind) and behind[0] in _LENGTHS and not operand
    return not clause and behind[1:] != [TokenType.ALIAS, TokenType.L_PAREN]


def _follows_operand(tokens: list[Token], index: int) -> bool:
    """Whether `window - 1` is meant: a sign behind WINDOW is one only where an operand may stand."""
    before = tokens[index - 1].token_type if index else TokenType.SELECT
    return before in (
        TokenType.SELECT,
        TokenType.COMMA,
        TokenType.WHERE,
        TokenType.L_PAREN,
        TokenType.AND,
        TokenType.OR,
    )


def _renamed(token: Token) -> Token:
    return Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
