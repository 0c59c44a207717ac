// A seat at one game: actions go out one after the other, each from the table the one before left; what the server has called
// legal is shown before its answer is here, and taken back where the answer is another. No rule is known here.

import { applied } from './mirror.js';
import { No } from './wire.js';

export class Seat {
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

  /** What is to be shown: the mirrored piles, and on them what is certain to come. */
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

  /** Send an action when its turn comes. `guess` are operations that are certain to be part of the answer. */
  act(type, fields = {}, guess = null) {
    const { generation } = this;
    if (guess) this.guesses.push(guess);
    this.waiting += 1;
    const run = async () => {
      // What was meant for a table that never came to be is not sent.
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

  /** The mirrored table went on: what was guessed is there now, or was wrong. */
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

  /** The server's list of legal moves for the table as it stands. */
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
