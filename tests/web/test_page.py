# SPDX-License-Identifier: MIT
"""The page of `make web` in Chromium: python3 tests/web/test_page.py PAGE COMMAND CHROMIUM. Run by tests/web.sh."""

import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import browser
import server

page, command, chromium = sys.argv[1:4]
work = tempfile.mkdtemp()
passed = failed = 0


def expect(what, is_true, detail=""):
    global passed, failed
    if is_true:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}\n{str(detail)[:2000]}")


def write_safetensors(path, tensors, size):
    """A file whose data is a hole: tensors are (name, dtype, shape, bytes)."""
    header, at = {}, 0
    for name, dtype, shape, length in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + length]}
        at += length
    assert at == size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + size)


def native(folder, *args):
    """What the command of this machine prints."""
    return subprocess.run([command, *args], cwd=folder, capture_output=True, text=True, encoding="utf-8",
                          check=False).stdout


def test_files(b):
    fixture = "fixtures/models/odd-gpt2"
    b.choose("#files", [f"{fixture}/model.safetensors", f"{fixture}/config.json"])
    expect("a file with its configuration is checked: status", b.status() == 1, b.text("messages"))
    expected = native(fixture, "check", "--format", "html", "model.safetensors")
    expect("and the report is that of the command", b.report() == expected, b.report())
    b.wait("document.getElementById('report').hidden === false")
    expect("the frame has no rights of the page",
           b.evaluate("document.getElementById('report').getAttribute('sandbox')") == "allow-scripts")
    expect("and its script ran", "Map of the tensors" in wait_for_report(b, "Map of the tensors"))

    b.click("#inspect")
    expect("the same file inspected", b.status() == 0, b.text("messages"))
    expect("as the command does", b.report() == native(fixture, "inspect", "--format", "html", "model.safetensors"))

    with open(f"{fixture}/config.json", encoding="utf-8") as file:
        b.fill("config", file.read())
    b.choose("#files", [f"{fixture}/model.safetensors"])
    expect("a file with a pasted configuration is checked", b.status() == 1, b.text("messages"))
    expect("with the same findings", "attn.c_attn.bias" in b.report())
    b.fill("config", "")

    b.choose("#files", [f"{fixture}/model.safetensors"])
    expect("a file without a configuration is inspected", b.status() == 0, b.text("messages"))
    b.click("#check")
    expect("checked, it needs one", b.status() == 5 and "paste the config.json" in b.text("messages"),
           b.text("messages"))
    b.choose("#files", [f"{fixture}/config.json"])
    expect("a configuration that follows is for it", b.status() == 1 and "attn.c_attn.bias" in b.report(),
           b.text("messages"))
    b.fill("config", "")

    for path in ("torch/ok/deflated.pt", "torch/ok/legacy.pt", "gguf/ok/aligned.gguf", "gguf/ok/big_endian.gguf"):
        folder, name = os.path.split(os.path.join("fixtures", path))
        b.choose("#files", [os.path.join(folder, name)])
        expect(f"{path} is read", b.status() == 0, b.text("messages"))
        expect("as the command does", b.report() == native(folder, "inspect", "--format", "html", name))
    b.choose("#files", ["fixtures/hdf5/ok/plain.h5"])
    expect("HDF5 is refused", b.status() == 4, b.evaluate("document.body.dataset.status"))
    expect("and the page says so", "HDF5 cannot be read in a browser" in b.text("messages"), b.text("messages"))


def wait_for_report(b, text, seconds=20):
    """The page in the frame as HTML, once it has the text, or whatever it has after that time."""
    end = time.monotonic() + seconds
    while True:
        frame = b.in_report("document.documentElement ? document.documentElement.outerHTML : ''")
        if text in frame or time.monotonic() > end:
            return frame
        time.sleep(0.05)


def test_drop(b):
    files = [os.path.abspath(f"fixtures/models/odd-gpt2/{name}") for name in ("model.safetensors", "config.json")]
    b.drop(files)
    expect("files are dropped", b.status() == 1 and b.text("subject") == "model.safetensors", b.text("messages"))
    b.drop([os.path.abspath("fixtures/models/odd-gpt2")])
    expect("a folder is dropped", b.status() == 1 and b.text("subject") == "odd-gpt2", b.text("messages"))
    expect("and the report is that of the command", b.report() == native("fixtures/models", "check", "--format",
                                                                       "html", "odd-gpt2"))

    # What a browser gives of an empty folder; Chromium does not reliably take the drag of one from its own protocol.
    b.evaluate("delete document.body.dataset.status")
    b.evaluate("takeDropped({items: [{webkitGetAsEntry: () => ({name: 'empty', isFile: false, createReader: () => "
               "({readEntries: give => give([])})})}]})")
    expect("an empty folder is an error", b.status() == -1 and "no file" in b.text("messages"), b.text("messages"))


