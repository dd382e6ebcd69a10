"""Runs notebooks from above and keeps their pictures: run.py NOTEBOOK... [--pictures DIR]. Exit 1: a cell failed.

Prints a JSON line for each: {"name", "seconds", "cpu_seconds": of its kernel, "text": what its cells printed or showed, "pictures":
files}. Needs nbclient and ipykernel. MARKET_DATA_URL says where the API is (default http://127.0.0.1:3000).
"""

import argparse
import json
import os
import pathlib
import resource
import time

import nbformat
from nbclient import NotebookClient

# The client of this checkout, and pictures that are the same in every run, whose text is text.
here = pathlib.Path(__file__).resolve().parent
paths = [str(here.parent / "clients" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
os.environ["PYTHONPATH"] = os.pathsep.join(paths)
PREPARED = """\
import matplotlib
from matplotlib_inline.backend_inline import set_matplotlib_formats
set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "docs"})
"""



def cpu_seconds() -> float:
    """Of the kernels that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
parser.add_argument("--pictures", type=pathlib.Path, help="where pictures go, as NOTEBOOK.svg")
given = parser.parse_args()

for path in given.notebooks:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(PREPARED))
    begun, used = time.monotonic(), cpu_seconds()
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    told = {"name": path.stem, "seconds": round(time.monotonic() - begun, 1), "text": "", "pictures": []}
    told["cpu_seconds"] = round(cpu_seconds() - used, 1)
    for output in outputs:
        data = output.get("data", {})
        if "image/svg+xml" not in data:
            told["text"] += output.get("text", data.get("text/plain", "")) + "\n"
        elif given.pictures is not None:
            given.pictures.mkdir(parents=True, exist_ok=True)
            picture = given.pictures / f"{path.stem}.svg"
            picture.write_text(data["image/svg+xml"].rstrip() + "\n")
            told["pictures"].append(str(picture))
    print(json.dumps(told), flush=True)
