// The mirror of one table, kept exact by applying diffs. It knows no rule of any game, and nothing of screens or sockets.

export const HIDDEN = '??';
const ORDER = 'tcrfsw';

/** The names of piles in the protocol's order. */
export function ordered(names) {
  return [...names].sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]) || a.slice(1) - b.slice(1));
}

/** The piles after some operations; throws where one does not fit. */
export function applied(piles, ops) {
  const after = { ...piles };
  for (const op of ops) {
    if (op.op === 'move') {
      const from = after[op.from], to = after[op.to];
      if (!from || !to || !(op.n >= 1 && op.n <= from.length)) throw new RangeError(`no ${op.n} cards on ${op.from}`);
      const moving = from.slice(-op.n);
      after[op.from] = from.slice(0, -op.n);
      // Turned over, every card is unknown until a turn says more.
      after[op.to] = after[op.to].concat(op.flip ? moving.map(() => HIDDEN) : moving);
    } else if (op.op === 'turn') {
      const pile = after[op.pile];
      if (!pile || !(op.at >= 0 && op.at < pile.length)) throw new RangeError(`no card ${op.at} on ${op.pile}`);
      after[op.pile] = pile.with ? pile.with(op.at, op.card) : pile.map((card, at) => (at === op.at ? op.card : card));
    } else throw new RangeError(`unknown operation ${op.op}`);
  }
  return after;
}

/** The protocol's checksum of all piles. */
export function checkOf(piles) {
  return sha256(ordered(Object.keys(piles)).map((name) => `${name}=${piles[name].join(' ')}`).join(';')).slice(0, 8);
}

/** One game as its viewer sees it. */
export class Table {
  constructor(snapshot) {
    this.game = snapshot.game;
    this.take(snapshot);
  }

  take(snapshot) {
    const { seq, piles, variant, level, deal, status, result, score, moves, undos, can, role, accepts, winnable } = snapshot;
    Object.assign(this, { seq, piles, variant, level, deal, status, result, score, moves, undos, can, role, accepts, winnable });
    this.viewers = snapshot.viewers;
    // A later snapshot need not repeat the keys.
    this.key = snapshot.key || this.key;
    this.watchKey = snapshot.watch_key || this.watchKey;
    this.watch = snapshot.watch || 'open';
    this.size = Object.values(piles).reduce((sum, pile) => sum + pile.length, 0);
  }

  /** Go on by one action; false, and nothing changed, where the diff does not fit. */
  apply(diff) {
    if (diff.seq !== this.seq + 1) return false;
    let piles;
    try {
      piles = applied(this.piles, diff.ops);
    } catch {
      return false;
    }
    if (checkOf(piles) !== diff.check) return false;
    this.piles = piles;
    this.seq = diff.seq;
    this.moves = diff.moves ?? this.moves + 1;
    for (const name of ['undos', 'score', 'can', 'status']) if (diff[name] !== undefined) this[name] = diff[name];
    if (diff.result !== undefined) this.result = diff.result || undefined;
    else if (!this.isOver) this.result = undefined;
    return true;
  }

  get isOver() {
    return this.status === 'won' || this.status === 'lost';
  }
}

// SHA-256 of a short ASCII text. WebCrypto is absent on plain HTTP, and only answers later.
const K = [];
const H = [];
for (let n = 2; K.length < 64; n++) {
  let isPrime = true;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false;
  if (!isPrime) continue;
  const fraction = (x) => ((x - Math.floor(x)) * 4294967296) | 0;
  if (H.length < 8) H.push(fraction(Math.sqrt(n)));
  K.push(fraction(Math.cbrt(n)));
}

export function sha256(text) {
  const length = text.length, words = new Int32Array(((length + 72) >> 6) << 4), w = new Int32Array(64), hash = H.slice();
  for (let i = 0; i < length; i++) words[i >> 2] |= text.charCodeAt(i) << (24 - (i & 3) * 8);
  words[length >> 2] |= 0x80 << (24 - (length & 3) * 8);
  words[words.length - 1] = length * 8;
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = words[block + i];
      else {
        const x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { hash[i] = (hash[i] + value) | 0; });
  }
  return hash.map((value) => (value >>> 0).toString(16).padStart(8, '0')).join('');
}
