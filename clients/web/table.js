// The table on the screen: where piles and cards lie, and their elements, patched where something changed. It shows what it is
// told; what a touch means is decided in input.js.

import { el, face, suitMark } from './art.js';
import { HIDDEN } from './mirror.js';
import { cardName, pileName, t, upper } from './words.js';

const EASE = 'cubic-bezier(.2,.75,.25,1)';

// ── where everything lies: arithmetic on what the server names ──

// Beside the columns: a waste shows its last three, a reserve what there is room for.
const WAYS = { w: 'tail', r: 'down' };
const clamp = (low, value, high) => Math.max(low, Math.min(high, value));
// Cards wider than this are no easier to read, and leave no room for long columns.
const largest = (H) => clamp(150, Math.round(H * 0.145), 220);

function kinds(piles) {
  const found = { t: [], f: [], c: [], r: [], s: [], w: [] };
  for (const name of Object.keys(piles)) (found[name[0]] ||= []).push(name);
  for (const names of Object.values(found)) names.sort((a, b) => a.slice(1) - b.slice(1));
  return found;
}

function worth(cw, ch, room, depth) {
  const strip = Math.min(0.4 * ch, (room - ch) / Math.max(1, depth - 1));
  return Math.min(cw / 46, strip / 18);
}

/** The size of cards, the place of every pile; `depth`: how long a column is to be expected. */
function arrange(piles, W, H, { depth, isLarge, isLeft }) {
  const { t, f, c, r, s, w } = kinds(piles);
  const aside = [...s, ...c, ...w, ...r];
  const portrait = H > W * 1.02;
  let best = null;
  for (let rows = 1; rows <= 4 && (rows === 1 || t.length > 7); rows++) {
    const one = (portrait ? upright : across)(W, H, rows, t, f, aside);
    if (one && (!best || worth(one.cw, one.ch, one.room, depth) > 1.04 * worth(best.cw, best.ch, best.room, depth))) best = one;
  }
  const { cw, ch, g, N, room } = best;
  const size = isLarge || cw < (portrait ? 84 : 62) ? 's' : 'l';
  const phone = portrait && size === 's';
  const ix = Math.round(ch * (phone ? 0.275 : size === 'l' ? 0.158 : isLarge ? 0.178 : 0.185));
  const places = {};
  t.forEach((name, i) => {
    const row = Math.floor(i / N), inRow = Math.min(N, t.length - row * N), start = (N - inRow) / 2;
    places[name] = { x: best.x0 + Math.round((start + (i % N)) * (cw + g)), y: Math.round(best.y0 + row * (room + best.rowGap)), room, way: 'down' };
  });
  best.put(places, isLeft);
  if (isLeft) {
    // Columns keep their order; what lies beside them changes sides.
    const shift = best.mirror || 0;
    if (shift) for (const name of t) places[name].x += shift;
  }
  return { cw, ch, ix, size, phone, places, info: best.info?.(isLeft), W, H };
}

