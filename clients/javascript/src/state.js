// What a watcher knows of a chat, and the rules by which it learns: duplicates and stale updates change nothing.

import { actionsListedMax } from '../types.js';

/** How many ended actions are remembered, so that a late repeat of one is recognised. */
const ENDED_MAX = 1000;
/** How many numbers of messages are remembered. They come in their order, or nearly so: a repeat from further back is one by its number. */
const SEQS_MAX = 1000;

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const isActive = (known) => known.status === 'processing';

export class ChatState {
  /** By id: active actions as they are, ended ones as they ended. `gone` is an action that ended unseen. */
  #actions = new Map();
  #known;
  /** @type {[bigint, bigint] | null} the cursor of the last whole snapshot: nothing that was active then is unknown to us */
  #seen = null;
  #seqs = new Set();
  /** No message up to this one is new. */
  #oldSeq = 0;
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
   * Learns of one action, from the event with this id if from one. `isChanged`: the list of active actions has another
   * content. `ended`: this very action has just ended, and somebody saw it active before.
   *
   * @param {any} action
   * @param {string} [eventId]
   */
  action(action, eventId) {
    const known = this.#actions.get(action.actionId);
    // The stream begins before the snapshot. What was active in between and is unknown to us was over when we looked.
    const isOver = !known && isActive(action) && this.#isSeen(eventId);
    if (isOver || (known && !isNews(known, action))) return { isChanged: false, ended: null };
    const wasSeen = known ? isActive(known) || known.status === 'gone' : this.#known.has(action.actionId);
    const wasActive = known !== undefined && isActive(known);
    this.#actions.delete(action.actionId);
    this.#actions.set(action.actionId, action);
    // A repeated start moves the time and nothing else: it counts for what is stale, and is nothing to tell.
    if (isActive(action)) return { isChanged: !wasActive || !isSame(known, action), ended: null };
    this.#known.delete(action.actionId);
    this.#forget();
    return { isChanged: wasActive, ended: wasSeen ? action : null };
  }

  /** Learns what is active and what ended of late; what is in neither list has ended unseen. */
  snapshot({ actions, recent = [], cursor = '' }) {
    const ended = [];
    let isChanged = false;
    for (const action of [...recent, ...actions].reverse()) {
      const result = this.action(action);
      isChanged ||= result.isChanged;
      if (result.ended) ended.push(result.ended);
    }
    // A list that is full may not be whole: then an action that is not listed may still be active.
    if (actions.length < actionsListedMax) {
      this.#seen = position(cursor);
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
    if (message.seq <= this.#oldSeq || this.#seqs.has(message.seq)) return false;
    this.#seqs.add(message.seq);
    this.#newestSeq = Math.max(this.#newestSeq ?? 0, message.seq);
    if (this.#seqs.size > 2 * SEQS_MAX) {
      const seqs = [...this.#seqs].sort((a, b) => a - b);
      this.#oldSeq = seqs[seqs.length - SEQS_MAX - 1];
      this.#seqs = new Set(seqs.slice(-SEQS_MAX));
    }
    return true;
  }

  /** Somebody looked at the messages, even if there are none; those up to `oldSeq` are not wanted. */
  looked(oldSeq = 0) {
    this.#newestSeq ??= oldSeq;
    this.#oldSeq = Math.max(this.#oldSeq, oldSeq);
  }

  #isSeen(eventId) {
    const at = position(eventId);
    if (!at || !this.#seen) return false;
    return at[0] < this.#seen[0] || (at[0] === this.#seen[0] && at[1] <= this.#seen[1]);
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
  return !isSame(known, action);
}

/**
 * A cursor as numbers that compare; null for one that we cannot read, which then proves nothing.
 *
 * @returns {[bigint, bigint] | null}
 */
function position(cursor) {
  const parts = /^(\d+)-(\d+)$/.exec(cursor ?? '');
  return parts && [BigInt(parts[1]), BigInt(parts[2])];
}

/** Whether two states of an action differ in nothing but their time; null is absent. */
function isSame(known, action) {
  const names = new Set([...Object.keys(known), ...Object.keys(action)]);
  names.delete('updatedAt');
  return [...names].every((name) => isEqual(known[name] ?? null, action[name] ?? null));
}

/** Whether two pieces of JSON say the same: lists and stream write the fields of an object in different orders. */
function isEqual(a, b) {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  const names = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}
