"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const {serverPath} = require("./server_path");

function program(...parts) {
  const file = path.join(...parts);
  fs.mkdirSync(path.dirname(file), {recursive: true});
  fs.writeFileSync(file, "", {mode: 0o755});
  return file;
}

test("the setting wins, then an environment in a folder, then the PATH", () => {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), "dia-"));
  const [first, second] = [path.join(top, "first"), path.join(top, "second")];
  assert.equal(serverPath("", [], false), "dia");
  assert.equal(serverPath("", [first, second], false), "dia");
  const later = program(second, "venv", "bin", "dia");
  assert.equal(serverPath("", [first, second], false), later);
  const near = program(first, ".venv", "bin", "dia");
  assert.equal(serverPath("", [first, second], false), near);
  assert.equal(serverPath("/opt/dia", [first, second], false), "/opt/dia");
  fs.chmodSync(near, 0o644); // no program
  assert.equal(serverPath("", [first, second], false), later);
  const windows = program(first, ".venv", "Scripts", "dia.exe");
  assert.equal(serverPath("", [first, second], true), windows);
  fs.rmSync(top, {recursive: true});
});
