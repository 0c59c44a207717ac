// A finished game (or a live one so far), from its first table to its last: every position is kept, so that the scrubber jumps.

import { applied } from './mirror.js';
import { No } from './wire.js';
import { sentence } from './play.js';
import { t } from './words.js';

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 800;

export class Replay {
  constructor(wire, view, app) {
    this.wire = wire;
    this.view = view;
    this.app = app;
    this.speed = 1;
    this.at = 0;
    this.states = [];
  }

  /** Read the whole game; then `go` shows any position. */
  async load(game) {
    this.states = [];
    this.game = game;
    let end;
    const ended = new Promise((settle) => { end = settle; });
    const take = (message) => {
      if (message.type === 'snapshot') this.begin(message);
      else if (message.type === 'diff') this.add(message);
      else end(message);
    };
    let tries = 0;
    for (;;) {
      try {
        await this.wire.replay(game, 1000, take);
        if ((await ended).type === 'replay_end') break;
        throw new No('lost', '');
      } catch (why) {
        if (why.code === 'not_over') return this.loadLive(game);
        if (why.code !== 'lost' || ++tries > 3) throw why;
        return this.load(game);
      }
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
    const from = this.at;
    this.at = to;
    const state = this.state;
    this.view.show(state.piles, { animate: animate && Math.abs(to - from) <= 1, accepts: this.head.accepts });
    const { diff } = state;
    const text = diff && Math.abs(to - from) <= 1 ? sentence(diff, this.states[to - 1].piles, state, this.view.foundations) : t('replay.of', { n: to, all: this.last });
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
    clearInterval(this.timer);
    this.timer = null;
    this.app.replayed();
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  faster(step = 1, wraps = false) {
    let i = SPEEDS.indexOf(this.speed) + step;
    i = wraps ? (i + SPEEDS.length) % SPEEDS.length : Math.max(0, Math.min(SPEEDS.length - 1, i));
    this.speed = SPEEDS[i];
    if (this.timer) this.play();
    this.app.replayed(undefined);
  }

  close() {
    clearInterval(this.timer);
    this.timer = null;
  }
}
