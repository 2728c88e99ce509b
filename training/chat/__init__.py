"""Pretrained chat models in the loop: their prompts, and the organism that opens them."""
