// Elements from names and texts. Nothing here takes HTML, so that no text of a spec can become a part of the page.

const SVG = 'http://www.w3.org/2000/svg';
// Control and bidirectional characters, which could hide or reorder what follows; tabs and line breaks stay.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

const build = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'value') node.value = value;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

export const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

// A text as nodes, with hidden characters shown by their codes.
export const text = (value) => {
  const parts = String(value).split(new RegExp(`(${HIDDEN.source})`));
  return parts.filter(Boolean).map((part) => {
    if (!HIDDEN.test(part)) return document.createTextNode(part);
    const code = part.codePointAt(0);
    return el('span', { class: 'control' }, code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`);
  });
};

export const plural = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

const SIGNS = { correct: '✓', wrong: '✗', unparsed: '?', skipped: '–', error: '!' };

export const verdict = (word) => el('span', { class: `verdict ${word}` }, `${SIGNS[word] || ''} ${word}`);

const sent = (body) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

// The records of an answer with one JSON value on each line, as they come.
export async function* records(address, signal, body) {
  const response = await fetch(address, { ...(body ? sent(body) : {}), signal });
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answers ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

export const post = async (address, body) => {
  const response = await fetch(address, sent(body));
  const answer = await response.text();
  if (!response.ok && !answer.startsWith('{')) throw new Error(answer.trim());
  return JSON.parse(answer);
};
