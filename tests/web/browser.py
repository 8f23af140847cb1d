# SPDX-License-Identifier: MIT
"""Chromium without a window. It is driven through the DevTools protocol over two pipes, in messages of JSON that end
with NUL."""

import base64
import json
import os
import select
import subprocess
import time


class Failure(Exception):
    pass


class Browser:
    def __init__(self, program, profile):
        down, up = os.pipe(), os.pipe()
        options = ["--headless", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                   f"--user-data-dir={profile}", "about:blank"]
        if os.getuid() == 0:  # as in a container, where it has no sandbox
            options.insert(0, "--no-sandbox")

        def take_pipes():
            read, write = os.dup(down[0]), os.dup(up[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen([program, *options], preexec_fn=take_pipes, pass_fds=(3, 4),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(down[0])
        os.close(up[1])
        self.to, self.source = down[1], up[0]
        self.rest, self.last, self.session = b"", 0, None
        self.console = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # Frames without an origin, and workers, are targets of their own: their messages count, too.
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        for domain in ("Page", "Runtime", "Log", "DOM", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def send(self, method, session, parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.last

    def receive(self, seconds=60):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], seconds)[0]:
                raise Failure("the browser does not answer")
            data = os.read(self.source, 1 << 16)
            if not data:
                raise Failure("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Target.attachedToTarget" and self.session:
            for domain in ("Runtime", "Log"):
                self.send(domain + ".enable", parameters["sessionId"], {})
        elif method == "Runtime.consoleAPICalled":
            self.console.append(json.dumps(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.console.append(parameters["entry"]["text"])

    def call(self, method, **parameters):
        number = self.send(method, self.session, parameters)
        while True:
            message = self.receive()
            if message.get("id") == number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)
            if message.get("method") == "Target.detachedFromTarget" and self.session == message["params"]["sessionId"]:
                raise Failure(f"{method}: the page has gone away")

    # ---- a page ----

    def evaluate(self, expression, **where):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, **where)
        if "exceptionDetails" in result:
            raise Failure(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url):
        self.console.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.body && document.body.dataset.ready")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.02)
        raise Failure(f"after {seconds} s not true: {expression}\n{self.evaluate('document.body.innerText')}")

    def choose(self, selector, paths):
        """Puts files into an <input>, as the dialog of the system does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.evaluate("delete document.body.dataset.status")
        self.call("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path) for path in paths])

    def drop(self, paths):
        """Drags files onto the page and drops them there."""
        self.evaluate("delete document.body.dataset.status")
        self.evaluate("scrollTo(0, 0)")
        data = {"items": [], "files": paths, "dragOperationsMask": 1}
        for step in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=step, x=100, y=100, data=data)

    def fill(self, name, text):
        self.evaluate(f"document.getElementById({json.dumps(name)}).value = {json.dumps(text)}")

    def click(self, selector):
        self.evaluate("delete document.body.dataset.status")
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def status(self):
        """The exit status of the command, once it has one; -1 when the page could not run it."""
        return int(self.wait("document.body.dataset.status"))

    def text(self, name):
        return self.evaluate(f"document.getElementById({json.dumps(name)}).textContent")

    def report(self):
        return self.evaluate("document.getElementById('report').srcdoc")

    def in_report(self, expression, seconds=20):
        """The value of an expression in the frame of the report, which is a target of its own: it has no origin.
        A frame that loads may move to another process. Until it has arrived there, it is nowhere to be found, or it
        goes away in between: the search is repeated."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.evaluate_in_frame(expression)
            except Failure:
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def evaluate_in_frame(self, expression):
        for target in self.call("Target.getTargets")["targetInfos"]:
            if target["type"] == "iframe":
                outer = self.session
                try:
                    self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                             flatten=True)["sessionId"]
                    return self.evaluate(expression)
                finally:
                    self.session = outer
        # It may be in the process of the page: then it has its own world of scripts.
        frames = self.call("Page.getFrameTree")["frameTree"].get("childFrames")
        if not frames:
            raise Failure("the page has no frame for a report")
        world = self.call("Page.createIsolatedWorld", frameId=frames[0]["frame"]["id"])["executionContextId"]
        return self.evaluate(expression, contextId=world)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
