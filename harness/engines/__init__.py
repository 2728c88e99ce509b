"""The engines behind the `Model` port: transformers in this process, vLLM started by us, OpenAI-compatible endpoints.

`opening.open_model` is the way in; it imports an engine only when that engine is asked for. Drawing tokens is
`harness.engine`; this package adds conversations, servers and the identity of what was measured.
"""
