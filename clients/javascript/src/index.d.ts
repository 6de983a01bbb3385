// What this package exports. The types and constants of the contract are generated: see ../types.d.ts.

import type {
  ActionAnswer, ActionList, BotAction, ChatMessage, MessageAnswer, MessageList, NewMessage, StartAction, UpdateAction,
} from "../types.js";

export * from "../types.js";

export type Language = "ru" | "en";
export const languages: readonly Language[];

/** The first of the wanted languages that there are texts in: `languageOf(navigator.languages)`. */
export function languageOf(wanted: string | readonly string[] | null | undefined, otherwise?: Language): Language;

type Shown = Pick<BotAction, "actionType" | "displayText" | "payload">;

/** What to show while an action is active: `displayText`, or the text of its type, or the neutral one. Plain text. */
export function textOf(action: Shown, language?: Language): string;
/** What to show, once, when an action has ended with an error: `displayText`, or the text of `payload.code`, or the neutral one. Plain text. */
export function errorTextOf(action: Shown, language?: Language): string;
/** `payload.progress` when it is a number from 0 to 1, else null. */
export function progressOf(action: Shown): number | null;
/** `payload.step` as a text; empty when there is none. */
export function stepOf(action: Shown): string;

/** An answer that is not a success. Its message is for people, its code for programs. */
export class BerestaError extends Error {
  constructor(message: string, about?: Partial<Pick<BerestaError, "status" | "code" | "retryable" | "retryAfterMs" | "details">>);
  /** The HTTP status. */
  status: number;
  /** Stable and dotted: `actions.unknown_action`. */
  code: string;
  retryable: boolean;
  retryAfterMs: number;
  details: Record<string, unknown>;
}

export type ApiOptions = {
  /** Where Beresta is: `https://beresta.example`. Empty for the origin of the page. */
  baseUrl?: string;
  /** Sent as `Authorization: Bearer …`. Without it a browser's cookie has to do. A function is asked before each call. */
  token?: string | (() => string | Promise<string>);
  /** May be left out: a token belongs to one workspace. */
  workspaceId?: string;
  /** The language of error messages; the server's own is Russian. */
  language?: Language;
  fetch?: typeof globalThis.fetch;
};

type Signal = { signal?: AbortSignal };

/** Calls of the chat API. Whatever is not a success is thrown as a `BerestaError`; so is a chat that no address can name (`.`, `..`). */
export class ChatApi {
  constructor(options?: ApiOptions);
  actions(chatId: string, options?: Signal & { recent?: number }): Promise<ActionList>;
  messages(chatId: string, options?: Signal & { before?: number | null; limit?: number }): Promise<MessageList>;
  /** Under the same `messageId` it is said once; a new UUID by default. */
  send(chatId: string, message: NewMessage): Promise<MessageAnswer>;
  start(action: StartAction): Promise<ActionAnswer>;
  update(action: UpdateAction): Promise<ActionAnswer>;
  events(chatId: string, options?: Signal & { since?: string; lastEventId?: string }): Promise<ReadableStream<Uint8Array>>;
}

export type WatchState = "connecting" | "live" | "reconnecting" | "paused" | "stopped" | "closed";

export type WatchOptions = ApiOptions & {
  /** Not `.` or `..`, which no address can name: that is thrown as a `BerestaError`. */
  chatId: string;
  /** Instead of the options of the API. */
  api?: ChatApi;
  /** How many messages to tell at the beginning, at most 200; 50 by default, 0 for none. */
  history?: number;
  /** Ends of actions up to this many minutes ago are told after a reconnect, 1 to 60; 15 by default. */
  recent?: number;
  /** Ids of actions that were active when somebody last looked, for instance before a reload: their ends are told too. */
  known?: Iterable<string>;
  /** The active actions, the one that changed last first: on every real change, never for a repeat or a new time alone. */
  onActions?: (active: BotAction[]) => void;
  /** An action that was seen active has ended, as `done` or `error`. Once for each. */
  onEnd?: (action: BotAction) => void;
  /** Each message once: the history oldest first, then what is new. `seq` gives the order. */
  onMessage?: (message: ChatMessage) => void;
  /** So much was missed that everything was read anew; the callbacks above have been called already. */
  onResync?: () => void;
  /** `stopped` is final and comes with its reason: the token or the chat is not accepted. */
  onState?: (state: WatchState, problem: Error | null) => void;
};

export type ChatWatch = {
  readonly actions: BotAction[];
  readonly state: WatchState | "";
  /** Lets the connection go until `resume()`, which catches up. For a page that nobody looks at. */
  pause(): void;
  /** Goes on, and does so at once when it waits before its next try. */
  resume(): void;
  /** Ends it. Nobody is called back afterwards, except with the state `closed`. */
  close(): void;
};

/**
 * Watches a chat until it is closed. On mount and on every reconnect it reads the active actions, then follows the
 * stream from its last cursor; repeats and stale updates change nothing.
 */
export function watchChat(options: WatchOptions): ChatWatch;

/** A new id for a message or an action. */
export function newId(): string;
