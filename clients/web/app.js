// The page: which view is open, the bar and the buttons around the table, the keys that are not about one card.

import { el, icon } from './art.js';
import { Dialogs } from './dialogs.js';
import { Contests, Lobby } from './lobby.js';
import { Play, Replay } from './play.js';
import { TableView } from './table.js';
import { Wire, recall, remember } from './wire.js';
import { has, reason, speak, t, upper } from './words.js';

const $ = (id) => document.getElementById(id);
const show = (id, text) => { $(id).hidden = !text; $(id).textContent = text; };
const root = document.documentElement;
const RING = 2 * Math.PI * 16;
const TOOLS = [
  ['undo', 'undo', 'U'], ['redo', 'redo', 'R'], ['hint', 'hint', 'H'], ['auto', 'auto', 'A'], ['home', 'home', 'S'], ['flag', 'giveup', ''], ['plus', 'again', ''],
];

class App {
  constructor() {
    this.prefs = { theme: 'system', deck: 'auto', speed: 2, tap: true, letters: true, targets: true, language: 'auto', ...recall('localStorage', 'chilkoot.settings') };
    this.catalogue = new Map();
    this.decks = new Map();
    this.named = new Promise((settle) => { this.areNamed = settle; });
  }

  start() {
    this.apply();
    speak(this.prefs.language);
    this.wire = new Wire(this.prefs.name);
    this.view = new TableView($('table'), () => ({ ...this.prefs }));
    this.play = new Play(this.wire, this.view, this);
    this.replay = new Replay(this.wire, this.view, this);
    this.dialogs = new Dialogs(this);
    this.lobby = new Lobby(this);
    this.contests = new Contests(this);
    this.chrome();
    this.wire.addEventListener('state', () => this.connection());
    this.wire.addEventListener('welcome', (event) => this.welcomed(event.isAgain));
    this.wire.addEventListener('dismissed', ({ game }) => {
      this.lobby.hide(game);
      if (game === this.seat?.game) this.noGame({ message: t('dismissed') });
    });
    this.wire.addEventListener('stranger', () => this.say(t('net.stranger')));
    addEventListener('popstate', () => this.route());
    addEventListener('keydown', (event) => this.key(event));
    addEventListener('resize', () => this.view.layout(false));
    document.addEventListener('click', (event) => this.follow(event));
    this.connection();
    this.route();
    this.install();
  }

  apply(changes = {}) {
    Object.assign(this.prefs, changes);
    remember('localStorage', 'chilkoot.settings', this.prefs);
    root.dataset.theme = this.prefs.theme;
    root.dataset.mark = this.prefs.mark ? '1' : '0';
    root.dataset.hand = this.prefs.left ? 'left' : 'right';
    root.dataset.deck = this.prefs.deck === 'auto' ? this.decks?.get(this.variant) || '2' : this.prefs.deck;
    if (this.view) {
      this.view.layout(false);
      this.refresh();
    }
    // Another language: everything is said anew.
    if ('language' in changes) location.reload();
  }

  get seat() {
    return this.play.seat;
  }

  get isReplay() {
    return root.dataset.view === 'replay';
  }

  // ── the frame ──

