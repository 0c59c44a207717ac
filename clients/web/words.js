// Every word the client says, by message id. {name} is a value, {name|one|many} chooses by number.

import { recall } from './wire.js';

const EN = {
  'card': '{rank} of {suit}', 'rank.A': 'ace', 'rank.J': 'jack', 'rank.Q': 'queen', 'rank.K': 'king', 'rank.T': '10',
  'suit.C': 'clubs', 'suit.D': 'diamonds', 'suit.H': 'hearts', 'suit.S': 'spades',
  'pile.t': 'column {n}', 'pile.c': 'cell {n}', 'pile.r': 'reserve {n}', 'pile.r1': 'reserve', 'pile.s': 'stock', 'pile.w': 'waste',
  'pile.f': 'foundation {n}', 'pile.fs': '{suit} foundation', 'pile.fsn': '{suit} foundation {n}',
  'label.card': '{card}, {at} of {all}, {pile}', 'label.riders': '{card}, {at} of {all}, {pile}, {n} {n|card|cards} on it',
  'label.top': '{pile}, {card}', 'label.topn': '{pile}, {card}, {n} {n|card|cards}', 'label.empty': '{pile}, empty',
  'label.accepts': '{pile}, empty, takes {what}', 'label.down': '{pile}, {n} face-down', 'label.stock': 'stock, {n} {n|card|cards}',
  'accepts.any': 'any card', 'accepts.none': 'no card', 'accepts.K': 'kings', 'accepts.A': 'aces', 'accepts.other': 'certain cards', 'down': 'face-down card',
  'slot.cell': 'cell', 'table': 'Card table', 'tools': 'Game actions',
  'say.moved': '{card} to {pile}.', 'say.group': '{card} and {n} {n|card|cards} to {pile}.', 'say.onto': '{card} to {pile} on {onto}.',
  'say.grouponto': '{card} and {n} {n|card|cards} to {pile} on {onto}.', 'say.turned': 'Turned up {cards}.', 'say.alsohome': '{n} {n|card|cards} went home.',
  'say.home1': '{card} sent home.', 'say.homen': '{n} cards sent home.', 'say.score': '{n} home.', 'say.draw': 'Dealt from the stock: {cards}.', 'say.redeal': 'Turned the waste over.', 'say.dealt': 'Dealt from the stock.',
  'say.undo': 'Taken back. {what}', 'say.redo': 'Done again. {what}', 'say.auto': 'Auto: {what}', 'say.nothing': 'Nothing moved.',
  'say.start': '{name}. {n} cards home, {moves} moves.', 'say.fresh': '{name} is dealt. Pick up a card.',
  'picked': 'Picked up {card} – {n} {n|place|places} to go', 'pickedgroup': 'Picked up {card} and the {k} {k|card|cards} on it – {n} {n|place|places} to go',
  'put': 'Put back.', 'changed': 'The table has changed meanwhile; the move was not made.', 'nohere': 'There is nothing to pick up here.', 'facedown': 'That card lies face down.', 'watching': 'You are watching; only players may move.',
  'hint.move': 'Hint: {what}', 'waiting': 'Not sent yet: the connection is being restored.',
  'undo': 'Undo', 'redo': 'Redo', 'hint': 'Hint', 'auto': 'Auto', 'home': 'Send home', 'home.short': 'Home', 'again': 'New deal', 'again.short': 'New', 'giveup': 'Give up', 'draw': 'Draw', 'menu': 'Menu', 'lobby': 'Games', 'newgame': 'New game',
  'restart': 'Restart this deal', 'rules': 'How to play', 'stats': 'Statistics', 'settings': 'Settings', 'help': 'Keys and help', 'share': 'Share', 'replay': 'Replay', 'close': 'Close', 'cancel': 'Cancel',
  'moves': 'Moves', 'streak': 'Streak', 'score': 'Score {n} of {all}', 'deal': 'Deal {deal}', 'deal.board': 'laid out by hand', 'copydeal': 'Copy the deal', 'copied': 'Copied.', 'notcopied': 'Copying is not possible here; the text is selected.',
  'viewers': '{n} watching', 'spectator': 'watching', 'proved': 'winnable', 'not_proved': 'perhaps not winnable',
  'net.online': 'online', 'net.connecting': 'connecting…', 'net.reconnecting': 'reconnecting…', 'net.waiting': 'offline, trying again', 'net.ended': 'disconnected',
  'net.lost': 'The connection was lost. Play goes on when it is back.', 'net.back': 'Connected again.', 'net.stranger': 'The server does not know this player any more; you are a new guest.', 'net.why': 'The server closed the connection: {why}', 'net.unsure': 'It is not known whether the last action was made.', 'net.off': 'You are offline. The table is as you left it; moves need the server.',
  'giveup.title': 'Give up this game?', 'giveup.text': 'It will count as lost. The cards are then shown in the replay.', 'giveup.yes': 'Yes, give up', 'giveup.no': 'Keep playing',
  'won.title': 'Solved in {n} {n|move|moves}', 'won.text': '{name} · {undos} {undos|undo|undos} · streak {streak}', 'won.plain': '{name} · {undos} {undos|undo|undos}',
  'lost.no_moves': 'No moves are left', 'lost.gave_up': 'Given up', 'lost.conceded': 'Auto found no way on and conceded', 'lost.text': '{name} · {n} of {all} cards home · {moves} {moves|move|moves}', 'lost.undo': 'You may still take moves back.',
  'stuck.title': 'No way on in sight', 'stuck.text': 'No moves from what is visible turn up another card or bring more cards home. You can undo, or give up.', 'stuck.play': 'Go on playing', 'back1': 'Undo one move', 'look': 'Look at the table',
  'result.copy': 'Copy result', 'result.picture': 'Save picture', 'result.replay': 'Watch replay', 'result.same': 'Same deal again',
  'share.line': '{name} · {result} · {moves} {moves|move|moves} · {how}', 'share.solved': 'solved', 'share.lost': '{n}/{all}', 'share.clean': 'no undo', 'share.undos': '{n} {n|undo|undos}',
  'share.watch': 'Link to watch', 'share.play': 'Link to play together', 'share.private': 'Who has this link may move cards.', 'share.native': 'Share…', 'copy': 'Copy',
  'new.variant': 'Game', 'new.search': 'Search games', 'new.level': 'Level', 'new.deal': 'Deal', 'new.deal.hint': 'empty for a fresh one, or a number, ck:7, ms:24', 'new.winnable': 'Only a deal that can be won', 'new.watch': 'Who may watch', 'new.open': 'everybody', 'new.key': 'who has the link', 'new.closed': 'nobody', 'new.start': 'Deal', 'new.more': 'More games', 'new.found': '{n} {n|game|games}', 'new.going': 'Dealing…',
  'lobby.title': 'Yukon and its family', 'lobby.text': 'Solitaire games that lie open before you. Move any face-up card with everything on it.', 'lobby.play': 'Play {name}', 'lobby.continue': 'Continue', 'lobby.mine': 'My games', 'lobby.none': 'No games yet.', 'lobby.playing': 'Unfinished', 'lobby.over': 'Finished', 'lobby.more': 'Show more', 'lobby.entry': '{state}, {n} home, {moves} {moves|move|moves}', 'lobby.four': 'The four', 'lobby.daily': 'Daily', 'lobby.dailytext': 'One deal a day for everybody, by the UTC date {date}.',
  'state.playing': 'going on', 'state.won': 'won', 'state.lost': 'lost', 'state.stuck': 'stuck',
  'stats.title': 'Statistics', 'stats.all': 'All games', 'stats.started': 'Started', 'stats.finished': 'Finished', 'stats.won': 'Won', 'stats.rate': 'Share won', 'stats.best': 'Most cards home', 'stats.streak': 'Streak',
  'set.title': 'Settings', 'set.theme': 'Colours', 'set.theme.system': 'as the system', 'set.theme.light': 'light', 'set.theme.dark': 'dark', 'set.theme.contrast': 'high contrast', 'set.deck': 'Deck', 'set.deck.auto': 'as the game builds', 'set.deck.2': 'two colours', 'set.deck.4': 'four colours', 'set.mark': 'Hollow red suits (needs no colour)', 'set.large': 'Large print', 'set.left': 'Left-handed', 'set.speed': 'Animation', 'set.speed.0': 'off', 'set.speed.1': 'fast', 'set.speed.2': 'normal', 'set.speed.4': 'slow', 'set.letters': 'Single letters are keys', 'set.tap': 'One tap sends a card home', 'set.language': 'Language', 'set.language.auto': 'as the browser', 'set.name': 'Your name', 'set.targets': 'Show where a card may go',
  'help.title': 'Keys and help', 'help.ways': 'Tap a card, then its place; or drag it; or use the keys. All three do the same.',
  'help.keys': 'Arrows|between columns and cards\nHome, End|top and bottom card of a column\n1–9, 0|to a column, again for the card above\nShift+1–4|to a foundation\nEnter|pick up or drop; a card that fits goes home\nSpace|pick up or drop\nEsc|put back\nU or Ctrl+Z|undo\nR or Ctrl+Y|redo\nH|hint\nA|auto\nS|send home\nD|draw from the stock\nN|new game\nP|list the cards of a column\nT|read the table\nC|read the column\nQ|read the score\nL|repeat the last message\n?|this list',
  'help.touch': 'Press long, or click right, on a column to list its cards.',
  'peek.title': 'Cards of {pile}', 'peek.pick': 'Choose the card to pick up.',
  'read.column': '{pile}: {cards}.', 'read.empty': '{pile}: empty.', 'read.down': '{n} face-down', 'read.score': '{n} of {all} cards home, {moves} {moves|move|moves}, {undos} {undos|undo|undos}.',
  'replay.group': 'Replay', 'replay.start': 'To the start', 'replay.back': 'One action back', 'replay.play': 'Play', 'replay.pause': 'Pause', 'replay.step': 'One action on', 'replay.end': 'To the end', 'replay.speed': 'Speed', 'replay.at': 'Action', 'replay.of': 'action {n} of {all}', 'replay.loading': 'Reading the game…', 'replay.none': 'There is nothing to replay yet.', 'replay.link': 'Copy link to this position',
  'over.title': 'Game over', 'nogame': 'There is no such game, or it is not yours to see.', 'err.lost': 'The connection was lost before the answer came.', 'err.other': 'That did not work: {why}', 'daily.start': 'Play today’s deal',
};

