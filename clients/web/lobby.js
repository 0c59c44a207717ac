// The pages beside the table: the first one with what can be played and my games, the deal of the day with its boards, races.
// What the server does not offer is not shown.

import { button, el, face, row, select } from './art.js';
import { recall, remember } from './wire.js';
import { language, reason, t } from './words.js';

const FOUR = ['yukon', 'yakutat-bay', 'yukon-cells', 'yukon-thicket'];
const PERIODS = ['day', 'week', 'all'];
const two = (n) => String(Math.floor(n) % 60).padStart(2, '0');
const clock = (ms) => `${Math.floor(ms / 36e5)}:${two(ms / 6e4)}:${two(ms / 1e3)}`;

const board = (heads, lines) => el('table', { class: 'board' }, el('thead', {}, el('tr', {}, ...heads.map((id) => el('th', { scope: 'col' }, t(id))))), el('tbody', {}, ...lines));
const line = (isMine, ...cells) => el('tr', { 'aria-current': String(isMine) }, ...cells.map((cell, at) => el(at === 1 ? 'th' : 'td', at === 1 ? { scope: 'row' } : {}, cell)));
const at = (day, one) => `/daily#${[day, one.variant, one.level].filter((part) => part !== undefined).join('/')}`;
const link = (href, id, kind) => el('a', { class: `button ${kind || ''}`, href }, t(id));

export class Lobby {
  constructor(app) {
    this.app = app;
    this.root = document.getElementById('lobby');
    this.private = new Set(recall('localStorage', 'chilkoot.private') || []);
  }

  /** Of such a game no picture is served. */
  hide(game) {
    this.private.add(game);
    remember('localStorage', 'chilkoot.private', [...this.private].slice(-200));
  }

  open() {
    const { app } = this, last = recall('localStorage', 'chilkoot.last');
    this.list = el('div', { class: 'games', id: 'mine' });
    this.four = el('div', { class: 'four' });
    this.daily = el('a', { class: 'button', id: 'daily', href: '/daily' }, t('lobby.daily'));
    const fan = el('div', { class: 'fan', 'aria-hidden': 'true' }, ...['TS', 'JD', 'QC', 'KH', 'AS'].map((card) => el('span', { class: 'card' }, face(card))));
    [...fan.children].forEach((card, at) => { card.style.transform = `translateX(${(at - 2) * 16}px) rotate(${(at - 2) * 12}deg)`; });
    // The first of these stands out: to go on, else to begin.
    this.root.replaceChildren(fan, el('h2', {}, t('lobby.title')), el('p', { class: 'lead' }, t('lobby.text')),
      el('div', { class: 'row start begin' }, last ? el('a', { class: 'button', href: `/games/${last.game}`, id: 'continue' }, t('lobby.continue')) : null,
        el('button', { type: 'button', id: 'play-yukon', onclick: () => this.deal('yukon') }, t('lobby.play', { name: 'Yukon' })),
        this.daily, el('button', { type: 'button', id: 'more-games', onclick: () => app.dialogs.newGame() }, t('new.more'))),
      el('h3', {}, t('lobby.four')), this.four, el('h3', {}, t('lobby.mine')), this.list);
    this.catalogued();
    this.mine();
    app.wire.ask('watchable', { limit: 12 }).then(({ games }) => { this.others = games; this.drawMine(); }, () => {});
  }

  deal(variant, level) {
    return this.app.dialogs.begin(this.app.wire.ask('new', { variant, level }));
  }

  catalogued() {
    if (!this.four) return;
    const { app } = this;
    const ones = FOUR.map((id) => app.catalogue.get(id)).filter(Boolean);
    const start = (one, level, text) => el('button', { type: 'button', 'aria-label': `${t('new.start')}: ${one.name}${level ? ` ${level}` : ''}`, onclick: () => this.deal(one.id, level) }, text);
    this.four.replaceChildren(...ones.map((one) => el('div', { class: 'variant' }, el('h4', {}, one.name),
      el('a', { class: 'quiet', href: `/rules/${one.id}`, 'aria-label': `${t('rules')}: ${one.name}` }, t('rules')), el('p', {}, one.summary),
      el('div', { class: 'row' }, ...(one.levels.length > 1 ? [t('new.level'), ...one.levels.map((level) => start(one, level, String(level)))] : [start(one, undefined, t('new.start'))])))));
    this.daily.hidden = !app.contests?.hasDaily;
    if (this.entries) this.drawMine();
  }

