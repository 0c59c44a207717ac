// What touches, clicks and keys on the table mean. All three ways end in the same `move`, and the server says where cards may go.

import { HIDDEN } from './mirror.js';
import { cardName, t } from './words.js';

const SLOP = { mouse: 4, pen: 6, touch: 9 };
const LONG_MS = 480;

export class Input {
  /** `play` carries out: move, tap, draw, say, peek. */
  constructor(view, play) {
    this.view = view;
    this.play = play;
    this.drag = null;
    const { root } = view;
    root.addEventListener('pointerdown', (event) => this.down(event));
    root.addEventListener('pointermove', (event) => this.moved(event));
    root.addEventListener('pointerup', (event) => this.up(event));
    root.addEventListener('pointercancel', (event) => this.cancel(event));
    root.addEventListener('lostpointercapture', (event) => this.cancel(event));
    root.addEventListener('contextmenu', (event) => this.menu(event));
    root.addEventListener('click', (event) => this.click(event));
    root.addEventListener('keydown', (event) => this.key(event));
    root.addEventListener('dragstart', (event) => event.preventDefault());
    addEventListener('resize', () => this.interrupt());
  }

  hit(event) {
    const node = event.target.closest?.('.card, .slot');
    if (!node || !this.view.root.contains(node)) return null;
    const pile = node.card ? node.card.pile : node.pile, { cards } = this.view.view[pile];
    if (!node.card) return { pile, n: 0 };
    const at = cards.indexOf(node.card);
    // Of these piles only the last card is ever meant.
    const n = 'fcws'.includes(pile[0]) ? 1 : cards.length - at;
    return { pile, n, card: cards[cards.length - n] };
  }

  down(event) {
    if (this.drag || (event.pointerType === 'mouse' && event.button !== 0) || !event.isPrimary) return;
    const hit = this.hit(event);
    if (!hit) return;
    this.drag = { ...hit, id: event.pointerId, x: event.clientX, y: event.clientY, kind: event.pointerType || 'mouse', isMoving: false };
    const canMove = hit.card && hit.card.name !== HIDDEN && hit.pile[0] !== 's' && this.play.mayAct();
    this.drag.cards = canMove ? this.view.view[hit.pile].cards.slice(-hit.n) : [];
    this.view.root.setPointerCapture?.(event.pointerId);
    if (event.pointerType !== 'mouse') {
      this.drag.timer = setTimeout(() => {
        if (!this.drag || this.drag.isMoving) return;
        const { pile } = this.drag;
        this.drop_();
        this.skipClick = true;
        this.play.peek(pile);
      }, LONG_MS);
    }
  }

