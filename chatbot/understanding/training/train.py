"""Train the classifier: ``python -m chatbot.understanding.training.train``.

Needs numpy and scipy, and a few minutes. Cross-entropy is brought down by full-batch
gradient descent (Adam), with dropout on the hidden layer; the random numbers come from
a fixed seed: the same examples give the same weights on the same machine. Prints the
hashes to pin in ``classifier.py``.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from chatbot.understanding.classifier import (
    HIDDEN,
    LABELS,
    Weights,
    model_path,
    pack,
)
from chatbot.understanding.features import BUCKETS, features
from chatbot.understanding.kinds import Language
from chatbot.understanding.lexicon import rule_names
from chatbot.understanding.text import plain_text
from chatbot.understanding.training.data import Example, examples, own_examples
from chatbot.understanding.training.mixing import mixed

STEPS = 180
# The parameters that are kept are the mean of those of the last steps: what dropout
# and single examples did to one of them evens out.
AVERAGED = 80
LABEL_RATE = 0.05
HIDDEN_RATE = 0.01
DROPOUT = 0.3
DECAY = 5e-6
SEED = 0
Matrix: TypeAlias = npt.NDArray[np.float32]


class Adam:
    """One array of parameters and its running averages (Kingma and Ba, 2015)."""

    def __init__(self, values: Matrix, rate: float) -> None:
        self.values: Matrix = values.astype(np.float32)
        self.rate = rate
        self.mean = np.zeros_like(self.values)
        self.square = np.zeros_like(self.values)
        self.total = np.zeros_like(self.values)

    def step(self, slope: Matrix, count: int) -> None:
        self.mean = 0.9 * self.mean + 0.1 * slope
        self.square = 0.999 * self.square + 0.001 * slope * slope
        rate = np.float32(self.rate * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count))
        self.values -= rate * self.mean / (np.sqrt(self.square) + np.float32(1e-8))
        if count > STEPS - AVERAGED:
            self.total += self.values

    @property
    def settled(self) -> Matrix:
        """The mean of the last steps; to be read after the last of them."""
        mean: Matrix = self.total / np.float32(AVERAGED)
        return mean


def feature_rows(chosen: Sequence[Example]) -> sparse.csr_matrix:
    """The features of all examples, a row each."""
    found = []
    for one in chosen:
        plain = plain_text(one.text)
        found.append(features(plain, rule_names(plain), one.language))
    columns = np.array([bucket for row in found for bucket in row])
    values = np.array(
        [value for row in found for value in row.values()], dtype=np.float32
    )
    starts = np.cumsum([0, *(len(row) for row in found)])
    return sparse.csr_matrix((values, columns, starts), (len(found), BUCKETS))


class Network:
    """The parameters, and one step of learning."""

    def __init__(self, share: Matrix) -> None:
        self.random = np.random.default_rng(SEED)
        odds = np.log((share + 1e-4) / (1 - share + 1e-4))
        start = self.random.normal(0.0, 0.1, (BUCKETS, HIDDEN))
        self.direct = Adam(np.zeros((BUCKETS, len(LABELS)), np.float32), LABEL_RATE)
        self.label_bias = Adam(odds, LABEL_RATE)
        self.hidden = Adam(start.astype(np.float32), HIDDEN_RATE)
        self.hidden_bias = Adam(np.zeros(HIDDEN, np.float32), HIDDEN_RATE)
        self.outputs = Adam(np.zeros((HIDDEN, len(LABELS)), np.float32), HIDDEN_RATE)

    def step(
        self,
        rows: sparse.csr_matrix,
        by_bucket: sparse.csr_matrix,
        wanted: Matrix,
        count: int,
    ) -> None:
        sums = rows @ self.hidden.values + self.hidden_bias.values
        kept = self.random.random(sums.shape, np.float32) >= DROPOUT
        open_ = (sums > 0) * kept / np.float32(1 - DROPOUT)
        units = sums * open_
        total = rows @ self.direct.values + units @ self.outputs.values
        errors = 1 / (1 + np.exp(-(total + self.label_bias.values))) - wanted
        errors = (errors / len(wanted)).astype(np.float32)
        back = (errors @ self.outputs.values.T) * open_
        direct, hidden = self.direct.values, self.hidden.values
        self.outputs.step(units.T @ errors, count)
        self.direct.step(by_bucket @ errors + DECAY * direct, count)
        self.hidden.step(by_bucket @ back + DECAY * hidden, count)
        self.label_bias.step(errors.sum(axis=0), count)
        self.hidden_bias.step(back.sum(axis=0), count)


def fit(chosen: Sequence[Example]) -> Weights:
    rows = feature_rows(chosen)
    by_bucket = rows.T.tocsr()
    wanted = np.array(
        [[label in one.labels for label in LABELS] for one in chosen], dtype=np.float32
    )
    network = Network(wanted.mean(axis=0))
    for count in range(1, STEPS + 1):
        network.step(rows, by_bucket, wanted, count)
    label_scale, labels = _in_bytes(network.direct.settled)
    hidden_scale, hidden = _in_bytes(network.hidden.settled)
    return Weights(
        label_scale=label_scale,
        hidden_scale=hidden_scale,
        label_bias=tuple(map(float, network.label_bias.settled)),
        hidden_bias=tuple(map(float, network.hidden_bias.settled)),
        outputs=tuple(tuple(map(float, row)) for row in network.outputs.settled.T),
        columns=(*labels, *hidden),
    )


def _in_bytes(values: Matrix) -> tuple[float, list[array[int]]]:
    """The scale, and each column rounded to signed bytes."""
    scale = float(np.abs(values).max()) / 127
    small = np.round(values / scale).astype(np.int8)
    return scale, [array("b", column.tobytes()) for column in small.T]


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
