# SPDX-License-Identifier: Apache-2.0
"""Servers on the loopback that want a password: git's over HTTP, a registry of containers, and one of
cargo's packages."""

import base64
import http.server
import json
import os
import pathlib
import socket
import subprocess
import threading

import world

DOCKER = world.TOP / ".deps/docker/usr/bin"


class LoopbackServer:
    """Answers requests of HTTP until it is stopped."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @staticmethod
    def send(request, status, fields=(), content=b""):
        request.send_response(status)
        for name, value in dict(fields).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)


class GitServer(LoopbackServer):
    """`git http-backend` behind a password, with one repository."""

    USER = "me"

    def __init__(self, folder, password):
        self.folder = pathlib.Path(folder)
        self.password = password
        # The passwords of requests that were refused; git gives an empty one before it asks for any.
        self.refused = []
        world.run("git", "init", "-q", "--bare", self.folder / "repo.git")
        world.run("git", "-C", self.folder / "repo.git", "config", "http.receivepack", "true")
        super().__init__()

    def address(self, user=USER):
        return f"http://{user + '@' if user else ''}127.0.0.1:{self.port}/repo.git"

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        wanted = "Basic " + base64.b64encode(f"{self.USER}:{self.password}".encode()).decode()
        given = request.headers.get("Authorization")
        if given != wanted:
            password = base64.b64decode((given or "").removeprefix("Basic ")).partition(b":")[2]
            if password:
                self.refused.append(password.decode())
            self.send(request, 401, {"WWW-Authenticate": 'Basic realm="git"'})
            return
        path, _, query = request.path.partition("?")
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, check=True, env={
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.folder), "PATH_INFO": path,
            "GIT_HTTP_EXPORT_ALL": "1", "QUERY_STRING": query, "REQUEST_METHOD": request.command,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""), "REMOTE_USER": self.USER,
            "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING":
            request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", "")})
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send(request, int(fields.pop("Status", "200").split()[0]), fields, content)


class CargoRegistry(LoopbackServer):
    """A registry of cargo's with no packages, which tells even that to one token only."""

    TOKEN = "carg0-token"

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def answer(self, request):
        if request.headers.get("Authorization") != self.TOKEN:
            self.send(request, 401, {"WWW-Authenticate": "Cargo"})
        elif request.path == "/index/config.json":
            found = {"dl": self.address, "api": self.address, "auth-required": True}
            self.send(request, 200, content=json.dumps(found).encode())
        elif request.path.startswith("/api/v1/crates?"):
            self.send(request, 200, content=b'{"crates":[],"meta":{"total":0}}')
        else:
            self.send(request, 404)


class Registry:
    """A registry of containers with one user."""

    USER, PASSWORD = "me", "r3gistry-pass"
    ENTRY = "me:$2b$04$abcdefghijklmnopqrstuuhoxnet.ieHfN0UDlduCbLDgTLVT7kCK"

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (folder / "passwords").write_text(self.ENTRY + "\n")
        (folder / "config.yml").write_text(
            "version: 0.1\nlog: {level: error}\nstorage: {inmemory: {}}\n"
            f"http: {{addr: '127.0.0.1:{self.port}'}}\n"
            f"auth: {{htpasswd: {{realm: test, path: {folder}/passwords}}}}\n")
        self.process = subprocess.Popen(
            [DOCKER / "docker-registry", "serve", folder / "config.yml"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(folder / "log", "w"))
        world.wait_for(self._listens, "the registry to listen")

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait(world.PATIENCE)
