// Cards as elements. The glyphs are in index.html; here is only where they stand on a card of 100 × 140 units.

const SVG = 'http://www.w3.org/2000/svg';
const L = 32, M = 50, R = 68;
const PIPS = {
  A: [[M, 72, 42]], 2: [[M, 42], [M, 98]], 3: [[M, 42], [M, 70], [M, 98]], 4: [[L, 42], [R, 42], [L, 98], [R, 98]],
  5: [[L, 42], [R, 42], [M, 70], [L, 98], [R, 98]], 6: [[L, 42], [R, 42], [L, 70], [R, 70], [L, 98], [R, 98]],
  7: [[L, 42], [R, 42], [M, 56], [L, 70], [R, 70], [L, 98], [R, 98]],
  8: [[L, 42], [R, 42], [M, 56], [L, 70], [R, 70], [M, 84], [L, 98], [R, 98]],
  9: [[L, 42], [R, 42], [L, 60.7], [R, 60.7], [M, 70], [L, 79.3], [R, 79.3], [L, 98], [R, 98]],
  T: [[L, 42], [R, 42], [M, 51.3], [L, 60.7], [R, 60.7], [L, 79.3], [R, 79.3], [M, 88.7], [L, 98], [R, 98]],
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
    for (const [x, y, size = 15.5] of PIPS[rank]) {
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

/** What is to be seen of a card, `??` included; each is drawn once and copied. */
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