  moved(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.isMoving) {
      if (Math.hypot(dx, dy) < (SLOP[drag.kind] ?? 6)) return;
      clearTimeout(drag.timer);
      drag.isMoving = true;
      if (!drag.cards.length) return;
      this.view.select(drag.pile, drag.n, this.play.targetsNow(drag.pile, drag.n) || []);
      this.play.targets(drag.pile, drag.n).then((targets) => { if (this.drag === drag) this.view.targets(targets); }, () => {});
    }
    drag.cards.forEach((card, at) => {
      card.dragAt = [card.x + dx, card.y + dy];
      card.node.style.transform = `translate(${card.dragAt[0]}px,${card.dragAt[1]}px)`;
      card.node.style.zIndex = 700 + at;
    });
  }

  up(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    this.skipClick = true;
    setTimeout(() => { this.skipClick = false; }, 60);
    if (!drag.isMoving) {
      this.drop_();
      this.pressed(drag.pile, drag.n, false, drag.kind);
      return;
    }
    if (!drag.cards.length) return this.drop_();
    const head = drag.cards[0].dragAt, { cw, ch } = this.view.geometry;
    this.drop_();
    this.view.unselect();
    const overlaps = this.view.names.filter((name) => name !== drag.pile).map((name) => {
      const area = this.view.area(name);
      const w = Math.min(head[0] + cw, area.x + area.w) - Math.max(head[0], area.x);
      const h = Math.min(head[1] + ch, area.y + area.h) - Math.max(head[1], area.y);
      return { name, size: w > 0 && h > 0 ? w * h : 0 };
    }).filter((one) => one.size > cw * ch * 0.04).sort((a, b) => b.size - a.size);
    this.play.drop(drag.pile, drag.n, overlaps.map((one) => one.name));
  }

  drop_() {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    clearTimeout(drag.timer);
    for (const card of drag.cards) card.node.style.zIndex = '';
    if (this.view.root.hasPointerCapture?.(drag.id)) this.view.root.releasePointerCapture(drag.id);
  }

  cancel(event) {
    if (!this.drag || event.pointerId !== this.drag.id) return;
    const wasMoving = this.drag.isMoving;
    this.drop_();
    if (wasMoving) {
      this.view.unselect();
      this.view.layout(true);
    }
  }

  /** The table or the screen changed while cards were in the air: they go back. */
  interrupt() {
    if (!this.drag?.isMoving) return;
    const { id } = this.drag;
    this.cancel({ pointerId: id });
  }

  menu(event) {
    const hit = this.hit(event);
    if (!hit) return;
    event.preventDefault();
    if (this.drag && this.drag.kind !== 'mouse') return;
    this.play.peek(hit.pile);
  }

  /** Clicks that no pointer made: assistive technology. */
  click(event) {
    if (this.skipClick || event.detail > 0) return void (this.skipClick = false);
    const hit = this.hit(event);
    if (hit) this.pressed(hit.pile, hit.n, false, 'click');
  }

  pressed(pile, n, isPickOnly, kind) {
    const { view, play } = this;
    view.unhint();
    const chosen = view.selection;
    if (chosen) {
      if (chosen.pile === pile && (chosen.n === n || n === 0)) {
        view.unselect();
        return play.putBack(pile, n, isPickOnly);
      }
      const targets = view.marked;
      if (targets.includes(pile)) return play.move(chosen.pile, chosen.n, pile);
      // The server says why not, unless another card was meant.
      if (chosen.pile !== pile && pile[0] !== 's' && (!n || kind === 'key' || pile[0] === 'f')) {
        return play.tryMove(chosen.pile, chosen.n, pile);
      }
      view.unselect();
    }
    if (pile[0] === 's') return play.draw(pile);
    if (!n) return play.empty(pile);
    play.pick(pile, n, isPickOnly);
  }

  // ── keys ──

  lanes() {
    const names = this.view.names, of = (letters) => names.filter((name) => letters.includes(name[0]));
    const stops = (list) => list.flatMap((name) => this.view.stops.filter((stop) => (stop.card ? stop.card.pile : stop.pile) === name));
    const columns = of('t').map((name) => stops([name])), left = stops(of('scwr')), right = stops(of('f'));
    const all = this.play.app.prefs.left ? [right, ...columns, left] : [left, ...columns, right];
    return all.filter((lane) => lane.length);
  }

  key(event) {
    const { view } = this;
    const node = event.target;
    if (!view.stops?.includes(node) || event.altKey || event.metaKey) return;
    const lanes = this.lanes();
    let lane = lanes.findIndex((one) => one.includes(node));
    let at = lane < 0 ? 0 : lanes[lane].indexOf(node);
    const go = (target) => {
      event.preventDefault();
      if (target) target.focus({ preventScroll: true });
      view.drawRing();
    };
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
    if (digit !== undefined && !event.ctrlKey) {
      const i = (Number(digit) + 9) % 10;
      const name = event.shiftKey ? view.names.filter((one) => one[0] === 'f')[i] : view.names.filter((one) => one[0] === 't')[i];
      if (!name) return;
      const stops = view.stops.filter((stop) => (stop.card ? stop.card.pile : stop.pile) === name);
      const here = stops.indexOf(node);
      return go(here < 0 || view.selection ? stops.at(-1) : stops[(here - 1 + stops.length) % stops.length]);
    }
    if (event.ctrlKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      if (event.repeat) return;
      const hit = this.hit({ target: node });
      return this.pressed(hit.pile, hit.n, event.key === ' ', 'key');
    }
    if (event.key === 'Escape') {
      if (view.selection) {
        event.preventDefault();
        view.unselect();
        this.play.say(t('put'));
      }
      return view.unhint();
    }
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (view.selection && step && view.marked.length) {
      const places = view.names.filter((name) => view.marked.includes(name) || name === view.selection.pile).map((name) => {
        const stops = view.stops.filter((stop) => (stop.card ? stop.card.pile : stop.pile) === name);
        return name === view.selection.pile ? view.view[name].cards.at(-view.selection.n).node : stops.at(-1);
      });
      const here = places.findIndex((place) => (place.card ? place.card.pile : place.pile) === (node.card ? node.card.pile : node.pile));
      return go(places[(here + step + places.length) % places.length]);
    }
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      lane = (lane + step + lanes.length) % lanes.length;
      return go(lanes[lane].at(-1));
    }
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      at = Math.max(0, Math.min(lanes[lane].length - 1, at + step));
      return go(lanes[lane][at]);
    }
    if (event.key === 'Home') return go(lanes[lane].find((stop) => stop.card) || lanes[lane][0]);
    if (event.key === 'End') return go(lanes[lane].at(-1));
  }

  static read(cards) {
    const down = cards.filter((card) => card === HIDDEN).length;
    return [down ? t('read.down', { n: down }) : '', ...cards.filter((card) => card !== HIDDEN).map(cardName)].filter(Boolean).join(', ');
  }
}
