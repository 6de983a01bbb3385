// What a watcher knows of a chat, and the rules by which it learns: duplicates and stale updates change nothing.

/** How many ended actions are remembered, so that a late repeat of one is recognised. */
const ENDED_MAX = 1000;
/** Where the server stops listing: then an action that is not listed may still be active. */
const LISTED_MAX = 200;

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const isActive = (known) => known.status === 'processing';

export class ChatState {
  /** By id: active actions as they are, ended ones as they ended. `gone` is an action that ended unseen. */
  #actions = new Map();
  #known;
  #seqs = new Set();
  /** @type {number | null} */
  #newestSeq = null;

  /** @param {Iterable<string>} [known] ids of actions that were active when somebody last looked */
  constructor(known = []) {
    this.#known = new Set(known);
  }

  /** The active actions, the one that changed last first. */
  active() {
    const active = [...this.#actions.values()].filter(isActive);
    return active.sort((a, b) => order(b.updatedAt ?? '', a.updatedAt ?? '') || order(a.actionId, b.actionId));
  }

  /** The highest number of a message that was seen; null before the first look. */
  get newestSeq() {
    return this.#newestSeq;
  }

  /**
   * Learns of one action. `isChanged`: the list of active actions is another one. `ended`: this very action has
   * just ended, and somebody saw it active before.
   */
  action(action) {
    const known = this.#actions.get(action.actionId);
    if (known && !isNews(known, action)) return { isChanged: false, ended: null };
    const wasSeen = known ? isActive(known) || known.status === 'gone' : this.#known.has(action.actionId);
    const wasActive = known !== undefined && isActive(known);
    this.#actions.delete(action.actionId);
    this.#actions.set(action.actionId, action);
    if (isActive(action)) return { isChanged: true, ended: null };
    this.#known.delete(action.actionId);
    this.#forget();
    return { isChanged: wasActive, ended: wasSeen ? action : null };
  }

  /** Learns what is active and what ended of late; what is in neither list has ended unseen. */
  snapshot({ actions, recent = [] }) {
    const ended = [];
    let isChanged = false;
    for (const action of [...recent, ...actions].reverse()) {
      const result = this.action(action);
      isChanged ||= result.isChanged;
      if (result.ended) ended.push(result.ended);
    }
    if (actions.length < LISTED_MAX) {
      const listed = new Set(actions.map((action) => action.actionId));
      for (const known of [...this.#actions.values()].filter(isActive)) {
        if (listed.has(known.actionId)) continue;
        this.#actions.set(known.actionId, { ...known, status: 'gone' });
        isChanged = true;
      }
    }
    return { isChanged, ended };
  }

  /** Whether this message was not seen before. */
  message(message) {
    if (this.#seqs.has(message.seq)) return false;
    this.#seqs.add(message.seq);
    this.#newestSeq = Math.max(this.#newestSeq ?? 0, message.seq);
    return true;
  }

  /** Somebody looked at the messages, even if there are none. */
  looked() {
    this.#newestSeq ??= 0;
  }

  #forget() {
    if (this.#actions.size <= 2 * ENDED_MAX) return;
    let left = ENDED_MAX;
    for (const [id, known] of this.#actions) {
      if (!isActive(known) && left-- > 0) this.#actions.delete(id);
    }
  }
}

function isNews(known, action) {
  // The first ending won, and nothing brings an ended action back; the unseen end of one may still be told.
  if (known.status === 'gone') return !isActive(action);
  if (!isActive(known) && known.status !== action.status) return false;
  // The server writes times so that they compare as texts, and each change of an action has a later one.
  if (known.updatedAt && action.updatedAt) return action.updatedAt > known.updatedAt;
  return JSON.stringify(known) !== JSON.stringify(action);
}
