// The studio: the list of templates, the chosen one, and what to do when a file changes.

import { el, plural, records, text } from './dom.js';
import { startGallery } from './gallery.js';
import { diagnostic, instanceCard, overview } from './instance.js';
import { stressPlots } from './plots.js';

const by = (id) => document.getElementById(id);
const REDRAW = 100; // milliseconds between two drawings while instances arrive
const opened = new Set(); // folds that are open, which survive a reload
const view = { file: null, seed: '', first: 0, count: 3, item: 0 };
let list = { benchmarks: [], diagnostics: [], states: {} };
let looking = null;
let stressing = null;
let shown = { diagnostics: [] };

const say = (words) => { by('status').textContent = words; };

// The list of templates

const STATES = { blocked: () => 'not checked: errors in other files', ok: () => 'no errors', waiting: () => 'checking…', warnings: (state) => plural(state.warnings, 'warning'),
  errors: (state) => [plural(state.errors, 'error'), state.warnings && plural(state.warnings, 'warning')].filter(Boolean).join(', ') };

const stateWords = (template) => {
  if (template.left_out) return ['warnings', `left out: needs ${template.left_out}`];
  const state = list.states[template.file] || { state: 'waiting' };
  return [state.state, STATES[state.state](state)];
};

const drawList = () => {
  const words = by('find').value.toLowerCase().split(/\s+/).filter(Boolean);
  const focused = document.activeElement?.dataset?.file;
  by('templates').replaceChildren(...list.benchmarks.flatMap((benchmark) => {
    const templates = benchmark.templates.filter((one) => words.every((word) => `${one.name} ${one.title} ${one.file}`.toLowerCase().includes(word)));
    return [el('h2', null, text(benchmark.name)), el('ul', null, templates.map((template) => {
      const [kind, state] = stateWords(template);
      return el('li', null, el('a', { href: `#${new URLSearchParams({ file: template.file })}`, 'data-file': template.file, 'aria-current': template.file === view.file && 'true', title: template.title },
        text(template.name), el('span', { class: `state ${kind}` }, text(state))));
    }))];
  }));
  if (focused) document.querySelector(`nav a[data-file="${CSS.escape(focused)}"]`)?.focus();
  const all = list.benchmarks.flatMap((benchmark) => benchmark.templates);
  const kinds = all.map((template) => stateWords(template)[0]);
  const count = (kind) => kinds.filter((one) => one === kind).length;
  by('counts').textContent = [plural(all.length, 'template'), `${count('errors')} with errors`, count('blocked') && `${count('blocked')} not checked`, count('waiting') && `${count('waiting')} to check`].filter(Boolean).join(', ');
};

// The chosen template

const isError = (entry) => entry.severity === 'error';

// Those of the instances shown come first; those of `dia check`, which also compares instances, follow when it is done.
const problems = () => {
  const everywhere = list.diagnostics.filter((entry) => !(list.benchmarks.flatMap((one) => one.templates).some((one) => one.file === entry.path)));
  const checked = list.states[view.file]?.diagnostics || [];
  const all = new Map([...everywhere, ...shown.diagnostics, ...checked].map((entry) => [JSON.stringify([entry.path, entry.line, entry.column, entry.code, entry.message]), entry]));
  return [...all.values()];
};

/** Say how the last look went, and how many errors are known by now. */
const sayResult = () => {
  const failed = new Set((shown.instances || []).flatMap((one) => one.diagnostics || []).map((entry) => `${entry.path} ${entry.line} ${entry.code}`));
  const errors = problems().filter(isError).length || failed.size;
  say(`${shown.words}: ${errors ? plural(errors, 'error') : 'no errors'}`);
};

const drawProblems = () => {
  const entries = problems();
  by('problem-list').replaceChildren(...(entries.length ? entries.map(diagnostic) : [el('p', { class: 'soft' }, 'None.')]));
  by('problems').hidden = entries.length === 0;
  drawSource(entries);
};

const drawSource = (entries) => {
  const lines = (shown.template?.source || '').split('\n');
  const here = entries.filter((entry) => entry.path === view.file);
  by('source-lines').replaceChildren(...lines.flatMap((line, place) => {
    const marks = here.filter((entry) => entry.line === place + 1);
    return [el('div', { class: `line ${marks.length ? 'marked' : ''}` }, el('span', null, String(place + 1)), el('span', null, text(line))),
      ...marks.map((entry) => diagnostic({ ...entry, source: null }))];
  }));
};

