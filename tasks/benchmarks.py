"""The benchmarks by name: each is an object that follows `harness.benchmark.Benchmark`, imported when it is used.

Protocols of a name stand in `presets/NAME.toml`.
"""

BENCHMARKS: dict[str, str] = {
    "nano": "spadework.tasks.nano_benchmark:NANO",
    "aime_2025": "spadework.tasks.aime:AIME_2025",
    "aime_2026": "spadework.tasks.aime:AIME_2026",
    "gpqa_diamond": "spadework.tasks.gpqa:GPQA_DIAMOND",
    "livecodebench": "spadework.tasks.livecodebench:LIVECODEBENCH",
    "reasoning_gym": "spadework.tasks.reasoning_gym:REASONING_GYM",
    "bfcl_multi_turn": "spadework.tasks.bfcl:BFCL_MULTI_TURN",
    "acebench_agent": "spadework.tasks.acebench:ACEBENCH_AGENT",
    "tau2": "spadework.tasks.tau2:TAU2",
}
