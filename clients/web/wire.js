// One session with the server: commands and replies, the mirrored tables, coming back after a lost connection. What was not
// answered is sent again by the same id, which the server carries out once. No rule is known here, and no screen.

import { Table } from './mirror.js';

const FINAL = new Set([1003, 1008, 1009, 4002]);
const PATIENT = new Set([1012, 1013, 4008]);
const LATER = new Set(['rate_limited', 'busy', 'draining', 'unavailable']);
const OPENING = new Set(['new', 'join', 'restart', 'daily_start']);
// What must survive a reload.
const LASTING = new Set(['move', 'tap', 'draw', 'undo', 'redo', 'home', 'auto', 'give_up']);
const BEAT_MS = 15000;
const ANSWER_MS = 8000;
const TOKEN = 'chilkoot.token';
const SESSION = 'chilkoot.session';
const SENT = 'chilkoot.sent';

/** Storage may be forbidden or full: then nothing outlives the page. */
export function recall(store, key) {
  try {
    return JSON.parse(window[store].getItem(key));
  } catch {
    return null;
  }
}
export function remember(store, key, value) {
  try {
    if (value === null || value === undefined) window[store].removeItem(key);
    else window[store].setItem(key, JSON.stringify(value));
  } catch { /* see recall */ }
}

/** A refusal, an error, or `lost` where a command's fate is unknown. */
export class No extends Error {
  constructor(code, message, more = {}) {
    super(message);
    Object.assign(this, { code }, more);
  }
}

export class Wire extends EventTarget {
  constructor(name) {
    super();
    this.name = name;
    this.state = 'connecting';
    this.tables = new Map();
    this.player = null;
    this.limits = {};
    this.pending = new Map();
    this.replays = new Map();
    this.unsent = [];
    this.seats = new Map();
    // Ids of one session never repeat.
    this.lastId = Date.now() * 100;
    this.attempt = 0;
    this.announced = null;
    this.session = recall('sessionStorage', SESSION);
    for (const frame of recall('sessionStorage', SENT) || []) this.keep({ frame, wasSent: true, settle() {}, fail() {} });
    addEventListener('online', () => this.hurry());
    addEventListener('offline', () => this.say('state'));
    document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
    addEventListener('pageshow', (event) => event.persisted && this.hurry());
    this.connect();
    setInterval(() => this.beat(), BEAT_MS);
  }

  say(type, detail = {}) {
    this.dispatchEvent(Object.assign(new Event(type), detail));
  }

  ask(type, fields = {}) {
    return new Promise((settle, fail) => {
      if (this.state === 'ended') return fail(new No('lost', this.why || ''));
      const frame = { type, id: ++this.lastId };
      for (const [key, value] of Object.entries(fields)) if (value !== undefined && value !== null) frame[key] = value;
      const command = { frame, settle, fail, tries: 0, wasSent: false };
      this.keep(command);
      this.unsent.push(command);
      this.pump();
    });
  }

  keep(command) {
    this.pending.set(command.frame.id, command);
    this.store();
  }

  store() {
    const lasting = [...this.pending.values()].filter((one) => LASTING.has(one.frame.type)).map((one) => one.frame);
    remember('sessionStorage', SENT, lasting.length ? lasting : null);
  }

  pump() {
    if (!this.isGreeted || this.pumping) return;
    const { rate, burst } = this.limits;
    while (this.unsent.length) {
      if (rate) {
        const now = performance.now();
        this.level = Math.min(burst - 2, (this.level ?? burst - 2) + ((now - (this.then ?? now)) * rate * 0.95) / 1000);
        this.then = now;
        if (this.level < 1) {
          this.pumping = setTimeout(() => { this.pumping = null; this.pump(); }, ((1 - this.level) / rate) * 1000 + 5);
          return;
        }
        this.level -= 1;
      }
      const command = this.unsent.shift();
      if (!this.pending.has(command.frame.id)) continue;
      command.isAgain = command.wasSent;
      command.wasSent = true;
      this.socket.send(JSON.stringify(command.frame));
    }
  }

