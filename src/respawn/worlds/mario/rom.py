"""Find, compose and verify a ROM. None is shipped: it is the user's own, or read from a package that carries it."""

import contextlib
import hashlib
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal, TypeAlias

from respawn.errors import RomError
from respawn.worlds.mario.files import read_whole, user_cache_folder, user_config_folder

Region: TypeAlias = Literal["ntsc", "pal"]
Title: TypeAlias = Literal["ntsc", "pal", "other"]

ROM_VARIABLE = "RESPAWN_ROM"
PACKAGE = "gym-super-mario-bros"
PACKAGE_VERSION = "7.4.0"
PACKAGE_FOLDER = "gym_super_mario_bros/_roms"

FILE_SHA256: Mapping[Region, str] = {
    "ntsc": "f61548fdf1670cffefcc4f0b7bdcdd9eaba0c226e3b74f8666071496988248de",
    "pal": "ec299b990e8bfee8ba46e3f61d63b2e1ae5b8a2e431de84e2e4bbd692dc53586",
}
"""What a composed file must have."""

CONTENT_SHA256: Mapping[Region, str] = {
    "ntsc": "fcb6a0ef3a20c19b356005fbb21dc8009563b1cb5a9aaebc8e9386b4a8c5912e",
    "pal": "6b3189414053f975bcac33eb51a1e9991e0d06f42abead7919969417cc26e2ad",
}
"""What a user's file must have behind its header: the header's unused bytes differ from dump to dump."""

PAL_NOTE = (
    "the PAL program runs on a console that keeps NTSC's time, 60 frames a second instead of 50: the game goes a fifth "
    "faster than on a PAL console"
)

_MOST_BYTES = 1 << 20
_MOST_CONFIG_BYTES = 1 << 16
_HEADER_BYTES, _TRAINER_BYTES, _PRG_UNIT, _CHR_UNIT = 16, 512, 16_384, 8_192


@dataclass(frozen=True)
class Rom:
    """A ROM, whole and verified to be what `title` says."""

    data: bytes = field(repr=False)
    """the iNES file"""
    sha256: str
    """of `data`"""
    origin: str
    """where it came from, for people"""
    title: Title
    """the NTSC or the PAL program of Super Mario Bros., or neither"""

    @property
    def is_mario(self) -> bool:
        """Whether the game is Super Mario Bros."""
        return self.title != "other"


def find_rom(path: Path | None = None, region: Region = "ntsc", expect: Title | None = None) -> Rom:
    """The first ROM of: `path`, the RESPAWN_ROM variable, the user's config, the cache, the installed package.

    Args:
      path: A file that is taken whatever game it holds.
      region: Which program to compose where no file is named.
      expect: What the ROM must be; None: any game will do.
    """
    rom = _named_rom(path) or _cached_rom(region) or _packaged_rom(region)
    if rom is None:
        raise RomError(
            f"no ROM of Super Mario Bros. was found; name yours with --rom PATH, by {ROM_VARIABLE} or as 'rom' in "
            f"{config_file()}, or install a package that carries one: {_install()}"
        )
    if expect is not None and rom.title != expect:
        wanted = f" with SHA-256 {FILE_SHA256[expect]}" if expect != "other" else ""
        raise RomError(
            f"the ROM must be {_described(expect)}{wanted}, but {rom.origin}, "
            f"with SHA-256 {rom.sha256}, is {_described(rom.title)}; name another file with --rom"
        )
    return rom


def config_file() -> Path:
    """Where the user says what is the same for every run on this machine."""
    return user_config_folder() / "config.toml"


def cache_folder() -> Path:
    """Where composed ROMs are kept."""
    return user_cache_folder() / "roms"


def read_rom(path: Path, origin: str | None = None) -> Rom:
    """The ROM in a file of the user's; `origin` is what to call it."""
    data = read_whole(path, _MOST_BYTES, "the ROM", RomError)
    content = hashlib.sha256(_content(data, path)).hexdigest()
    titles: dict[str, Title] = {sha256: region for region, sha256 in CONTENT_SHA256.items()}
    return Rom(data, hashlib.sha256(data).hexdigest(), origin or str(path), titles.get(content, "other"))


