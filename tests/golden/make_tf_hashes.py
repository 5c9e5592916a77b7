"""Make tf_hashes.json: TensorFlow's hashes of strings of many lengths."""

import json
from pathlib import Path

import tensorflow as tf

MOST = 2**63 - 1
answers = {}
for size in [0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 127, 128, 200]:
    text = bytes(k * 7 % 256 for k in range(size))
    answers[size] = [
        int(tf.strings.to_hash_bucket_fast(text, MOST)),
        int(tf.strings.to_hash_bucket(text, MOST)),
        int(tf.strings.to_hash_bucket_strong(text, MOST, [1, 2])),
    ]
Path(__file__).with_name("tf_hashes.json").write_text(json.dumps(answers, indent=1) + "\n")
