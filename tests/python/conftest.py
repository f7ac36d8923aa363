"""Hypothesis's seed: that of CORNERTURN_SEED if it is set, else a new one; the report's head names it."""

import os
import random

import hypothesis

SEED = int(os.environ.get("CORNERTURN_SEED", random.randrange(2**32)))
hypothesis.settings.register_profile("all", deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("all")


def pytest_configure(config):
    if config.getoption("--hypothesis-seed", None) is None:
        config.option.hypothesis_seed = SEED
    # hypothesis read the option before this file.
    import hypothesis.core

    if hypothesis.core.global_force_seed is None:
        hypothesis.core.global_force_seed = SEED


def pytest_report_header():
    return f"seed {SEED}: CORNERTURN_SEED={SEED} draws the same again"
