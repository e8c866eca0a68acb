// One instance: what the model reads, what is attached, how it is answered and how replies are read.

import { el, plural, post, text, verdict } from './dom.js';
import { playBox } from './play.js';
import { sessionGraph, wave } from './plots.js';

const LONG = 400; // characters above which a value scrolls
const typed = new Map(); // replies that were typed, by instance: they survive a reload of the spec

export const diagnostic = (entry) => {
  const place = entry.path ? `${entry.path}:${entry.line}:${entry.column}` : '';
  const lines = [];
  if (entry.source !== null && entry.source !== undefined) {
    const margin = `${String(entry.line).padStart(5)} | `;
    const start = Math.max(0, entry.column - 76); // of a long line the part around the error
    lines.push(el('pre', { tabindex: '0' }, text(`${margin}${entry.source.slice(start, start + 160).replaceAll('\t', ' ')}\n`),
      `${' '.repeat(margin.length - 2)}| ${' '.repeat(Math.max(0, entry.column - 1 - start))}^`));
  }
  return el('div', { class: `diagnostic ${entry.severity}` },
    el('p', null, el('span', { class: 'severity' }, `${entry.severity} ${entry.code}`), ' ', text(entry.message)),
    place && el('p', { class: 'soft mono' }, text(place)), lines,
    entry.help && el('p', null, 'Help: ', text(entry.help)));
};

const facts = (pairs) => el('dl', null, Object.entries(pairs).map(([name, value]) => [el('dt', null, text(name)), el('dd', { class: 'mono', tabindex: value.length > LONG && '0' }, text(value))]));

const fold = (title, key, opened, ...content) => {
  const details = el('details', { 'data-key': key, open: opened.has(key) }, el('summary', null, el('h4', null, title)), content);
  details.addEventListener('toggle', () => (details.open ? opened.add(key) : opened.delete(key)));
  return details;
};

// The pages as pictures where the server can draw them, else the browser's own viewer.
const pdf = (asset, address) => {
  const place = el('div');
  const object = () => el('object', { data: address, type: 'application/pdf', 'aria-label': `The attachment ${asset.name}` }, el('a', { href: address }, 'Open the PDF file'));
  fetch(`${address}/pages`).then((response) => response.json()).then(({ pages }) => place.replaceChildren(...(pages === 0 ? [object()]
    : Array.from({ length: pages }, (_, page) => el('img', { src: `${address}/page/${page + 1}`, alt: `Page ${page + 1} of ${asset.name}` })))))
    .catch(() => place.replaceChildren(object()));
  return place;
};

const attachment = (asset) => {
  const address = `attachment/${asset.digest}`;
  const view = asset.view;
  const title = el('h4', null, text(asset.name), el('small', { class: 'soft' }, ` ${asset.media_type}, ${asset.size}, ${asset.deliver}`));
  const parts = {
    picture: () => el('img', { src: address, alt: `The attachment ${asset.name}` }),
    pdf: () => pdf(asset, address),
    archive: () => el('div', { class: 'scroll' }, el('table', null,
      el('thead', null, el('tr', null, ['File', 'Bytes', 'Packed', ''].map((name) => el(name ? 'th' : 'td', name ? { scope: 'col' } : null, name)))),
      el('tbody', null, view.files.map((file) => el('tr', null, el('td', { class: 'mono' }, text(file.name)), el('td', null, file.size.toLocaleString('en')),
        el('td', null, file.packed.toLocaleString('en')), el('td', null, file.is_encrypted ? 'encrypted' : '')))))),
    sound: () => [wave(view, asset.name), el('audio', { controls: true, src: address, 'aria-label': `Play ${asset.name}` })],
    text: () => el('pre', { class: 'prompt', tabindex: '0' }, text(view.text), view.left ? `\n… ${view.left.toLocaleString('en')} more characters` : ''),
    bytes: () => el('pre', { class: 'prompt', tabindex: '0' }, view.rows.join('\n'), view.left ? `\n… ${view.left.toLocaleString('en')} more bytes` : ''),
  };
  return el('div', { class: 'attachment' }, title, parts[view.kind](), el('p', null, el('a', { href: address, download: asset.name }, `Save ${asset.name}`)));
};

const spellings = (rows, chains) => el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Accepted and refused spellings' }, el('table', null,
  el('thead', null, el('tr', null, ['Spelling', 'What it is', ...chains].map((name) => el('th', { scope: 'col' }, name)))),
  el('tbody', null, rows.map((row) => el('tr', null, el('td', { class: 'text mono' }, text(row.text)), el('td', null, text(row.origin)),
    chains.map((chain) => el('td', null, verdict(row.verdicts[chain]))))))));

const steps = (row) => row.steps.map((step) => el('li', null, el('code', null, step.step), ': ', step.found === null ? 'nothing' : el('code', null, text(step.found.slice(0, 200)))));

const readings = (rows) => el('ul', { class: 'readings' }, rows.map((row) => el('li', null,
  el('p', null, el('strong', null, row.chain), ' ', verdict(row.verdict), row.share !== null && ` (partial credit ${row.share})`),
  el('p', null, text(row.why), row.flags.length > 0 && ` Flags: ${row.flags.join(', ')}.`),
  el('ol', null, steps(row)))));

