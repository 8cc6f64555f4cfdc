"""Wrong command lines, profiles and results of DiskSpd: one sentence with the place, whatever is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.diskspd import translate, translate_command
from plimsoll.formats.diskspd.results import read_results

FOLDER = Path(__file__).parent / "diskspd"


def include(name: str) -> str:
    path = FOLDER / name
    if "\x00" in name or not path.is_file():
        raise FileNotFoundError(2, "No such file or directory")
    return path.read_text(encoding="utf-8")


COMMANDS = [
    ("", "there is no target"),
    ("diskspd", "there is no target"),
    ("-d10", "there is no target; write a file or a disk after the flags"),
    ("-b io.dat", "word 1: -b: the value is missing; write it in the same word, for example -b64K"),
    ("-b 4K io.dat", "word 1: -b: the value is missing"),
    ("-b4X io.dat", "word 1: -b: '4X' is not a size"),
    ("-b0 io.dat", "word 1: -b: 0 bytes is out of range; write 1 to 1073741824"),
    ("-b2G io.dat", "word 1: -b: 2147483648 bytes is out of range"),
    ("-b4K -b8K io.dat", "word 2: -b stands a second time, first as word 1"),
    ("-o io.dat", "word 1: -o: the value is missing"),
    ("-oten io.dat", "word 1: -o: 'ten' is out of range or no whole number; write 1 to 65536"),
    ("-o0 io.dat", "word 1: -o: '0' is out of range"),
    ("-t5000 io.dat", "word 1: -t: '5000' is out of range or no whole number; write 1 to 4096"),
    ("-d0 io.dat", "word 1: -d: '0' is out of range"),
    ("-d1.5 io.dat", "word 1: -d: '1.5' is out of range or no whole number"),
    ("-w101 io.dat", "word 1: -w: '101' is out of range or no whole number; write 0 to 100"),
    ("-rs101 io.dat", "word 1: -rs: '101' is out of range"),
    ("-Sx io.dat", "word 1: -S: 'x' is no way of caching; write one or more of b, h, m, r, u and w"),
    ("-Sbu io.dat", "word 1: -S: 'b' and 'u' contradict each other"),
    ("-Sb -Su io.dat", "word 2: -S: 'b' and 'u' contradict each other"),
    ("-Smh io.dat", "word 1: -S: 'm' and 'h' contradict each other"),
    ("-h -Su io.dat", "word 2: both say how to cache"),
    ("-k io.dat", "word 1: '-k' is not a flag of DiskSpd; there are -a, -b"),
    ("-L5 io.dat", "word 1: -L: '5' stands behind it, and it takes no value"),
    ("io.dat -b4K", "word 2: '-b4K' stands behind a target; write flags before the targets"),
    ("a a", "word 2: 'a' is named twice"),
    ("-t2 -F2 a", "word 2: -t counts threads per target and -F all of them"),
    ("-o2 -O2 -F2 a", "word 2: -o counts requests per target"),
    ("-O2 a", "word 1: -O divides requests among the targets of a thread of -F"),
    ("-i5 a", "word 1: -i says how long a burst is"),
    ("-j5 a", "word 1: -j says how long the pause is"),
    ("-Nv a", "word 1: -N flushes mapped memory; write -Sm too"),
    ("-Sm -Nx a", "word 2: -N: 'x' is no way of flushing"),
    ("-s -r a", "word 2: requests are random or sequential"),
    ("-s -si a", "word 2: both say how sequential requests follow each other"),
    ("-r -rdpct a", "word 2: -rdpct: '' is not a share of requests"),
    ("-r -rdpct90 a", "word 2: -rdpct: '90' is not a share of requests and one of the target"),
    ("-r -rdpct90/10:20/90 a", "word 2: -rdpct: the requests sum to 110 percent"),
    ("-r -rdpct90/60:10/60 a", "word 2: -rdpct: the ranges sum to 120 percent of the target"),
    ("-r -rdpct90/100 a", "word 2: -rdpct: 10 percent of the requests have nowhere to go"),
    ("-r -rdpct90/0 a", "word 2: -rdpct: '0' is out of range"),
    ("-r -rdabs90/1X a", "word 2: -rdabs: '1X' is not a size"),
    ("-r -rdabs90/0 a", "word 2: -rdabs: a range has no length"),
    ("-r -rdpct90/10 -rdabs90/1G a", "word 3: both say where requests go"),
    ("-rdpct90/10 a", "word 1: -rdpct divides random requests, and these are sequential"),
    ("-g5j a", "word 1: -g: '5j' is out of range or no whole number"),
    ("-B:5 a", "word 1: -B: '' is not a size"),
    ("-B5:0 a", "word 1: -B: the size is 0"),
    ("-f0 a", "word 1: -f: the size is 0"),
    ("-c1K a", "word 1: -c: 1024 bytes is out of range; write 4096 to"),
    ("-c9999999T a", "word 1: -c: '9999999T' is more than 1 PiB"),
    ("-Z5M, a", "word 1: -Z: there is no file after the comma"),
    ("-Rjson a", "word 1: -R: 'json' is no form of results"),
    ("-ax a", "word 1: -a: 'x' is no list of CPUs"),
    ("-yqNAME a", "word 1: -y: 'qNAME' names no event"),
    ("-X", "word 1: -X names no file"),
    ("-Xmissing.xml a", "missing.xml cannot be read (No such file or directory)"),
    ("-Xmixed.xml -b4K a b", "word 2: -b cannot stand beside -X; write it into the profile"),
    ("-Xmixed.xml a", "the profile asks for target *2, and 1 stand behind -X"),
    ("-Xsimple.xml a", "the profile has no place *1 for target 'a'"),
]


@pytest.mark.parametrize(("typed", "said"), COMMANDS, ids=[typed[:40] or "nothing" for typed, _ in COMMANDS])
def test_a_wrong_command_line_names_the_word(typed: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        translate_command(typed.split(), "command line", include)
    message = str(caught.value)
    assert message.startswith(f"command line: {said}") and message.endswith(".") and "\n" not in message


def profile(inside: str, target: str = "<Path>a</Path>") -> str:
    return f"<Profile><TimeSpans><TimeSpan>\n{inside}\n<Targets><Target>\n{target}\n</Target></Targets>\n</TimeSpan></TimeSpans></Profile>"


PROFILES = [
    ("<Profile>", "p.xml:1: not well-formed XML (no element found)"),
    ("<Profile>\n<TimeSpans>\n</Profile>", "p.xml:3: not well-formed XML (mismatched tag)"),
    ("<!-- only -->", "p.xml:1: not well-formed XML (no element found)"),
    ("<Job/>", "p.xml:1: the document is a <Job>; write a <Profile>"),
    ("<Profile/>", "p.xml:1: there are no <TimeSpans>"),
    ("<Profile>\n<TimeSpans/></Profile>", "p.xml:2: there is no <TimeSpan> in it"),
    ("<Profile><TimeSpans>\n<Span/></TimeSpans></Profile>", "p.xml:2: <Span> stands where only <TimeSpan> can"),
    ("<Profile><TimeSpans>\n<TimeSpan/></TimeSpans></Profile>", "p.xml:2: the time span has no <Target>"),
    ("<Profile><Speed>1</Speed></Profile>", "p.xml:1: <Speed> is not known in <Profile>; there are Progress"),
    (profile("<Durations>5</Durations>"), "p.xml:2: <Durations> is not known in <TimeSpan>; did you mean <Duration>?"),
    (profile("<Duration>5</Duration>\n<Duration>6</Duration>"), "p.xml:3: <Duration> stands a second time in <TimeSpan>"),
    (profile("<Duration>ten</Duration>"), "p.xml:2: <Duration>: 'ten' is out of range or no whole number"),
    (profile("<Duration/>"), "p.xml:2: <Duration>: '' is out of range or no whole number"),
    (profile("<MeasureLatency>yes</MeasureLatency>"), "p.xml:2: <MeasureLatency>: 'yes' is neither; write true or false"),
    (profile("", "<BlockSize>4096</BlockSize>"), "p.xml:3: the target has no <Path>"),
    (profile("", "<Path></Path>"), "p.xml:3: the target has no <Path>"),
    (profile("", "<Path>a</Path><BlockSize>64K</BlockSize>"), "p.xml:4: <BlockSize>: '64K' is out of range or no whole number"),
    (profile("", "<Path>a</Path><WriteRatio>200</WriteRatio>"), "p.xml:4: <WriteRatio>: '200' is out of range"),
    (profile("", '<Path>a</Path><Throughput unit="MBPS">5</Throughput>'), "p.xml:4: <Throughput>: unit 'MBPS' is not known"),
    (profile("", "<Path>a</Path><WriteBufferContent/>"), "p.xml:4: <WriteBufferContent>: there is no known <Pattern> in it"),
    (profile("", "<Path>a</Path><Distribution/>"), "p.xml:4: <Distribution>: write either <Percent> or <Absolute>"),
    (profile("", "<Path>a</Path><Distribution><Percent/></Distribution>"), "p.xml:4: <Distribution>: it has no range"),
    (
        profile("", "<Path>a</Path><Distribution><Percent><Range>10</Range></Percent></Distribution>"),
        'p.xml:4: <Distribution>: write <Range IO="90">10</Range>',
    ),
    (
        profile("", '<Path>a</Path><Distribution><Percent><Range IO="90">100</Range></Percent></Distribution>'),
        "p.xml:4: <Distribution>: 10 percent of the requests have nowhere to go",
    ),
    ('<!DOCTYPE Profile [<!ENTITY a "aaaa">]>\n<Profile/>', "p.xml:1: a document type declaration (<!DOCTYPE) is refused"),
    ('<?xml version="1.0"?>\n<!DOCTYPE Profile SYSTEM "file:///etc/passwd">\n<Profile/>', "p.xml:2: a document type declaration"),
    ("<Profile>&amplifier;</Profile>", "p.xml:1: not well-formed XML (undefined entity)"),
    ("<a>" * 60, "p.xml:1: there are more than 40 levels"),
]


@pytest.mark.parametrize(("text", "said"), PROFILES, ids=[said[:50] for _, said in PROFILES])
def test_a_wrong_profile_names_the_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        translate(text, "p.xml", include, {})
    message = str(caught.value)
    assert message.startswith(said) and message.endswith((".", "?")) and "\n" not in message


RESULTS = [
    ("<Profile/>", "r.xml:1: the document is a <Profile>, not the <Results>"),
    ("<Results/>", "r.xml:1: there is no <TimeSpan> with results"),
    ("<Results>\n<TimeSpan/></Results>", "r.xml:2: <TimeSpan> has no <TestTimeSeconds>"),
    ("<Results><TimeSpan>\n<TestTimeSeconds>x</TestTimeSeconds></TimeSpan></Results>", "r.xml:2: <TestTimeSeconds> is 'x'"),
    ("<Results><TimeSpan><TestTimeSeconds>0</TestTimeSeconds></TimeSpan></Results>", "r.xml:1: the test lasted no time"),
    (
        "<Results><TimeSpan><TestTimeSeconds>1</TestTimeSeconds><Thread>\n<Target/></Thread></TimeSpan></Results>",
        "r.xml:2: <Target> has no <ReadCount>",
    ),
]


@pytest.mark.parametrize(("text", "said"), RESULTS, ids=[said[:50] for _, said in RESULTS])
def test_a_wrong_result_names_the_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_results(text, "r.xml")
    assert str(caught.value).startswith(said) and str(caught.value).endswith(".")


def test_a_file_of_command_lines_names_line_and_word() -> None:
    with pytest.raises(InputError, match=r"^night\.diskspd:2: word 3: -o: 'x' is out of range"):
        translate("# night\ndiskspd -b4K -ox a\n", "night.diskspd", include, {})
    with pytest.raises(InputError, match=r"^night\.diskspd:1: a quotation mark is not closed"):
        translate('diskspd "a b\n', "night.diskspd", include, {})
    with pytest.raises(InputError, match=r"^night\.diskspd: there is no command line"):
        translate("# night\n", "night.diskspd", include, {})
