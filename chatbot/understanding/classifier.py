"""A linear classifier: one weighted sum per need, and one for out of scope.

The weights are trained by ``chatbot.understanding.training.train`` and pinned by hash.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter, mul
from pathlib import Path

from chatbot.understanding.features import BUCKETS
from chatbot.understanding.kinds import Language, Need

LABELS: tuple[str, ...] = (*(need.value for need in Need), "out_of_scope")
MODEL_SHA256: dict[Language, str] = {
    "en": "550a08658e35467ffb6df7bcfb01131c30c8d6bed7a03f0c7342257ac68f829f",
    "zh": "4b6520ea258cb16d77838eaba3e06f520d1993316124c56bbf822621e265cf71",
}
_FOLDER = Path(__file__).parent / "weights"


class WrongWeights(Exception):
    """The weights on disk are not those that this code was released with."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A column of signed bytes for each label, to be multiplied by ``scale``."""

    scale: float
    bias: tuple[float, ...]
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
    head = array("d", (weights.scale, *weights.bias))
    return head.tobytes() + b"".join(column.tobytes() for column in weights.columns)


def unpack(data: bytes) -> Weights:
    """The weights of a file; ValueError where the size is not that of a model."""
    head = array("d")
    split = head.itemsize * (1 + len(LABELS))
    if len(data) != split + BUCKETS * len(LABELS):
        raise ValueError(f"a model of {len(data)} bytes")
    head.frombytes(data[:split])
    columns = tuple(
        array("b", data[start : start + BUCKETS])
        for start in range(split, len(data), BUCKETS)
    )
    return Weights(head[0], tuple(head[1:]), columns)


def probabilities(found: Mapping[int, float], language: Language) -> dict[str, float]:
    """How likely the text has each label, each on its own."""
    return weigh(found, _weights(language))


def weigh(found: Mapping[int, float], weights: Weights) -> dict[str, float]:
    """Each label's probability; all loops run in C, for the sake of time."""
    take = itemgetter(*found)  # always several: a text has a length and its ends
    likely = {}
    for label, bias, column in zip(LABELS, weights.bias, weights.columns, strict=True):
        total = sum(map(mul, take(column), found.values()))
        likely[label] = _sigmoid(total * weights.scale + bias)
    return likely


def _sigmoid(value: float) -> float:
    if value < -30.0:
        return 0.0
    return 1.0 / (1.0 + math.exp(-value))
