"""What the papers claim, and whether it holds here: one table, made of the results, written into README.md.

Every experiment gives its own lines (its function ``claims``). Where results of the full form are there, the line is
theirs; else it is that of the quick form.

    python experiments/claims.py
"""

from __future__ import annotations

import importlib
from pathlib import Path

from common import RESULTS, load, table

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- claims: written by claims.py -->\n", "<!-- end of claims -->\n"

# experiment -> the paper that claims it
PAPERS = {
    "tables": "Naive Feature Selection",
    "selection": "Naive Feature Selection",
    "large_scale": "Naive Feature Selection",
    "complexity": "Naive Feature Selection",
    "duality_gap": "Naive Feature Selection",
    "centers": "Sparse l1 and l2 Center Classifiers",
    "hybrid": "Hybrid Generative/Discriminative Models",
    "l1_bernoulli": "note on sparsity in naive Bayes",
}


def claims_table() -> str:
    """The table of all claims whose results are there."""
    rows = []
    for name, paper in PAPERS.items():
        full = (RESULTS / "full" / name / f"{name}.json").exists()
        folder = RESULTS / "full" / name if full else RESULTS / name
        if results := load(folder, name):
            for line in importlib.import_module(name).claims(results, load(folder, "times")):
                link = f"[{name}]({folder.relative_to(README.parent)}/{name}.md){', full' if full else ''}"
                said, numbers = (line[key].replace("|", r"\|") for key in ("claim", "numbers"))
                rows.append([said, paper, f"**{line['verdict']}**", numbers, link])
    return table(["claim", "paper", "here", "numbers", "from"], rows).replace("| ---: ", "| :--- ")


def main() -> None:
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + "\n" + claims_table() + "\n" + END + after)


if __name__ == "__main__":
    main()
