"""Train the classifier: ``python -m chatbot.understanding.training.train``.

Needs numpy and scipy, and a minute. Logistic regression by full-batch gradient descent
(Adam) from zero, without any random number: the same examples give the same weights.
Prints the hashes to pin in ``classifier.py``.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from chatbot.understanding.classifier import LABELS, Weights, model_path, pack
from chatbot.understanding.features import BUCKETS, features
from chatbot.understanding.kinds import Language
from chatbot.understanding.lexicon import rule_names
from chatbot.understanding.text import plain_text
from chatbot.understanding.training.data import Example, examples, own_examples
from chatbot.understanding.training.mixing import mixed

STEPS = 150
RATE = 0.05
DECAY = 5e-6
Matrix: TypeAlias = npt.NDArray[np.float64]


class Adam:
    """One array of parameters and its running averages."""

    def __init__(self, values: Matrix) -> None:
        self.values = values
        self.mean = np.zeros_like(values)
        self.square = np.zeros_like(values)

    def step(self, slope: Matrix, count: int) -> None:
        self.mean = 0.9 * self.mean + 0.1 * slope
        self.square = 0.999 * self.square + 0.001 * slope * slope
        rate = RATE * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        self.values = self.values - rate * self.mean / (np.sqrt(self.square) + 1e-8)


def feature_rows(chosen: Sequence[Example]) -> sparse.csr_matrix:
    """The features of all examples, a row each."""
    found = []
    for one in chosen:
        plain = plain_text(one.text)
        found.append(features(plain, rule_names(plain), one.language))
    columns = np.array([bucket for row in found for bucket in row])
    values = np.array([value for row in found for value in row.values()])
    starts = np.cumsum([0, *(len(row) for row in found)])
    return sparse.csr_matrix((values, columns, starts), (len(found), BUCKETS))


def fit(chosen: Sequence[Example]) -> Weights:
    rows = feature_rows(chosen)
    by_bucket = rows.T.tocsr()
    wanted = np.array([[label in one.labels for label in LABELS] for one in chosen])
    share = wanted.mean(axis=0)
    weights = Adam(np.zeros((BUCKETS, len(LABELS))))
    bias = Adam(np.log((share + 1e-4) / (1 - share + 1e-4)))
    for count in range(1, STEPS + 1):
        errors = 1 / (1 + np.exp(-(rows @ weights.values + bias.values))) - wanted
        slope = by_bucket @ errors / len(chosen) + DECAY * weights.values
        weights.step(slope, count)
        bias.step(errors.mean(axis=0), count)
    scale = float(np.abs(weights.values).max()) / 127
    small = np.round(weights.values / scale).astype(np.int8)
    columns = tuple(array("b", column.tobytes()) for column in small.T)
    return Weights(scale, tuple(map(float, bias.values)), columns)


def train(language: Language) -> str:
    """Write the weights of a language and return their hash."""
    chosen = examples(language) + mixed(own_examples(language), language)
    data = pack(fit(chosen))
    path = model_path(language)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    languages: tuple[Language, ...] = ("en", "zh")
    for one in languages:
        print(one, train(one))  # noqa: T201
