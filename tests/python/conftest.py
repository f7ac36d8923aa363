"""Sets Hypothesis's seed: CORNERTURN_SEED, or a new one. The head of the report prints it."""

import os
import random

import hypothesis

SEED = int(os.environ.get("CORNERTURN_SEED", random.randrange(2**32)))
hypothesis.settings.register_profile("all", deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("all")


def pytest_configure(config):
    if config.getoption("--hypothesis-seed", None) is None:
        config.option.hypothesis_seed = SEED
    # Hypothesis has already read the option.
    import hypothesis.core

    if hypothesis.core.global_force_seed is None:
        hypothesis.core.global_force_seed = SEED


def pytest_report_header():
    return f"seed {SEED}: CORNERTURN_SEED={SEED} repeats this run"