  async mine() {
    try {
      const reply = await this.app.wire.ask('games', { limit: 12 });
      this.entries = reply.games;
      this.more = reply.more;
    } catch (why) {
      if (why.code !== 'lost') this.app.say(reason(why));
      return;
    }
    this.drawMine();
  }

  drawMine() {
    const { app, entries = [], list } = this, others = (this.others || []).filter((one) => !this.private.has(one.game) && !entries.some((mine) => mine.game === one.game));
    const when = new Intl.DateTimeFormat(language === 'en' ? undefined : language, { dateStyle: 'medium', timeStyle: 'short' });
    const isOver = (one) => one.status === 'won' || one.status === 'lost';
    const entry = (one) => {
      const values = { state: t(`state.${one.status}`), n: one.score, moves: one.moves }, name = app.nameOf(one), state = t('lobby.entry', values);
      const href = `/${isOver(one) ? 'replay' : 'games'}/${one.game}`;
      // With `at` it is never an old picture.
      const picture = this.private.has(one.game) || (one.contest && !one.deal) ? null : el('img', { src: `/deals/${one.game}.svg?at=${one.seq}`, alt: '', loading: 'lazy', width: 160, height: 100 });
      return el('a', { class: 'entry', href, 'aria-label': `${name}, ${state}` },
        el('span', { class: 'picture' }, picture), el('b', {}, name), one.player ? el('span', {}, one.player) : null, el('span', {}, state), el('span', { class: 'note' }, when.format(one.started)));
    };
    const part = (tag, id, ones) => (ones.length ? [el(tag, {}, t(`lobby.${id}`)), el('div', { class: 'entries' }, ...ones.map(entry))] : []);
    const parts = [...part('h4', 'playing', entries.filter((one) => !isOver(one))), ...part('h4', 'over', entries.filter(isOver))];
    if (!entries.length) parts.push(el('p', { class: 'note' }, t('lobby.none')));
    if (this.more) parts.push(el('button', { type: 'button', onclick: () => this.older() }, t('lobby.more')));
    const last = recall('localStorage', 'chilkoot.last');
    const gone = last && entries.find((one) => one.game === last.game && isOver(one));
    if (gone) {
      remember('localStorage', 'chilkoot.last', null);
      document.getElementById('continue')?.remove();
    }
    list.replaceChildren(...parts, ...part('h3', 'others', others));
  }

  async older() {
    const reply = await this.app.wire.ask('games', { limit: 12, before: this.entries.at(-1).game }).catch(() => null);
    if (!reply) return;
    this.entries = [...this.entries, ...reply.games];
    this.more = reply.more;
    this.drawMine();
  }
}

export class Contests {
  constructor(app) {
    this.app = app;
    this.root = document.getElementById('lobby');
    this.ask = (type, fields) => app.wire.ask(type, fields);
    this.ahead = 0;
    app.wire.addEventListener('race', (event) => this.raced(event.news));
    setInterval(() => this.tick(), 1000);
  }

  /** What there is, asked whenever the server has greeted us. */
  async welcomed() {
    // A race that is none tells whether there are races.
    this.ask('race_join', { race: this.race?.race || '-' }).then(() => true, (why) => why.code === 'no_such_race').then((has) => { this.hasRaces = has; });
    this.hasDaily = await this.ask('daily').then(() => true, () => false);
    this.app.lobby.catalogued();
  }

  /** Milliseconds until then, by the server's clock. */
  left(then) {
    return then - Date.now() - this.ahead;
  }

  tick() {
    for (const node of this.root.querySelectorAll('[data-until]')) {
      const left = this.left(node.dataset.until);
      node.textContent = clock(Math.max(0, left));
      if (left < -1500) this.app.route();
    }
  }

  until(id, then) {
    return el('p', {}, `${t(id)} `, el('b', { role: 'timer', 'data-until': then }, clock(this.left(then))));
  }

  page(...content) {
    this.root.replaceChildren(el('div', { class: 'page' }, ...content.filter(Boolean)));
  }

  failed(why) {
    this.page(el('h2', {}, reason(why)), row(link('/', 'lobby')));
  }