function upright(W, H, rows, t, f, aside) {
  const pad = Math.max(5, Math.round(W * 0.017)), g = Math.max(3, Math.round(W * 0.011));
  const N = Math.max(Math.ceil(t.length / rows), 7);
  let cw = Math.min(largest(H), Math.floor((W - 2 * pad - (N - 1) * g) / N));
  const lines = Math.max(1, Math.ceil((f.length + aside.length) / N));
  let ch, gap, y0, room;
  const rowGap = 8;
  for (;; cw--) {
    ch = Math.round(cw * 1.4);
    gap = Math.round(ch * 0.1);
    y0 = pad + lines * ch + (lines - 1) * gap + Math.round(ch * 0.22);
    room = Math.floor((H - y0 - pad - (rows - 1) * rowGap) / rows);
    if (room >= ch * 1.5 || cw <= 16) break;
  }
  const x0 = Math.round((W - N * cw - (N - 1) * g) / 2);
  const at = (slot) => ({ x: x0 + (slot % N) * (cw + g), y: pad + Math.floor(slot / N) * (ch + gap) });
  const used = new Set();
  const fSlots = f.map((_, i) => (f.length <= N ? N - f.length + i : i));
  fSlots.forEach((slot) => used.add(slot));
  const free = [];
  for (let slot = 0; slot < lines * N; slot++) if (!used.has(slot)) free.push(slot);
  const flip = (slot) => Math.floor(slot / N) * N + (N - 1 - (slot % N));
  const put = (places, isLeft) => {
    f.forEach((name, i) => { places[name] = { ...at(isLeft && f.length <= N ? i : fSlots[i]), room: ch, way: 'none' }; });
    aside.forEach((name, i) => {
      const slot = isLeft ? flip(free[i]) : free[i];
      // The cards of a waste or reserve may lie over the free place beside them.
      const isFree = !isLeft && free[i + 1] === free[i] + 1 && i + 1 >= aside.length;
      places[name] = { ...at(slot), room: isFree ? cw * 1.8 : cw * 1.06, way: WAYS[name[0]] ? 'right' : 'none' };
    });
  };
  const spare = free.length - aside.length;
  const info = (isLeft) => {
    if (lines > 1 || spare < 2) return null;
    const from = isLeft ? Math.min(f.length, N) : aside.length + (aside.length ? 1 : 0);
    const count = isLeft ? spare : spare - (aside.length ? 1 : 0);
    return count < 2 ? null : { x: x0 + from * (cw + g) + (isLeft ? 4 : 0), y: pad, w: count * cw + (count - 1) * g, h: ch };
  };
  return { cw, ch, g, N, rows, rowGap, room, x0, y0, put, info };
}

function across(W, H, rows, t, f, aside) {
  const pad = Math.max(6, Math.round(H * 0.026)), N = Math.ceil(t.length / rows);
  const gy = Math.max(4, Math.round(H * 0.017)), rowGap = 8;
  let ch = Math.floor((H - 2 * pad - 3 * gy) / 4), cw = Math.min(largest(H), Math.round(ch / 1.4)), g, rail, left, right, perRail, width;
  for (;; cw--) {
    ch = Math.round(cw * 1.4);
    perRail = Math.max(4, Math.floor((H - 2 * pad + gy) / (ch + gy)));
    right = Math.ceil(f.length / perRail);
    left = Math.ceil(aside.length / perRail);
    g = clamp(5, Math.round(cw * 0.16), 26);
    rail = Math.round(cw * 0.34);
    width = N * cw + (N - 1) * g + [left, right].reduce((sum, n) => sum + (n ? rail + n * cw + (n - 1) * g : 0), 0);
    if ((width <= W - 2 * pad && ch * 4 + 3 * 4 <= H - 2 * pad) || cw <= 16) break;
  }
  const step = Math.min(ch + g, ch + Math.max(4, Math.floor((H - 2 * pad - perRail * ch) / Math.max(1, perRail - 1))));
  const start = Math.round((W - width) / 2);
  const wide = (n) => (n ? n * cw + (n - 1) * g + rail : 0);
  const x0 = start + wide(left), tableau = N * cw + (N - 1) * g;
  const room = Math.floor((H - 2 * pad - (rows - 1) * rowGap) / rows);
  const put = (places, isLeft) => {
    const onRail = (names, x, rails) => names.forEach((name, i) => {
      // Two rails of foundations are of one length: suits stand beside their like.
      const rows_ = Math.ceil(names.length / rails), row = i % rows_, isLast = i === names.length - 1;
      const y = pad + row * step;
      places[name] = { x: Math.round(x + Math.floor(i / rows_) * (cw + g)), y: Math.round(y), way: WAYS[name[0]] || 'none',
        room: name[0] === 'f' ? ch : (isLast ? H - pad - y : Math.max(ch, step - 2)) };
    });
    const xRight = isLeft ? start : x0 + tableau + rail;
    const xLeft = isLeft ? start + wide(right) + tableau + rail : start;
    onRail(f, xRight, right);
    onRail(aside, xLeft, left);
  };
  return { cw, ch, g, N, rows, rowGap, room, x0, y0: pad, put, mirror: wide(right) - wide(left) };
}

