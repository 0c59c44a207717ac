// The first page: what can be played, and the games that were begun.

import { el } from './art.js';
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
    const start = el('button', { type: 'button', class: 'primary big-button', id: 'play-yukon', onclick: () => app.dialogs.begin(app.wire.ask('new', { variant: 'yukon' })) }, t('lobby.play', { name: 'Yukon' }));
    this.root.replaceChildren(el('h2', {}, t('lobby.title')), el('p', { class: 'lead' }, t('lobby.text')),
      el('div', { class: 'row start' }, last ? el('a', { class: 'button big-button primary', href: `/games/${last.game}`, id: 'continue' }, t('lobby.continue')) : null, start,
        el('button', { type: 'button', class: 'big-button', id: 'more-games', onclick: () => app.dialogs.newGame() }, t('new.more'))),
      this.daily, el('h3', {}, t('lobby.four')), this.four, el('h3', {}, t('lobby.mine')), this.list);
    if (last) start.classList.remove('primary');
    this.catalogued();
    if (this.entries) this.drawMine();
  }

  /** The list of games is here, and what else the server offers. */
  catalogued() {
    if (!this.four) return;
    const { app } = this;
    const ones = FOUR.map((id) => app.catalogue.get(id)).filter(Boolean);
    this.four.replaceChildren(...ones.map((one) => el('div', { class: 'variant' }, el('h4', {}, one.name), el('p', {}, one.summary),
      el('div', { class: 'row' }, el('button', { type: 'button', 'aria-label': `${t('new.start')}: ${one.name}`, onclick: () => app.dialogs.begin(app.wire.ask('new', { variant: one.id })) }, t('new.start')),
        one.levels.length > 1 ? el('button', { type: 'button', 'aria-label': `${t('new.level')}: ${one.name}`, onclick: () => app.dialogs.newGame(one.id) }, t('new.level')) : null,
        el('a', { class: 'quiet', href: `/rules/${one.id}`, 'aria-label': `${t('rules')}: ${one.name}` }, t('rules'))))));
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
    const when = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
    const isOver = (one) => one.status === 'won' || one.status === 'lost';
    const entry = (one) => {
      const values = { name: app.nameOf(one), state: t(`state.${one.status}`), n: one.score, moves: one.moves };
      const href = `/${isOver(one) ? 'replay' : 'games'}/${one.game}`;
      // Where a game stands is part of the picture's address: it is never an old one.
      const picture = this.private.has(one.game) ? null : el('img', { src: `/deals/${one.game}.svg?at=${one.seq}`, alt: '', loading: 'lazy', width: 160, height: 100 });
      return el('a', { class: `entry ${one.status}`, href, 'aria-label': t('lobby.entry', values) },
        el('span', { class: 'picture' }, picture), el('b', {}, values.name), el('span', {}, `${values.state} · ${one.score} · ${t('moves')} ${one.moves}`), el('span', { class: 'note' }, when.format(one.started)));
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
