"""Opens a page in headless Chromium, as a person would, and says what came of it: for tests, and for the README's pictures.

    browser.py [--width N] [--dark] [--print] [--run JS | --keys KEY,...]... [--shot FILE [--of SELECTOR]] PAGE

Prints a JSON object: errors (what the console said), requests (what was asked for over a network), text (what is seen), ready
(milliseconds until <html> had data-ready), results (of each JS, and for keys what has the focus then). Speaks the DevTools protocol through two pipes.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PATIENCE = 600  # seconds: a guard against what hangs, and never a claim


class Browser:
    def __init__(self, profile):
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()
        program = shutil.which("chromium") or shutil.which("chromium-browser")

        def pipes():  # the protocol's are 3 and 4; where ours are 3 and 4 already, not one on top of the other
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.id, self.events, self.session = b"", 0, [], None

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.inp, 1 << 20)
            if not more:
                raise SystemExit("browser.py: error: chromium has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.id += 1
        message = {"id": self.id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.id:
                if "error" in answer:
                    raise SystemExit(f"browser.py: error: {method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return answer["exceptionDetails"] if "exceptionDetails" in answer else answer["result"].get("value")

    def press(self, keys):
        """As by hand: "Tab", "Enter", "Shift+ArrowLeft", "x"."""
        for key in keys.split(","):
            shift, key = (8, key[6:]) if key.startswith("Shift+") else (0, key)
            code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "/": 191, "-": 189}.get(key, ord(key[0].upper()))
            text = {} if len(key) > 1 and key != "Enter" else {"text": "\r" if key == "Enter" else key}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, modifiers=shift, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=shift)
        return self.run("(e => e.tagName + ' ' + (e.getAttribute('aria-label') || e.textContent).slice(0, 40))(document.activeElement)")

    def open(self, page, width, dark, media):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 640)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(page))
        while time.monotonic() < begin + PATIENCE and not self.run("document.documentElement?.dataset.ready"):
            time.sleep(0.05)
        return round((time.monotonic() - begin) * 1000)

    def shot(self, path, selector):
        more = {}
        if selector:
            box = self.run(f"(r => [r.x + scrollX, r.y + scrollY, r.width, r.height])(document.querySelector('{selector}').getBoundingClientRect())")
            more["clip"] = dict(zip(("x", "y", "width", "height"), box), scale=1)
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, **more) if selector else self.whole()
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "scale": 1})

    def close(self):
        self.session = None
        self.call("Browser.close")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def said(self):
        errors, requests = [], []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                errors.append(details.get("exception", {}).get("description") or details["text"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                errors.append(" ".join(str(a.get("value")) for a in params["args"]))
            elif event.get("method") == "Log.entryAdded":
                errors.append(params["entry"]["text"])
            elif event.get("method") == "Network.requestWillBeSent":
                requests.append(params["request"]["url"])
        return errors, [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--run", action="append", default=[], metavar="JS", type=lambda script: (Browser.run, script))
    parser.add_argument("--keys", action="append", dest="run", metavar="KEYS", type=lambda keys: (Browser.press, keys))
    parser.add_argument("--shot", metavar="FILE")
    parser.add_argument("--of", metavar="SELECTOR")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            ready = browser.open(args.page, args.width, args.dark, "print" if args.print else "")
            results = [act(browser, what) for act, what in args.run]
            text = browser.run("document.body.innerText")
            if args.shot:
                time.sleep(0.3)  # transitions
                browser.shot(args.shot, args.of)
            errors, requests = browser.said()
        finally:
            browser.close()
    print(json.dumps({"errors": errors, "requests": requests, "ready": ready, "results": results, "text": text}))


if __name__ == "__main__":
    main()