const drawHeading = () => {
  const template = shown.template || {};
  by('heading').replaceChildren(el('h2', null, text(template.title || template.name || view.file)),
    el('p', { class: 'soft' }, text([template.name, view.file, template.category, template.level].filter(Boolean).join(' · '))),
    ...(shown.overview ? [overview(template, shown.overview)] : []));
};

const drawInstances = () => {
  const place = document.activeElement?.dataset?.key;
  const range = place && 'selectionStart' in document.activeElement ? [document.activeElement.selectionStart, document.activeElement.selectionEnd] : null;
  by('instances').replaceChildren(...shown.instances.map((instance, place) => {
    const card = instanceCard(instance, shown.template, opened, list.player);
    card.classList.toggle('stale', place >= (shown.fresh ?? Infinity));
    if (place === shown.fresh && shown.isKept) card.prepend(el('p', { class: 'soft' }, 'Made before the last change. Fix the errors to make new instances.'));
    return card;
  }));
  const again = place && [...document.querySelectorAll('[data-key]')].find((node) => node.dataset.key === place);
  if (again) {
    (again.tagName === 'DETAILS' ? again.firstElementChild : again).focus();
    if (range) again.setSelectionRange(...range);
  }
};

const choices = () => new URLSearchParams({ file: view.file, first: String(view.first), count: String(view.count), ...(view.seed ? { seed: view.seed } : {}), ...(view.item ? { item: String(view.item) } : {}) });

/** Show the result of a look at the template. If it made no instance, those before it stay, below its errors. */
const present = (next, before, isReload, begin) => {
  const fails = next.instances.every((one) => one.diagnostics);
  const last = before.filter((one) => !one.diagnostics);
  if (fails && last.length && (isReload || next.diagnostics.some(isError))) {
    next.fresh = next.instances.length;
    next.isKept = true;
    next.instances = [...next.instances, ...last];
  }
  next.words = `${isReload ? 'Reloaded' : 'Loaded'} in ${((performance.now() - begin) / 1000).toFixed(2)} s`;
  shown = next;
  drawHeading();
  drawInstances();
  drawProblems();
  sayResult();
};

const look = async (isReload = false) => {
  looking?.abort();
  const turn = (looking = new AbortController());
  const begin = performance.now();
  const next = { diagnostics: [], instances: [], template: {}, overview: isReload ? shown.overview : null };
  const before = shown.template?.file === view.file ? shown.instances : [];
  const slow = setTimeout(() => say('Making instances…'), 300);
  let drawn = 0;
  let drawing = null;
  // Shows what is ready: the new instances, then the last ones, which are dimmed until their successors are there.
  const showReady = (diagnostics) => {
    shown = { ...next, diagnostics, instances: [...next.instances, ...before.slice(next.instances.length)], fresh: next.instances.length };
    drawHeading();
    drawInstances();
  };
  const showInstances = () => {
    drawing = null;
    drawn = performance.now();
    if (!turn.signal.aborted) showReady(shown.diagnostics);
  };
  try {
    for await (const record of records(`look?${choices()}`, turn.signal)) {
      if (turn.signal.aborted) return;
      if (record.kind === 'template') next.template = record;
      else if (record.kind === 'text') {
        showReady(record.diagnostics);
        drawProblems();
      }
      else if (record.kind === 'errors') {
        next.diagnostics.push(...record.diagnostics);
        clearTimeout(slow);
        clearTimeout(drawing);
        present(next, before, isReload, begin); // the degrees of freedom follow, which may take a second to count
      } else if (record.kind === 'overview') {
        next.overview = { freedom: next.overview?.freedom, ...record };
        drawHeading();
      } else if (record.kind === 'freedom') next.overview.freedom = record.freedom;
      else if (record.kind === 'none') next.instances.push({ number: null, diagnostics: [{ severity: 'error', code: 'E505', message: `there is no instance ${record.first}`, help: 'choose a smaller number' }] });
      else next.instances.push(record);
      if (record.kind === 'instance') drawing ??= setTimeout(showInstances, drawn + REDRAW - performance.now());
    }
  } catch (error) {
    if (turn.signal.aborted) return;
    say(`No instances: ${error.message}`);
    return;
  } finally {
    clearTimeout(slow);
    clearTimeout(drawing);
  }
  if (turn.signal.aborted) return;
  if (shown === next) drawHeading();
  else present(next, before, isReload, begin);
  by('item-choice').hidden = !(next.overview?.items > 1 || view.item);
  if (next.overview) by('item').max = String(next.overview.items - 1);
  document.body.dataset.looks = String(Number(document.body.dataset.looks || 0) + 1);
};

