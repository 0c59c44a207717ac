// Cards as elements. The glyphs are in index.html; here is only where they stand on a card of 100 × 140 units.

const SVG = 'http://www.w3.org/2000/svg';
// Where the pips stand: left, middle or right, and how far down.
const PIPS = {
  A: 'M72', 2: 'M42 M98', 3: 'M42 M70 M98', 4: 'L42 R42 L98 R98', 5: 'L42 R42 M70 L98 R98', 6: 'L42 R42 L70 R70 L98 R98',
  7: 'L42 R42 M56 L70 R70 L98 R98', 8: 'L42 R42 M56 L70 R70 M84 L98 R98', 9: 'L42 R42 L60.7 R60.7 M70 L79.3 R79.3 L98 R98',
  T: 'L42 R42 M51.3 L60.7 R60.7 L79.3 R79.3 M88.7 L98 R98',
};

/** An element with attributes and children; text is always text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, run, kind) => el('button', { type: 'button', class: kind, onclick: run }, text);
export const row = (...children) => el('div', { class: 'row' }, ...children);

/** A choice of values, each with its text. */
export function select(id, options, now, run) {
  const made = el('select', { id, onchange: () => run?.(made.value) }, ...options.map(([value, text]) => el('option', { value, selected: String(value) === String(now) }, text)));
  return made;
}

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const icon = (name) => svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('use', { href: `#ic-${name}` }));
export const suitMark = (suit, kind = 'st') => svg('svg', { class: kind, viewBox: '0 0 100 100', 'aria-hidden': 'true' }, svg('use', { href: `#su-${suit.toLowerCase()}` }));

function index(rank, suit, kind) {
  const width = { T: 30, Q: 22 }[rank] || 21;
  return el('span', { class: `ix ${kind}` },
    svg('svg', { class: 'rk', viewBox: `-1 0 ${width} 28.4`, width, height: 28.4 }, svg('use', { href: `#rk-${rank}` })), suitMark(suit));
}

function picture(rank, suit) {
  const s = `#su-${suit.toLowerCase()}`, made = svg('svg', { class: PIPS[rank] ? 'pips' : 'pips court', viewBox: '0 0 100 140' });
  if (PIPS[rank]) {
    const size = rank === 'A' ? 42 : 15.5;
    for (const pip of PIPS[rank].split(' ')) {
      const x = { L: 32, M: 50, R: 68 }[pip[0]], y = Number(pip.slice(1));
      const use = svg('use', { href: s, x: x - size / 2, y: y - size / 2, width: size, height: size });
      if (y > 75) use.setAttribute('transform', `rotate(180 ${x} ${y})`);
      made.append(use);
    }
  } else {
    const mark = () => svg('use', { href: s, x: 24.3, y: 34, width: 10.5, height: 10.5 });
    const turned = svg('g', { transform: 'rotate(180 50 70)' }, mark());
    made.append(svg('g', { transform: 'translate(50 70) scale(.95) translate(-50 -70)' },
      svg('use', { href: `#ct-${rank}`, width: 100, height: 140 }), mark(), turned));
  }
  return made;
}

const faces = new Map();

export function face(card) {
  let made = faces.get(card);
  if (!made) {
    if (card === '??') {
      made = el('span', { class: 'in' }, svg('svg', { class: 'bk', viewBox: '0 0 100 140', preserveAspectRatio: 'none' }, svg('use', { href: '#back' })));
    } else {
      const [rank, suit] = card;
      made = el('span', { class: `in ${suit.toLowerCase()}` }, index(rank, suit, ''), index(rank, suit, 'br'), picture(rank, suit), suitMark(suit, 'big'));
    }
    faces.set(card, made);
  }
  return made.cloneNode(true);
}
