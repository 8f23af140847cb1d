# SPDX-License-Identifier: MIT
"""A server with ranges, which also answers as the hub does: a listing in pages, files behind a redirect."""

import http.server
import json
import os
import re
import sys
import threading
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        with self.server.lock:
            self.server.sent += len(body)
            self.server.requests.append(self.path)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        if path == "/shapeproof.html":
            with open(self.server.page, "rb") as file:
                self.answer(200, file.read(), Content_Type="text/html; charset=utf-8")
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/main", path):
            self.list_repository(match[1], urllib.parse.parse_qs(url.query))
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/main/(.+)", path):
            self.answer(302, Location="/cdn/" + urllib.parse.quote(f"{match[1]}/{match[2]}"))
        elif path.startswith("/cdn/"):
            self.send_range(os.path.join(self.server.hub, path[5:]))
        else:
            self.answer(404)

    def list_repository(self, name, query):
        top = os.path.join(self.server.hub, name)
        if not os.path.isdir(top):
            return self.answer(404)
        entries = []
        for folder, _, files in os.walk(top):
            for file in files:
                path = os.path.join(folder, file)
                entries.append({"type": "file", "path": os.path.relpath(path, top), "size": os.path.getsize(path)})
        entries.sort(key=lambda entry: entry["path"])
        begin, size = int(query.get("cursor", ["0"])[0]), 2
        headers = {}
        if begin + size < len(entries):
            host = self.headers["Host"]
            headers["Link"] = (f'<http://{host}/api/models/{name}/tree/main?recursive=true&cursor={begin + size}>; '
                               'rel="next"')
        self.answer(200, json.dumps(entries[begin:begin + size]).encode(), **headers)

    def send_range(self, path):
        if not os.path.isfile(path):
            return self.answer(404)
        size = os.path.getsize(path)
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not match or not self.server.ranges:
            return self.answer(200, b"everything")
        begin, end = int(match[1]), min(int(match[2]) + 1, size)
        with open(path, "rb") as file:
            file.seek(begin)
            self.answer(206, file.read(end - begin), Content_Range=f"bytes {begin}-{end - 1}/{size}")


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A browser that ends, or that cancels a request, closes its connections: that is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def start(page, hub):
    server = Server(("127.0.0.1", 0), Handler)
    server.page, server.hub, server.ranges = page, hub, True
    server.lock, server.sent, server.requests = threading.Lock(), 0, []
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
