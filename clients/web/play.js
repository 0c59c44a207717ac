// A game on the screen, as it is played or from its record: what was meant is asked of the server, what was done is told. What is
// allowed is never decided here.

import { Input } from './input.js';
import { HIDDEN, applied } from './mirror.js';
import { No } from './wire.js';
import { cardName, pileName, reason, t, upper } from './words.js';

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 800;

/** What a diff did, from the piles before it. */
export function sentence(diff, before, foundations) {
  const moves = diff.ops.filter((op) => op.op === 'move');
  const turned = diff.ops.filter((op) => op.op === 'turn' && op.card !== HIDDEN).map((op) => cardName(op.card));
  const pile = (name) => pileName(name, foundations);
  const at = { ...before };
  const told = [];
  let gone = 0, homed = null;
  const toHome = (move) => move.to[0] === 'f' && move.from[0] !== 'f';
  moves.forEach((move, i) => {
    const cards = at[move.from].slice(-move.n), onto = at[move.to].at(-1);
    at[move.from] = at[move.from].slice(0, -move.n);
    at[move.to] = [...at[move.to], ...cards];
    if ((diff.cause === 'home' || (i > 0 && !['undo', 'redo'].includes(diff.cause))) && toHome(move)) {
      gone += move.n;
      homed = cards.at(-1);
      return;
    }
    if (diff.cause === 'draw' || told.length) return;
    const values = { card: cardName(cards[0]), n: move.n - 1, pile: pile(move.to), onto: onto && cardName(onto) };
    const isOnto = move.to[0] === 't' && onto && onto !== HIDDEN;
    told.push(t(`say.${move.n > 1 ? 'group' : isOnto ? '' : 'moved'}${isOnto ? 'onto' : ''}`, values));
  });
  const cards = turned.join(', ');
  if (diff.cause === 'draw') told.push(moves[0]?.from[0] === 'w' ? t('say.redeal') : cards ? t('say.draw', { cards }) : t('say.dealt'));
  else if (diff.cause === 'home') told.push(gone === 1 ? t('say.home1', { card: cardName(homed) }) : t('say.homen', { n: gone }));
  else if (gone) told.push(t('say.alsohome', { n: gone }));
  if (cards && diff.cause !== 'draw') told.push(t('say.turned', { cards }));
  if (diff.score !== undefined) told.push(t('say.score', { n: diff.score }));
  let what = told.map(upper).join(' ') || t('say.nothing');
  if (diff.cause === 'undo' || diff.cause === 'redo') what = t(`say.${diff.cause}`, { what });
  if (diff.by === 'auto' && moves.length) what = t('say.auto', { what });
  return what;
}

/** One who acts: one action after the other; what the server has called legal is shown before it answers. */
class Seat {
  constructor(wire, game, changed) {
    this.wire = wire;
    this.game = game;
    this.changed = changed;
    this.guesses = [];
    this.turn = Promise.resolve();
    this.waiting = 0;
    this.known = null;
  }

  get table() {
    return this.wire.tables.get(this.game);
  }

  get mayAct() {
    return this.table?.role === 'player';
  }

  get piles() {
    let { piles } = this.table;
    for (const ops of this.guesses) {
      try {
        piles = applied(piles, ops);
      } catch {
        break;
      }
    }
    return piles;
  }

  get isAhead() {
    return this.guesses.length > 0;
  }

  /** Send an action when its turn comes. `guess` is certain to be part of the answer. */
  act(type, fields = {}, guess = null) {
    const { generation } = this;
    if (guess) this.guesses.push(guess);
    this.waiting += 1;
    const run = async () => {
      if (generation !== this.generation) throw new No('dropped', '');
      try {
        return await this.wire.ask(type, { game: this.game, base: this.table.seq, ...fields });
      } catch (why) {
        if (why.code !== 'dropped') {
          this.drop();
          this.changed();
        }
        throw why;
      } finally {
        this.waiting -= 1;
      }
    };
    const done = this.turn.then(run);
    this.turn = done.catch(() => {});
    if (guess) this.changed();
    return done;
  }

  /** What was guessed is there now, or was wrong. */
  took(diff, isMine) {
    // After a lost connection our own move comes back as news.
    const op = diff.ops[0], guess = this.guesses[0]?.[0];
    const isGuessed = guess && op && ['op', 'from', 'to', 'n'].every((key) => op[key] === guess[key]);
    if (isGuessed || (isMine && !diff.cause)) this.guesses.shift();
    else if (this.guesses.length) this.drop();
  }

