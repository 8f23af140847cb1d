# SPDX-License-Identifier: MIT
"""Judges the pages of a site: site.py SITE TABLE... prints each fault, and "N passed, M failed".

Every link within the site leads to a file, and to an element with that id, and its text is no name of a source (x.md);
no page needs a script, style, font or image from elsewhere; every TABLE has a section with a formula or the reason why
there is none. Each page and each table is one test.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.needs, self.texts = set(), [], [], []
        self.in_link = False
        self.text = path.read_text()
        self.feed(self.text)

    def handle_endtag(self, tag):
        self.in_link = self.in_link and tag != "a"

    def handle_data(self, data):
        if self.in_link:
            self.texts[-1] += data

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.update(given[key] for key in ("id", "name") if given.get(key))
        if tag in ("a", "area") and given.get("href") is not None:
            self.links.append(given["href"])
            self.texts.append("")
            self.in_link = True
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.needs.append(given.get("href"))
        elif tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.needs.append(given["src"])


def faults_of_link(pages, path, link):
    """What is wrong with a link from a page, or nothing."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        yield f"{link} leads to no file"
    elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
        yield f"{link} leads to no element"


def faults_of_page(pages, path, page):
    for link in page.links:
        yield from faults_of_link(pages, path, link)
    yield from (f"a link is called {text}" for text in page.texts if re.fullmatch(r"\S+\.md", text))
    for need in page.needs:
        if need.startswith("data:"):
            continue
        if urllib.parse.urlsplit(need).scheme or need.startswith("//"):
            yield f"it needs {need}"
        else:
            yield from faults_of_link(pages, path, need)
    if path.parent.name == "catalogue" and re.search(r"\\(left|cdot|frac|mathit)\b", page.text):
        yield "a formula is not typeset"


def main():
    site, tables = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    passed = failed = 0
    for path, page in pages.items():
        faults = list(faults_of_page(pages, path, page))
        for fault in faults:
            print(f"FAILED: {path.relative_to(site)}: {fault}")
        passed, failed = passed + (not faults), failed + bool(faults)
    sections = {}
    for path, page in pages.items():
        if path.parent.name == "catalogue" and path.name != "index.html":
            for part in re.split(r'<h2 id="', page.text)[1:]:
                sections[part.split('"')[0]] = part
    for table in tables:
        section = sections.get(table, "")
        if "<math" in section or "No formula: " in section:
            passed += 1
        else:
            failed += 1
            print(f"FAILED: the catalogue has no formula of {table}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
