"""Training of the routers with a network: R2R, CITER and Co-LLM, for any pair with equal tokenizers."""