  /** What was meant for another table than there is now is neither shown nor sent. */
  drop() {
    this.guesses = [];
    this.generation = (this.generation || 0) + 1;
  }

  async legal() {
    if (this.isAhead) await this.turn;
    const { table } = this;
    if (!table || table.isOver || !this.mayAct) return [];
    if (this.known?.seq === table.seq) return this.known.asked;
    const asked = this.wire.ask('legal', { game: this.game }).then((reply) => {
      if (this.known?.asked === asked) Object.assign(this.known, { seq: reply.seq, moves: reply.moves });
      return reply.moves;
    });
    this.known = { seq: table.seq, asked, moves: null };
    asked.catch(() => { if (this.known?.asked === asked) this.known = null; });
    return asked;
  }

  /** The same if it is here already, else null. */
  get legalNow() {
    return this.known && this.table && this.known.seq === this.table.seq && !this.isAhead ? this.known.moves : null;
  }

  targets(moves, pile, n) {
    return moves.filter((move) => move.from === pile && move.n === n).map((move) => move.to);
  }

  move(from, n, to, isLegal) {
    const guess = isLegal ? [{ op: 'move', from, to, n }] : null;
    return this.act('move', { from, to, n }, guess);
  }
}

export class Play {
  constructor(wire, view, app) {
    this.wire = wire;
    this.view = view;
    this.app = app;
    this.seat = null;
    this.input = new Input(view, this);
    wire.addEventListener('table', (event) => this.took(event));
    wire.addEventListener('presence', (event) => { if (event.game === this.seat?.game) this.app.refresh(); });
  }

  say(text) {
    this.app.say(text);
  }

  get table() {
    return this.seat?.table;
  }

  mayAct() {
    return Boolean(this.seat?.mayAct && !this.table.isOver);
  }

  open(game) {
    if (this.seat && this.seat.game !== game) this.wire.leave(this.seat.game);
    this.seat = new Seat(this.wire, game, () => this.show());
    this.view.clear();
    this.show(false);
    this.seat.legal().catch(() => {});
  }

  close() {
    if (this.seat) this.wire.leave(this.seat.game);
    this.seat = null;
    this.view.clear();
  }

  show(animate = true) {
    if (!this.seat || !this.table) return;
    this.view.show(this.seat.piles, { animate, accepts: this.table.accepts });
    this.app.refresh();
  }

  took({ game, diff, before, snapshot, isMine, isSame }) {
    if (!this.seat || game !== this.seat.game) return;
    if (diff) {
      this.seat.took(diff, isMine);
      if (!isMine) this.input.interrupt();
      this.reconsider();
      this.view.unhint();
      this.show();
      this.say(sentence(diff, before, this.view.foundations));
      if (diff.status !== undefined && diff.status !== 'playing') this.app.ended(diff.status);
    } else if (snapshot) {
      // After a short break the table is often the same: what was begun goes on.
      if (!isSame) {
        this.seat.drop();
        this.input.interrupt();
      }
      this.reconsider();
      this.show();
    }
    if (!this.table.isOver) this.seat.legal().catch(() => {});
  }

  /** The table changed: cards that still lie as they did stay picked up, and may go elsewhere now. */
  reconsider() {
    const chosen = this.view.selection;
    if (!chosen) return;
    const { pile, n } = chosen;
    if (this.view.piles[pile].join() !== this.seat.piles[pile].join()) return this.view.unselect();
    this.view.targets([]);
    this.targets(pile, n).then((targets) => { if (this.view.selection === chosen) this.view.targets(targets); }, () => {});
  }

  async did(promise, undone = () => {}) {
    try {
      return await promise;
    } catch (why) {
      undone(why);
      this.failed(why);
      return null;
    }
  }

  failed(why) {
    if (why.code === 'dropped') this.say(t('changed'));
    else if (why.code === 'lost') this.say(t('net.unsure'));
    else this.say(reason(why));
    if (why.code === 'no_such_game' && this.seat) this.app.noGame();
  }

  targetsNow(pile, n) {
    const moves = this.seat?.legalNow;
    return moves ? this.seat.targets(moves, pile, n) : null;
  }

