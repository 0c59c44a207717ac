// Everything that opens over the table: menu, new game, settings, help, share, statistics, give up, how it ended.

import { el, face, icon } from './art.js';
import { HIDDEN } from './mirror.js';
import { LANGUAGES, cardName, has, reason, t, upper } from './words.js';

const button = (text, run, kind) => el('button', { type: 'button', class: kind, onclick: run }, text);
const row = (...children) => el('div', { class: 'row' }, ...children);

export class Dialogs {
  constructor(app) {
    this.app = app;
    document.getElementById('menu').addEventListener('click', () => this.menu());
    document.getElementById('deal').addEventListener('click', () => this.copy(this.app.seat?.table.deal || this.app.replay.head?.deal));
  }

  /** A modal dialog; it is gone from the page when it is closed. */
  open(title, ...content) {
    this.closeAll();
    const heading = el('h2', { id: 'dialog-title', tabindex: -1 }, title);
    const box = el('dialog', { class: 'dlg', 'aria-labelledby': 'dialog-title' }, heading, ...content);
    box.addEventListener('close', () => box.remove());
    // The end of a press that began elsewhere, a long one on a card above all, is no click on what it opened.
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
    for (const box of document.querySelectorAll('dialog[open]')) box.close();
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

  // ── menu ──

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
      this.app.began(await asked);
      return true;
    } catch (why) {
      const problems = why.detail?.problems;
      this.app.say(Array.isArray(problems) && problems.length ? problems.join(' ') : reason(why));
      return why;
    }
  }

  // ── new game ──

  newGame(variant) {
    const { app } = this;
    const wanted = variant || app.variant || 'yukon';
    const search = el('input', { type: 'search', id: 'new-search', autocomplete: 'off', 'aria-describedby': 'new-found' });
    const pick = el('select', { id: 'new-variant', size: 7, 'aria-label': t('new.variant') });
    const found = el('span', { id: 'new-found', class: 'note', role: 'status' });
    const summary = el('p', { class: 'note', id: 'new-summary' });
    const level = el('select', { id: 'new-level' });
    const levelBox = el('label', { for: 'new-level' }, t('new.level'), level);
    const deal = el('input', { id: 'new-deal', autocomplete: 'off', maxlength: 8000, 'aria-describedby': 'new-deal-hint', spellcheck: 'false' });
    const winnable = el('input', { type: 'checkbox', id: 'new-winnable' });
    const watch = el('select', { id: 'new-watch' }, ...['open', 'key', 'closed'].map((one) => el('option', { value: one }, t(`new.${one}`))));
    const problem = el('p', { class: 'problem', role: 'alert' });
    const list = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = [...app.catalogue.values()].filter((one) => words.every((word) => `${one.name} ${one.id} ${one.family} ${one.summary}`.toLowerCase().includes(word)));
      const families = Map.groupBy ? Map.groupBy(shown, (one) => one.family) : shown.reduce((map, one) => map.set(one.family, [...(map.get(one.family) || []), one]), new Map());
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
      const fields = { variant: pick.value, watch: watch.value };
      if (!levelBox.hidden) fields.level = Number(level.value);
      // A bare number is a deal of ours; whatever else is typed is the server's to judge. Several lines or piles are a board.
      if (text) Object.assign(fields, /[|\n]|^\w\d+:\s/.test(text) ? { cards: text } : { deal: /^\d+$/.test(text) ? `ck:${text}` : text });
      if (winnable.checked) fields.winnable = true;
      go.textContent = t('new.going');
      const done = await this.begin(app.wire.ask('new', fields).then((snapshot) => {
        if (fields.watch !== 'open') app.lobby.hide(snapshot.game);
        return snapshot;
      }));
      if (done !== true) {
        go.textContent = t('new.start');
        const problems = done.detail?.problems;
        problem.textContent = Array.isArray(problems) && problems.length ? problems.join(' ') : reason(done);
      }
    };
    const go = button(t('new.start'), start, 'primary');
    const form = el('form', { method: 'dialog', class: 'form' },
      el('label', { for: 'new-search' }, t('new.search'), search), found, pick, summary, levelBox,
      el('label', { for: 'new-deal' }, t('new.deal'), deal), el('span', { class: 'note', id: 'new-deal-hint' }, t('new.deal.hint')),
      el('label', { class: 'check', for: 'new-winnable' }, winnable, t('new.winnable')),
      el('label', { for: 'new-watch' }, t('new.watch'), watch), problem, row(go, this.closing(t('cancel'))));
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
    const choice = (name, options) => {
      const select = el('select', { id: `set-${name}`, onchange: () => app.apply({ [name]: /^\d$/.test(select.value) && name === 'speed' ? Number(select.value) : select.value }) },
        ...options.map((one) => el('option', { value: one, selected: String(now[name]) === String(one) }, t(`set.${name}.${one}`))));
      return el('label', { for: `set-${name}` }, t(`set.${name}`), select);
    };
    const check = (name) => {
      const box = el('input', { type: 'checkbox', id: `set-${name}`, checked: Boolean(now[name]), onchange: () => app.apply({ [name]: box.checked }) });
      return el('label', { class: 'check', for: `set-${name}` }, box, t(`set.${name}`));
    };
    const language = el('select', { id: 'set-language', onchange: () => { app.apply({ language: language.value }); this.closeAll(); } },
      el('option', { value: 'auto' }, t('set.language.auto')), ...Object.entries(LANGUAGES).map(([code, name]) => el('option', { value: code, lang: code, selected: now.language === code }, name)));
    const name = el('input', { id: 'set-name', maxlength: 40, autocomplete: 'nickname', value: now.name || '', onchange: () => this.rename(name) });
    this.open(t('set.title'), el('div', { class: 'form two' }, choice('theme', ['system', 'light', 'dark', 'contrast']), choice('deck', ['auto', '2', '4']),
      check('mark'), check('large'), check('left'), choice('speed', [0, 1, 2, 4]), check('tap'), check('targets'), check('letters'),
      el('label', { for: 'set-name' }, t('set.name'), name), el('label', { for: 'set-language' }, t('set.language'), language)), row(this.closing()));
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
    const keys = t('help.keys').split('\n').map((line) => line.split('|'));
    this.open(t('help.title'), el('p', {}, t('help.ways')), el('p', {}, t('help.touch')),
      el('table', { class: 'keys' }, el('tbody', {}, ...keys.map(([key, what]) => el('tr', {}, el('th', { scope: 'row' }, key), el('td', {}, what))))), row(this.closing()));
  }

  async stats() {
    const { app } = this, list = el('dl', { class: 'stats' });
    const which = el('select', { id: 'stats-variant', onchange: () => load() }, el('option', { value: '' }, t('stats.all')),
      ...[...app.catalogue.values()].map((one) => el('option', { value: one.id, selected: one.id === app.variant }, one.name)));
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
    this.open(t('stats.title'), el('div', { class: 'form' }, el('label', { for: 'stats-variant' }, t('new.variant'), which)), list, row(this.closing()));
    await load();
  }

  // ── share ──

  share() {
    const { app } = this, table = app.seat?.table, game = table ? table.game : app.replay.game;
    const base = `${location.origin}/${table && !table.isOver ? 'games' : 'replay'}/${game}`;
    const line = (label, url, note) => el('div', { class: 'linkrow' }, el('label', {}, label, el('input', { readonly: true, value: url, onfocus: (event) => event.target.select() })),
      button(t('copy'), () => this.copy(url)), note ? el('p', { class: 'note' }, note) : null);
    const parts = [line(t('share.watch'), table?.watchKey ? `${base}#watch=${table.watchKey}` : base)];
    if (table?.key && !table.isOver) parts.push(line(t('share.play'), `${location.origin}/games/${game}#key=${table.key}`, t('share.private')));
    if (!table) parts.push(button(t('replay.link'), () => this.copy(`${base}#at=${app.replay.at}`)));
    this.open(t('share'), el('div', { class: 'form' }, ...parts), row(this.closing()));
  }

  /** What may be told of a result without giving a card away: words, squares, where to look. */
  result() {
    const { table } = this.app.seat, name = this.app.nameOf(table), { undos, score, moves, size } = table;
    const result = table.status === 'won' ? t('share.solved') : t('share.lost', { n: score, all: size });
    const how = undos ? t('share.undos', { n: undos }) : t('share.clean');
    const line = t('share.line', { name, result, moves, how });
    const done = Math.round((13 * score) / size);
    const squares = Array.from({ length: 13 }, (_, i) => (i < done ? (undos && i === done - 1 ? 'y' : 'g') : 'n'));
    const url = `${location.origin}/replay/${table.game}`;
    const text = `${line}\n${squares.map((one) => ({ g: '🟩', y: '🟨', n: '⬜' })[one]).join('')}\n${url}`;
    return { line, squares, url, text };
  }

  // ── give up, stuck, over ──

  giveUp() {
    const { app } = this;
    const yes = button(t('giveup.yes'), () => { this.closeAll(); app.play.act('give_up'); }, 'danger');
    const no = button(t('giveup.no'), () => this.closeAll(), 'primary');
    this.open(t('giveup.title'), el('p', {}, t('giveup.text')), row(no, yes)).classList.add('ask');
    no.focus();
  }

  stuck() {
    const { app } = this;
    const undo = button(t('back1'), () => { this.closeAll(); app.play.act('undo'); }, 'primary');
    this.open(t('stuck.title'), el('p', {}, t('stuck.text')), row(undo, this.closing(t('stuck.play')), button(t('giveup'), () => this.giveUp(), 'danger')));
    undo.focus();
  }

  async over() {
    const { app } = this, { table, game } = app.seat, isWon = table.status === 'won', name = app.nameOf(table);
    const values = { name, n: table.score, all: table.size, moves: table.moves, undos: table.undos };
    const text = el('p', {}, isWon ? t('won.plain', values) : t('lost.text', values));
    const { line, squares, url, text: shared } = this.result();
    const mayUndo = table.result === 'no_moves' && table.can?.undo && table.role === 'player';
    const title = isWon ? t('won.title', { n: table.moves }) : has(`lost.${table.result}`) ? t(`lost.${table.result}`) : t('over.title');
    const blocks = el('div', { class: 'grid' }, el('span', {}, line), el('span', { class: 'sq', 'aria-hidden': 'true' }, ...squares.map((one) => el('i', { class: one }))));
    const copy = button(t('result.copy'), () => this.copy(shared));
    const again = button(t('again'), () => app.lobby.deal(table.variant, table.level), mayUndo ? null : 'primary');
    const replay = el('a', { href: `/replay/${game}`, class: 'button' }, t('result.replay'));
    const undo = mayUndo ? button(t('back1'), () => { this.closeAll(); app.play.act('undo'); }, 'primary') : null;
    const same = table.role === 'player' ? button(t('result.same'), () => this.restart()) : null;
    const native = navigator.share ? button(t('share.native'), () => navigator.share({ text: line, url }).catch(() => {})) : null;
    const picture = button(t('result.picture'), () => this.picture(game));
    const box = this.open(title, text, mayUndo ? el('p', { class: 'note' }, t('lost.undo')) : null, blocks, row(undo, again, replay, same, copy, native, picture, this.closing(t('look'))));
    box.classList.add('end');
    (undo || again).focus();
    app.say(`${title}. ${text.textContent}`);
    if (!isWon) return;
    try {
      const told = await app.wire.ask('stats', { variant: table.variant });
      if (told.streak > 1) text.textContent = t('won.text', { ...values, streak: told.streak });
    } catch { /* the sentence stays as it is */ }
  }

  /** The table as a picture, drawn by the server in the same art. */
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

  // ── a column in full ──

  peek(pile, cards, mayPick) {
    const { app } = this;
    if (!cards) return;
    const down = cards.filter((card) => card === HIDDEN).length;
    const rows = cards.map((card, at) => (card === HIDDEN ? null : el('li', {}, el('button', { type: 'button', class: 'peek', disabled: !mayPick,
      onclick: () => { this.closeAll(); app.play.pick(pile, 'fcws'.includes(pile[0]) ? 1 : cards.length - at, true); } }, el('span', { class: 'mini' }, face(card)), upper(cardName(card))))));
    this.open(t('peek.title', { pile: app.pile(pile) }), el('p', { class: 'note' }, [down ? t('read.down', { n: down }) : '', mayPick && down < cards.length ? t('peek.pick') : ''].filter(Boolean).join('. ')),
      el('ol', { class: 'peeks' }, ...rows.filter(Boolean)), row(this.closing())).classList.add('sheet');
  }
}

