from __future__ import annotations

import hashlib
from array import array
from pathlib import Path

import pytest

from chatbot.understanding import classifier
from chatbot.understanding.classifier import (
    LABELS,
    MODEL_SHA256,
    Weights,
    WrongWeights,
    model_path,
    unpack,
)
from chatbot.understanding.features import BUCKETS
from chatbot.understanding.needs import Language
from chatbot.understanding.training.data import licensed_examples, own_examples

LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_weights_are_those_that_were_released(language: Language) -> None:
    data = model_path(language).read_bytes()
    assert hashlib.sha256(data).hexdigest() == MODEL_SHA256[language]
    assert len(data) < 500_000


def test_other_weights_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = bytearray(model_path("en").read_bytes())
    data[-1] ^= 1
    (tmp_path / "en.bin").write_bytes(data)
    monkeypatch.setattr(classifier, "_FOLDER", tmp_path)
    with pytest.raises(WrongWeights, match=r"en\.bin"):
        classifier._weights.__wrapped__("en")


def test_weights_are_unpacked_as_they_were_packed() -> None:
    columns = tuple(
        array("b", [(place + label) % 127 for place in range(BUCKETS)])
        for label in range(len(LABELS))
    )
    weights = Weights(0.5, tuple(float(n) for n in range(len(LABELS))), columns)
    assert unpack(classifier.pack(weights)) == weights
    with pytest.raises(ValueError, match="bytes"):
        unpack(classifier.pack(weights)[:-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_has_known_labels(language: Language) -> None:
    for example in (*own_examples(language), *licensed_examples(language)):
        assert example.labels
        assert example.labels <= set(LABELS)