  async targets(pile, n) {
    return this.targetsNow(pile, n) || this.seat.targets(await this.seat.legal(), pile, n);
  }

  async pick(pile, n, isPickOnly) {
    const { view } = this;
    if (!this.seat) return;
    if (!this.seat.mayAct) return this.say(this.app.isReplay ? '' : t('watching'));
    const card = this.seat.piles[pile].at(-n);
    if (card === HIDDEN) {
      // In some games it may be turned up; the server knows.
      if (n === 1) return this.did(this.seat.act('tap', { pile }));
      return this.say(t('facedown'));
    }
    if (this.table.isOver) return this.did(this.seat.act('tap', { pile, n }));
    let targets = this.targetsNow(pile, n);
    if (!targets) {
      view.select(pile, n, []);
      const chosen = view.selection;
      try {
        targets = await this.targets(pile, n);
      } catch (why) {
        return this.failed(why);
      }
      if (view.selection !== chosen) return;
    }
    const home = targets.find((name) => name[0] === 'f');
    if (home && pile[0] !== 'f' && n === 1 && !isPickOnly && this.app.prefs.tap !== false) return this.move(pile, n, home);
    view.select(pile, n, targets);
    const values = { card: cardName(card), k: n - 1, n: targets.length };
    this.say(t(n > 1 ? 'pickedgroup' : 'picked', values));
  }

  async putBack(pile, n, isPickOnly) {
    if (!isPickOnly && n === 1 && this.app.prefs.tap === false) {
      const home = (this.targetsNow(pile, n) || []).find((name) => name[0] === 'f');
      if (home && pile[0] !== 'f') return this.move(pile, n, home);
    }
    this.say(t('put'));
  }

  empty() {
    if (this.seat?.mayAct) this.say(t('nohere'));
  }

  move(from, n, to) {
    this.view.unselect();
    if (this.wire.state !== 'online') this.say(t('waiting'));
    return this.did(this.seat.move(from, n, to, true), () => this.view.shake(from, n));
  }

  /** A move that will be refused: the server says why. */
  tryMove(from, n, to) {
    return this.did(this.seat.move(from, n, to, false), () => {
      this.view.unselect();
      this.view.shake(from, n);
    });
  }

  /** Cards were dropped over these piles, the most covered first. */
  async drop(pile, n, over) {
    let targets = this.targetsNow(pile, n);
    if (!targets) {
      this.view.layout(true);
      try {
        targets = await this.targets(pile, n);
      } catch (why) {
        return this.failed(why);
      }
    }
    const to = over.find((name) => targets.includes(name));
    if (to) return this.move(pile, n, to);
    this.view.layout(true);
    if (over.length && this.seat.mayAct) return this.tryMove(pile, n, over[0]);
  }

  draw() {
    if (!this.seat?.mayAct) return this.say(t('watching'));
    return this.did(this.seat.act('draw'));
  }

  act(type, fields) {
    if (!this.seat) return;
    if (!this.seat.mayAct) return this.say(t('watching'));
    this.view.unselect();
    return this.did(this.seat.act(type, fields));
  }

  async hint() {
    if (!this.seat?.mayAct) return this.say(t('watching'));
    this.view.unselect();
    await this.seat.turn;
    const { seq } = this.table;
    const reply = await this.did(this.wire.ask('hint', { game: this.seat.game }));
    if (!reply || this.table.seq !== seq) return;
    this.say(t('hint.move', { what: reply.message }));
    if (reply.move) {
      const to = reply.move.to === 'f' ? (await this.targets(reply.move.from, reply.move.n)).find((name) => name[0] === 'f') : reply.move.to;
      this.view.hint(reply.move.from, reply.move.n, to);
    } else if (reply.action === 'draw') this.view.hint('s1', 1);
    this.app.hinted(reply.action);
  }

  peek(pile) {
    this.app.dialogs.peek(pile, this.seat ? this.seat.piles[pile] : this.view.piles[pile], Boolean(this.seat));
  }

  // ── reading aloud ──

  readColumn(name) {
    const cards = this.view.piles[name] || [];
    const values = { pile: upper(pileName(name, this.view.foundations)), cards: Input.read(cards) };
    return t(cards.length ? 'read.column' : 'read.empty', values);
  }