def _named_rom(path: Path | None) -> Rom | None:
    if path is not None:
        return read_rom(_without_tilde(path))
    named = os.environ.get(ROM_VARIABLE)
    found, source = (_without_tilde(named), ROM_VARIABLE) if named else (_configured_path(), str(config_file()))
    if found is None:
        return None
    try:
        return read_rom(found, origin=f"{found} (from {source})")
    except RomError as error:
        raise RomError(f"the ROM named by {source} cannot be used: {error}") from None


def _configured_path() -> Path | None:
    file = config_file()
    if not file.exists():
        return None
    try:
        text = read_whole(file, _MOST_CONFIG_BYTES, "the config", RomError).decode("utf-8")
        named = tomllib.loads(text).get("rom")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RomError(f"the config {file} is no TOML ({error}); mend it, or remove it") from None
    if named is None:
        return None
    if not isinstance(named, str) or not named:
        raise RomError(f"'rom' in {file} should be the path of a ROM in quotes, and is {named!r}; mend it")
    return file.parent / _without_tilde(named)


def _content(data: bytes, path: Path) -> bytes:
    """Program and tiles; raises RomError if the file is no iNES file or ends before they do."""
    if data[:4] != b"NES\x1a":
        raise RomError(f"{path} does not begin as an iNES file does (NES and byte 1A); name a .nes file")
    if len(data) < _HEADER_BYTES:
        raise RomError(f"{path} ends inside its header, after {len(data)} of {_HEADER_BYTES} bytes; get a whole copy")
    begin = _HEADER_BYTES + (_TRAINER_BYTES if data[6] & 4 else 0)
    end = begin + data[4] * _PRG_UNIT + data[5] * _CHR_UNIT
    if data[4] == 0:
        raise RomError(f"{path} says in its header that it has no program; get a whole copy")
    if len(data) < end:
        raise RomError(f"{path} is cut off: its header promises {end:,} bytes, it has {len(data):,}; get a whole copy")
    return data[begin:end]


def _cached_rom(region: Region) -> Rom | None:
    """What was composed before, if nothing has changed it since."""
    file = _cached_file(region)
    try:
        data = read_whole(file, _MOST_BYTES, "the ROM", RomError)
    except RomError:
        return None
    sha256 = hashlib.sha256(data).hexdigest()
    return Rom(data, sha256, str(file), region) if sha256 == FILE_SHA256[region] else None


def _packaged_rom(region: Region) -> Rom | None:
    """Composed from the files of the installed package; its code is never imported."""
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    folder = Path(str(package.locate_file(PACKAGE_FOLDER)))
    try:
        data = _compose(folder, region)
    except RomError as error:
        raise RomError(f"{error}, or install {PACKAGE} anew: {_install('--force-reinstall')}") from None
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != FILE_SHA256[region]:
        raise RomError(
            f"the {region} ROM composed from {PACKAGE} {package.version} should have SHA-256 {FILE_SHA256[region]}, "
            f"and has {sha256}; install it anew: {_install('--force-reinstall')}"
        )
    _keep(_cached_file(region), data)
    return Rom(data, sha256, f"{PACKAGE} {package.version}", region)


def _compose(folder: Path, region: Region) -> bytes:
    """The file called plain is the PAL program; the NTSC one lies under the tiles of another."""
    plain = read_whole(folder / "super-mario-bros.nes", _MOST_BYTES, f"the file of {PACKAGE}", RomError)
    if region == "pal":
        return plain
    program = read_whole(folder / "super-mario-bros-rectangle.nes", _MOST_BYTES, f"the file of {PACKAGE}", RomError)
    tiles_begin = _HEADER_BYTES + 2 * _PRG_UNIT
    return program[:tiles_begin] + plain[tiles_begin:]


def _keep(file: Path, data: bytes) -> None:
    """Write aside and rename, so that nobody reads half of it; a cache that cannot be written is no mishap."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as target:
                target.write(data)
            Path(aside).replace(file)
        except OSError:
            Path(aside).unlink(missing_ok=True)


def _cached_file(region: Region) -> Path:
    return cache_folder() / f"super-mario-bros-{region}.nes"


def _without_tilde(path: Path | str) -> Path:
    return Path(os.path.expanduser(path))


def _install(option: str = "") -> str:
    return " ".join(["pip install --no-deps", *([option] if option else []), f"{PACKAGE}=={PACKAGE_VERSION}"])


def _described(title: Title) -> str:
    if title == "other":
        return "neither of the two known programs of Super Mario Bros. (NTSC and PAL)"
    return f"the {title.upper()} Super Mario Bros."
