"""Spans of time in words."""


def span(seconds: float) -> str:
    """A span of time as people say it: 12 s, 3 min, 2.5 h, 4 days."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"
