#!/usr/bin/env python3
"""Make a tokenizer whose every token is four characters, as the fake engine counts text: make_even_tokenizer.py OUT_DIR. Needs tokenizers, transformers.

Whatever it reads becomes words of one small alphabet, so that prompts that a tool draws from a book have the asked length too."""

import itertools
import sys

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

alphabet = "bcdfgaeioumnt"
words = ["<unk>", "<s>", "</s>"] + ["".join(w) for w in itertools.product(alphabet, repeat=4)]
tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
tok.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex(f"[^{alphabet}]"), "t")])
tok.pre_tokenizer = pre_tokenizers.Split(Regex(".{4}"), "isolated")
tok.decoder = decoders.Fuse()
PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", bos_token="<s>", eos_token="</s>", model_max_length=8192).save_pretrained(sys.argv[1])
