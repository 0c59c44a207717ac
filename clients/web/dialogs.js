// Everything that opens over the table: menu, new game, settings, help, share, statistics, give up, how it ended.

import { button, el, face, icon, row, select } from './art.js';
import { HIDDEN } from './mirror.js';
import { LANGUAGES, all, cardName, has, pileName, reason, t, upper } from './words.js';

const label = (text, control) => el('label', {}, text, control);
const watchers = (id, now, run) => label(t('new.watch'), select(id, ['open', 'key', 'closed'].map((one) => [one, t(`new.${one}`)]), now, run));

export class Dialogs {
  constructor(app) {
    this.app = app;
    document.getElementById('menu').addEventListener('click', () => this.menu());
    document.getElementById('deal').addEventListener('click', () => this.copy(this.app.seat?.table.deal || this.app.replay.head?.deal));
  }

  open(title, ...content) {
    this.closeAll();
    const heading = el('h2', { id: 'dialog-title', tabindex: -1 }, title);
    const box = el('dialog', { class: 'dlg', 'aria-labelledby': 'dialog-title' }, heading, ...content);
    box.addEventListener('close', () => box.remove());
    // The end of a long press on a card is no click on what it opened.
    let pressed = null;
    box.addEventListener('pointerdown', (event) => { pressed = event.target; });
    box.addEventListener('click', (event) => {
      if (event.detail && !pressed) event.stopPropagation();
      else if (event.target === box && pressed === box) box.close();
    }, true);
    const before = document.activeElement;
    box.addEventListener('close', () => { if (before?.isConnected && document.activeElement === document.body) before.focus({ preventScroll: true }); });
    document.body.append(box);
    box.showModal();
    return box;
  }

  closeAll() {
    // Gone at once, not when it hears that it was closed: until then its fields would be there twice.
    for (const box of document.querySelectorAll('dialog[open]')) { box.close(); box.remove(); }
  }

  closing(text = t('close')) {
    return button(text, () => this.closeAll());
  }

