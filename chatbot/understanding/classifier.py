"""The classifier: one weighted sum per need and for out of scope, and a hidden layer.

The sums see what each feature says by itself, the hidden layer of rectified units what
features say together. The weights are trained by
``chatbot.understanding.training.train`` and pinned by hash.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import itemgetter, mul
from pathlib import Path

from chatbot.understanding.features import BUCKETS
from chatbot.understanding.kinds import Language, Need

LABELS: tuple[str, ...] = (*(need.value for need in Need), "out_of_scope")
HIDDEN = 32
MODEL_SHA256: dict[Language, str] = {
    "en": "5a53e4c4ecac94338445d90b8546af930391c32f9b25345c78fc4f78cc358b93",
    "zh": "7888d3f5306c3455387624337e48b90615e57da1cfbc46362712273a7e4dbdf7",
}
_FOLDER = Path(__file__).parent / "weights"


class WrongWeights(Exception):
    """The weights on disk are not those that this code was released with."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the classifier has learned.

    ``columns`` are signed bytes, a column of features for each label and then for each
    hidden unit, to be multiplied by the scale of its kind. ``outputs`` has a row for
    each label: what the hidden units add to it.
    """

    label_scale: float
    hidden_scale: float
    label_bias: tuple[float, ...]
    hidden_bias: tuple[float, ...]
    outputs: tuple[tuple[float, ...], ...]
    columns: tuple[array[int], ...]


def model_path(language: Language) -> Path:
    return _FOLDER / f"{language}.bin"


@cache
def _weights(language: Language) -> Weights:
    data = model_path(language).read_bytes()
    if hashlib.sha256(data).hexdigest() != MODEL_SHA256[language]:
        raise WrongWeights(f"{model_path(language).name} has an unknown hash")
    return unpack(data)


def pack(weights: Weights) -> bytes:
    head = array("d", (weights.label_scale, weights.hidden_scale))
    head.extend(weights.label_bias)
    head.extend(weights.hidden_bias)
    for row in weights.outputs:
        head.extend(row)
    return head.tobytes() + b"".join(column.tobytes() for column in weights.columns)


def unpack(data: bytes) -> Weights:
    """The weights of a file; ValueError where the size is not that of a model."""
    labels = len(LABELS)
    head = array("d")
    numbers = 2 + labels + HIDDEN + labels * HIDDEN
    split = head.itemsize * numbers
    if len(data) != split + BUCKETS * (labels + HIDDEN):
        raise ValueError(f"a model of {len(data)} bytes")
    head.frombytes(data[:split])
    values = iter(head)
    return Weights(
        label_scale=next(values),
        hidden_scale=next(values),
        label_bias=tuple(islice(values, labels)),
        hidden_bias=tuple(islice(values, HIDDEN)),
        outputs=tuple(tuple(islice(values, HIDDEN)) for _ in LABELS),
        columns=tuple(
            array("b", data[start : start + BUCKETS])
            for start in range(split, len(data), BUCKETS)
        ),
    )


def probabilities(found: Mapping[int, float], language: Language) -> dict[str, float]:
    """How likely the text has each label, each on its own."""
    return weigh(found, _weights(language))


def weigh(found: Mapping[int, float], weights: Weights) -> dict[str, float]:
    """Each label's probability; all long loops run in C, for the sake of time."""
    take = itemgetter(*found)  # always several: a text has a length and its ends
    values = tuple(found.values())
    sums = [sum(map(mul, take(column), values)) for column in weights.columns]
    direct, hidden = sums[: len(LABELS)], sums[len(LABELS) :]
    units = [
        max(0.0, total * weights.hidden_scale + bias)
        for total, bias in zip(hidden, weights.hidden_bias, strict=True)
    ]
    likely = {}
    for label, total, bias, row in zip(
        LABELS, direct, weights.label_bias, weights.outputs, strict=True
    ):
        added = sum(map(mul, units, row))
        likely[label] = _sigmoid(total * weights.label_scale + bias + added)
    return likely


def _sigmoid(value: float) -> float:
    if value < -30.0:
        return 0.0
    return 1.0 / (1.0 + math.exp(-value))
