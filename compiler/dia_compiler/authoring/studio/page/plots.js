// Pictures drawn as SVG: waves, the graph of sessions, and the plots of a thousand instances.

import { el, plural, svg, text } from './dom.js';

const WIDTH = 320;
const HEIGHT = 150;

const picture = (label, width, height, ...children) => svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label }, children);

export const wave = (view, name) => {
  const peaks = view.peaks;
  const step = 600 / Math.max(1, peaks.length);
  const lines = peaks.map(([low, high], place) => svg('line', { class: 'wave', x1: place * step, x2: place * step, y1: 45 - 42 * high, y2: 46 - 42 * low }));
  return picture(`Wave of ${name}: ${view.seconds} seconds at ${view.rate} Hz`, 600, 90, lines);
};

const PLAYED = { asked: '✓ ', asking: '… ', partly: '✓ ', failed: '! ', 'not asked': '– ' };

// The sessions from left to right, each after those whose replies it reads. Of a play, also the path that it took.
export const sessionGraph = (asked, truthReads, place, played) => {
  const sessions = [...asked, { name: 'grading', reads: truthReads }];
  const byName = new Map(sessions.map((session) => [session.name, session]));
  const depths = new Map();
  const depth = (name, trail = new Set()) => {
    if (!depths.has(name) && !trail.has(name)) {
      const owners = Object.values(byName.get(name).reads).filter((owner) => byName.has(owner));
      depths.set(name, Math.max(-1, ...owners.map((owner) => depth(owner, new Set([...trail, name])))) + 1);
    }
    return depths.get(name) || 0;
  };
  const columns = [];
  for (const session of sessions) (columns[depth(session.name)] ||= []).push(session.name);
  const places = new Map();
  columns.forEach((names, column) => names.forEach((name, row) => places.set(name, [10 + column * 190, 10 + row * 56])));
  const height = Math.max(...columns.map((names) => names.length)) * 56 + 6;
  const edges = sessions.flatMap((session) => Object.entries(session.reads).filter(([, owner]) => places.has(owner)).map(([reply, owner]) => ({ reply, from: owner, to: session.name })));
  const arrows = edges.map(({ reply, from, to }) => {
    const [x1, y1] = places.get(from);
    const [x2, y2] = places.get(to);
    const isTaken = played?.came.has(reply) && ['asked', 'asking', 'partly', 'failed'].includes(played.sessions.get(to));
    return [svg('path', { class: `arrow ${isTaken ? 'taken' : ''}`, d: `M${x1 + 130},${y1 + 18} L${x2 - 6},${y2 + 18}`, 'marker-end': 'url(#head)' }, svg('title', null, `${to} reads \`${reply}\` from ${from}`))];
  });
  const state = (name) => played?.sessions.get(name);
  const boxes = [...places].map(([name, [x, y]]) => [svg('rect', { class: `box ${(state(name) || '').replace(' ', '-')}`, x, y, width: 130, height: 36, rx: 5 }),
    svg('text', { x: x + 65, y: y + 22, 'text-anchor': 'middle' }, (PLAYED[state(name)] || '') + (name.length > 16 ? `${name.slice(0, 15)}…` : name))]);
  const taken = played ? `; ${[...played.sessions].map(([name, word]) => `${name}: ${word}`).join(', ') || 'nothing asked yet'}` : '';
  const words = edges.length ? edges.map(({ reply, from, to }) => `${to} reads \`${reply}\` from ${from}`).join('; ') : 'no session reads another';
  const head = svg('defs', null, svg('marker', { id: 'head', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { class: 'head', d: 'M0,0 L8,4 L0,8 z' })));
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Graph of sessions of ${place}` }, picture(`${plural(asked.length, 'session')}: ${words}${taken}`, columns.length * 190 - 40, height, head, arrows, boxes));
};

const figure = (title, caption, drawing) => el('figure', null, el('h4', null, title), drawing, el('figcaption', null, caption));

const bars = (rows, label) => {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return picture(label, WIDTH, rows.length * 20 + 4, rows.map(([name, count], row) => {
    const shown = name.length > 15 ? `${name.slice(0, 14)}…` : name;
    return [svg('text', { x: 0, y: row * 20 + 14 }, text(shown).map((node) => node.textContent)), svg('rect', { class: 'bar', x: 110, y: row * 20 + 3, width: Math.max(1, (160 * count) / most), height: 14 }),
      svg('text', { x: 114 + (160 * count) / most, y: row * 20 + 14 }, count.toLocaleString('en'))];
  }));
};

const balance = (samples) => {
  const counts = new Map();
  for (const sample of samples) counts.set(sample.text, (counts.get(sample.text) || 0) + 1);
  const rows = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 7);
  const share = (100 * (rows[0]?.[1] || 0)) / Math.max(1, samples.length);
  const caption = `${plural(counts.size, 'distinct answer')} among ${plural(samples.length, 'instance')}; ${share.toFixed(1)} % have the most common one.`;
  return figure('Answer balance', caption, bars(rows, `The most common answers: ${rows.map(([name, count]) => `${name.slice(0, 30)} ${count}`).join(', ')}`));
};

const milliseconds = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0));

const times = (samples) => {
  const sorted = samples.map((sample) => sample.seconds * 1000).sort((one, other) => one - other);
  const low = Math.log10(Math.max(0.01, sorted[0]));
  const high = Math.max(low + 0.3, Math.log10(Math.max(0.01, sorted.at(-1))));
  const bins = Array(20).fill(0);
  for (const value of sorted) bins[Math.min(19, Math.max(0, Math.floor((20 * (Math.log10(Math.max(0.01, value)) - low)) / (high - low))))] += 1;
  const most = Math.max(...bins);
  const caption = `Median ${milliseconds(sorted[Math.floor(sorted.length / 2)])} ms, 99 % below ${milliseconds(sorted[Math.floor(sorted.length * 0.99)])} ms, slowest ${milliseconds(sorted.at(-1))} ms.`;
  const marks = bins.map((count, place) => svg('rect', { class: 'bar', x: place * 16, y: HEIGHT - 20 - (110 * count) / most, width: 14, height: Math.max(count ? 1 : 0, (110 * count) / most) }));
  return figure('Time per instance', caption, picture(`Histogram of times. ${caption}`, WIDTH, HEIGHT, marks, svg('line', { class: 'rule', x1: 0, x2: WIDTH, y1: HEIGHT - 20, y2: HEIGHT - 20 }),
    svg('text', { x: 0, y: HEIGHT - 5 }, `${milliseconds(10 ** low)} ms`), svg('text', { x: WIDTH, y: HEIGHT - 5, 'text-anchor': 'end' }, `${milliseconds(10 ** high)} ms`)));
};

const freedom = (samples, draws, known) => {
  const seen = new Set();
  const points = samples.map((sample, place) => { seen.add(sample.text); return [place + 1, seen.size]; });
  const step = Math.max(1, Math.floor(points.length / 100));
  const scale = points.length || 1;
  const line = points.filter((_, place) => place % step === 0 || place === points.length - 1).map(([made, distinct]) => `${((300 * made) / scale).toFixed(1)},${(130 - (120 * distinct) / scale).toFixed(1)}`).join(' ');
  const caption = `${known ? `Possible instances: ${known}. ` : ''}${(draws[1] - draws[0]).toLocaleString('en')} of ${draws[1].toLocaleString('en')} attempts to draw them were rejected by a condition. The curve shows how the number of distinct answers grows with the number of instances.`;
  return figure('Degrees of freedom', caption, picture(`Distinct answers: ${seen.size} after ${points.length} instances`, WIDTH, HEIGHT, svg('polyline', { class: 'curve', points: line }),
    svg('line', { class: 'rule', x1: 0, x2: 300, y1: 130, y2: 130 }), svg('text', { x: 300, y: 146, 'text-anchor': 'end' }, plural(points.length, 'instance'))));
};

const percent = (share) => `${(100 * share).toFixed(0)} %`;

const probe = (record) => {
  if (!record) return figure('Shortcut', 'The search for shortcuts starts after the last instance is made.', null);
  if (record.why) return figure('Shortcut', `Not searched: ${record.why}.`, null);
  const x = (share) => 10 + 290 * share;
  const caption = `${record.is_over ? 'Over the limit: ' : ''}the best simple rule (${record.rule}) is right in ${percent(record.accuracy)} (95 % CI: ${percent(record.low)} to ${percent(record.high)}) of ${record.instances} held-out instances; the limit is ${percent(record.limit)}.`;
  return figure('Shortcut', caption, picture(caption, WIDTH, 70, svg('rect', { class: 'bar-soft', x: x(record.low), y: 14, width: Math.max(1, x(record.high) - x(record.low)), height: 20 }),
    svg('rect', { class: 'bar', x: x(record.accuracy) - 2, y: 10, width: 4, height: 28 }), svg('line', { class: 'limit', x1: x(record.limit), x2: x(record.limit), y1: 6, y2: 42 }),
    svg('line', { class: 'rule', x1: 10, x2: 300, y1: 42, y2: 42 }), svg('text', { x: 10, y: 58 }, '0 %'), svg('text', { x: x(record.limit), y: 58, 'text-anchor': 'middle' }, 'limit'), svg('text', { x: 300, y: 58, 'text-anchor': 'end' }, '100 %')));
};

export const stressPlots = (state) => (state.samples.length === 0 ? [el('p', null, 'Making instances…')]
  : [balance(state.samples), times(state.samples), freedom(state.samples, state.draws, state.freedom), probe(state.probe)]);
