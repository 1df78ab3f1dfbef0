#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A web server's FastCGI connection whose client is slow: it brings 4,000 bytes of a form a second, until
it is cut. Arguments: SOCKET. Prints "begun" and, once it is cut, "cut"."""
import socket
import struct
import sys
import time


def record(kind, content):
    return struct.pack(">BBHHBB", 1, kind, 1, len(content), 0, 0) + content


def pair(name, value):
    return struct.pack("BB", len(name), len(value)) + name + value


variables = (pair(b"REQUEST_METHOD", b"POST") + pair(b"SCRIPT_NAME", b"/test/submit_rpc_handler.php") +
             pair(b"CONTENT_TYPE", b"application/x-www-form-urlencoded"))
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, variables) + record(4, b"") +
             record(5, b"request="))
print("begun", flush=True)
try:
    while True:
        line.sendall(record(5, b"x" * 4000))
        time.sleep(1)
except OSError:
    print("cut", flush=True)
