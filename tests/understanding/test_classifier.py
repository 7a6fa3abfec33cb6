from __future__ import annotations

import hashlib
from array import array
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest

from chatbot.understanding import classifier
from chatbot.understanding.classifier import (
    HIDDEN,
    LABELS,
    MODEL_SHA256,
    Weights,
    WrongWeights,
    model_path,
    unpack,
    weigh,
)
from chatbot.understanding.features import BUCKETS
from chatbot.understanding.needs import Language
from chatbot.understanding.training.data import licensed_examples, own_examples

LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_weights_are_those_that_were_released(language: Language) -> None:
    data = model_path(language).read_bytes()
    assert hashlib.sha256(data).hexdigest() == MODEL_SHA256[language]
    assert len(data) < 2_000_000


def test_other_weights_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = bytearray(model_path("en").read_bytes())
    data[-1] ^= 1
    (tmp_path / "en.bin").write_bytes(data)
    monkeypatch.setattr(classifier, "_FOLDER", tmp_path)
    with pytest.raises(WrongWeights, match=r"en\.bin"):
        classifier._weights.__wrapped__("en")


def _weights() -> Weights:
    return Weights(
        label_scale=0.5,
        hidden_scale=0.25,
        label_bias=tuple(float(n) for n in range(len(LABELS))),
        hidden_bias=tuple(n / 4 for n in range(HIDDEN)),
        outputs=tuple(
            tuple(float(label - unit) for unit in range(HIDDEN))
            for label in range(len(LABELS))
        ),
        columns=tuple(
            array("b", [(place + column) % 127 for place in range(BUCKETS)])
            for column in range(len(LABELS) + HIDDEN)
        ),
    )


def test_weights_are_unpacked_as_they_were_packed() -> None:
    weights = _weights()
    assert unpack(classifier.pack(weights)) == weights
    with pytest.raises(ValueError, match="bytes"):
        unpack(classifier.pack(weights)[:-1])


def test_a_hidden_unit_adds_to_a_label_only_where_it_is_open() -> None:
    bias = tuple(-3.0 for _ in LABELS)
    still = tuple(array("b", bytes(BUCKETS)) for _ in range(len(LABELS) + HIDDEN))
    still[len(LABELS)][7] = 100
    weights = replace(
        _weights(),
        label_bias=bias,
        hidden_scale=0.01,
        hidden_bias=(-0.5,) * HIDDEN,
        outputs=tuple((2.0,) + (0.0,) * (HIDDEN - 1) for _ in LABELS),
        columns=still,
    )
    shut = weigh({7: 0.4, 8: 1.0}, weights)
    opened = weigh({7: 1.5, 8: 1.0}, weights)
    assert shut["eta"] == pytest.approx(1 / (1 + exp(3.0)))
    assert opened["eta"] == pytest.approx(1 / (1 + exp(3.0 - 2.0 * (1.5 - 0.5))))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_has_known_labels(language: Language) -> None:
    for example in (*own_examples(language), *licensed_examples(language)):
        assert example.labels
        assert example.labels <= set(LABELS)
