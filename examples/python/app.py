"""An HTTP server that knows nothing of Plimsoll, written with Python's standard library.

    python3 app.py --port 9000

GET  /primes?below=100000    counts the primes below a number; its cost grows with the number
PUT  /upload/name            accepts a file and returns its size and SHA-256
GET  /count?to=10            streams one line per number
GET  /health
"""

import argparse
import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

LARGEST = 100_000_000


def count_primes(below: int) -> int:
    sieve = bytearray([1]) * max(below, 2)
    sieve[0:2] = b"\0\0"
    n = 2
    while n * n < below:
        if sieve[n]:
            # Element by element, so that Python itself does the work.
            for multiple in range(n * n, below, n):
                sieve[multiple] = 0
        n += 1
    return sum(sieve)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/health":
            self.answer(200, {"status": "ok"})
        elif url.path == "/primes":
            below = self.number(query, "below", LARGEST)
            if below is not None:
                self.answer(200, {"below": below, "primes": count_primes(below)})
        elif url.path == "/count":
            to = self.number(query, "to", 1000)
            if to is not None:
                self.count(to)
        else:
            self.answer(404, {"error": f"there is nothing at {url.path}"})

    def do_PUT(self):
        digest = hashlib.sha256()
        size = 0
        for chunk in self.body():
            digest.update(chunk)
            size += len(chunk)
        name = urlsplit(self.path).path.removeprefix("/upload/")
        self.answer(200, {"name": name, "bytes": size, "sha256": digest.hexdigest()})

    do_POST = do_PUT

    def body(self):
        """Yields the request body, whether it has a length or is chunked."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return
        left = int(self.headers.get("content-length", 0))
        while left > 0:
            chunk = self.rfile.read(min(left, 65536))
            if not chunk:
                return
            left -= len(chunk)
            yield chunk

    def count(self, to: int):
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for n in range(1, to + 1):
            self.write_chunk(f"{n}\n".encode())
            time.sleep(0.1)
        self.write_chunk(b"")

    def write_chunk(self, data: bytes):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def number(self, query, name, largest):
        try:
            value = int(query.get(name, ""))
        except ValueError:
            value = -1
        if 0 < value <= largest:
            return value
        self.answer(400, {"error": f"{name}: must be a whole number from 1 to {largest}"})
        return None

    def answer(self, status: int, value):
        body = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9000)
    port = parser.parse_args().port
    print(f"listening on port {port}", flush=True)
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
