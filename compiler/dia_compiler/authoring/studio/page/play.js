// A conversation played with the model of the command line: its path through the graph, every turn, and the verdict.

import { el, plural, records, text, verdict } from './dom.js';
import { sessionGraph } from './plots.js';

const plays = new Map(); // by instance: a play survives a reload of the spec

const version = (instance) => JSON.stringify([instance.sessions, instance.truth]);

const label = ({ session, item }) => (item === null || item === undefined ? session : `${session}, item ${item + 1}`);

// What is known of each session so far: whether it is being asked, was asked, or was not, and which replies came.
const path = (state) => {
  const sessions = new Map();
  const came = new Set();
  const mark = (name, word) => { if (sessions.get(name) !== 'asked' || word === 'asking') sessions.set(name, word); };
  for (const record of state.records) {
    if (record.kind === 'asking') mark(record.session, 'asking');
    if (record.kind === 'turn') {
      sessions.set(record.session, record.error ? 'failed' : 'asked');
      if (record.name && record.text !== null) came.add(record.name);
    }
    if (record.kind === 'sessions') {
      sessions.clear();
      for (const one of record.sessions) mark(one.name, one.state);
    }
    if (record.kind === 'verdict') sessions.set('grading', 'asked');
  }
  return { sessions, came };
};

const reading = (record) => {
  if (!record.reading) return null;
  const { format, value, step, why } = record.reading;
  if (value === null) return el('p', { class: 'failed' }, text(`Could not be read as ${format}${why ? `: ${why}` : ''}.`));
  return el('p', { class: 'soft' }, `Read as ${format}, by the chain’s step “${step}”: `, el('code', null, text(value)));
};

const turn = (record) => [
  record.messages.map((message) => el('div', { class: 'turn' }, el('h5', null, text(message.role)), el('pre', null, text(message.content)))),
  el('div', { class: 'turn said' },
    el('h5', null, text([record.name ? `reply ${record.name}` : 'reply', `of ${record.model}`, record.seconds !== null && `${Number(record.seconds).toFixed(1)} s`,
      record.tokens !== null && plural(record.tokens, 'token')].filter(Boolean).join(', '))),
    record.error ? el('p', { class: 'failed' }, text(record.error))
      : record.text === null ? el('p', { class: 'failed' }, text(`No reply: ${record.finish_reason || 'the reply is empty'}.`)) : el('pre', null, text(record.text)),
    reading(record))];

const unasked = (session) => session.replies.filter((reply) => reply.error).map((reply) => el('p', { class: 'soft' },
  text(`${reply.name ? `Reply ${reply.name}` : `Turn ${reply.turn + 1}`}${reply.item === null ? '' : `, item ${reply.item + 1}`}: not asked, because ${reply.error}.`)));

const transcript = (state) => {
  const groups = new Map();
  const group = (one) => { if (!groups.has(label(one))) groups.set(label(one), []); return groups.get(label(one)); };
  for (const record of state.records) {
    if (record.kind === 'turn') group(record).push(turn(record));
    if (record.kind === 'sessions') for (const session of record.sessions) group({ session: session.name, item: session.item }).push(unasked(session));
  }
  return [...groups].map(([name, parts]) => el('section', { class: 'session' }, el('h5', null, text(name)), parts));
};

const pathWords = ({ sessions }) => [...sessions].filter(([name]) => name !== 'grading').map(([name, state]) => `${name} ${state}`).join(', ');

const outcome = (record) => [el('h4', null, 'Verdict'), el('p', null, verdict(record.verdict), ' ', text(record.why), record.share && ` Partial credit: ${record.share}.`),
  record.flags.length > 0 && el('p', { class: 'soft' }, text(`Flags: ${record.flags.join(', ')}`)),
  Object.keys(record.figures || {}).length > 0 && el('dl', null, Object.entries(record.figures).map(([name, value]) => [el('dt', null, text(name)), el('dd', { class: 'mono' }, text(value))]))];

const status = (state) => {
  const last = state.records.at(-1);
  if (state.isRunning) return last?.kind === 'asking' ? `Asking: ${label(last)}, turn ${last.turn + 1}…` : 'Playing…';
  if (state.isStopped) return 'Stopped.';
  return last?.kind === 'verdict' ? `Played: ${last.verdict}. Path: ${pathWords(path(state))}.` : '';
};

const content = (state, instance, name) => {
  const final = state.records.find((record) => record.kind === 'verdict');
  const failure = state.failure || state.records.find((record) => record.kind === 'failed')?.message;
  return [
    failure && el('p', { class: 'failed' }, text(failure)),
    state.version !== version(instance) && el('p', { class: 'soft' }, 'This was played with an earlier version of the template.'),
    state.records.length > 0 && [sessionGraph(state.instance.sessions, state.instance.truth_reads, `${name}, as played`, path(state)), final && outcome(final),
      el('details', { open: true }, el('summary', null, 'What was said'), transcript(state))]];
};

export const playBox = (instance, name, player) => {
  if (!player) return el('p', { class: 'soft' }, 'To play this conversation with a model, start the studio with ', el('code', null, '--model'), '.');
  const result = el('div');
  const live = el('p', { role: 'status' });
  const button = el('button', { type: 'button', 'data-key': `play ${instance.id}` });
  const draw = () => {
    const state = plays.get(instance.id);
    button.replaceChildren(...text(state?.isRunning ? 'Stop' : `${state ? 'Play again' : 'Play this conversation'} with ${player}`));
    result.replaceChildren(...(state ? content(state, instance, name).flat(Infinity).filter(Boolean) : []));
    live.replaceChildren(...text(state ? status(state) : ''));
  };
  const play = async () => {
    const before = plays.get(instance.id);
    if (before?.isRunning) { before.controller.abort(); return; }
    const state = { records: [], isRunning: true, controller: new AbortController(), instance, version: version(instance) };
    plays.set(instance.id, state);
    const show = () => { if (plays.get(instance.id) === state) state.draw(); };
    state.draw = draw;
    show();
    try {
      for await (const record of records('play', state.controller.signal, { conversation: instance.conversation })) { state.records.push(record); show(); }
    } catch (error) {
      if (state.controller.signal.aborted) state.isStopped = true;
      else state.failure = error.message;
    }
    state.isRunning = false;
    show();
  };
  button.addEventListener('click', play);
  if (plays.has(instance.id)) plays.get(instance.id).draw = draw; // of the card that is now on the page
  draw();
  return el('section', { class: 'play', 'aria-label': `Play ${name} with ${player}` }, el('h4', null, 'With a model'), el('p', null, button), live, result);
};
