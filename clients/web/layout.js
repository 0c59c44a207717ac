// Where piles and cards lie: arithmetic on what the server names, for any number of columns, cells, reserves and foundations.

// Beside the columns: a waste shows its last three, a reserve what there is room for.
const WAYS = { w: 'tail', r: 'down' };
const clamp = (low, value, high) => Math.max(low, Math.min(high, value));
// Cards wider than this are no easier to read, and leave no room for long columns.
const largest = (H) => clamp(150, Math.round(H * 0.145), 220);

export function kinds(piles) {
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
export function arrange(piles, W, H, { depth, isLarge, isLeft }) {
  const { t, f, c, r, s, w } = kinds(piles);
  const aside = [...s, ...c, ...w, ...r];
  const portrait = H > W * 1.02;
  let best = null;
  for (let rows = 1; rows <= 4 && (rows === 1 || t.length > 7); rows++) {
    const one = (portrait ? upright : across)(W, H, rows, t, f, aside);
    if (one && (!best || worth(one.cw, one.ch, one.room, depth) > 1.04 * worth(best.cw, best.ch, best.room, depth))) best = one;
  }
  const { cw, ch, g, N, rows, room } = best;
  const size = portrait ? (cw < 84 || isLarge ? 's' : 'l') : (cw < 62 || isLarge ? 's' : 'l');
  const phone = portrait && size === 's';
  const ix = phone ? Math.round(ch * 0.275) : Math.round(ch * (size === 's' ? (isLarge ? 0.178 : 0.185) : 0.158));
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
  return { cw, ch, g, ix, size, phone, portrait, places, rows, info: best.info?.(isLeft), W, H };
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
export function fan(cards, place, { ch, cw, ix, phone }) {
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
