// Starts `dia lsp` for workspaces with a benchmark.yaml.
"use strict";

const vscode = require("vscode");
const {LanguageClient, TransportKind} = require("vscode-languageclient/node");
const {serverPath} = require("./server_path");

let client;

/** Start the server, and say what to do if it cannot be started. */
async function start() {
  const settings = vscode.workspace.getConfiguration("dia");
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  const command = serverPath(settings.get("path"), folders);
  const args = settings.get("allowPrograms") ? ["lsp", "--allow-programs"] : ["lsp"];
  const server = {command, args, transport: TransportKind.stdio, options: {cwd: folders[0]}};
  const options = {documentSelector: [{scheme: "file", language: "yaml"}]};
  client = new LanguageClient("dia", "dia", server, options);
  try {
    await client.start();
  } catch (error) {
    const help = "Install dia with its extra `editor`, or set `dia.path` to the program.";
    vscode.window.showErrorMessage(`${command} lsp cannot be started: ${error.message}. ${help}`);
  }
}

/** End the server. */
async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

/** Called by VS Code when a workspace with a benchmark.yaml is opened. */
async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  const onChange = (change) => (change.affectsConfiguration("dia") ? restart() : undefined);
  context.subscriptions.push(
    vscode.commands.registerCommand("dia.restart", restart),
    vscode.workspace.onDidChangeConfiguration(onChange),
  );
  await start();
}

module.exports = {activate, deactivate: stop};
