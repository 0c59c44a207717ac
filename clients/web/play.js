// A game on the screen: carries out what was meant at the table, tells in one sentence what each action did, shows how it ends.

import { Input } from './input.js';
import { HIDDEN } from './mirror.js';
import { Seat } from './seat.js';
import { cardName, pileName, reason, t, upper } from './words.js';

/** One sentence or two about a diff, from the piles before it. */
export function sentence(diff, before, table, foundations) {
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

  settings() {
    return this.app.settings();
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

  /** Sit down at a game that the wire has a table of. */
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

  /** The mirrored table went on. */
  took({ game, diff, before, snapshot, isMine, isSame }) {
    if (!this.seat || game !== this.seat.game) return;
    if (diff) {
      this.seat.took(diff, isMine);
      if (!isMine) this.input.interrupt();
      this.reconsider();
      this.view.unhint();
      this.show();
      const before_ = before || {};
      this.say(sentence(diff, before_, this.table, this.view.foundations));
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

  /** Cards are picked up while the table changes: they stay so where they lie as they did, and may go elsewhere now. */
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

  /** Where these cards may go, as far as it is known at this moment. */
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
      // A last card that lies face down may be turned up in some games; the server knows.
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
    if (home && pile[0] !== 'f' && n === 1 && !isPickOnly && this.settings().tap !== false) return this.move(pile, n, home);
    view.select(pile, n, targets);
    const values = { card: cardName(card), k: n - 1, n: targets.length };
    this.say(t(n > 1 ? 'pickedgroup' : 'picked', values));
  }

  async putBack(pile, n, isPickOnly) {
    if (!isPickOnly && n === 1 && this.settings().tap === false) {
      const home = (this.targetsNow(pile, n) || []).find((name) => name[0] === 'f');
      if (home && pile[0] !== 'f') return this.move(pile, n, home);
    }
    this.say(t('put'));
  }

  empty() {
    if (this.seat?.mayAct) this.say(t('nohere'));
  }

  /** A move that the server has called legal. */
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
    this.app.peek(pile, this.seat ? this.seat.piles[pile] : this.view.piles[pile], Boolean(this.seat));
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