const stress = async () => {
  stressing?.abort();
  if (!by('stress').open || !view.file) return;
  const turn = (stressing = new AbortController());
  const state = { samples: [], draws: [0, 0], freedom: null, probe: null };
  try {
    by('plots').replaceChildren(...stressPlots(state));
    for await (const record of records(`stress?${choices()}`, turn.signal)) {
      if (turn.signal.aborted) return;
      if (record.kind === 'samples') { state.samples.push(...record.samples); state.draws = record.draws; }
      if (record.kind === 'freedom') state.freedom = record.freedom;
      if (record.kind === 'probe') state.probe = record;
      if (record.kind === 'errors') { by('plots').replaceChildren(...record.diagnostics.map(diagnostic)); return; }
      by('plots').replaceChildren(...stressPlots(state));
    }
    by('plots').dataset.done = String(state.samples.length);
  } catch (error) {
    if (!turn.signal.aborted) by('plots').replaceChildren(el('p', { class: 'failed' }, error.message));
  }
};

// What is chosen stands in the address, so that a reload of the page shows it again.

const remember = () => history.replaceState(null, '', `#${choices()}`);

const choose = () => {
  const chosen = new URLSearchParams(location.hash.slice(1));
  const file = chosen.get('file') || list.benchmarks.flatMap((one) => one.templates)[0]?.file || null;
  const isOther = file !== view.file;
  view.file = file;
  if (isOther) Object.assign(view, { seed: chosen.get('seed') || '', first: Number(chosen.get('first')) || 0, count: Number(chosen.get('count')) || view.count, item: Number(chosen.get('item')) || 0 });
  by('first').value = by('first-number').value = String(view.first);
  by('seed').value = view.seed;
  by('count').value = String(view.count);
  by('item').value = String(view.item);
  by('template').hidden = !file;
  by('empty').hidden = Boolean(file);
  drawList();
  if (isOther && file) {
    shown = { diagnostics: [], instances: [], template: {}, overview: null };
    gallery.hide();
    look();
    stress();
  }
};

const later = (() => {
  let timer = null;
  return (action) => { clearTimeout(timer); timer = setTimeout(action, 120); };
})();

const chosen = () => { remember(); later(() => { look(); stress(); }); };

by('first').addEventListener('input', () => { view.first = Number(by('first').value); by('first-number').value = by('first').value; chosen(); });
by('first-number').addEventListener('input', () => { view.first = Math.max(0, Math.min(999999, Math.floor(Number(by('first-number').value)) || 0)); by('first').value = String(view.first); chosen(); });
by('seed-range').addEventListener('input', () => { view.seed = by('seed').value = by('seed-range').value; chosen(); });
by('seed').addEventListener('input', () => { view.seed = by('seed').value; chosen(); });
by('count').addEventListener('input', () => { view.count = Number(by('count').value); chosen(); });
by('item').addEventListener('input', () => { view.item = Math.max(0, Math.floor(Number(by('item').value)) || 0); chosen(); });
by('choose').addEventListener('submit', (event) => event.preventDefault());
by('find').addEventListener('input', drawList);
by('stress').addEventListener('toggle', stress);
window.addEventListener('hashchange', choose);

const gallery = startGallery({ benchmarks: () => list.benchmarks, look: (file) => { location.hash = `#${new URLSearchParams({ file })}`; } });

const isListed = (file) => list.benchmarks.some((one) => one.templates.some((template) => template.file === file));

const listen = () => {
  const events = new EventSource('events');
  events.addEventListener('list', (event) => {
    const isFirst = list.benchmarks.length === 0;
    const wasListed = isListed(view.file);
    list = JSON.parse(event.data);
    if (isFirst) { say('Connected'); choose(); } else { drawList(); drawProblems(); }
    // a page may be opened before the list has its file
    if (!isFirst && !wasListed && isListed(view.file)) { look(); stress(); }
  });
  events.addEventListener('state', (event) => {
    const state = JSON.parse(event.data);
    list.states[state.file] = state;
    drawList();
    if (state.file === view.file && shown.words) { drawProblems(); sayResult(); }
  });
  events.addEventListener('changed', (event) => {
    const change = JSON.parse(event.data);
    for (const file of Object.keys(list.states)) if (change.whole || change.files.includes(file)) list.states[file] = { state: 'waiting' };
    drawList();
    if (view.file && (change.whole || change.files.includes(view.file))) { look(true); stress(); }
  });
  events.addEventListener('error', () => say('The studio has stopped, or cannot be reached; trying again…'));
  events.addEventListener('open', () => { if (view.file) { say('Connected'); look(true); } });
};

listen();