  readTable() {
    return this.view.names.filter((name) => name[0] === 't' || this.view.piles[name].length).map((name) => (
      'fsw'.includes(name[0]) ? t('read.column', { pile: upper(pileName(name, this.view.foundations)),
        cards: name[0] === 's' ? t('read.down', { n: this.view.piles[name].length }) : cardName(this.view.piles[name].at(-1)) })
        : this.readColumn(name))).join(' ');
  }

  readScore() {
    const { table } = this;
    return table ? t('read.score', { n: table.score, all: table.size, moves: table.moves, undos: table.undos }) : '';
  }
}

/** A finished game (or a live one so far): every position is kept, so that the scrubber jumps. */
export class Replay {
  constructor(wire, view, app) {
    this.wire = wire;
    this.view = view;
    this.app = app;
    this.speed = 1;
    this.at = 0;
    this.states = [];
  }

  async load(game, tries = 3) {
    this.states = [];
    this.game = game;
    let end;
    const ended = new Promise((settle) => { end = settle; });
    const take = (message) => {
      if (message.type === 'snapshot') this.begin(message);
      else if (message.type === 'diff') this.add(message);
      else end(message);
    };
    try {
      await this.wire.replay(game, 1000, take);
      if ((await ended).type !== 'replay_end') throw new No('lost', '');
    } catch (why) {
      if (why.code === 'not_over') return this.loadLive(game);
      if (why.code !== 'lost' || !tries) throw why;
      return this.load(game, tries - 1);
    }
  }

  begin(snapshot) {
    const { piles, score, moves, undos, status, result } = snapshot;
    this.head = snapshot;
    this.states = [{ piles, score, moves, undos, status, result }];
  }

  add(diff) {
    const last = this.states.at(-1);
    this.states.push({ piles: applied(last.piles, diff.ops), score: diff.score ?? last.score, moves: diff.moves ?? last.moves + 1,
      undos: diff.undos ?? last.undos, status: diff.status ?? last.status, result: diff.result === undefined ? last.result : diff.result, diff });
  }

  /** A game that goes on has a recording of what its viewers saw. */
  async loadLive(game) {
    const { recording } = await this.wire.ask('recording', { game });
    if (!recording.start) throw new No('not_over', t('replay.none'));
    this.begin({ ...recording, piles: recording.start, score: 0, moves: 0, undos: 0, status: 'playing', result: undefined });
    for (const action of recording.actions) {
      const last = this.states.at(-1), piles = applied(last.piles, action.ops);
      const score = Object.keys(piles).reduce((sum, name) => sum + (name[0] === 'f' ? piles[name].length : 0), 0);
      const cause = /^(undo|redo|home|draw)/.exec(action.text)?.[1];
      this.states.push({ ...last, piles, score, moves: last.moves + 1, diff: { ops: action.ops, by: action.by === 'auto' ? 'auto' : undefined, cause } });
    }
  }

  get last() {
    return this.states.length - 1;
  }

  get state() {
    return this.states[this.at];
  }

  get size() {
    return Object.values(this.states[0].piles).reduce((sum, pile) => sum + pile.length, 0);
  }

  go(at, animate = true) {
    const to = Math.max(0, Math.min(this.last, Math.round(at)));
    const from = this.at, state = this.states[to];
    if (!state) return;
    this.at = to;
    this.view.show(state.piles, { animate: animate && Math.abs(to - from) <= 1, accepts: this.head.accepts });
    const { diff } = state;
    const text = diff && Math.abs(to - from) <= 1 ? sentence(diff, this.states[to - 1].piles, this.view.foundations) : t('replay.of', { n: to, all: this.last });
    this.app.replayed(text);
    if (to === this.last) this.pause();
  }

  play() {
    if (this.at === this.last) this.go(0, false);
    this.pause();
    this.timer = setInterval(() => this.go(this.at + 1), STEP_MS / this.speed);
    this.app.replayed();
  }

  pause() {
    this.close();
    this.app.replayed();
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  faster(step, wraps) {
    let i = SPEEDS.indexOf(this.speed) + step;
    i = wraps ? (i + SPEEDS.length) % SPEEDS.length : Math.max(0, Math.min(SPEEDS.length - 1, i));
    this.speed = SPEEDS[i];
    if (this.timer) this.play();
    this.app.replayed();
  }

  close() {
    clearInterval(this.timer);
    this.timer = null;
  }
}
