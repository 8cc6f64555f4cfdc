"""An address of a database is read into engine, directory and URL; what is nearly one is answered with what was meant."""

from __future__ import annotations

import pytest

from plimsoll.apps.databases.address import Address, is_address, parse
from plimsoll.errors import InputError
from plimsoll.experiments.named_target import named_target


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("duckdb:/mnt/array/dss", Address("duckdb:/mnt/array/dss", "duckdb", "/mnt/array/dss")),
        ("duckdb:./a b", Address("duckdb:./a b", "duckdb", "./a b")),
        ("sqlite:orders", Address("sqlite:orders", "sqlite", "orders")),
        ("postgresql:new:/mnt/array/pg", Address("postgresql:new:/mnt/array/pg", "postgresql", "/mnt/array/pg")),
        ("postgresql://user@host/db", Address("postgresql://user@host/db", "postgresql", None, "postgresql://user@host/db")),
        ("postgres://user@host/db", Address("postgres://user@host/db", "postgresql", None, "postgresql://user@host/db")),
        (
            "postgresql://h1:5432,h2:5433/db",
            Address("postgresql://h1:5432,h2:5433/db", "postgresql", None, "postgresql://h1:5432,h2:5433/db"),
        ),
        ("postgresql://[::1]:5432/db", Address("postgresql://[::1]:5432/db", "postgresql", None, "postgresql://[::1]:5432/db")),
        (
            "postgresql:///db?host=/run/postgresql",
            Address("postgresql:///db?host=/run/postgresql", "postgresql", None, "postgresql:///db?host=/run/postgresql"),
        ),
        ("spark:local", Address("spark:local", "spark", "./plimsoll-scratch.spark", "local[*]")),
        ("spark:local[2]?data=/mnt/a", Address("spark:local[2]?data=/mnt/a", "spark", "/mnt/a", "local[2]")),
        ("spark://m:7077?data=/mnt/a", Address("spark://m:7077?data=/mnt/a", "spark", "/mnt/a", "spark://m:7077")),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert parse(text) == address
    assert is_address(text)


def test_what_plimsoll_makes_is_private_and_a_server_of_the_users_is_not() -> None:
    private = {
        text: parse(text).is_private
        for text in ("duckdb:a", "sqlite:a", "postgresql:new:a", "postgresql://h/d", "spark:local", "spark://m:1?data=a")
    }
    assert private == {
        "duckdb:a": True,
        "sqlite:a": True,
        "postgresql:new:a": True,
        "postgresql://h/d": False,
        "spark:local": True,
        "spark://m:1?data=a": False,
    }


def test_a_password_is_in_no_field_and_is_given_to_who_connects() -> None:
    address = parse("postgres://me:canary-7b1f@h/d")
    assert "canary-7b1f" not in repr(address) + str(address)
    assert address.secrets == {"password": "canary-7b1f"}
    assert parse("postgresql:new:/mnt/a").secrets == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("duckb:/mnt/a", "there is no engine 'duckb'; did you mean 'duckdb:/mnt/a'?"),
        ("DuckDB", "names no database engine; write duckdb:DIR"),
        ("sqlite3:/mnt/a", "did you mean 'sqlite:/mnt/a'?"),
        ("postgres:new:/mnt/a", "did you mean 'postgresql:new:/mnt/a'?"),
        ("pg:/mnt/a", "did you mean 'postgresql:new:/mnt/a'?"),
        ("jdbc:postgresql://h/d", "did you mean 'postgresql://h/d'?"),
        (
            "postgresql:/mnt/a",
            "write 'postgresql:new:/mnt/a' for a server that Plimsoll makes there, or 'postgresql://mnt/a' for a server of yours.",
        ),
        ("postgresql:nwe:/mnt/a", "did you mean 'postgresql:new:/mnt/a'?"),
        ("postgresql:", "write postgresql:new:DIR or postgresql://USER@HOST/DB."),
        ("postgresql:new:", "name the directory, for example postgresql:new:/mnt/array/db."),
        ("postgresql:new", "name the directory, for example postgresql:new:/mnt/array/db."),
        ("postgresql://h:54x2/d", "port '54x2' is no number from 1 to 65535."),
        ("postgresql://h:70000/d", "port '70000' is no number from 1 to 65535."),
        ("postgresql://::1/d", "'::1' is no host; write HOST, HOST:PORT or [ADDRESS]:PORT."),
        ("postgresql://h/d/e", "'d/e' is no name of a database"),
        ("postgresql://h/d?sslmode", "'sslmode' after '?' has no value"),
        ("duckdb:", "name the directory, for example duckdb:/mnt/array/db."),
        ("duckdb:~/a", "write duckdb:$HOME/a."),
        ("duckdb:///mnt/a", "duckdb has no server and so no URL; write 'duckdb:/mnt/a'."),
        ("/mnt/array/dss", "names no database engine; did you mean 'duckdb:/mnt/array/dss'?"),
        ("mysql://h/d", "there is no engine 'mysql' for this load; write duckdb:DIR"),
        ("spark://master", "'//master' is no Spark master"),
        ("spark://m:7077", "name the directory that every worker sees, spark://m:7077?data=DIR."),
        ("spark://m:7077?dat=/a", "'dat' after '?' is not known; write data=DIR."),
        ("null:", "there is no engine 'null' for this load"),
    ],
)
def test_what_is_nearly_an_address_is_answered_with_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(InputError) as problem:
        parse(text)
    assert said in str(problem.value)
    assert str(problem.value).startswith(f"target '{text}': ")


def test_an_engine_of_another_load_is_refused_with_the_engines_of_this_one() -> None:
    with pytest.raises(
        InputError, match=r"target 'spark:local': spark is no engine for this load; write postgresql:new:DIR, .* or sqlite:DIR\.$"
    ):
        parse("spark:local", ["postgresql", "sqlite"])
    with pytest.raises(InputError, match=r"did you mean 'sqlite:/mnt/a'\?"):
        parse("sqlit:/mnt/a", ["sqlite"])


@pytest.mark.parametrize(
    "text", ["postgresql:new:/mnt/a", "postgresql://u@h/d?sslmode=require", "spark://m:7077?data=/a", "duckdb:/mnt/a=b"]
)
def test_a_side_can_be_named_before_an_address(text: str) -> None:
    assert named_target(f"fast={text}") == named_target(f"fast={text}").__class__("fast", text)
    assert named_target(text).name == ""
