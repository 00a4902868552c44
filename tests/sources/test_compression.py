"""Compression is recognised by content, bounded, and tolerant of cut files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import pytest

from analyzer.errors import DiagnoseError
from analyzer.sources import compression
from analyzer.sources.compression import decompressed

TEXT = b"".join(b"step %d of training\n" % step for step in range(20_000))


def unpacked(data, notes=None):
    """The content of these bytes without compression."""
    with decompressed(io.BytesIO(data), "x", [] if notes is None else notes) as stream:
        return stream.read()


def zstd(data):
    """The data compressed by whichever zstd module there is."""
    module = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    return module.compress(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstd])
def test_content_comes_out_whole(pack):
    """Every compression gives back what went in."""
    assert unpacked(pack(TEXT)) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_concatenated_members_are_all_read(pack):
    """`cat a.gz b.gz` is a file too."""
    assert unpacked(pack(TEXT) + pack(b"end")) == TEXT + b"end"


def test_double_compression_is_undone():
    """A file that was compressed twice is read."""
    assert unpacked(gzip.compress(bz2.compress(TEXT))) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_cut_file_gives_what_can_be_read(pack):
    """A download that broke off is read up to there, and says so."""
    notes = []
    packed = pack(bytes(b * 7 % 256 for b in range(256)) * 8000)
    got = unpacked(packed[: len(packed) * 2 // 3], notes)
    assert (bytes(b * 7 % 256 for b in range(256)) * 8000).startswith(got)
    assert [note.kind for note in notes] == ["truncated"]


def test_truncated_gzip_keeps_its_begin():
    """Most of the content of a gzip file that lost its end is there."""
    got = unpacked(gzip.compress(TEXT)[:-500], [])
    assert TEXT.startswith(got)
    assert len(got) > len(TEXT) // 2


def test_damage_leaves_what_stood_before_it():
    """Bytes that were changed end the reading with a note, not with an error."""
    packed = bytearray(gzip.compress(TEXT))
    packed[len(packed) // 2 : len(packed) // 2 + 50] = b"\0" * 50
    notes = []
    assert len(unpacked(bytes(packed), notes)) < len(TEXT)
    assert [note.kind for note in notes] == ["damaged"]


def test_padding_after_the_last_member_is_ignored():
    """Zeros at the end of a compressed file mean nothing."""
    notes = []
    assert unpacked(gzip.compress(TEXT) + b"\0" * 1000, notes) == TEXT
    assert notes == []


def test_bomb_is_stopped(monkeypatch):
    """What expands beyond any log is read up to the limit only."""
    monkeypatch.setattr(compression, "RATIO_GRACE", 1 << 20)
    notes = []
    assert len(unpacked(gzip.compress(b"\0" * (1 << 24)), notes)) < 1 << 24
    assert [note.kind for note in notes] == ["bomb"]


def test_missing_zstd_is_told_with_advice(monkeypatch):
    """Without a decoder for zstd the error says how to get one."""
    packed = zstd(TEXT)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(DiagnoseError, match=r"\[zstd\]"):
        unpacked(packed)