const replyBox = (instance) => {
  const key = `${instance.id}`;
  const result = el('div', { 'aria-live': 'polite' });
  const box = el('textarea', { spellcheck: 'false', rows: '2', 'data-key': `reply ${key}`, value: typed.get(key) || '' });
  let timer = null;
  let asked = 0;
  const read = async () => {
    const turn = ++asked;
    if (!box.value) return result.replaceChildren();
    try {
      const answer = await post('read', { reader: instance.reader, reply: box.value });
      if (turn !== asked) return undefined;
      result.replaceChildren(...(answer.readings ? [readings(answer.readings)] : answer.diagnostics.map(diagnostic)));
    } catch (error) {
      result.replaceChildren(el('p', { class: 'failed' }, String(error.message)));
    }
    return undefined;
  };
  box.addEventListener('input', () => {
    typed.set(key, box.value);
    clearTimeout(timer);
    timer = setTimeout(read, 150);
  });
  if (box.value) read();
  const put = (reply) => () => { box.value = reply; typed.set(key, reply); read(); };
  const right = instance.spellings[0];
  return el('div', { class: 'reply' }, el('label', null, 'Type a reply to see how each chain (a way to read answers) reads and grades it', box),
    right && el('button', { type: 'button', onclick: put(right.reply) }, 'Insert a correct reply'), result);
};

const conversation = (instance, name, player) => [
  el('h4', null, 'Sessions'), sessionGraph(instance.sessions, instance.truth_reads, name),
  instance.sessions.map((session) => el('section', { class: 'session' },
    el('h4', null, text(session.name)),
    el('p', { class: 'soft' }, text([Object.entries(session.reads).length
      ? `uses ${Object.entries(session.reads).map(([name, owner]) => `\`${name}\` from \`${owner}\``).join(', ')}` : 'uses no replies from other sessions', ...session.notes].join('; '))),
    session.turns.map((turn) => el('div', { class: 'turn' }, el('h5', null, text([turn.speaker, ...(turn.notes || [])].join(', '))), el('pre', null, text(turn.text)))))),
  el('h4', null, 'Grading'), el('pre', null, text(instance.truth.join('\n'))), playBox(instance, name, player)];

export const instanceCard = (instance, template, opened, player) => {
  const key = `${template.file} ${instance.item || ''} ${instance.number} ${instance.variant || ''}`;
  if (instance.diagnostics) {
    return el('article', { class: 'instance' }, el('h3', null, instance.number === null ? 'No further instance' : `Instance ${instance.number}`),
      instance.diagnostics.map(diagnostic), instance.parameters && facts(instance.parameters));
  }
  const item = instance.item ? ` of ${instance.item}` : '';
  const name = instance.variant ? `Instance ${instance.number}${item}, wording ${instance.variant}` : `Instance ${instance.number}${item}`;
  const isSession = instance.sessions.length > 0;
  const checks = template.checks || [];
  return el('article', { class: 'instance', 'aria-label': name },
    el('h3', null, text(name), el('small', null, ` ${(instance.seconds * 1000).toFixed(1)} ms`)),
    isSession ? conversation(instance, name, player) : [el('h4', null, 'What the model reads'), el('pre', { class: 'prompt', tabindex: '0' }, text(instance.content))],
    instance.attachments.length > 0 && [el('h4', null, 'Attachments'), instance.attachments.map(attachment)],
    !isSession && [el('h4', null, 'Answer'), el('p', { class: 'answer mono' }, text(instance.answer)), el('p', { class: 'soft' }, `type ${instance.type}, format ${instance.format}`)],
    instance.accept.length > 0 && el('p', null, 'Also accepted: ', instance.accept.map((form) => [el('code', null, text(form)), ' '])),
    Object.keys(instance.parameters).length > 0 && [el('h4', null, 'Parameters'), facts(instance.parameters)],
    Object.keys(instance.mistakes).length > 0 && [el('h4', null, 'Mistakes'), facts(instance.mistakes)],
    checks.length > 0 && fold(checks.length === 1 ? 'The check holds' : `All ${checks.length} checks hold`, `${key} checks`, opened,
      el('ul', null, checks.map((check) => el('li', null, el('code', null, text(check.text)), el('span', { class: 'soft' }, ` line ${check.line}`))))),
    instance.explanation && [el('h4', null, 'Explanation'), el('p', null, text(instance.explanation))],
    instance.spellings.length > 0 && fold('Accepted and refused spellings', `${key} spellings`, opened, spellings(instance.spellings, instance.chains)),
    instance.reader && replyBox(instance));
};

export const overview = (template, record) => el('p', { class: 'soft' }, [
  record.freedom && `possible instances${record.items > 1 ? ' of an item' : ''}: ${record.freedom}`, record.items > 1 && plural(record.items, 'item'), plural((template.checks || []).length, 'check'),
  plural(record.examples, 'worked example'),
].filter(Boolean).join(' · '));