  // ── the deal of the day ──

  async daily() {
    const [date, variant, level] = location.hash.slice(1).split('/');
    let told;
    try {
      told = await this.ask('daily', { date: date || null, variant, level: level && Number(level) });
    } catch (why) {
      return this.failed(why);
    }
    if (location.pathname !== '/daily') return;
    this.ahead = told.now - Date.now();
    const { app } = this, { result, state, game, closes } = told, isToday = told.now < closes, head = { variant: told.variant, level: told.level };
    const keep = (begun) => remember('localStorage', 'chilkoot.daily', { game: begun.game, asked: { date: told.date, ...head } });
    if (game) keep(told);
    const turn = (n, text) => el('a', { class: 'button', href: at(new Date(Date.parse(told.date) + n * 864e5).toISOString().slice(0, 10), head), 'aria-label': t(`daily.${n}`) }, text);
    const games = select('daily-game', told.offered.map((one) => [at(told.date, one), app.nameOf(one)]), at(told.date, head), (href) => app.go(href));
    games.setAttribute('aria-label', t('new.variant'));
    const begins = (text, type, fields) => button(t(text), () => app.say(t('new.going')) || app.dialogs.begin(this.ask(type, { ...head, ...fields }).then((begun) => { if (!fields) keep(begun); return begun; })), 'primary');
    const box = el('div', {}), periods = row(...PERIODS.map((one) => button(t(`board.${one}`), () => this.board(told, box, periods, one))));
    this.page(el('h2', {}, t('daily.title', told)), el('p', { class: 'lead' }, t('daily.text')),
      row(turn(-1, '‹'), games, isToday ? null : turn(1, '›')),
      result ? el('p', {}, el('b', {}, this.told(told).line), result.rank ? ` · ${t('board.rank')} ${result.rank}` : '') : null,
      row(isToday && state === 'playing' ? link(`/games/${game}`, 'lobby.continue', 'primary') : null, isToday && state === 'not_started' ? begins('daily.start', 'daily_start') : null,
        told.deal ? begins('daily.past', 'new', { deal: told.deal }) : null, result ? button(t('result.copy'), () => app.dialogs.copy(this.told(told).text)) : null,
        game && state === 'over' ? link(`/games/${game}`, 'look') : null),
      el('p', {}, t('daily.streak', { n: told.streak, best: told.best_streak })),
      isToday ? this.until('daily.next', closes) : told.revealed ? null : this.until('daily.reveals', told.reveals),
      el('p', {}, el('a', { class: 'quiet', href: `/daily/${told.date}.json` }, t('daily.proof'))),
      el('h3', {}, t('board.title')), periods, box);
    this.board(told, box, periods, 'day');
  }

  told({ date, result, ...head }) {
    const { app } = this, href = at(date, head), all = app.catalogue.get(head.variant)?.cards || 52;
    return { href, ...app.dialogs.shared(t('daily.name', { name: app.nameOf(head), date }), result.won, result, all, t(`help.${result.help}`), href) };
  }

  /** The same of a game that has just ended, if it is a daily. */
  async dailyOf(game) {
    const kept = recall('localStorage', 'chilkoot.daily');
    if (kept?.game !== game) return null;
    const told = await this.ask('daily', kept.asked).catch(() => ({}));
    return told.result ? this.told(told) : null;
  }

  async board(told, box, periods, period, after) {
    const { variant, level, date } = told, isDay = period === 'day';
    let page;
    try {
      page = await this.ask('leaderboard', { variant, level, date: period === 'all' ? null : date, period, after });
    } catch (why) {
      return box.replaceChildren(reason(why));
    }
    [...periods.children].forEach((one, at) => one.setAttribute('aria-pressed', PERIODS[at] === period));
    const isMine = (one) => one.player.id === page.me?.player.id, name = (one) => this.nameOf(one.player);
    const drawn = (one) => line(isMine(one), one.rank, one.game ? el('a', { href: `/replay/${one.game}` }, name(one)) : name(one),
      isDay ? (one.won ? t('share.solved') : one.score) : `${one.won}/${one.days}`, t(`help.${one.help}`), one.moves, clock(one.ms));
    const lines = page.entries.map(drawn);
    if (!after && page.around && !page.entries.some(isMine)) lines.push(line(false, '…'), ...page.around.map(drawn));
    if (after) {
      box.querySelector('tbody').append(...lines);
      box.lastChild.remove();
    } else box.replaceChildren(lines.length ? board(['board.rank', 'board.player', isDay ? 'board.result' : 'stats.won', 'board.help', 'moves', 'board.time'], lines) : t('board.none'));
    if (page.next) box.append(button(t('lobby.more'), () => this.board(told, box, periods, period, page.next)));
  }

