// The gallery of shipped families, by category, from which a template can start.

import { el, plural, post, text } from './dom.js';

const by = (id) => document.getElementById(id);

export const startGallery = ({ benchmarks, look }) => {
  const button = by('show-gallery');
  let families = null;

  const startForm = (family) => {
    const name = el('input', { type: 'text', required: true, pattern: '[a-z][a-z0-9_]{0,63}', value: `my_${family.name}`.slice(0, 64), spellcheck: 'false', autocomplete: 'off' });
    const folder = el('select', null, benchmarks().map((one) => el('option', { value: one.folder }, one.name)));
    const result = el('p', { role: 'status' });
    const form = el('form', null, el('label', null, 'Name of the new template', name), el('label', null, 'Benchmark', folder), el('button', { type: 'submit' }, 'Create'), result);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      try {
        const answer = await post('start', { family: family.file, name: name.value, folder: folder.value });
        if (answer.diagnostics) throw new Error(answer.diagnostics.map((entry) => [entry.message, entry.help].filter(Boolean).join('; ')).join('\n'));
        result.className = '';
        result.replaceChildren('Created ', el('code', null, text(answer.files.join(', '))), '. ', el('a', { href: `#${new URLSearchParams({ file: answer.files[0] })}` }, 'Show it'));
      } catch (error) {
        result.className = 'failed';
        result.textContent = error.message;
      }
    });
    return form;
  };

  const card = (family) => {
    const start = el('button', { type: 'button', 'aria-expanded': 'false' }, 'Use as a start');
    const place = el('div');
    start.addEventListener('click', () => {
      const isOpen = start.getAttribute('aria-expanded') === 'true';
      start.setAttribute('aria-expanded', String(!isOpen));
      place.replaceChildren(...(isOpen ? [] : [startForm(family)]));
      if (!isOpen) place.querySelector('input').focus();
    });
    return el('article', { class: 'family' }, el('h4', null, text(family.title || family.name)),
      el('p', { class: 'soft' }, text([family.name, family.benchmark, family.level, family.skills.join(', ')].filter(Boolean).join(' · '))),
      el('p', null, el('button', { type: 'button', onclick: () => look(family.file) }, `Look at ${family.title || family.name}`), ' ', start), place);
  };

  const draw = () => {
    const words = el('input', { type: 'search', spellcheck: 'false', autocomplete: 'off' });
    const category = el('select', null, el('option', { value: '' }, 'any'), [...new Set(families.map((one) => one.category))].sort().map((name) => el('option', null, name)));
    const count = el('p', { role: 'status' });
    const found = el('div');
    const filter = () => {
      const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fitting = families.filter((one) => (!category.value || one.category === category.value)
        && sought.every((word) => `${one.name} ${one.title} ${one.category} ${one.level} ${one.skills.join(' ')}`.toLowerCase().includes(word)));
      count.textContent = `${fitting.length} of ${plural(families.length, 'family').replace(/familys$/, 'families')}`;
      const categories = [...new Set(fitting.map((one) => one.category))].sort();
      found.replaceChildren(...categories.flatMap((name) => [el('h3', null, text(name || 'without a category')), ...fitting.filter((one) => one.category === name).map(card)]));
    };
    words.addEventListener('input', filter);
    category.addEventListener('input', filter);
    by('families').replaceChildren(el('div', { class: 'filters' }, el('label', null, 'Search', words), el('label', null, 'Category', category)), count, found);
    filter();
  };

  const show = async () => {
    by('gallery').hidden = false;
    button.setAttribute('aria-expanded', 'true');
    by('gallery-title').focus();
    if (families) return;
    by('families').replaceChildren(el('p', { role: 'status' }, 'Reading the families…'));
    try {
      const response = await fetch('gallery');
      if (!response.ok) throw new Error(await response.text());
      ({ families } = await response.json());
      draw();
    } catch (error) {
      by('families').replaceChildren(el('p', { class: 'failed' }, error.message));
    }
  };

  const hide = () => {
    by('gallery').hidden = true;
    button.setAttribute('aria-expanded', 'false');
  };

  button.addEventListener('click', () => (by('gallery').hidden ? show() : hide()));
  return { hide };
};
