# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The cache of compiled code: what it keeps, and what it survives."""

import logging
import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavetile.cache import Cache, default_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "wavetile"]


class TestFolder:
    def test_variable_comes_first(self) -> None:
        environment = {"WAVETILE_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}
        assert default_folder(environment) == Path("/a")

    @pytest.mark.parametrize("value", ["", "off"])
    def test_variable_switches_off(self, value: str) -> None:
        assert default_folder({"WAVETILE_CACHE": value, "HOME": "/c"}) is None

    def test_follows_the_xdg_specification(self) -> None:
        assert default_folder({"XDG_CACHE_HOME": "/b", "HOME": "/c"}) == Path("/b/wavetile")
        assert default_folder({"XDG_CACHE_HOME": "b", "HOME": "/c"}) == Path("/c/.cache/wavetile")
        assert default_folder({"HOME": "/c"}) == Path("/c/.cache/wavetile")
        assert default_folder({}) is None


class TestEntries:
    def test_outlive_the_object(self, folder: Path) -> None:
        first = Cache(folder)
        first.put("code", b"key", b"value")
        first.close()
        second = Cache(folder)
        assert second.get("code", b"key") == b"value"
        assert second.get("tuning", b"key") is None
        assert second.get("code", b"kez") is None

    def test_last_value_stays(self, folder: Path) -> None:
        cache = Cache(folder)
        cache.put("code", b"key", b"one")
        cache.put("code", b"key", b"two")
        assert cache.get("code", b"key") == b"two"

    def test_clear(self, folder: Path) -> None:
        cache = Cache(folder)
        cache.put("code", b"key", b"value")
        cache.clear()
        assert cache.get("code", b"key") is None

    def test_works_after_close(self, folder: Path) -> None:
        cache = Cache(folder)
        cache.put("code", b"key", b"value")
        cache.close()
        assert cache.get("code", b"key") == b"value"

    @given(entries=st.dictionaries(st.binary(max_size=300), st.binary(max_size=300), max_size=8))
    def test_any_bytes(
        self, entries: dict[bytes, bytes], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        cache = Cache(tmp_path_factory.mktemp("any"))
        for key, value in entries.items():
            cache.put("code", key, value)
        assert {key: cache.get("code", key) for key in entries} == entries
        cache.close()

    def test_creates_nothing_before_the_first_use(self, folder: Path) -> None:
        Cache(folder)
        assert not folder.exists()

    def test_without_a_folder_holds_nothing(self, caplog: pytest.LogCaptureFixture) -> None:
        cache = Cache(None)
        cache.put("code", b"key", b"value")
        assert cache.get("code", b"key") is None
        assert warnings_in(caplog) == []


class TestDamage:
    @pytest.mark.parametrize("content", [b"", b"not a database" * 1000, b"SQLite format 3\0" * 99])
    def test_file_of_another_kind(
        self, folder: Path, content: bytes, caplog: pytest.LogCaptureFixture
    ) -> None:
        cache = Cache(folder)
        assert cache.path is not None
        folder.mkdir()
        cache.path.write_bytes(content)
        cache.put("code", b"key", b"lost")
        cache.put("code", b"key", b"value")
        assert cache.get("code", b"key") == b"value"
        assert len(warnings_in(caplog)) == (1 if content else 0)

    def test_every_page_overwritten(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        whole = Cache(folder)
        assert whole.path is not None
        for number in range(40):
            whole.put("code", b"%d" % number, b"%d" % number * 1000)
        whole.close()
        good = whole.path.read_bytes()
        for page in range(len(good) // 4096):
            whole.path.write_bytes(good[: page * 4096] + b"\xa5" * 4096 + good[(page + 1) * 4096 :])
            cache = Cache(folder)
            for number in range(40):
                # What comes back is right or nothing.
                assert cache.get("code", b"%d" % number) in (None, b"%d" % number * 1000)
            cache.put("code", b"new", b"value")
            cache.close()

    def test_flipped_value(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        cache = Cache(folder)
        assert cache.path is not None
        cache.put("code", b"key", b"machine code")
        cache.close()
        cache.path.write_bytes(cache.path.read_bytes().replace(b"machine code", b"machine c0de"))
        assert cache.get("code", b"key") is None
        assert cache.get("code", b"key") is None
        assert len(warnings_in(caplog)) == 1
        cache.put("code", b"key", b"machine code")
        assert cache.get("code", b"key") == b"machine code"

    def test_folder_is_a_file(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        folder.write_text("in the way")
        cache = Cache(folder)
        for _ in range(3):
            cache.put("code", b"key", b"value")
            assert cache.get("code", b"key") is None
        assert len(warnings_in(caplog)) == 1
        assert folder.read_text() == "in the way"

    def test_path_is_a_folder(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        cache = Cache(folder)
        assert cache.path is not None
        cache.path.mkdir(parents=True)
        cache.put("code", b"key", b"value")
        assert cache.get("code", b"key") is None
        assert len(warnings_in(caplog)) == 1


class TestLimits:
    """Root ignores permissions and there is no full disk at hand: SQLite itself is limited."""

    def test_full_disk(
        self, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = Cache(folder)
        whole.put("code", b"key", b"value")
        whole.close()
        real_open = Cache._open

        def open_limited(self: Cache, mode: str, first: str) -> sqlite3.Connection:
            connection = real_open(self, mode, first)
            connection.execute("PRAGMA max_page_count = 3")
            return connection

        monkeypatch.setattr(Cache, "_open", open_limited)
        cache = Cache(folder)
        for number in range(20):
            cache.put("code", b"%d" % number, bytes(4096))
        assert cache.get("code", b"key") == b"value"
        messages = warnings_in(caplog)
        assert len(messages) == 1
        assert "full" in messages[0]

    def test_read_only_file_is_still_read(
        self, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = Cache(folder)
        whole.put("code", b"key", b"value")
        whole.close()
        real_open = Cache._open
        monkeypatch.setattr(Cache, "_open", lambda self, mode, first: real_open(self, "ro", first))
        cache = Cache(folder)
        assert cache.get("code", b"key") == b"value"
        cache.put("code", b"other", b"value")
        cache.put("code", b"other", b"value")
        assert cache.get("code", b"other") is None
        assert cache.get("code", b"key") == b"value"
        messages = warnings_in(caplog)
        assert len(messages) == 1
        assert "readonly" in messages[0]

    def test_busy_file_is_left_out(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        cache = Cache(folder, timeout=0.05)
        cache.put("code", b"key", b"value")
        assert cache.path is not None
        other = sqlite3.connect(cache.path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        cache.put("code", b"other", b"value")
        assert cache.get("code", b"key") is None
        other.execute("COMMIT")
        other.close()
        assert cache.get("code", b"key") == b"value"
        cache.put("code", b"other", b"value")
        assert cache.get("code", b"other") == b"value"
        assert len(warnings_in(caplog)) == 1

    def test_python_without_sqlite(
        self, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("wavetile.cache.sqlite3", None)
        cache = Cache(folder)
        cache.put("code", b"key", b"value")
        assert cache.get("code", b"key") is None
        assert len(warnings_in(caplog)) == 1

    def test_warnings_are_not_exceptions(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder.write_text("in the way")
        with caplog.at_level(logging.WARNING):
            Cache(folder).get("code", b"key")
        assert warnings_in(caplog)


def fill(folder: Path, worker: int) -> None:
    cache = Cache(folder, timeout=60)
    for number in range(30):
        cache.put("code", b"%d %d" % (worker, number), b"%d" % worker * 500)
        cache.put("code", b"shared %d" % number, b"shared")


class TestConcurrency:
    def test_processes_share_the_file(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=fill, args=(folder, worker)) for worker in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
        cache = Cache(folder)
        for worker in range(3):
            for number in range(30):
                assert cache.get("code", b"%d %d" % (worker, number)) == b"%d" % worker * 500
        assert cache.get("code", b"shared 29") == b"shared"

    def test_threads_share_the_object(self, folder: Path) -> None:
        cache = Cache(folder)

        def work(worker: int) -> None:
            for number in range(30):
                cache.put("code", b"%d %d" % (worker, number), b"%d" % worker)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for worker in range(4):
            for number in range(30):
                assert cache.get("code", b"%d %d" % (worker, number)) == b"%d" % worker

    def test_fork_opens_its_own(self, folder: Path) -> None:
        cache = Cache(folder)
        cache.put("code", b"parent", b"value")
        child = os.fork()
        if child == 0:
            seen = cache.get("code", b"parent") == b"value"
            cache.put("code", b"child", b"value")
            os._exit(0 if seen else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert cache.get("code", b"child") == b"value"
        cache.put("code", b"parent", b"again")
        assert cache.get("code", b"parent") == b"again"