  chrome() {
    $('table').setAttribute('aria-label', t('table'));
    $('tools').setAttribute('aria-label', t('tools'));
    $('menu').setAttribute('aria-label', t('menu'));
    for (const [name, id, key] of TOOLS) {
      const button = el('button', { type: 'button', id: `do-${id}`, class: id === 'home' || id === 'again' ? 'primary' : id === 'giveup' ? 'danger' : null, 'aria-keyshortcuts': key || null, onclick: () => this.do(id) },
        icon(name), el('span', { class: 'lg' }, t(id)), el('span', { class: 'sm' }, t(has(`${id}.short`) ? `${id}.short` : id)), key ? el('kbd', { 'aria-hidden': 'true' }, key) : null);
      if (id === 'giveup') $('tools').append(el('span', { class: 'sep' }));
      $('tools').append(button);
    }
    const r = this.replay, made = (name, id, run) => el('button', { type: 'button', id: `re-${id}`, 'aria-label': t(`replay.${id}`), onclick: run }, icon(name));
    $('replay').setAttribute('aria-label', t('replay'));
    const slider = el('input', { type: 'range', id: 're-at', min: 0, max: 0, value: 0, 'aria-label': t('replay.at'), oninput: () => { const at = Number(slider.value); r.pause(); r.go(at, false); } });
    $('replay').append(made('first', 'start', () => { r.pause(); r.go(0, false); }), made('prev', 'back', () => { r.pause(); r.go(r.at - 1); }), made('play', 'play', () => r.toggle()),
      made('next', 'step', () => { r.pause(); r.go(r.at + 1); }), made('last', 'end', () => { r.pause(); r.go(r.last, false); }), el('div', { class: 'track' }, slider, el('div', { id: 're-marks' })),
      el('button', { type: 'button', id: 're-verdict', title: t('verdict.last'), hidden: true, onclick: () => { r.pause(); r.go(r.analysis.last_winnable ?? 0, false); } }),
      el('span', { class: 'pos', id: 're-pos' }), el('button', { type: 'button', id: 're-speed', onclick: () => r.faster(1, true) }));
  }

  do(id) {
    if (!this.seat) return;
    const button = $(`do-${id}`);
    if (button.getAttribute('aria-disabled') === 'true' && !this.seat.waiting) return;
    if (id === 'giveup') return this.dialogs.giveUp();
    if (id === 'again') return this.lobby.deal(this.seat.table.variant, this.seat.table.level);
    if (id === 'hint') return this.play.hint();
    return this.play.act(id);
  }

  refresh() {
    const table = this.seat?.table, state = table || (this.isReplay ? this.replay.state : null);
    if (!state) return;
    const size = table ? table.size : this.replay.size, head = table || this.replay.head;
    this.variant = head.variant;
    const name = this.nameOf(head);
    this.title(name);
    document.title = `${name} · Chilkoot`;
    $('deal').hidden = !head.deal;
    if (head.deal) {
      const deal = this.dealText(head.deal);
      $('deal').firstElementChild.textContent = t('deal', { deal });
      $('deal').setAttribute('aria-label', `${t('deal', { deal })}, ${t('copydeal')}`);
    }
    show('winnable', head.winnable && has(head.winnable) ? t(head.winnable) : '');
    const isGuest = table && table.role !== 'player', others = table ? table.viewers - 1 : 0;
    const watching = [isGuest ? t('spectator') : '', others > Number(isGuest) ? t('viewers', { n: others }) : ''].filter(Boolean).join(' · ');
    show('viewers', watching);
    $('moves').textContent = state.moves;
    $('moves-label').textContent = `${t('moves')} `;
    $('score').textContent = state.score;
    $('of').textContent = ` / ${size}`;
    $('scorebox').setAttribute('aria-label', t('score', { n: state.score, all: size }));
    const share = Math.max(0, Math.min(1, state.score / size));
    $('ring').setAttribute('stroke-dasharray', `${share * RING} ${RING}`);
    $('ring').setAttribute('stroke-opacity', share ? '1' : '0');
    this.spare(state, watching);
    if (!table) return;
    const may = table.role === 'player', can = table.can || {};
    for (const id of ['undo', 'redo', 'hint', 'auto', 'home']) $(`do-${id}`).setAttribute('aria-disabled', !(may && can[id]));
    const isOpen = !table.isOver || (table.result === 'no_moves' && can.undo);
    $('do-giveup').setAttribute('aria-disabled', !may);
    $('do-giveup').hidden = may && !isOpen;
    $('do-again').hidden = !$('do-giveup').hidden;
  }

