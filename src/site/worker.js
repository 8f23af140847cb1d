/* SPDX-License-Identifier: MIT
 * Browsers start no worker for a page that is a file. There the search runs in a hidden frame instead, which has the
 * interface of a worker as far as the theme uses it: messages in both directions, and importScripts. */
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            this.inside = frame.contentWindow;
            addEventListener("message", (event) => {
                if (event.source === this.inside) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
            });
            this.ready = new Promise((resolve) => (this.inside.resolveReady = resolve));
            this.inside.document.open();
            this.inside.document.write(`<!doctype html><body><script>
                postMessage = parent.postMessage.bind(parent);
                importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve) => {
                    const script = document.createElement("script");
                    script.src = url;
                    script.onload = resolve;
                    document.body.append(script);
                })), Promise.resolve());
            </script><script src="${url}" onload="resolveReady()"></script></body>`);
            this.inside.document.close();
        }
        postMessage(data) {
            this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
        }
        terminate() {}
    };
}
