# SPDX-License-Identifier: Apache-2.0
"""One table of figures: what was measured, what it must be, and whether it is."""

import json
import os
import time


class Table:
    def __init__(self):
        self.rows = []
        self.began = time.monotonic()

    def heading(self, text):
        self.rows.append({"heading": text})
        print(f"\n{text}", flush=True)

    def add(self, figure, value, unit="", *, most=None, least=None, note=""):
        """A figure with its goal: at most, or at least, that much."""
        goal = "" if most is None and least is None else \
            f"≤ {most:g}" if most is not None else f"≥ {least:g}"
        holds = None if not goal else value <= most if most is not None else value >= least
        self.rows.append({"figure": figure, "value": value, "unit": unit, "goal": goal,
                          "holds": holds, "note": note})
        word = {True: "ok", False: "MISSED", None: ""}[holds]
        print(f"  {figure:58}{shown(value):>10} {unit:6}{goal:>9} {word:7}{note}", flush=True)

    def skip(self, figure, reason):
        self.rows.append({"figure": figure, "skipped": reason})
        print(f"  {figure:58}  not measured: {reason}", flush=True)

    def misses(self):
        return [row["figure"] for row in self.rows if row.get("holds") is False]

    def finish(self, path):
        misses = self.misses()
        seconds = time.monotonic() - self.began
        goals = sum(1 for row in self.rows if row.get("holds") is not None)
        load = os.getloadavg()
        facts = {"seconds": round(seconds), "load": load, "cores": os.cpu_count(),
                 "kernel": os.uname().release, "goals": goals, "missed": misses, "rows": self.rows}
        path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        print(f"\n{goals - len(misses)} of {goals} goals are reached, {len(misses)} missed. "
              f"{seconds:.0f} s; load {load[0]:.1f} {load[1]:.1f} {load[2]:.1f}; {path}")


def shown(value):
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) >= 10 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