  nameOf(player) {
    return player.name || t('guest', { id: player.id.slice(0, 4) });
  }

  // ── races ──

  async openRace(id) {
    try {
      await this.ask('race_join', { race: id, key: new URLSearchParams(location.hash.slice(1)).get('key') });
    } catch (why) {
      this.failed(why);
    }
  }

  /** A race of so many, one against a recording, or another with the same players. */
  async begin(type, fields) {
    const { race, key } = await this.ask(type, fields);
    this.app.go(`/races/${race}#key=${key}`);
    return true;
  }

  /** News of a race: all of it, or the seats that changed. */
  raced(news) {
    const before = this.race?.race === news.race ? this.race : { players: [] };
    if (news.type !== 'race' && !before.race) return;
    const players = new Map([...before.players, ...news.players.map((one) => [one.seat, { ...new Map(before.players).get(one.seat), ...one }])]);
    this.race = { ...before, ...news, players };
    const { race, state, game, time } = this.race;
    if (time) this.ahead = time - Date.now();
    remember('sessionStorage', 'chilkoot.race', state === 'over' ? null : { race, game });
    if (location.pathname === `/races/${race}`) {
      // The deal is out: to the table.
      if (game && state === 'running' && before.state === 'waiting') this.app.go(`/games/${game}`);
      else this.drawRace();
    }
    this.drawStrip();
  }

  /** Whoever takes up the game of a race has a seat, and needs no key. */
  seated(game) {
    const kept = recall('sessionStorage', 'chilkoot.race');
    if (kept?.game === game && this.race?.game !== game) this.ask('race_join', { race: kept.race }).catch(() => {});
    this.drawStrip();
  }

  /** The seats as they stand: where, who, how far. */
  get standing() {
    const { race } = this, name = (one) => (one.ghost ? t('race.ghost') : one.seat === race.seat ? t('race.me') : one.player ? this.nameOf(one.player) : '');
    return [...race.players.values()].sort((a, b) => (a.place || 1e9) - (b.place || 1e9) || b.score - a.score).map((one, at) => ({ ...one, at: one.place || at + 1, name: name(one), isMine: one.seat === race.seat }));
  }

  /** Above the table: the others while one plays. */
  drawStrip() {
    const { race } = this, strip = document.getElementById('race');
    strip.hidden = !race?.game || this.app.seat?.game !== race.game;
    if (strip.hidden) return;
    strip.href = `/races/${race.race}`;
    strip.replaceChildren(...this.standing.map((one) => el('span', { class: one.isMine && 'mine' }, `${one.at}. ${one.name} `, el('b', {}, one.score))));
  }

  drawRace() {
    const { app, race } = this, { state, game, key } = race, address = `${location.origin}/races/${race.race}#key=${key}`, isWaiting = state === 'waiting';
    const lines = this.standing.map((one) => line(one.isMine, isWaiting ? '' : one.at, one.name, one.score, one.moves, one.ms ? clock(one.ms) : t(`state.${one.status}`)));
    this.page(el('h2', {}, t('race.title', { name: app.nameOf(race) })), el('p', { class: 'lead' }, t(`race.is.${state}`, { n: race.players.size, all: race.seats })),
      isWaiting ? app.dialogs.copied(address, t('race.link')) : null, isWaiting && race.starts ? this.until('race.starts', race.starts) : null,
      board(['board.rank', 'board.player', 'board.result', 'moves', 'board.time'], lines),
      row(game ? link(`/games/${game}`, state === 'over' ? 'look' : 'race.table', 'primary') : null,
        state !== 'over' ? button(t('race.leave'), () => this.ask('race_leave', { race: race.race }).then(() => app.go('/'), (why) => app.say(reason(why))))
          : button(t('race.again'), () => app.dialogs.begin(this.begin('rematch', { race: race.race })))));
  }
}
