"""Checks that the links of the HTML pages in a folder lead to files of the folder, and to ids of their pages.

Addresses of other hosts are not opened. Links to files of the repository are no links of a book.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the ids of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        # A base changes what links mean; only the page for unknown addresses has one.
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key) and tag != "base"]


page = cache(Page)


def fault(path, link):
    """The reason why a link of a page leads nowhere; None if it leads somewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "there is no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).ids:
        return "the page has no such id"
    return None


folder = Path(sys.argv[1]).resolve()
links = [(path, link) for path in sorted(folder.rglob("*.html")) for link in page(path).links]
faults = [(path, link, reason) for path, link in links if (reason := fault(path, link))]
for path, link, reason in faults:
    print(f"{path.relative_to(folder)}: {link}: {reason}", file=sys.stderr)
if faults or not links:
    sys.exit(f"{len(faults)} of {len(links)} links lead nowhere")
print(f"{len(links)} links lead somewhere")
