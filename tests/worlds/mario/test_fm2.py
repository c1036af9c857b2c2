import pytest

from respawn.errors import MovieError
from respawn.worlds.mario.fm2 import HARD_RESET, SOFT_RESET, Movie, parse_movie, read_movie

HEADER = "version 3\nemuVersion 22020\npalFlag 0\nfourscore 0\nport0 1\nport1 1\nport2 0\nFDS 0\n"
IDLE = "|0|........|........||\n"


def parse(text: str | bytes) -> Movie:
    return parse_movie(text if isinstance(text, bytes) else text.encode(), "m.fm2")


def sentence(text: str | bytes) -> str:
    with pytest.raises(MovieError) as caught:
        parse(text)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    return str(caught.value)


def test_each_button_has_its_bit():
    lines = "".join(f"|0|{'.' * i}{'RLDUTSBA'[i]}{' ' * (7 - i)}|........||\n" for i in range(8))
    assert list(parse(HEADER + lines).buttons) == [128, 64, 32, 16, 8, 4, 2, 1]
    both = parse(HEADER + "|0|R......A|...x....||\n")
    assert (both.buttons, both.buttons2) == (b"\x81", b"\x10")


def test_header_remarks_and_line_ends():
    text = (
        "\ufeff"
        + HEADER
        + "romFilename\ncomment author Né\nsubtitle 3 hello\n\n|3|........|........||\nsubtitle 9 x\n"
        + IDLE
    )
    movie = parse(text.replace("\n", "\r\n").encode())
    assert movie.commands == bytes([SOFT_RESET | HARD_RESET, 0]) and len(movie) == 2
    assert movie.header["emuVersion"] == "22020" and movie.header["romFilename"] == "" and "comment" not in movie.header
    assert parse(HEADER + IDLE.rstrip("\n")) == parse(HEADER + IDLE)


def test_a_port_with_nothing_in_it_is_empty():
    movie = parse(HEADER.replace("port1 1", "port1 0") + "|0|.......A|||\n|0|.......A|.......A||\n")
    assert (movie.buttons, movie.buttons2) == (b"\x01\x01", b"\x00\x01")


def test_a_length_ends_the_movie():
    assert len(parse(HEADER + "length 2\n" + IDLE * 3 + "what follows is not read")) == 2
    assert "promises 4 frames, it has 3" in sentence(HEADER + "length 4\n" + IDLE * 3)
    assert "expected length to be a number of frames, and 'two' came" in sentence(HEADER + "length two\n" + IDLE)


@pytest.mark.parametrize("flag", ["1", "true"])
def test_binary_movies(flag):
    header = (HEADER + f"binary {flag}\n").encode()
    movie = parse(header + b"|" + bytes([0, 1, 2, 1, 10, 13]))  # 10 and 13 are no line ends here
    assert (movie.commands, movie.buttons, movie.buttons2) == (b"\x00\x01", b"\x01\x0a", b"\x02\x0d")
    one = parse(header.replace(b"port0 1", b"port0 0") + b"|\x00\x07\x00\x09")
    assert (one.buttons, one.buttons2) == (b"\x00\x00", b"\x07\x09")
    assert len(parse(header + b"length 1\n|" + bytes(7))) == 1
    assert "expected 3 bytes a frame, and 1 are left" in sentence(header + b"|" + bytes(4))
    assert "m.fm2 frame 1: expected commands from 0 to 3 (1 reset, 2 power), and 4 came" in sentence(
        header + b"|" + bytes([0, 0, 0, 4, 0, 0])
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("|0|RLDU|........||", "expected the 8 buttons RLDUTSBA for port0, and 'RLDU' came"),
        ("|0|........||........|", "expected nothing for port2, and '........' came"),
        ("|0|........|.........||", "for port1, and '.........' came"),
        ("|0||........||", "for port0, and '' came"),
        ("|0|........|........|", "expected |commands|port0|port1|port2|, and '|0|........|........|' came"),
        ("|0|........|........||x", "expected |commands|port0|port1|port2|"),
        ("|x|........|........||", "expected commands from 0 to 3 (1 reset, 2 power), and 'x' came"),
        ("|-1|........|........||", "and '-1' came"),
        ("|4|........|........||", "and '4' came"),
        ("||........|........||", "and '' came"),
        ("hello", "expected |commands|port0|port1|port2|, and 'hello' came"),
        ("\0\1\2" * 99, "\\x00..."),
    ],
)
def test_bad_lines_are_named(line, words):
    said = sentence(HEADER + IDLE + line + "\n" + IDLE)
    assert said.startswith("m.fm2 line 10: ") and words in said and len(said) < 300


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no header came"),
        ("\n\n", "no header came"),
        (IDLE, "no header came"),
        (HEADER, "m.fm2 has no input lines"),
        (HEADER + "length 7\n", "m.fm2 has no input lines"),
        (
            "version 2\n" + IDLE,
            "m.fm2 does not look like an FCEUX movie: expected 'version 3' in its first line, and 'version 2' came",
        ),
        (
            "FCM\x1a\2\0\0",
            "does not look like an FCEUX movie: expected 'version 3' in its first line; name a .fm2 file",
        ),
        ("emuVersion 1\nversion 3\n", "expected 'version 3'"),
        ("version 3\n<html>\n", "m.fm2 line 2: expected 'key value' or an input line, and '<html>' came"),
        (HEADER + "savestate base64:AAAA\n" + IDLE, "begins from a saved state"),
        (HEADER.replace("palFlag 0", "palFlag 1") + IDLE, "was recorded on a PAL console, and this one is NTSC"),
        (HEADER.replace("palFlag 0", "palFlag maybe") + IDLE, "expected palFlag to be 0 or 1, and 'maybe' came"),
        (HEADER.replace("FDS 0", "FDS 1") + IDLE, "Famicom Disk System"),
        (HEADER.replace("fourscore 0", "fourscore 1") + IDLE, "uses four controllers"),
        (
            HEADER.replace("port1 1", "port1 2") + IDLE,
            "expected port1 to be 0 or 1 (0 is nothing, 1 a gamepad), and '2'",
        ),
        (HEADER.replace("port2 0", "port2 1") + IDLE, "expected port2 to be 0 "),
    ],
)
def test_movies_that_cannot_be_played(text, words):
    assert words in sentence(text)


def test_files_that_cannot_be_read(tmp_path):
    huge = tmp_path / "huge.fm2"
    with huge.open("wb") as file:
        file.truncate((64 << 20) + 1)
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "no.fm2", "is not there"),
        (huge, "more than 67,108,864"),
    ):
        with pytest.raises(MovieError, match=words):
            read_movie(path)


def test_what_is_wrong_is_said_with_the_path_that_was_given(tmp_path):
    path = tmp_path / "bad.fm2"
    path.write_text(HEADER + "|0|oops|||\n")
    with pytest.raises(MovieError, match=f"^{path} line "):
        read_movie(path)