  connect() {
    clearTimeout(this.timer);
    if (this.state === 'ended') return;
    this.state = this.player ? 'reconnecting' : 'connecting';
    this.say('state');
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, 'chilkoot.v1.json');
    this.socket = socket;
    this.isGreeted = false;
    this.heard = performance.now();
    let release = () => {};
    const mine = () => this.socket === socket;
    socket.onopen = () => {
      // Two tabs share one chain of tokens: one after the other.
      const greet = () => new Promise((done) => {
        release = done;
        setTimeout(done, ANSWER_MS);
        if (!mine() || socket.readyState !== WebSocket.OPEN) return done();
        this.greet();
      });
      if (navigator.locks) navigator.locks.request('chilkoot.hello', greet);
      else greet();
    };
    socket.onmessage = (event) => {
      if (!mine()) return;
      this.heard = performance.now();
      const message = JSON.parse(event.data);
      this.receive(message);
      if (message.re === this.helloId) release();
    };
    socket.onclose = (event) => {
      release();
      if (mine()) this.lost(event.code, event.reason);
    };
    setTimeout(() => { if (mine() && !this.isGreeted) this.drop(); }, ANSWER_MS + 2000);
  }

  greet() {
    const token = recall('localStorage', TOKEN) || this.token;
    const hello = { type: 'hello', id: (this.helloId = ++this.lastId) };
    if (this.name) hello.name = this.name;
    if (token) {
      hello.token = this.token = token;
      if (this.session) {
        hello.session = this.session;
        const games = [...this.tables.values()].slice(-32).map((table) => [table.game, table.seq]);
        if (games.length) hello.games = Object.fromEntries(games);
      }
    }
    this.socket.send(JSON.stringify(hello));
  }

  welcome(message) {
    const isSame = message.resumed || message.session === this.session;
    const isAgain = this.player !== null;
    this.token = message.token;
    remember('localStorage', TOKEN, message.token);
    if (!isSame) {
      for (const command of [...this.pending.values()]) {
        if (command.wasSent) this.refuse(command, new No('lost', ''));
      }
    }
    this.session = message.session;
    remember('sessionStorage', SESSION, message.session);
    this.player = message.player;
    this.limits = message.limits || {};
    this.level = this.then = undefined;
    this.isGreeted = true;
    this.attempt = 0;
    this.unsent = [...this.pending.values()].filter((one) => one.frame.id !== message.re);
    this.state = 'online';
    if (isAgain && !isSame) for (const game of this.tables.keys()) this.rejoin(game);
    this.say('state');
    this.say('welcome', { isAgain });
    this.pump();
  }

  rejoin(game) {
    this.ask('join', { game, ...this.seats.get(game) }).catch(() => {});
  }

  lost(code, reason) {
    this.socket = null;
    this.isGreeted = false;
    // Whoever sends these again sends an old token.
    for (const command of [...this.pending.values()]) if (command.frame.type === 'hello') this.refuse(command, new No('lost', ''));
    for (const [id, tell] of this.replays) {
      this.replays.delete(id);
      tell({ type: 'lost' });
    }
    if (code === 4004) {
      const other = recall('localStorage', TOKEN);
      if (other && other !== this.token) this.token = other;
      else {
        remember('localStorage', TOKEN, null);
        this.forget();
        this.token = null;
        this.say('stranger');
      }
      return void (this.timer = setTimeout(() => this.connect(), 50));
    }
    if (code === 4005) {
      // This page was copied with its session.
      this.forget();
      return void (this.timer = setTimeout(() => this.connect(), 50));
    }
    if (FINAL.has(code)) {
      this.state = 'ended';
      this.why = reason;
      for (const command of [...this.pending.values()]) this.refuse(command, new No('lost', reason));
      return this.say('state');
    }
    let wait = Math.min(30000, 1000 * 2 ** Math.min(this.attempt, 10)) * Math.random();
    if (PATIENT.has(code) && this.attempt === 0) wait = 1000 + 2000 * Math.random();
    if (this.announced !== null) wait += this.announced;
    this.announced = null;
    this.attempt += 1;
    this.state = 'waiting';
    this.say('state');
    this.timer = setTimeout(() => this.connect(), wait);
  }

  forget() {
    this.session = null;
    remember('sessionStorage', SESSION, null);
    for (const command of [...this.pending.values()]) if (command.wasSent) this.refuse(command, new No('lost', ''));
  }

  hurry() {
    if (this.state === 'waiting') this.connect();
    else if (this.isGreeted) this.beat(2500);
  }

  /** A connection on which nothing comes back is none. */
  beat(patience = ANSWER_MS) {
    if (!this.isGreeted) return;
    const socket = this.socket, asked = performance.now();
    this.ask('ping').catch(() => {});
    setTimeout(() => { if (this.socket === socket && socket && this.heard < asked) this.drop(); }, patience);
  }

  drop() {
    const socket = this.socket;
    if (!socket) return;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
    this.lost(1006, '');
  }

  receive(message) {
    if (message.type === 'welcome') {
      const renamed = this.pending.get(message.re);
      if (!renamed) return this.welcome(message);
      this.token = message.token;
      remember('localStorage', TOKEN, message.token);
      this.player = message.player;
      return this.answer(renamed, message);
    }
    if (message.re === this.helloId && message.type === 'error') {
      this.announced = message.retry_after_ms ?? null;
      // For a bad token the server closes with a code of its own.
      if (message.code !== 'bad_token') this.drop();
      return;
    }
    const command = message.re === undefined ? null : this.pending.get(message.re);
    if (message.replay !== undefined) this.replays.get(message.replay)?.(message);
    else this.mirror(message, command);
    if (command) this.answer(command, message);
    if (message.type === 'replay_end') this.replays.delete(message.replay);
  }

  answer(command, message) {
    if (message.type === 'error' && LATER.has(message.code) && command.tries < 8) {
      command.tries += 1;
      return void setTimeout(() => { this.unsent.push(command); this.pump(); }, message.retry_after_ms || 1000);
    }
    this.pending.delete(command.frame.id);
    if (LASTING.has(command.frame.type)) this.store();
    if (message.type === 'error' || message.type === 'refused') {
      return command.fail(new No(message.code, message.message, { detail: message.detail || {}, isRefusal: message.type === 'refused' }));
    }
    if (message.type === 'snapshot' && OPENING.has(command.frame.type)) {
      const { role, key } = command.frame;
      this.seats.set(message.game, { role: role || message.role, key });
      // The connection that would watch is gone.
      if (command.isAgain) this.rejoin(message.game);
    }
    command.settle(message);
  }

  refuse(command, why) {
    this.pending.delete(command.frame.id);
    this.unsent = this.unsent.filter((one) => one !== command);
    this.store();
    command.fail(why);
  }

  mirror(message, command) {
    const table = message.game && this.tables.get(message.game);
    if (message.type === 'draining') this.announced = message.retry_after_ms;
    else if (message.type === 'snapshot') {
      // The stored reply to a command sent twice may be old.
      if (table && message.seq < table.seq) return;
      const isSame = table?.seq === message.seq;
      if (table) table.take(message);
      else if (command && OPENING.has(command.frame.type)) this.tables.set(message.game, new Table(message));
      else return;
      this.say('table', { game: message.game, snapshot: message, isSame });
    } else if (message.type === 'diff' && table) {
      if (message.seq <= table.seq) return;
      const before = table.piles;
      if (table.apply(message)) this.say('table', { game: message.game, diff: message, before, isMine: Boolean(command) });
      else this.sync(message.game);
    } else if (message.type === 'presence' && table) {
      table.viewers = message.viewers;
      this.say('presence', { game: message.game });
    } else if (message.type === 'error' && message.code === 'stale' && command) {
      const missed = message.detail?.missed;
      if (missed) missed.forEach((diff) => this.mirror(diff));
      else this.sync(command.frame.game);
    } else if (/^race(_progress)?$/.test(message.type)) this.say('race', { news: message });
    else if (message.type === 'dismissed' && this.tables.delete(message.game)) this.say('dismissed', { game: message.game });
  }

  sync(game) {
    this.syncing ??= new Set();
    if (this.syncing.has(game)) return;
    this.syncing.add(game);
    this.ask('sync', { game }).catch(() => {}).finally(() => this.syncing.delete(game));
  }

  leave(game) {
    if (!this.tables.delete(game)) return;
    this.seats.delete(game);
    this.ask('leave', { game }).catch(() => {});
  }

  rename() {
    return this.ask('hello', { name: this.name, token: this.token, session: this.session });
  }

  replay(game, speed, tell) {
    return new Promise((settle, fail) => {
      const id = this.lastId + 1;
      this.replays.set(id, tell);
      this.ask('replay', { game, speed }).then(settle, (why) => { this.replays.delete(id); fail(why); });
    });
  }
}
