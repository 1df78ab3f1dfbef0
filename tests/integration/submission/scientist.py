#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scientist's program, as BOINC's Python and C++ clients speak: it posts a request, with its files
if there are any, and prints what it understood of the reply, a line for each element.

Reads lines: URL ENCODING REQUEST HEARD [FILE...]
    ENCODING: "urlencoded" as the Python client has it, "multipart" as the C++ one
    REQUEST, FILE: paths of what is sent; HEARD: of where that which was understood goes

For each it prints 0: answered; 1: the reply has an error; 2: it is no reply: no XML, another HTTP
status than 200, or neither a success nor an error.
"""
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree


def multipart(request, paths):
    mark = "------------------------d74496d66958873e"
    body = b""
    fields = [("request", None, request)]
    for number, path in enumerate(paths):
        with open(path, "rb") as file:
            fields.append((f"file_{number}", path.rsplit("/", 1)[-1], file.read()))
    for name, file_name, content in fields:
        head = f'--{mark}\r\nContent-Disposition: form-data; name="{name}"'
        if file_name is not None:
            head += f'; filename="{file_name}"\r\nContent-Type: application/octet-stream'
        body += head.encode() + b"\r\n\r\n" + content + b"\r\n"
    body += f"--{mark}--\r\n".encode()
    return body, f"multipart/form-data; boundary={mark}"


def post(url, encoding, request, paths):
    if encoding == "multipart":
        body, kind = multipart(request, paths)
    else:
        body = urllib.parse.urlencode({"request": request}).encode()
        kind = "application/x-www-form-urlencoded"
    question = urllib.request.Request(url, body, {"Content-Type": kind})
    with urllib.request.urlopen(question) as answer:
        return answer.read()


def children(element):
    """The Python client's reading: one child is a value, several of a name are a list, an element
    without anything is None."""
    if len(element) == 0:
        return element.text
    found = {}
    for child in element:
        value = children(child)
        if child.tag not in found:
            found[child.tag] = value
        elif isinstance(found[child.tag], list):
            found[child.tag].append(value)
        else:
            found[child.tag] = [found[child.tag], value]
    return found


def show(path, value, heard):
    if isinstance(value, dict):
        for name, child in value.items():
            show(f"{path}/{name}", child, heard)
    elif isinstance(value, list):
        for child in value:
            show(path, child, heard)
    else:
        print(path, repr(value), file=heard)


def ask(url, encoding, request, heard, *paths):
    with open(request, "rb") as file, open(heard, "w", encoding="utf-8") as words:
        try:
            root = xml.etree.ElementTree.fromstring(post(url, encoding, file.read(), paths))
        except (urllib.error.URLError, xml.etree.ElementTree.ParseError, OSError) as error:
            print("no reply:", error, file=words)
            return 2
        reply = children(root)
        show(root.tag, reply, words)
    if isinstance(reply, dict) and "error" in reply:
        number = reply["error"].get("error_num") if isinstance(reply["error"], dict) else None
        return 1 if number not in (None, "0") else 2
    return 0


for line in sys.stdin:
    print(ask(*line.split()), flush=True)