/** An offset for each card of a pile, and how high its index may be. */
function fan(cards, place, { ch, cw, ix, phone }) {
  const n = cards.length, offsets = new Array(n);
  if (!n) return { offsets, ix };
  if (place.way === 'none') return { offsets: offsets.fill(0), ix };
  if (place.way === 'right' || place.way === 'tail') {
    const size = place.way === 'right' ? cw : ch, shown = Math.min(n, 3);
    const step = shown > 1 ? Math.max(0, Math.min(0.3 * size, (place.room - size) / (shown - 1))) : 0;
    for (let k = 0; k < n; k++) offsets[k] = Math.max(0, k - (n - shown)) * step;
    return { offsets, ix };
  }
  const down = cards.filter((card) => card === '??').length, up = n - down;
  let fd = (phone ? 0.115 : 0.092) * ch, fu = (phone ? 0.46 : 0.222) * ch;
  const R = place.room, lastUp = cards[n - 1] !== '??';
  const steps = Math.max(0, up - (lastUp ? 1 : 0)), backs = down - (lastUp ? 0 : 1);
  const need = () => ch + backs * fd + steps * fu;
  if (need() > R) fu = Math.max((phone ? 0.3 : 0.19) * ch, (R - ch - backs * fd) / Math.max(1, steps));
  if (need() > R) fd = Math.max(Math.min(fd, 0.045 * ch), (R - ch - steps * fu) / Math.max(1, backs));
  if (need() > R) fu = Math.max(0, (R - ch - backs * fd) / Math.max(1, steps));
  if (need() > R) fd = Math.max(0, (R - ch - steps * fu) / Math.max(1, backs));
  let y = 0;
  for (let k = 0; k < n; k++) {
    offsets[k] = Math.round(y);
    y += cards[k] === '??' ? fd : fu;
  }
  return { offsets, ix: Math.min(ix, Math.max(8, Math.round(fu * 0.86 - 1))), fu };
}

// ── the elements ──

