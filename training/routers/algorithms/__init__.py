"""One module per algorithm, each with `collect(args, pair, problems)` and `train(args)`."""
