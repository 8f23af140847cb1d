# SPDX-License-Identifier: MIT
"""Writes the pages of the site that are made by the command.

make_pages.py COMMAND PAGES WEB: PAGES is a copy of docs/. Its links to files outside of docs/ are changed, and these
pages are added: index.md (from README.md), commands.md (the help of each command), catalogue/ (each table with its
formulas), reports/ (HTML reports of fixtures) and try/ (WEB, the page that `make web` writes, if there is one).
"""

import collections
import concurrent.futures
import html
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from latex2mathml.converter import convert

COMMAND, PAGES, WEB = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def run(*words):
    """What the command writes to stdout, or None and its message if it fails."""
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr)


def write(name, text):
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# ---- pages of the repository ----


def adapt_pages():
    """Comments that tests read are left out, links lead to the copies of the pages, and name them by their titles:
    "[causes.md](causes.md)" becomes "[Verdicts, findings and causes](causes.md)"."""
    licence = pathlib.Path("LICENSE").read_text()
    write("licence.md", f"# Licence\n\n```text\n{licence}```\n")
    readme = pathlib.Path("README.md").read_text()
    write("index.md", readme.replace("](docs/", "](").replace("](LICENSE)", "](licence.md)"))
    titles = {path.name: re.search(r"^# (.*)", path.read_text(), re.MULTILINE)[1] for path in PAGES.glob("*.md")}
    for path in PAGES.rglob("*.md"):
        text = path.read_text()
        text = re.sub(r"^<!-- (?:same|saved) as .*-->\n", "", text, flags=re.MULTILINE)
        text = text.replace("](../.github/", "](").replace("](../docs/", "](")
        text = re.sub(r"\[(?:docs/)?([\w-]+\.md)\](?=\()", lambda link: f"[{titles[link[1]]}]", text)
        path.write_text(text)


def write_commands():
    """The help of each command, which is also its manual page."""
    listed, _ = run("--help")
    names = re.findall(r"^  ([a-z]+)  ", listed.split("\ncommands:")[-1], flags=re.MULTILINE)
    assert "inspect" in names and "check" in names, names
    parts = ["# Commands\n\n`man shapeproof-check` shows the same text.\n"]
    for name in names:
        text, message = run(name, "--help")
        assert text, message
        parts.append(f"\n## {name}\n\n```text\n{text}```\n")
    write("commands.md", "".join(parts))


# ---- the catalogue ----


def formula_cell(cell):
    """A cell of a Markdown table of `derive`, as HTML: formulas between dollars become MathML."""
    parts = re.split(r"(\$[^$]*\$|`[^`]*`)", cell.strip())
    for i, part in enumerate(parts):
        if part.startswith("$"):
            parts[i] = convert(part.strip("$"))
        elif part.startswith("`"):
            parts[i] = f"<code>{html.escape(part.strip('`'))}</code>"
        else:
            parts[i] = html.escape(part.replace("\\|", "|"))
    return "".join(parts)