  spare(state, watching) {
    const { view } = this, place = view.geometry?.info;
    if (!place) {
      if (view.info) view.info.hidden = true;
      return;
    }
    view.info ||= view.root.appendChild(el('div', { class: 'info' }, el('span', {}, el('span'), el('b')), el('span'), el('span')));
    view.info.hidden = false;
    Object.assign(view.info.style, { left: `${place.x}px`, top: `${place.y}px`, width: `${place.w}px`, height: `${place.h}px` });
    const [moves, watch, net] = view.info.children;
    moves.children[0].textContent = `${t('moves')} `;
    moves.children[1].textContent = state.moves;
    watch.textContent = watching;
    net.textContent = this.wire.state === 'online' ? '' : t(`net.${this.wire.state}`);
  }

  title(name) {
    $('vname').textContent = name;
    $('brand').setAttribute('aria-label', name === 'Chilkoot' ? name : `${name}, ${t('lobby')}`);
  }

  nameOf(head) {
    const one = this.catalogue.get(head.variant);
    const name = one ? one.name : upper(head.variant.replaceAll('-', ' '));
    return head.level !== undefined && head.level !== null && (!one || one.levels.length > 1) ? `${name} ${head.level}` : name;
  }

  dealText(deal) {
    // A board that somebody laid out.
    if (/\s/.test(deal)) return t('deal.board');
    return deal.length > 24 ? `${deal.slice(0, 10)}…` : deal;
  }

  say(text) {
    const status = $('status');
    if (!text) return;
    // The very same words would not be heard.
    status.textContent = status.textContent === text ? `${text}\u00a0` : text;
    this.last = text;
  }

  connection() {
    const { state } = this.wire;
    root.dataset.net = state;
    const text = t(navigator.onLine === false && state !== 'online' ? 'net.waiting' : `net.${state}`);
    $('net').lastChild.textContent = text;
    show('banner', state === 'online' || state === 'connecting' ? '' : state === 'ended' ? t('net.why', { why: this.wire.why || '' }) : navigator.onLine === false ? t('net.off') : t('net.lost'));
    if (state === 'waiting' && !this.wasLost) {
      this.wasLost = true;
      this.say(t('net.lost'));
    }
    if (state === 'online' && this.wasLost) {
      this.wasLost = false;
      this.say(t('net.back'));
    }
    this.refresh();
  }

  async welcomed(isAgain) {
    this.contests.welcomed();
    if (this.catalogue.size && isAgain) return;
    try {
      const reply = await this.wire.ask('variants');
      this.catalogue = new Map(reply.variants.map((one) => [one.id, one]));
      this.areNamed();
      this.lobby.catalogued();
      this.dialogs.relist?.();
      this.refresh();
    } catch { /* asked again with the next welcome */ }
  }

  /** Four colours where a game builds in suit, two where colours alternate. */
  async dress(variant, level) {
    this.variant = variant;
    const key = `${variant}/${level ?? ''}`;
    if (!this.decks.has(key)) {
      try {
        const reply = await this.wire.ask('rules', { variant });
        const rules = reply.levels?.[level] || reply.compiled;
        this.decks.set(key, rules.tableau?.[0]?.build?.suit === 'same' ? '4' : '2');
      } catch {
        return;
      }
    }
    this.decks.set(variant, this.decks.get(key));
    this.apply();
  }

  // ── views ──

