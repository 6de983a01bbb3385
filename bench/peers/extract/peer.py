"""The peers of `cargo xtask bench extract`, and the known texts. Prints a line of JSON for each file.

peer.py trafilatura FILE…   the main text of pages
peer.py pdftotext FILE…     the text of PDFs
peer.py first-page FILE…    the text of the first page of PDFs, which the scans show
peer.py page-text FILE…     everything that stands in HTML files, without script and style
"""

import json
import resource
import subprocess
import sys
import time

BLOCKS = set("address article aside blockquote br caption dd details div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul".split())


def page_text(path):
    from lxml import html

    tree = html.fromstring(open(path, "rb").read().decode("utf-8", "replace"))
    for element in tree.xpath("//script | //style"):
        element.drop_tree()
    for element in tree.iter():
        if element.tag in BLOCKS:
            element.text = " " + (element.text or "")
            element.tail = " " + (element.tail or "")
    return tree.text_content()


def read(kind, path):
    if kind == "trafilatura":
        import trafilatura

        return trafilatura.extract(open(path, "rb").read(), include_comments=False) or ""
    if kind == "page-text":
        return page_text(path)
    pages = ["-l", "1"] if kind == "first-page" else []
    return subprocess.run(["pdftotext", *pages, path, "-"], capture_output=True, check=True).stdout.decode()


def main():
    kind, *paths = sys.argv[1:]
    if kind == "trafilatura":
        import trafilatura  # noqa: F401 - not part of the first page's time
    who = resource.RUSAGE_SELF if kind in ("trafilatura", "page-text") else resource.RUSAGE_CHILDREN
    for path in paths:
        started = time.monotonic()
        text = read(kind, path)
        seconds = time.monotonic() - started
        peak_kib = resource.getrusage(who).ru_maxrss
        print(json.dumps({"text": text, "seconds": seconds, "peak_kib": peak_kib}))


main()