def formula_tables(markdown):
    """The Markdown tables of `derive` as HTML, which the search leaves out."""
    blocks = []
    for block in markdown.strip().split("\n\n"):
        lines = [line for line in block.split("\n") if line]
        if not lines[0].startswith("|"):
            blocks.append("<p>" + formula_cell(" ".join(lines)) + "</p>")
            continue
        rows = [re.split(r"(?<!\\) \| |(?<!\\) \|$", line[2:])[: lines[0].count("|") - 1] for line in lines]
        head = "".join(f"<th>{formula_cell(cell)}</th>" for cell in rows[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{formula_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows[2:]
        )
        blocks.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    return '<div class="formulas" data-search-exclude>' + "".join(blocks) + "</div>"


LONGEST_HEADING = 60  # characters; a longer beginning of a title is a sentence, not a name


def whole_title(table):
    """The title, which is the first line of the comment above the table, up to the end of its sentence."""
    title = table["title"] or ""
    if not title or title.endswith("."):
        return title
    comment = itertools.takewhile(lambda line: line.startswith("#"), run("tables", table["name"])[0].split("\n"))
    text = " ".join(line.lstrip("# ") for line in comment)
    end = re.compile(r"\.(?= [A-Z]|$)").search(text, len(title))
    return text[: end.end()] if text.startswith(title) and end else title


def heading(table):
    """The model, with which the title begins, and the name of the table: "GPT-2. Radford" -> "GPT-2 (gpt2)"."""
    model = re.split(r"[:.;] |\.$", table["title"] or "")[0]
    is_name = 0 < len(model) <= LONGEST_HEADING
    return html.escape(f"{model} ({table['name']})" if is_name else table["name"])


def page_title(kind, file, tables):
    """The words of the name of a file as the titles of its tables spell them: gpt2 -> GPT-2, qwen_vl -> Qwen VL."""
    titles = " ".join(table["title"] or "" for table in tables)
    words = []
    for word in file.removeprefix(kind + "_").split("_"):
        spelt = re.findall(r"\b" + "[-. ]?".join(map(re.escape, word)), titles, flags=re.IGNORECASE)
        words.append(collections.Counter(spelt).most_common(1)[0][0] if spelt else word)
    return html.escape(" ".join(words))


def table_section(table):
    """The section of a table: what it is, and its formulas, or why it has none of its own."""
    name = table["name"]
    lines = [f"## {heading(table)} {{: #{name} }}", "", html.escape(whole_title(table)), ""]
    if table["model_types"]:
        lines += ["`model_type`: " + ", ".join(f"`{word}`" for word in table["model_types"]), ""]
    markdown, message = run("derive", name, "--latex", "--format", "markdown")
    setting = re.search(r"^hint: .*such as --set ([^ \n]+)", message, flags=re.MULTILINE)
    if markdown is None and setting:  # a table of many models, each with a formula of its own
        markdown, _ = run("derive", name, "--latex", "--format", "markdown", "--set", setting.group(1))
        lines += [f"With `--set {setting.group(1)}`:", ""] if markdown else []
    if markdown is None:
        hint = re.search(r"^hint: (.*)$", message, flags=re.MULTILINE)
        lines += ["No formula: " + (hint or re.search(r": (.*)", message)).group(1), ""]
    else:
        lines += [formula_tables(markdown), ""]
    return "\n".join(lines)


def write_catalogue():
    """A page for each file of tables, and an index of all tables."""
    tables = json.loads(run("tables", "--json")[0])["tables"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sections = dict(zip((table["name"] for table in tables), pool.map(table_section, tables)))
    pages = collections.defaultdict(list)
    for table in tables:
        pages[table["kind"], table["file"].removesuffix(".shapes")].append(table)
    index = [
        "# Tables\n",
        f"shapeproof has {len(tables):,} tables. Each section has the number of parameters of a table as a formula of "
        "its hyper-parameters. [Formulas](../formulas.md) explains how the formulas are found.\n",
    ]
    for kind in sorted({kind for kind, _ in pages}):
        index.append(f"\n## {kind}\n")
        for table in tables:
            if table["kind"] == kind:
                page = f"{kind}-{table['file'].removesuffix('.shapes')}.md"
                title = html.escape(whole_title(table))
                index.append(f"- [{table['name']}]({page}#{table['name']}): {title}")
        index.append("")
    write("catalogue/index.md", "\n".join(index))
    for (kind, file), listed in pages.items():
        text = f"# {kind}: {page_title(kind, file, listed)}\n\n[All tables](index.md#{kind})\n\n"
        write(f"catalogue/{kind}-{file}.md", text + "\n".join(sections[table["name"]] for table in listed))


# ---- reports ----

REPORTS = [
    ("check.html", "A GPT-2 that lacks biases and stores its head twice", "check fixtures/models/odd-gpt2"),
    ("match.html", "A Llama that is as its configuration says", "check fixtures/models/tiny-llama"),
    ("diff.html", "The two GPT-2 side by side", "diff fixtures/models/tiny-gpt2 fixtures/models/odd-gpt2"),
    ("inspect.html", "A checkpoint in shards", "inspect fixtures/models/tiny-gpt2-sharded"),
    ("groups.html", "The formula of each group", "inspect --by group fixtures/models/tiny-gpt2"),
    (
        "prove.html",
        "A published formula about a file that differs",
        "prove --checkpoint fixtures/models/odd-gpt2 --claim total=12*L*d^2+13*L*d+V*d+P*d+2*d",
    ),
]


def write_reports():
    """A gallery: each report in a frame, below its title and the command that writes it."""
    lines = [
        "# Reports\n",
        "`--format html` writes these pages. [HTML reports](../html.md) explains them. A title opens its page.\n",
    ]
    (PAGES / "reports").mkdir()
    for name, title, words in REPORTS:
        subprocess.run([COMMAND, *words.split(), "--format", "html", "-o", PAGES / "reports" / name], check=False)
        assert (PAGES / "reports" / name).stat().st_size > 10_000, name
        lines += [f"## [{title}]({name}) {{: #{name.removesuffix('.html')} }}", ""]
        lines += [f"`shapeproof {words} --format html`", ""]
        lines += [f'<iframe class="report" src="{name}" title="{title}" loading="lazy"></iframe>', ""]
    write("reports/index.md", "\n".join(lines))


# ---- the page for browsers ----


def write_web_page():
    """A copy of the page that `make web` wrote, and a page that leads to it or says that it was not built."""
    text = "# Try it in the browser\n\n"
    if WEB.exists():
        text += (
            "[Open the page](shapeproof.html). It reads files that you drop on it, and repositories of the hub. Files "
            "do not leave your computer. [A page for browsers](../web.md) explains it.\n"
        )
    else:
        text += (
            "This copy of the site does not have the page that reads checkpoints in a browser: it was not built. "
            "`make web site` builds both. [A page for browsers](../web.md) explains it.\n"
        )
    write("try/index.md", text)
    if WEB.exists():
        shutil.copyfile(WEB, PAGES / "try" / "shapeproof.html")


adapt_pages()
write_commands()
write_catalogue()
write_reports()
write_web_page()