  follow(event) {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !/^\/($|games\/|replay\/|races\/|daily$)/.test(url.pathname)) return;
    event.preventDefault();
    this.go(url.pathname + url.hash);
  }

  go(path) {
    if (path !== location.pathname + location.hash) history.pushState(null, '', path);
    this.dialogs.closeAll();
    this.route();
  }

  async route() {
    const [, kind, id] = location.pathname.split('/');
    this.replay.close();
    if (kind === 'games' && id) return this.openGame(decodeURIComponent(id));
    if (kind === 'replay' && id) return this.openReplay(decodeURIComponent(id));
    this.play.close();
    root.dataset.view = 'lobby';
    document.title = 'Chilkoot';
    this.title('Chilkoot');
    for (const name of ['deal', 'winnable', 'viewers']) $(name).hidden = true;
    $('status').textContent = '';
    if (kind !== 'daily' && kind !== 'races') return this.lobby.open();
    await this.named;
    if (kind === 'daily') this.contests.daily();
    else this.contests.openRace(id);
  }

  async openGame(game) {
    root.dataset.view = 'play';
    if (this.seat?.game === game) return;
    this.replay.close();
    try {
      if (!this.wire.tables.has(game)) {
        this.view.clear();
        const hash = new URLSearchParams(location.hash.slice(1)), key = hash.get('key') || hash.get('watch');
        await this.wire.ask('join', { game, role: hash.get('key') ? 'player' : undefined, key });
      }
    } catch (why) {
      return this.noGame(why);
    }
    await this.named;
    if (location.pathname !== `/games/${encodeURIComponent(game)}`) return;
    this.play.open(game);
    const { table } = this.seat;
    this.dress(table.variant, table.level);
    if (table.role === 'player' && !table.isOver) remember('localStorage', 'chilkoot.last', { game, variant: table.variant });
    const values = { name: this.nameOf(table), n: table.score, moves: table.moves };
    this.say(t(table.moves ? 'say.start' : 'say.fresh', values));
    this.contests.seated(game);
    if (table.isOver && table.result !== 'no_moves' && this.sealed !== game) this.go(`/replay/${encodeURIComponent(game)}`);
    else if (table.status !== 'playing') this.ended(table.status);
  }

  noGame(why) {
    this.play.close();
    // The way back leads past it.
    history.replaceState(null, '', '/');
    this.go('/');
    this.say(why ? reason(why) : t('nogame'));
  }

  began(snapshot) {
    this.go(`/games/${snapshot.game}`);
  }

  async openReplay(game) {
    root.dataset.view = 'replay';
    this.play.close();
    this.view.clear();
    this.say(t('replay.loading'));
    const at = new URLSearchParams(location.hash.slice(1)).get('at');
    try {
      await this.replay.load(game);
    } catch (why) {
      // It goes on, or others still play the same deal: only the table is shown.
      if (why.code === 'not_over') this.go(`/games/${this.sealed = game}`);
      else this.noGame(why);
      return;
    }
    if (this.replay.game !== game || !this.isReplay) return;
    this.dress(this.replay.head.variant, this.replay.head.level);
    $('re-at').max = this.replay.last;
    this.analyse(game);
    this.replay.go(at === null ? this.replay.last : Number(at) || 0, false);
    this.refresh();
  }

  async analyse(game) {
    const { replay } = this;
    $('re-marks').replaceChildren();
    replay.analysis = null;
    // A search may take longer than the wire has patience.
    const told = await this.wire.ask('analyse', { game }).catch((why) => why.code === 'busy' && this.isReplay && replay.game === game && this.analyse(game));
    if (!told || replay.game !== game) return;
    replay.analysis = told;
    $('re-marks').append(...told.verdicts.map((one) => el('i', { class: one })));
    this.replayed();
  }

  replayed(text) {
    const { replay } = this;
    if (!replay.states.length) return;
    $('re-at').value = replay.at;
    const verdict = replay.analysis ? t(`verdict.${replay.analysis.verdicts[replay.at]}`) : '';
    show('re-verdict', verdict);
    $('re-at').setAttribute('aria-valuetext', `${t('replay.of', { n: replay.at, all: replay.last })} ${verdict}`);
    $('re-pos').replaceChildren(el('b', {}, String(replay.at)), ` / ${replay.last}`);
    $('re-speed').textContent = `${replay.speed}×`;
    $('re-speed').setAttribute('aria-label', `${t('replay.speed')} ${replay.speed}×`);
    const isOn = Boolean(replay.timer);
    if ($('re-play').dataset.on !== String(isOn)) {
      $('re-play').dataset.on = isOn;
      $('re-play').setAttribute('aria-label', t(isOn ? 'replay.pause' : 'replay.play'));
      $('re-play').replaceChildren(icon(isOn ? 'pause' : 'play'));
    }
    if (text) {
      this.say(text);
      if (this.isReplay) history.replaceState(null, '', `${location.pathname}#at=${replay.at}`);
    }
    this.refresh();
  }

  ended(status) {
    const { seat } = this, pause = status === 'won' ? this.view.celebrate() : 0;
    if (status === 'stuck') seat.mayAct && this.dialogs.stuck();
    else if (pause) setTimeout(() => { if (this.seat === seat && seat.table.isOver) this.dialogs.over(); }, pause);
    else this.dialogs.over();
  }

  hinted(action) {
    const button = $('do-home');
    button.classList.toggle('hinted', action === 'home');
    setTimeout(() => button.classList.remove('hinted'), 4000);
  }

  // ── keys ──

  key(event) {
    const { target } = event;
    if (event.defaultPrevented || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return;
    if (target.closest?.('input, textarea, select, [contenteditable]') && target.type !== 'range') return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey) {
      if (!this.seat) return;
      const what = name === 'z' ? (event.shiftKey ? 'redo' : 'undo') : name === 'y' && !event.shiftKey ? 'redo' : null;
      if (what) {
        event.preventDefault();
        this.do(what);
      }
      return;
    }
    if (this.isReplay && this.replayKey(event, name)) return void event.preventDefault();
    if (name.length === 1 && this.prefs.letters === false) return;
    const run = this.letters()[name];
    if (!run || (event.repeat && name !== 'u' && name !== 'r')) return;
    event.preventDefault();
    run();
  }

  letters() {
    const focus = this.view.focus, pile = focus && (focus.card ? focus.card.pile : focus.pile);
    const reading = root.dataset.view === 'lobby' ? {} : {
      t: () => this.say(this.play.readTable()), c: () => pile && this.say(this.play.readColumn(pile)), q: () => this.say(this.play.readScore()),
      p: () => pile && this.play.peek(pile),
    };
    const acting = this.seat ? { u: () => this.do('undo'), r: () => this.do('redo'), h: () => this.do('hint'), a: () => this.do('auto'), s: () => this.do('home'), d: () => this.play.draw() } : {};
    return { '?': () => this.dialogs.help(), n: () => this.dialogs.newGame(), l: () => this.say(this.last), ...reading, ...acting };
  }

  replayKey(event, name) {
    const { replay } = this;
    const onTable = this.view.stops?.includes(event.target);
    if (onTable && name.startsWith('Arrow')) return false;
    if (event.target.type === 'range' && (name.startsWith('Arrow') || name === 'Home' || name === 'End')) return false;
    if (event.target.closest?.('button, a') && (name === ' ' || name === 'Enter')) return false;
    const jump = { ArrowLeft: () => replay.go(replay.at - 1), ArrowRight: () => replay.go(replay.at + 1), Home: () => replay.go(0, false), End: () => replay.go(replay.last, false) }[name];
    if (jump) replay.pause();
    const run = jump || { ' ': () => replay.toggle(), '+': () => replay.faster(1), '-': () => replay.faster(-1) }[name];
    if (run) run();
    return Boolean(run);
  }

  install() {
    if (!('serviceWorker' in navigator) || !isSecureContext) return;
    let url = '/sw.js';
    if (window.trustedTypes) url = trustedTypes.createPolicy('chilkoot', { createScriptURL: () => '/sw.js' }).createScriptURL('');
    addEventListener('load', () => navigator.serviceWorker.register(url).catch(() => {}));
  }
}

const app = new App();
app.start();
