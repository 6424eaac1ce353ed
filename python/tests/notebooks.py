"""Executes the notebooks. With BLESS=1 it writes their outputs, otherwise it compares them."""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"


def outputs(notebook):
    """The outputs of each cell, without the numbers of executions."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.pop("execution_count", None)
        yield cell.get("outputs", [])


def check(path):
    """Executes a notebook. Returns whether its outputs are as committed."""
    committed = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": FOLDER}}).execute()
    if os.environ.get("BLESS", "") not in ("", "0"):
        for number, cell in enumerate(notebook.cells, 1):
            cell.id = f"cell-{number}"
            cell.metadata = {}
            for output in cell.get("outputs", []):
                output.get("metadata", {}).clear()
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
        nbformat.validate(notebook)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        return True
    same = True
    for number, (old, new) in enumerate(zip(outputs(committed), outputs(notebook)), 1):
        if [strip(output) for output in old] != [strip(output) for output in new]:
            print(f"{path.name}: cell {number} has other outputs than the committed ones; BLESS=1 writes them")
            same = False
    return same


def strip(output):
    """An output without what does not belong to its content."""
    return {key: value for key, value in output.items() if key not in ("metadata", "execution_count")}


if __name__ == "__main__":
    results = [check(path) for path in sorted(FOLDER.glob("*.ipynb"))]
    sys.exit(0 if results and all(results) else 1)
