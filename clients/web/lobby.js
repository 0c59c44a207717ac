// The first page: what can be played, and the games that were begun.

import { el, face } from './art.js';
import { recall, remember } from './wire.js';
import { language, reason, t } from './words.js';

const FOUR = ['yukon', 'yakutat-bay', 'yukon-cells', 'yukon-thicket'];

export class Lobby {
  constructor(app) {
    this.app = app;
    this.root = document.getElementById('lobby');
    this.private = new Set(recall('localStorage', 'chilkoot.private') || []);
  }

  /** Of a game that is not open to all no picture is served. */
  hide(game) {
    this.private.add(game);
    remember('localStorage', 'chilkoot.private', [...this.private].slice(-200));
  }

  open() {
    this.rebuild();
    this.mine();
  }

  rebuild() {
    const { app } = this, last = recall('localStorage', 'chilkoot.last');
    this.list = el('div', { class: 'games', id: 'mine' });
    this.four = el('div', { class: 'four' });
    this.daily = el('div', { class: 'daily', hidden: true });
    const fan = el('div', { class: 'fan', 'aria-hidden': 'true' }, ...['TS', 'JD', 'QC', 'KH', 'AS'].map((card) => el('span', { class: 'card' }, face(card))));
    [...fan.children].forEach((card, at) => { card.style.transform = `translateX(${(at - 2) * 16}px) rotate(${(at - 2) * 12}deg)`; });
    // The first of these stands out: to go on, else to begin.
    this.root.replaceChildren(fan, el('h2', {}, t('lobby.title')), el('p', { class: 'lead' }, t('lobby.text')),
      el('div', { class: 'row start first' }, last ? el('a', { class: 'button', href: `/games/${last.game}`, id: 'continue' }, t('lobby.continue')) : null,
        el('button', { type: 'button', id: 'play-yukon', onclick: () => this.deal('yukon') }, t('lobby.play', { name: 'Yukon' })),
        el('button', { type: 'button', id: 'more-games', onclick: () => app.dialogs.newGame() }, t('new.more'))),
      this.daily, el('h3', {}, t('lobby.four')), this.four, el('h3', {}, t('lobby.mine')), this.list);
    this.catalogued();
    if (this.entries) this.drawMine();
  }

  deal(variant, level) {
    return this.app.dialogs.begin(this.app.wire.ask('new', { variant, level }));
  }

  /** The list of games is here, and what else the server offers. */
  catalogued() {
    if (!this.four) return;
    const { app } = this;
    const ones = FOUR.map((id) => app.catalogue.get(id)).filter(Boolean);
    const start = (one, level, text) => el('button', { type: 'button', 'aria-label': `${t('new.start')}: ${one.name}${level ? ` ${level}` : ''}`, onclick: () => this.deal(one.id, level) }, text);
    this.four.replaceChildren(...ones.map((one) => el('div', { class: 'variant' }, el('h4', {}, one.name),
      el('a', { class: 'quiet', href: `/rules/${one.id}`, 'aria-label': `${t('rules')}: ${one.name}` }, t('rules')), el('p', {}, one.summary),
      el('div', { class: 'row' }, ...(one.levels.length > 1 ? [t('new.level'), ...one.levels.map((level) => start(one, level, String(level)))] : [start(one, undefined, t('new.start'))])))));
    if (app.daily && !app.daily.code) {
      this.daily.hidden = false;
      this.daily.replaceChildren(el('h3', {}, t('lobby.daily')), el('p', {}, t('lobby.dailytext', { date: app.daily.date || '' })),
        el('button', { type: 'button', onclick: () => app.dialogs.begin(app.wire.ask('daily_start')) }, t('daily.start')));
    }
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
    const { app, entries, list } = this;
    if (!entries.length) return list.replaceChildren(el('p', { class: 'note' }, t('lobby.none')));
    const when = new Intl.DateTimeFormat(navigator.language.startsWith(language) ? navigator.language : language, { dateStyle: 'medium', timeStyle: 'short' });
    const isOver = (one) => one.status === 'won' || one.status === 'lost';
    const entry = (one) => {
      const values = { state: t(`state.${one.status}`), n: one.score, moves: one.moves }, name = app.nameOf(one), state = t('lobby.entry', values);
      const href = `/${isOver(one) ? 'replay' : 'games'}/${one.game}`;
      // Where a game stands is part of the picture's address: it is never an old one.
      const picture = this.private.has(one.game) ? null : el('img', { src: `/deals/${one.game}.svg?at=${one.seq}`, alt: '', loading: 'lazy', width: 160, height: 100 });
      return el('a', { class: `entry ${one.status}`, href, 'aria-label': `${name}, ${state}` },
        el('span', { class: 'picture' }, picture), el('b', {}, name), el('span', {}, state), el('span', { class: 'note' }, when.format(one.started)));
    };
    const parts = [];
    for (const [id, ones] of [['playing', entries.filter((one) => !isOver(one))], ['over', entries.filter(isOver)]]) {
      if (ones.length) parts.push(el('h4', {}, t(`lobby.${id}`)), el('div', { class: 'entries' }, ...ones.map(entry)));
    }
    if (this.more) parts.push(el('button', { type: 'button', onclick: () => this.older() }, t('lobby.more')));
    const last = recall('localStorage', 'chilkoot.last');
    const gone = last && entries.find((one) => one.game === last.game && isOver(one));
    if (gone) {
      remember('localStorage', 'chilkoot.last', null);
      document.getElementById('continue')?.remove();
    }
    list.replaceChildren(...parts);
  }

  async older() {
    const reply = await this.app.wire.ask('games', { limit: 12, before: this.entries.at(-1).game }).catch(() => null);
    if (!reply) return;
    this.entries = [...this.entries, ...reply.games];
    this.more = reply.more;
    this.drawMine();
  }
}
