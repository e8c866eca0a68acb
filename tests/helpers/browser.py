"""Chromium, driven by Playwright from Node.js, and axe-core: for tests of pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Runs the lines of a test, which see `page`, `axe()` and `tell`, in a page of this width and on this ground.
DRIVER = """
import { chromium } from 'playwright-core';
import fs from 'fs';
const [, , executablePath, file, width, colorScheme, steps] = process.argv;
const args = process.getuid() ? [] : ['--no-sandbox'];
const browser = await chromium.launch({ executablePath, args });
const context = await browser.newContext({ viewport: { width: Number(width), height: 844 }, colorScheme });
const page = await context.newPage();
const told = {}, troubles = [];
page.on('pageerror', (error) => troubles.push(String(error)));
page.on('console', (said) => said.type() === 'error' && troubles.push(said.text()));
page.on('dialog', (dialog) => { troubles.push('dialog ' + dialog.message()); dialog.dismiss(); });
const isOwn = (url) => /^(file|data):/.test(url) || (file.startsWith('http') && url.startsWith(new URL(file).origin + '/'));
await context.route((url) => !isOwn(url.href), (route) => { troubles.push('request ' + route.request().url()); route.abort(); });
const tell = (name, value) => { told[name] = value; };
const axe = async () => {
  await page.evaluate(fs.readFileSync('node_modules/axe-core/axe.min.js', 'utf8'));
  const found = await page.evaluate(() => axe.run(document));
  return found.violations.map((one) => [one.id, one.impact, one.nodes[0].html]);
};
const started = performance.now();
await page.goto(file.startsWith('http') ? file : 'file://' + file);
if (file.endsWith('.html')) await page.waitForSelector('#rows button');
tell('milliseconds', performance.now() - started);
await new (Object.getPrototypeOf(async () => {}).constructor)('page', 'tell', 'axe', steps)(page, tell, axe);
tell('troubles', troubles);
console.log(JSON.stringify(told));
await browser.close();
"""


@dataclass(frozen=True, slots=True)
class Browser:
    """Chromium, driven from a folder with the modules that it takes."""

    folder: Path

    def __call__(self, file: Path | str, steps: str = "", width: int = 1280, ground: str = "light") -> dict[str, Any]:
        """What the steps told of a page, a file or an address; anything that it must not do is in `troubles`."""
        place = file if isinstance(file, str) else str(file.absolute())
        command = ["node", "driver.mjs", str(CHROMIUM), place, str(width), ground, steps]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def installed_browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """Chromium with what drives it, which npm installs; skips the test where that cannot be."""
    if CHROMIUM is None or not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("Chromium, node or npm is not installed")
    folder = tmp_path_factory.mktemp("browser")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "playwright-core@1", "axe-core@4"]
    here = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    try:
        done = subprocess.run(command, cwd=folder, env=here, capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm cannot reach its registry")
    if done.returncode:
        pytest.skip("npm cannot install playwright-core and axe-core")
    (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    return Browser(folder)


def serious(found: list[list[str]]) -> list[list[str]]:
    """The violations that axe-core calls serious or critical."""
    return [one for one in found if one[1] in ("serious", "critical")]
