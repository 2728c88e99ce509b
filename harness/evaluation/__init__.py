"""The evaluation of one model on benchmarks: plan, run, resume, scores, preflight. It knows no benchmark of its own."""