let words = EN;
export let language = 'en';

/** The languages there are; English lies here, the others are fetched. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' };

export async function speak(wanted) {
  const asked = wanted && wanted !== 'auto' ? [wanted] : navigator.languages || [];
  const found = asked.map((one) => one.slice(0, 2)).find((one) => LANGUAGES[one]) || 'en';
  words = EN;
  if (found === 'de') {
    try {
      words = { ...EN, ...(await import('./de.js')).default };
    } catch { /* offline: English is here */ }
  }
  language = words === EN ? 'en' : found;
  document.documentElement.lang = language;
}

export function t(id, values = {}) {
  const text = words[id] ?? id;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => (
    one === undefined ? String(values[name] ?? '') : Number(values[name]) === 1 ? one : many));
}

export const has = (id) => id in words;
export const ids = () => Object.keys(EN);

/** The server's sentence, or ours where we speak another language and know its code. */
export const reason = (why) => (why.code === 'lost' ? t('err.lost') : language !== 'en' && has(`no.${why.code}`) ? t(`no.${why.code}`) : why.message || why.code);

export const cardName = (card) => (card === '??' ? t('down') : t('card', { rank: has(`rank.${card[0]}`) ? t(`rank.${card[0]}`) : card[0], suit: t(`suit.${card[1]}`) }));
export const upper = (text) => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);

/** What a pile is called; of `foundations` there may be one for each suit, or several. */
export function pileName(name, foundations = 4) {
  const n = Number(name.slice(1));
  if (name[0] === 'f') {
    if (foundations % 4) return t('pile.f', { n });
    const suit = upper(t(`suit.${'CDHS'[(n - 1) % 4]}`));
    return foundations > 4 ? t('pile.fsn', { suit, n: Math.ceil(n / 4) }) : t('pile.fs', { suit });
  }
  if (name === 'r1') return t('pile.r1');
  return t(`pile.${name[0]}`, { n });
}

export const saved = () => recall('localStorage', 'chilkoot.settings') || {};
