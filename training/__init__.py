"""Data, training, evaluation and export of the embedded model family."""