  async copy(text) {
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
      this.app.say(t('copied'));
    } catch {
      const field = el('textarea', { class: 'copy', readonly: true, rows: 3, 'aria-label': t('copy') }, text);
      (document.querySelector('dialog[open]') || document.body).append(field);
      field.select();
      const done = document.execCommand?.('copy');
      this.app.say(t(done ? 'copied' : 'notcopied'));
      if (done) field.remove();
    }
  }

  menu() {
    const { app } = this, { seat } = app, inGame = Boolean(seat);
    const item = (name, text, run) => el('button', { type: 'button', class: 'item', onclick: run }, icon(name), text);
    const link = (name, text, href, more = {}) => el('a', { class: 'item', href, ...more }, icon(name), text);
    const variant = app.variant;
    const items = [
      item('plus', t('newgame'), () => this.newGame()),
      inGame && seat.mayAct && item('restart', t('restart'), () => this.restart()),
      link('grid', t('lobby'), '/'),
      (inGame || app.isReplay) && item('share', t('share'), () => this.share()),
      inGame && link('play', t('replay'), `/replay/${seat.game}`),
      app.isReplay && app.contests.hasRaces && item('play', t('race.against'), () => this.begin(app.contests.begin('race', { ghost: app.replay.game }))),
      (inGame || app.isReplay) && variant && link('book', t('rules'), `/rules/${variant}`, { target: '_blank', rel: 'noopener' }),
      item('chart', t('stats'), () => this.stats()),
      item('gear', t('settings'), () => this.settings()),
      item('help', t('help'), () => this.help()),
    ];
    this.open(t('menu'), el('div', { class: 'items' }, ...items.filter(Boolean)), row(this.closing()));
  }

  async restart() {
    const { app } = this;
    this.closeAll();
    await this.begin(app.wire.ask('restart', { game: app.seat.game }));
  }

  async begin(asked) {
    try {
      const begun = await asked;
      if (begun !== true) this.app.began(begun);
      return true;
    } catch (why) {
      this.app.say(reason(why));
      return why;
    }
  }

  newGame(variant) {
    const { app } = this;
    const wanted = variant || app.variant || 'yukon';
    const search = el('input', { type: 'search', id: 'new-search', autocomplete: 'off', 'aria-describedby': 'new-found' });
    const pick = el('select', { id: 'new-variant', size: 7, 'aria-label': t('new.variant') });
    const found = el('span', { id: 'new-found', class: 'note', role: 'status' });
    const summary = el('p', { class: 'note', id: 'new-summary' });
    const level = el('select', { id: 'new-level' });
    const levelBox = label(t('new.level'), level);
    const deal = el('input', { id: 'new-deal', autocomplete: 'off', maxlength: 8000, 'aria-describedby': 'new-deal-hint', spellcheck: 'false' });
    const winnable = el('input', { type: 'checkbox', id: 'new-winnable' });
    const watch = watchers('new-watch');
    const seats = el('input', { type: 'number', id: 'new-seats', min: 1, max: 256, value: 1 });
    const problem = el('p', { class: 'problem', role: 'alert' });
    const list = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = [...app.catalogue.values()].filter((one) => words.every((word) => `${one.name} ${one.id} ${one.family} ${one.summary}`.toLowerCase().includes(word)));
      const families = new Map();
      for (const one of shown) families.set(one.family, [...(families.get(one.family) || []), one]);
      pick.replaceChildren(...[...families].map(([family, ones]) => el('optgroup', { label: upper(family) }, ...ones.map((one) => el('option', { value: one.id }, one.name)))));
      const typed = search.value.trim().toLowerCase();
      const keep = (typed ? shown.find((one) => one.name.toLowerCase() === typed) || shown.find((one) => one.name.toLowerCase().startsWith(typed)) : null)
        || shown.find((one) => one.id === (pick.dataset.wanted || wanted)) || shown[0];
      if (keep) pick.value = keep.id;
      found.textContent = t('new.found', { n: shown.length });
      chosen();
    };
    const chosen = () => {
      const one = app.catalogue.get(pick.value);
      summary.textContent = one ? one.summary : '';
      levelBox.hidden = !one || one.levels.length < 2;
      level.replaceChildren(...(one?.levels || []).map((number) => el('option', { value: number, selected: number === one.default_level }, String(number))));
    };
    search.addEventListener('input', list);
    pick.addEventListener('change', () => { pick.dataset.wanted = pick.value; chosen(); });
    pick.addEventListener('dblclick', () => start());
    const start = async () => {
      problem.textContent = '';
      const text = deal.value.trim();
      const fields = { variant: pick.value, watch: watch.lastChild.value };
      if (!levelBox.hidden) fields.level = Number(level.value);
      // A bare number is a deal of ours, several lines or piles are a board; the rest is the server's to judge.
      if (text) Object.assign(fields, /[|\n]|^\w\d+:\s/.test(text) ? { cards: text } : { deal: /^\d+$/.test(text) ? `ck:${text}` : text });
      if (winnable.checked) fields.winnable = true;
      go.textContent = t('new.going');
      const done = await this.begin(seats.value > 1 ? app.contests.begin('race', { variant: fields.variant, level: fields.level, seats: Number(seats.value) }) : app.wire.ask('new', fields).then((snapshot) => {
        if (fields.watch !== 'open') app.lobby.hide(snapshot.game);
        return snapshot;
      }));
      if (done !== true) {
        go.textContent = t('new.start');
        problem.textContent = reason(done);
      }
    };
    const go = button(t('new.start'), start, 'primary');
    const form = el('form', { method: 'dialog', class: 'form' },
      label(t('new.search'), search), found, pick, summary, levelBox,
      label(t('new.deal'), deal), el('span', { class: 'note', id: 'new-deal-hint' }, t('new.deal.hint')),
      el('label', { class: 'check' }, winnable, t('new.winnable')),
      watch, app.contests.hasRaces ? label(t('new.seats'), seats) : null, problem, row(go, this.closing(t('cancel'))));
    form.addEventListener('submit', (event) => { event.preventDefault(); start(); });
    form.addEventListener('keydown', (event) => { if (event.key === 'Enter' && event.target !== go && event.target.tagName !== 'BUTTON') { event.preventDefault(); start(); } });
    this.relist = list;
    this.open(t('newgame'), form).addEventListener('close', () => { this.relist = null; });
    list();
    pick.focus();
  }

  // ── settings, help, statistics ──

  settings() {
    const { app } = this, now = app.prefs;
    const choice = (name, options, text = (one) => t(`set.${name}.${one}`)) => label(t(`set.${name}`),
      select(`set-${name}`, options.map((one) => [one, text(one)]), now[name], (value) => app.apply({ [name]: value })));
    const check = (name) => {
      const box = el('input', { type: 'checkbox', id: `set-${name}`, checked: Boolean(now[name]), onchange: () => app.apply({ [name]: box.checked }) });
      return el('label', { class: 'check' }, box, t(`set.${name}`));
    };
    const name = el('input', { id: 'set-name', maxlength: 40, autocomplete: 'nickname', value: now.name || '', onchange: () => this.rename(name) });
    this.open(t('settings'), el('div', { class: 'form two' }, choice('theme', ['system', 'light', 'dark', 'contrast']), choice('deck', ['auto', '2', '4']),
      check('mark'), check('large'), check('left'), choice('speed', [0, 1, 2, 4]), check('tap'), check('targets'), check('letters'),
      label(t('set.name'), name), choice('language', ['auto', ...Object.keys(LANGUAGES)], (one) => LANGUAGES[one] || t('set.language.auto'))), row(this.closing()));
  }

  async rename(field) {
    const { app } = this, name = field.value.trim();
    app.wire.name = name || undefined;
    app.apply({ name: name || undefined });
    if (!name) return;
    try {
      await app.wire.rename();
    } catch (why) {
      app.say(reason(why));
    }
  }

  help() {
    const keys = all('key.').map((line) => line.split(': '));
    this.open(t('help'), el('p', {}, t('help.ways')), el('p', {}, t('help.touch')),
      el('table', { class: 'keys' }, el('tbody', {}, ...keys.map(([key, what]) => el('tr', {}, el('th', { scope: 'row' }, key), el('td', {}, what))))), row(this.closing()));
  }

  async stats() {
    const { app } = this, list = el('dl', { class: 'stats' });
    const which = select('stats-variant', [['', t('stats.all')], ...[...app.catalogue.values()].map((one) => [one.id, one.name])], app.variant, () => load());
    const load = async () => {
      try {
        const told = await app.wire.ask('stats', { variant: which.value || undefined });
        const rate = told.finished ? `${Math.round((100 * told.won) / told.finished)} %` : '–';
        const facts = [['started', told.started], ['finished', told.finished], ['won', told.won], ['rate', rate], ['best', told.best ?? '–'], ['streak', told.streak]];
        list.replaceChildren(...facts.flatMap(([name, value]) => [el('dt', {}, t(`stats.${name}`)), el('dd', {}, String(value))]));
      } catch (why) {
        list.replaceChildren(el('dt', {}, reason(why)));
      }
    };
    this.open(t('stats'), el('div', { class: 'form' }, label(t('new.variant'), which)), list, row(this.closing()));
    await load();
  }

  share() {
    const { app } = this, table = app.seat?.table, game = table ? table.game : app.replay.game;
    const base = `${location.origin}/${table && !table.isOver ? 'games' : 'replay'}/${game}`;
    const parts = [this.copied(table?.watchKey ? `${base}#watch=${table.watchKey}` : base, t('share.watch'))];
    if (table?.key && !table.isOver) parts.push(this.copied(`${location.origin}/games/${game}#key=${table.key}`, t('share.play')), el('p', { class: 'note' }, t('share.private')));
    const watch = (now) => app.wire.ask('watch', { game, watch: now }).then((told) => {
      Object.assign(table, { watch: now, watchKey: told.watch_key });
      if (now !== 'open') app.lobby.hide(game);
      this.share();
    }, (why) => app.say(reason(why)));
    if (table?.key && !table.isOver) parts.unshift(watchers('share-watch', table.watch, watch));
    if (!table) parts.push(button(t('replay.link'), () => this.copy(`${base}#at=${app.replay.at}`)));
    this.open(t('share'), el('div', { class: 'form' }, ...parts), row(this.closing()));
  }

  copied(url, text) {
    return el('div', { class: 'linkrow' }, label(text, el('input', { readonly: true, value: url, onfocus: (event) => event.target.select() })), button(t('copy'), () => this.copy(url)));
  }

  /** A square for each of thirteen parts that are done, the last one amber where undo was used. */
  squares(share, undos) {
    const done = Math.round(13 * share), kinds = Array.from({ length: 13 }, (_, i) => (i < done ? (undos && i === done - 1 ? 'y' : 'g') : 'n'));
    return { kinds, text: kinds.map((one) => ({ g: '🟩', y: '🟨', n: '⬜' })[one]).join('') };
  }

  /** What may be told of a result: no card. */
  shared(name, isWon, { score, undos, moves }, all, how, path) {
    const result = isWon ? t('share.solved') : t('share.lost', { n: score, all }), line = t('share.line', { name, result, moves, how });
    const squares = this.squares(score / all, undos), url = location.origin + path;
    return { line, squares, url, text: `${line}\n${squares.text}\n${url}` };
  }

  result() {
    const { table } = this.app.seat, { undos } = table;
    return this.shared(this.app.nameOf(table), table.status === 'won', table, table.size, undos ? t('share.undos', { n: undos }) : t('share.clean'), `/replay/${table.game}`);
  }

  // ── give up, stuck, over ──

  giveUp() {
    const { app } = this;
    const yes = button(t('giveup.yes'), () => { this.closeAll(); app.play.act('give_up'); }, 'danger');
    const no = button(t('giveup.no'), () => this.closeAll(), 'primary');
    this.open(t('giveup.title'), el('p', {}, t('giveup.text')), row(no, yes));
    no.focus();
  }

  stuck() {
    const { app } = this;
    const undo = button(t('back1'), () => { this.closeAll(); app.play.act('undo'); }, 'primary');
    this.open(t('stuck.title'), el('p', {}, t('stuck.text')), row(undo, this.closing(t('stuck.play')), button(t('giveup'), () => this.giveUp(), 'danger')));
    undo.focus();
  }

  async over() {
    const { app } = this, { table, game } = app.seat, isWon = table.status === 'won', mayUndo = table.result === 'no_moves' && table.can?.undo && table.role === 'player';
    const daily = await app.contests.dailyOf(game), race = app.contests.race?.game === game && app.contests.race.race;
    if (app.seat?.game !== game) return;
    const { line, squares, url, text } = daily || this.result();
    const title = isWon ? t('won.title', { n: table.moves }) : has(`lost.${table.result}`) ? t(`lost.${table.result}`) : t('over.title');
    const blocks = el('div', { class: 'grid' }, el('span', {}, line), el('span', { class: 'sq', 'aria-hidden': 'true' }, ...squares.kinds.map((one) => el('i', { class: one }))));
    const link = (href, id) => el('a', { href, class: 'button' }, t(id)), note = el('p', { class: 'note' }, mayUndo ? t('lost.undo') : '');
    const undo = mayUndo ? button(t('back1'), () => { this.closeAll(); app.play.act('undo'); }, 'primary') : null;
    const own = daily || race ? [link(daily ? daily.href : `/races/${race}`, 'board.title')]
      : [button(t('again'), () => app.lobby.deal(table.variant, table.level), mayUndo ? null : 'primary'), link(`/replay/${game}`, 'result.replay'),
        table.role === 'player' ? button(t('result.same'), () => this.restart()) : null, button(t('result.picture'), () => this.picture(game))];
    const native = navigator.share ? button(t('share.native'), () => navigator.share({ text: line, url }).catch(() => {})) : null;
    const box = this.open(title, note, blocks, row(undo, ...own, button(t('result.copy'), () => this.copy(text)), native, this.closing(t('look'))));
    box.classList.add('end');
    box.querySelector('.row').firstChild.focus();
    app.say(`${title}. ${line}`);
    if (!isWon) return;
    const told = await app.wire.ask('stats', { variant: table.variant }).catch(() => ({}));
    if (told.streak > 1) note.textContent = `${t('stats.streak')}: ${told.streak}`;
  }

  async picture(game) {
    const image = new Image();
    image.src = `/deals/${game}.svg`;
    await image.decode();
    const canvas = el('canvas', { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((settle) => canvas.toBlob(settle, 'image/png'));
    const link = el('a', { href: URL.createObjectURL(blob), download: `chilkoot-${game}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  peek(pile, cards, mayPick) {
    const { app } = this;
    if (!cards) return;
    const down = cards.filter((card) => card === HIDDEN).length;
    const rows = cards.map((card, at) => (card === HIDDEN ? null : el('li', {}, el('button', { type: 'button', class: 'peek', disabled: !mayPick,
      onclick: () => { this.closeAll(); app.play.pick(pile, 'fcws'.includes(pile[0]) ? 1 : cards.length - at, true); } }, el('span', { class: 'mini' }, face(card)), upper(cardName(card))))));
    this.open(t('peek.title', { pile: upper(pileName(pile, app.view.foundations)) }), el('p', { class: 'note' }, [down ? t('read.down', { n: down }) : '', mayPick && down < cards.length ? t('peek.pick') : ''].filter(Boolean).join('. ')),
      el('ol', { class: 'peeks' }, ...rows.filter(Boolean)), row(this.closing()));
  }
}