export class TableView {
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
    this.piles = {};
    this.view = {};
    this.cards = new Set();
    this.selection = null;
    this.focus = null;
    this.ring = el('div', { class: 'ring', hidden: true });
    root.append(this.ring);
    new ResizeObserver(() => this.layout(false)).observe(root);
    root.addEventListener('focusin', (event) => this.focused(event.target));
    root.addEventListener('focusout', () => { this.ring.hidden = true; });
  }

  clear() {
    for (const group of Object.values(this.view)) group.node.remove();
    this.view = {};
    this.piles = {};
    this.cards.clear();
    this.selection = this.focus = null;
    this.depth = 0;
    this.geometry = null;
    this.ring.hidden = true;
    this.info?.remove();
    this.info = null;
  }

  show(piles, { animate = true, accepts } = {}) {
    const names = Object.keys(piles);
    if (accepts !== undefined) this.accepts = accepts;
    if (names.length !== Object.keys(this.view).length || names.some((name) => !this.view[name])) {
      this.clear();
      this.build(piles);
      animate = false;
    }
    const hadFocus = this.root.contains(document.activeElement) && this.focus;
    const focusedCard = hadFocus && document.activeElement.card;
    this.settle(piles);
    this.piles = piles;
    this.depth = Math.max(this.depth, ...names.filter((name) => name[0] === 't').map((name) => piles[name].length));
    this.label();
    this.layout(animate && !document.hidden);
    if (hadFocus) this.refocus(focusedCard?.node.isConnected ? focusedCard.node : null);
  }

  build(piles) {
    const found = kinds(piles);
    this.foundations = found.f.length;
    this.names = [...found.t, ...found.c, ...found.r, ...found.s, ...found.w, ...found.f];
    this.depth = 4 + Math.max(0, ...found.t.map((name) => piles[name].length));
    for (const name of this.names) {
      const slot = el('div', { class: `slot ${name[0]}`, tabindex: -1 });
      slot.pile = name;
      const node = el('div', { class: `pile p-${name[0]}`, role: 'group', 'data-pile': name, 'aria-label': upper(pileName(name, this.foundations)) }, slot);
      this.view[name] = { node, slot, cards: [] };
      if (name[0] === 'f' && this.foundations % 4 === 0) slot.append(suitMark('CDHS'[(name.slice(1) - 1) % 4], 'mark'));
      else if (name[0] === 'c') slot.append(el('span', { class: 'k', 'aria-hidden': 'true' }, t('slot.cell')));
      else if (name[0] === 't') slot.append(el('span', { class: 'k', 'aria-hidden': 'true' }));
      this.root.append(node);
    }
  }

  accepted(name) {
    const { accepts } = this;
    return Array.isArray(accepts) ? accepts[name.slice(1) - 1] : accepts;
  }

  /** An element for every card: where it lies, where it came from, or a new one. */
  settle(piles) {
    const free = new Map();
    const claimed = new Set();
    const plan = [];
    for (const name of this.names) {
      const old = this.view[name].cards, now = piles[name], made = new Array(now.length);
      now.forEach((card, at) => {
        if (old[at]?.name === card) claimed.add((made[at] = old[at]));
      });
      plan.push([name, now, made]);
    }
    for (const card of this.cards) {
      if (!claimed.has(card) && card.name !== HIDDEN) free.set(card.name, [...(free.get(card.name) || []), card]);
    }
    for (const [, now, made] of plan) {
      now.forEach((card, at) => {
        if (made[at] || card === HIDDEN) return;
        const moved = free.get(card)?.pop();
        if (moved) claimed.add((made[at] = moved));
      });
    }
    const left = [...this.cards].filter((card) => !claimed.has(card));
    for (const [name, now, made] of plan) {
      now.forEach((card, at) => {
        if (made[at]) return;
        const here = this.view[name].cards[at];
        const turned = here && !claimed.has(here) ? here : left.findLast((one) => !claimed.has(one));
        const one = turned || this.create();
        claimed.add(one);
        this.turn(one, card);
        made[at] = one;
      });
    }
    for (const card of this.cards) {
      if (claimed.has(card)) continue;
      card.node.remove();
      this.cards.delete(card);
    }
    for (const [name, , made] of plan) {
      const group = this.view[name];
      const isSame = made.length === group.cards.length && made.every((card, at) => group.cards[at] === card);
      if (isSame) continue;
      made.forEach((card, at) => {
        const before = at ? made[at - 1].node : group.slot;
        if (before.nextSibling !== card.node) before.after(card.node);
        card.pile = name;
        card.isMoved ||= group.cards[at] !== card;
      });
      group.cards = made;
    }
  }

  create() {
    const card = { name: null, node: el('div', { class: 'card' }), x: null, y: null, h: 0 };
    card.node.card = card;
    this.cards.add(card);
    return card;
  }

  turn(card, name) {
    if (card.name === name) return;
    card.name = name;
    card.index = '';
    card.node.className = `card ${name === HIDDEN ? 'down' : 'HD'.includes(name[1]) ? 'red' : 'black'}`;
    card.node.replaceChildren(face(name));
  }

  /** Names and tab stops. */
  label() {
    const stops = [];
    for (const name of this.names) {
      const { slot, cards } = this.view[name], kind = name[0], pile = upper(pileName(name, this.foundations)), n = cards.length;
      const down = cards.filter((card) => card.name === HIDDEN).length;
      let slotLabel = null;
      if (kind === 's') slotLabel = n ? upper(t('label.stock', { n })) : t('label.empty', { pile });
      else if (!n) {
        const what = kind === 't' ? this.accepted(name) : null;
        slotLabel = what ? t('label.accepts', { pile, what: t(`accepts.${['any', 'none', 'K', 'A'].includes(what) ? what : 'other'}`) }) : t('label.empty', { pile });
      } else if (down && (kind === 't' || (kind === 'r' && down === n))) slotLabel = t('label.down', { pile, n: down });
      if (kind === 't') {
        const what = this.accepted(name);
        slot.firstChild.textContent = what && what.length === 1 ? what : what === 'none' ? '×' : '';
      }
      name_(slot, slotLabel);
      if (slotLabel) stops.push(slot);
      cards.forEach((card, at) => {
        const isOnlyTop = kind === 'f' || kind === 'c' || kind === 'w' || kind === 's';
        if (card.name === HIDDEN || kind === 's' || (isOnlyTop && at < n - 1)) return name_(card.node, null);
        const values = { card: cardName(card.name), at: at + 1, all: n, pile: pileName(name, this.foundations), n: n - 1 - at };
        const text = kind === 't' || (kind === 'r' && n > 1) ? t(at < n - 1 ? 'label.riders' : 'label.card', values)
          : t(kind === 'w' ? 'label.topn' : 'label.top', { pile, card: values.card, n });
        name_(card.node, upper(text));
        stops.push(card.node);
      });
    }
    this.stops = stops;
    const here = this.focus && !this.focus.card && this.focus.pile;
    const current = stops.includes(this.focus) ? this.focus
      : (here && stops.findLast((stop) => stop.card?.pile === here)) || stops.find((stop) => stop.card) || stops[0];
    this.rove(current);
  }

  rove(node) {
    if (this.focus && this.focus !== node && this.focus.isConnected) this.focus.setAttribute('tabindex', -1);
    this.focus = node || null;
    node?.setAttribute('tabindex', 0);
  }

  refocus(node) {
    const target = node && this.stops.includes(node) ? node : this.focus;
    if (target && document.activeElement !== target) target.focus({ preventScroll: true });
    else if (target) this.focused(target);
  }

  focused(node) {
    if (!this.stops?.includes(node)) return;
    this.rove(node);
    if (!node.matches(':focus-visible')) return void (this.ring.hidden = true);
    this.drawRing();
  }

  drawRing() {
    const node = this.focus;
    if (!node || document.activeElement !== node || !this.geometry) return void (this.ring.hidden = true);
    const { cw, ch } = this.geometry;
    const place = this.geometry.places[node.card ? node.card.pile : node.pile];
    const x = node.card ? node.card.x : place.x, y = node.card ? node.card.y : place.y;
    let h = node.card ? node.card.h : ch;
    if (!node.card && node.pile[0] === 't') {
      const up = this.view[node.pile].cards.find((card) => card.name !== HIDDEN);
      if (up) h = Math.max(10, up.y - place.y);
    }
    Object.assign(this.ring.style, { transform: `translate(${x}px,${y}px)`, width: `${cw}px`, height: `${h}px` });
    this.ring.hidden = !node.matches(':focus-visible');
  }

  layout(animate = true) {
    const W = this.root.clientWidth, H = this.root.clientHeight;
    if (!this.names || !Object.keys(this.view).length || W < 40 || H < 40) return;
    const { large, left } = this.settings();
    const geometry = arrange(this.piles, W, H, { depth: this.depth, isLarge: large, isLeft: left });
    const { cw, ch, ix, size, places } = geometry, shape = [cw, ch, W, H, size, large, left].join(), isNew = this.geometry?.shape !== shape;
    this.geometry = Object.assign(geometry, { shape });
    if (isNew) {
      animate = false;
      this.root.dataset.size = size;
      const { style } = this.root;
      for (const [key, value] of [['--cw', cw], ['--ch', ch], ['--r', Math.max(4, Math.round(cw * 0.075))], ['--ix0', ix]]) style.setProperty(key, `${value}px`);
    }
    const ms = animate ? this.duration() : 0;
    for (const name of this.names) {
      const group = this.view[name], place = places[name], cards = group.cards;
      if (isNew) Object.assign(group.slot.style, { left: `${place.x}px`, top: `${place.y}px` });
      const { offsets, ix: own, fu } = fan(this.piles[name], place, geometry);
      const narrow = own < ix ? own : 0, top = narrow ? Math.max(1, Math.round(Math.min(ch * 0.028, ((fu || 0) - narrow) * 0.42))) : 0;
      const sideways = place.way === 'right';
      cards.forEach((card, at) => {
        const x = place.x + (sideways ? offsets[at] : 0), y = place.y + (sideways ? 0 : offsets[at]);
        card.h = at < cards.length - 1 && !sideways ? Math.min(ch, offsets[at + 1] - offsets[at] || ch) : ch;
        // Under two cards of a pile nothing can be seen.
        card.node.classList.toggle('buried', (place.way === 'none' && at < cards.length - 2) || (place.way !== 'down' && at < cards.length - 5));
        const isLast = at === cards.length - 1, index = narrow && !isLast ? `${narrow}px ${top}px` : '', { style } = card.node.querySelector('.ix') || card.node;
        // Set at the very element: of a long column little is styled anew.
        if (card.name !== HIDDEN && card.index !== index) [style.height, style.top] = (card.index = index).split(' ');
        if (isLast) card.node.classList.remove('covered');
        this.place(card, x, y, ms, at);
      });
    }
    this.cover(ms);
    if (this.selection) this.lift();
    this.drawRing();
  }

  /** Of covered cards only the index is drawn, once they are covered: a long column costs little. */
  cover(ms = 0) {
    clearTimeout(this.covering);
    this.covering = setTimeout(() => {
      const chosen = this.selection;
      for (const name of this.names || []) {
        const { cards } = this.view[name] || { cards: [] };
        const open = chosen?.pile === name ? cards.length - chosen.n - 1 : -1;
        cards.forEach((card, at) => card.node.classList.toggle('covered', at < cards.length - 1 && at !== open));
      }
    }, ms + 60);
  }

  duration() {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return 0;
    return [0, 80, 150, 240, 340][this.settings().speed] ?? 150;
  }

  place(card, x, y, ms, at) {
    const { node } = card;
    const from = card.dragAt || (card.x === null ? null : [card.x + (card.dx || 0), card.y + (card.dy || 0)]);
    const isMoved = card.isMoved;
    card.isMoved = false;
    card.dx = card.dy = 0;
    if (card.x === x && card.y === y && !card.dragAt && !isMoved && !card.wasLifted) return;
    card.wasLifted = false;
    card.dragAt = null;
    card.x = x;
    card.y = y;
    node.style.transform = `translate(${x}px,${y}px)`;
    if (card.motion) {
      card.motion.cancel();
      card.motion = null;
      node.classList.remove('flying');
    }
    if (!ms || !from || (from[0] === x && from[1] === y)) return;
    const motion = node.animate([{ transform: `translate(${from[0]}px,${from[1]}px)` }, { transform: `translate(${x}px,${y}px)` }], { duration: ms, easing: EASE });
    card.motion = motion;
    const far = Math.abs(from[0] - x) + Math.abs(from[1] - y) > 4 && isMoved;
    if (far) {
      node.classList.add('flying');
      node.style.zIndex = 600 + at;
    }
    motion.onfinish = () => {
      if (card.motion !== motion) return;
      card.motion = null;
      node.classList.remove('flying');
      if (far) node.style.zIndex = '';
    };
    motion.oncancel = () => { if (far) node.style.zIndex = ''; };
  }

  select(pile, n, targets = []) {
    this.unselect();
    if (!pile) return;
    this.selection = { pile, n };
    this.targets(targets);
    this.lift();
  }

  lift() {
    const { pile, n } = this.selection;
    this.view[pile]?.cards.at(-n - 1)?.node.classList.remove('covered');
    this.view[pile]?.cards.slice(-n).forEach((card, at) => {
      card.node.classList.add('lift');
      card.node.classList.toggle('first', at === 0);
      card.node.setAttribute('aria-pressed', 'true');
      if (card.dragAt) return;
      [card.dx, card.dy] = [3, -6];
      card.wasLifted = true;
      card.node.style.transform = `translate(${card.x + 3}px,${card.y - 6}px)`;
      card.node.style.zIndex = 500 + at;
    });
  }

  unselect() {
    this.targets([]);
    this.selection = null;
    this.cover(this.duration());
    for (const node of this.root.querySelectorAll('.lift')) {
      const { card } = node;
      node.classList.remove('lift', 'first');
      node.removeAttribute('aria-pressed');
      if (!card.dragAt) {
        node.style.transform = `translate(${card.x}px,${card.y}px)`;
        node.style.zIndex = '';
      }
      card.dx = card.dy = 0;
      card.wasLifted = false;
    }
  }

  targets(names) {
    for (const node of this.root.querySelectorAll('.target')) node.classList.remove('target');
    this.marked = names;
    if (this.settings().targets === false) return;
    for (const name of names) {
      const group = this.view[name];
      if (group) (group.cards.at(-1)?.node || group.slot).classList.add('target');
    }
  }

  hint(from, n, to) {
    this.unhint();
    const group = this.view[from];
    if (!group) return;
    (group.cards.at(-n)?.node || group.slot).classList.add('hint');
    group.cards.slice(-n).forEach((card) => card.node.classList.add('hint'));
    const target = this.view[to];
    if (target) (target.cards.at(-1)?.node || target.slot).classList.add('target');
  }

  unhint() {
    for (const node of this.root.querySelectorAll('.hint')) node.classList.remove('hint');
    if (!this.selection) this.targets([]);
  }

  shake(pile, n) {
    if (!this.duration()) return;
    for (const card of (this.view[pile]?.cards || []).slice(-n)) {
      card.node.firstChild?.animate([{ transform: 'none' }, { transform: 'translateX(-4px)' }, { transform: 'translateX(4px)' }, { transform: 'none' }], { duration: 120 });
    }
  }

  /** A won game: the cards rise into one wide arc and fall back; for how long. */
  celebrate() {
    const ms = this.duration(), { W, H, cw, ch } = this.geometry, cards = this.names.flatMap((name) => this.view[name].cards);
    if (!ms) return 0;
    cards.forEach((card, at) => {
      const turn = at / Math.max(1, cards.length - 1) - 0.5, home = `translate(${card.x}px,${card.y}px)`;
      const x = W / 2 - cw / 2 + Math.sin(turn * 2.6) * (W / 2 - cw), y = H - ch * 1.2 - Math.cos(turn * 2.6) * (H - ch * 1.5);
      card.node.classList.add('flying');
      card.node.animate([{ transform: home }, { transform: `translate(${x}px,${y}px) rotate(${turn * 80}deg)`, offset: 0.5 }, { transform: home }],
        { duration: 5 * ms, delay: ms + at * 5, easing: 'ease-in-out' }).onfinish = () => card.node.classList.remove('flying');
    });
    return 6 * ms + cards.length * 5;
  }

  /** Where a drop is for this pile: all of a column's height. */
  area(name) {
    const { places, cw, ch } = this.geometry, place = places[name], cards = this.view[name].cards;
    const last = cards.at(-1);
    const h = name[0] === 't' ? Math.max(place.room, ch) : last ? last.y - place.y + ch : ch;
    const w = place.way === 'right' && last ? last.x - place.x + cw : cw;
    return { x: place.x, y: place.y, w, h };
  }
}

function name_(node, text) {
  if (text === null) {
    if (node.getAttribute('aria-hidden') === 'true') return;
    node.setAttribute('aria-hidden', 'true');
    for (const name of ['role', 'aria-label', 'tabindex', 'aria-pressed']) node.removeAttribute(name);
    return;
  }
  if (node.getAttribute('aria-label') === text) return;
  node.removeAttribute('aria-hidden');
  node.setAttribute('role', 'button');
  node.setAttribute('aria-label', text);
  if (!node.hasAttribute('tabindex')) node.setAttribute('tabindex', -1);
}