def test_stop(b):
    b.fill("table", "")
    b.fill("settings", "")
    b.click("[name=prove]")  # all claims that are built in: several seconds
    b.evaluate("document.getElementById('stop').click()")
    b.wait("document.getElementById('status').textContent === 'Stopped.'")
    b.click("#check")
    expect("after a stop, the dropped folder can be checked", b.status() == 1, b.text("messages"))


def test_folder(b):
    top = os.path.join(work, "sharded")
    os.mkdir(top)
    index = {"metadata": {"total_size": 12}, "weight_map": {}}
    for shard in (1, 2, 3):
        name = f"model-0000{shard}-of-00003.safetensors"
        write_safetensors(os.path.join(top, name), [(f"layers.{shard - 1}.weight", "F32", [1], 4)], 4)
        index["weight_map"][f"layers.{shard - 1}.weight"] = name
    with open(os.path.join(top, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    b.choose("#folder", [top])
    expect("a folder of shards is read", b.status() == 0, b.text("messages"))
    expect("as the command does", b.report() == native(work, "inspect", "--format", "html", "sharded"))

    # A pasted configuration has a folder of its own, whatever the dropped ones are called.
    shutil.copytree("fixtures/models/odd-gpt2", os.path.join(work, "pasted"))
    for command_name, status in (("check", 1), ("inspect", 0)):
        if command_name == "check":
            b.fill("config", '{"model_type": "gpt2", "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, '
                             '"vocab_size": 64}')
        b.choose("#folder", [os.path.join(work, "pasted")])
        b.status()
        b.click("#" + command_name)
        expect(f"{command_name} of a folder with that name", b.status() == status, b.text("messages"))
        b.fill("config", "")


def test_large(b):
    size, layers = 5 << 30, 160
    rows = size // layers // 2 // 1024
    path = os.path.join(work, "large.safetensors")
    write_safetensors(path, [(f"layers.{i}.weight", "BF16", [rows, 1024], rows * 2048) for i in range(layers)],
                      rows * 2048 * layers)
    before = time.monotonic()
    b.choose("#files", [path])
    expect("a file of 5 GB is read", b.status() == 0, b.text("messages"))
    seconds = time.monotonic() - before
    read = int(re.search(r"([\d,]+) bytes read", b.text("status"))[1].replace(",", ""))
    expect("by at most 256 KiB", read <= 256 << 10, read)
    print(f"5 GB: {read} bytes read, {seconds:.2f} s")
    os.remove(path)


def test_hostile(b):
    names = ["<script>alert(1)</script>.w", "</script><img src=x onerror=alert(2)>", "\"><svg onload=alert(3)>&lt;'",
             "<!--<script>\u2028\u202e\u0007", "</iframe><script>parent.document.title='broken into'</script>"]
    path = os.path.join(work, "--config=<img src=x onerror=alert(4)>.safetensors")
    write_safetensors(path, [(name, "U8", [1], 1) for name in names], len(names))
    b.choose("#files", [path])
    expect("hostile names are read", b.status() == 0, b.text("messages"))
    wait_for_report(b, "Map of the tensors")
    expect("they are text in the report", b.in_report(
        "document.querySelectorAll('img, iframe, [onerror], [onload]').length + "
        "[...document.scripts].filter(script => /alert|broken/.test(script.text) && !script.type).length") == 0)
    expect("and in the page", not b.evaluate("document.querySelectorAll('img, svg, main script').length"))
    expect("nothing of them ran", b.evaluate("document.title") == "shapeproof")
    # The policies hold where escaping would fail: a script in a report does not run.
    b.evaluate("document.getElementById('report').srcdoc = '<p>changed<script>document.body.id = \"ran\"</script>'")
    frame = wait_for_report(b, "changed")
    expect("another script in the frame is refused", "changed" in frame and 'id="ran"' not in frame, frame)
    expect("by the policy", any("Content Security Policy" in line for line in b.console), b.console)
    b.console.clear()


def test_forms(b, base):
    # What the empty fields show as examples is right.
    for name in ("table", "settings", "claims", "expressions"):
        b.fill(name, b.evaluate(f"document.getElementById('{name}').placeholder"))
    for name in ("derive", "predict", "prove", "eval"):
        b.click(f"[name={name}]")
        expect(f"the examples of {name} hold", b.status() == 0, b.text("text") + b.text("messages"))
    b.fill("claims", "")
    b.fill("expressions", "")
    b.fill("table", "gpt2")
    b.fill("settings", "n_layer=3\nn_embd=64")
    for name in ("derive", "predict"):
        b.click(f"[name={name}]")
        expect(name, b.status() == 0, b.text("messages"))
        expected = native(".", name, "--set=n_layer=3", "--set=n_embd=64", "gpt2")
        expect(f"{name} prints what the command prints", b.text("text") == expected, b.text("text"))
    b.fill("claims", "total = 12*L*d^2")
    b.click("[name=prove]")
    expect("a false claim is refuted", b.status() == 1, b.text("text"))
    link = b.evaluate("location.hash")
    b.open(base + link)
    expect("the link of it leads to the same answer", b.status() == 1, b.text("text"))
    expect("with the forms filled in", b.evaluate("document.getElementById('claims').value") == "total = 12*L*d^2")
    expressions = ["[attention]/total", "cache(tokens=1024, batch=1, dtype=bf16)"]
    b.fill("expressions", "\n".join(expressions))
    b.click("[name=eval]")
    expected = native(".", "eval", "--set=n_layer=3", "--set=n_embd=64", "gpt2", *expressions)
    expect("expressions are evaluated", b.status() == 0 and b.text("text") == expected,
           b.text("text") + b.text("messages"))
    b.open(base + b.evaluate("location.hash"))
    expect("also by a link", b.status() == 0 and b.text("text") == expected, b.text("text"))
    b.fill("table", "")
    b.fill("config", '{"model_type": "gpt2", "n_layer": 5}')
    b.fill("settings", "")
    b.click("[name=eval]")
    with open(os.path.join(work, "config.json"), "w", encoding="utf-8") as file:
        file.write('{"model_type": "gpt2", "n_layer": 5}')
    expected = native(work, "eval", "--config", "config.json", *expressions)
    expect("also of a pasted configuration", b.status() == 0 and b.text("text") == expected,
           b.text("text") + b.text("messages"))
    b.open(base + b.evaluate("location.hash"))
    expect("also by a link", b.status() == 0 and b.text("text") == expected, b.text("text") + b.text("messages"))
    expect("which shows the configuration", b.evaluate("document.getElementById('pasting').open"))
    b.fill("config", "")
    b.click("[name=derive]")
    expect("no table and no configuration", b.status() == -1 and "Name a table" in b.text("messages"),
           b.text("messages"))
    b.choose("#files", ["fixtures/models/odd-gpt2/config.json"])
    expected = native("fixtures/models/odd-gpt2", "predict", "--config", "config.json")
    expect("a configuration alone is predicted", b.status() == 0 and b.text("text") == expected,
           b.text("text") + b.text("messages"))
    b.fill("config", "")
    b.fill("table", "no such table")
    b.click("[name=derive]")
    expect("an unknown table is an error", b.status() > 0 and "no such table" in b.text("messages"),
           b.text("messages"))


def test_keyboard(b):
    """Each control can be reached by Tab, has a name, and Enter in the name of a table derives its formula."""
    names = b.evaluate("""[...document.querySelectorAll('input, textarea, button, summary')].map(control =>
        control.closest('label') || control.labels?.[0] || control.textContent.trim() ? '' : control.id).join('')""")
    expect("each control has a name", names == "", names)
    expect("and none is left out by Tab", not b.evaluate("document.querySelectorAll('[tabindex=\"-1\"]').length"))
    b.fill("table", "gpt2")
    b.evaluate("document.getElementById('table').focus(); delete document.body.dataset.status")
    for kind in ("keyDown", "keyUp"):
        b.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    expect("Enter derives", b.status() == 0 and b.text("text") == native(".", "derive", "gpt2"), b.text("text"))


def test_narrow(b):
    b.call("Emulation.setDeviceMetricsOverride", width=375, height=700, deviceScaleFactor=2, mobile=True)
    width = b.evaluate("document.documentElement.scrollWidth")
    expect("a telephone shows the page without scrolling sideways", width <= 375, width)
    b.call("Emulation.clearDeviceMetricsOverride")


def test_hub(b, local, base):
    hub = os.path.join(local.hub, "org", "model")
    shutil.copytree("fixtures/models/odd-gpt2", hub)
    write_safetensors(os.path.join(hub, "extra.safetensors"), [("w", "U8", [1 << 24], 1 << 24)], 1 << 24)
    os.remove(os.path.join(hub, "extra.safetensors"))
    address = base.rsplit("/", 1)[0]
    b.fill("repository", f"{address}/org/model")
    b.click("#hub button")
    expect("a repository is checked", b.status() == 1, b.text("messages"))
    expect("with the findings of the command", "attn.c_attn.bias" in b.report(), b.report())
    read = int((re.search(r"([\d,]+) bytes read", b.text("status")) or ["", "0"])[1].replace(",", ""))
    expect("all that is fetched is counted", read >= os.path.getsize(f"{hub}/model.safetensors"), b.text("status"))

    # A folder and a file of a repository, by the addresses that the hub's own pages have.
    deep = os.path.join(local.hub, "org", "deep", "a", "b")
    shutil.copytree("fixtures/models/odd-gpt2", deep)
    shutil.copy("fixtures/gguf/ok/aligned.gguf", os.path.join(local.hub, "org", "deep", "model.gguf"))
    for place, subject in (("tree/main/a/b", "a/b"), ("blob/main/a/b/model.safetensors?x=1", "a/b/model.safetensors")):
        before = len(local.requests)
        b.fill("repository", f"{address}/org/deep/{place}")
        b.click("#hub button")
        expect(f"{place} is checked", b.status() == 1 and b.text("subject") == f"org/deep/{subject}",
               b.text("subject") + b.text("messages"))
        expect("and nothing else is fetched", not any("gguf" in path for path in local.requests[before:]))

    # A header beyond what is fetched at first: the rest is fetched while the command reads.
    long = os.path.join(local.hub, "org", "long")
    os.mkdir(long)
    count = 5000
    write_safetensors(os.path.join(long, "model.safetensors"),
                      [(f"layers.{i}.weight", "U8", [1 << 20], 1 << 20) for i in range(count)], count << 20)
    before = local.sent
    b.fill("repository", f"{address}/org/long/tree/main")
    b.click("#hub button")
    status = b.status()
    b.click("#inspect")
    expect("a header of several ranges is read", b.status() == 0, f"{status} {b.text('messages')}")
    expect("with all its tensors", "5,000" in b.report(), b.report())
    expect("and little more is fetched", local.sent - before < 1 << 20, local.sent - before)

    local.ranges = False
    b.fill("repository", f"{address}/org/model")
    b.click("#hub button")
    expect("a server without ranges is refused", b.status() == -1 and "range" in b.text("messages"),
           b.text("messages"))
    local.ranges = True
    for text, reason in ((f"{address}/org/none", "404"), (f"{address}/org/deep/tree/main/c", "has no c"),
                         (f"{address}/org/deep/tree/%zz", "is no repository"), ("", "is no repository"),
                         ("javascript:alert(1)", "is no repository"),
                         ("https://example.org/org/model", "is not on")):
        b.fill("repository", text)
        b.click("#hub button")
        expect(f"{text} is refused", b.status() == -1 and reason in b.text("messages"), b.text("messages"))
    b.console[:] = [line for line in b.console if "404" not in line]


def main():
    size = os.path.getsize(page)
    packed = len(gzip.compress(open(page, "rb").read(), 9))
    expect("the page has less than 6 MB compressed", packed < 6_000_000, packed)
    print(f"page: {size} bytes, {packed} with gzip")

    hub = os.path.join(work, "hub")
    os.makedirs(os.path.join(hub, "org"))
    local, address = server.start(page, hub)
    base = address + "/shapeproof.html"
    b = browser.Browser(chromium, os.path.join(work, "profile"))
    try:
        b.open(base)
        print(b.text("status"))
        test_files(b)
        test_drop(b)
        test_stop(b)
        test_folder(b)
        test_large(b)
        before = len(local.requests)
        test_hostile(b)
        test_forms(b, base)
        test_keyboard(b)
        test_narrow(b)
        expect("nothing was requested meanwhile but the page", set(local.requests[before:]) <= {"/shapeproof.html"},
               local.requests[before:])
        test_hub(b, local, base)
        expect("the console is silent", not b.console, "\n".join(b.console))
        b.open("file://" + os.path.abspath(page))
        b.choose("#files", ["fixtures/models/odd-gpt2/model.safetensors"])
        expect("the page works as a file", b.status() == 0, b.text("messages"))
    finally:
        b.close()
        shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
