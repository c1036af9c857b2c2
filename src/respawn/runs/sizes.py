"""Sizes of files, for people."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(num_bytes: int) -> str:
    """A number of bytes short enough to read: 512 B, 37.7 KiB, 1.2 GiB."""
    scaled, unit = float(num_bytes), _UNITS[0]
    for unit in _UNITS:
        if scaled < 1024 or unit == _UNITS[-1]:
            break
        scaled /= 1024
    return f"{num_bytes} B" if unit == "B" else f"{scaled:.1f} {unit}"
