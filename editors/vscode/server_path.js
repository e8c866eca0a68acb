// Where the program dia is: what the user set, else the one in the folder's environment, else the one on the PATH.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const ENVIRONMENTS = [".venv", "venv"];

/** Whether a file is there and may be run. */
function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The program to start for these folders of a workspace; `isWindows` decides where environments keep programs. */
function serverPath(configured, folders, isWindows = process.platform === "win32") {
  if (configured) {
    return configured;
  }
  const program = isWindows ? ["Scripts", "dia.exe"] : ["bin", "dia"];
  const candidates = folders.flatMap((folder) => ENVIRONMENTS.map((name) => path.join(folder, name, ...program)));
  return candidates.find(isProgram) ?? "dia";
}

module.exports = {serverPath};
