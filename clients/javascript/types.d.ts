// Generated from crates/actions/src/contract; see docs/actions.md. Do not edit.

export interface ActionAnswer {
  action: BotAction;
  outcome: Outcome;
}

/** The actions of a chat, those that changed last first. */
export interface ActionList {
  /** The active ones. */
  actions: BotAction[];
  /** Give it to the stream as `since`: it was taken before the lists were read. */
  cursor: string;
  /** Those that ended in the minutes that were asked for. */
  recent: BotAction[];
}

/** A type of the list, or any other text: a client that does not know it shows `displayText` or the neutral text. */
export type ActionTypeName = BotActionType | string;

/** What a bot does in a chat. */
export interface BotAction {
  /** Ties start and updates together; one id is one operation. */
  actionId: string;
  actionType: ActionTypeName;
  chatId: string;
  createdAt?: string | null;
  /** What people see, before any default text. */
  displayText?: string | null;
  /** `progress` (0 to 1) and `step` are shown as a bar, `code` says why an error is one; the rest is the sender's own. */
  payload?: Record<string, unknown> | null;
  status: BotActionStatus;
  /** Grows with every change; times compare as texts. */
  updatedAt?: string | null;
  workspaceId: string;
}

/** Where an action stands. It is active exactly while it is `processing`. */
export type BotActionStatus = "processing" | "done" | "error";

/** The types of actions that have a default text. A new one is added here first, then to the texts. */
export type BotActionType = "transcribe_audio" | "summarize" | "generate_image" | "process_file";

/** One event of the stream of a chat. */
export type ChatEvent = {
  message: ChatMessage;
  type: "message";
} | {
  action: BotAction;
  type: "bot_action";
} | {
  cursor: string;
  type: "resync";
};

/** The chats of the workspace, those that were active last first. */
export interface ChatList {
  chats: ChatRead[];
  /** Give it as `before` to get the next page; null on the last one. */
  next?: string | null;
}

/** What was said in a chat. */
export interface ChatMessage {
  chatId: string;
  createdAt: string;
  messageId: string;
  metadata?: Record<string, unknown> | null;
  role: MessageRole;
  /** 1, 2, 3 and so on in its chat, without holes: the order. */
  seq: number;
  text: string;
  workspaceId: string;
}

/** A chat at a glance. */
export interface ChatRead {
  /** When the last message came, or the chat began. */
  activeAt: string;
  chatId: string;
  createdAt: string;
  /** The number of the last message. */
  messages: number;
  /** How many actions are active; counting stops after 100. */
  processing: number;
}

export interface MessageAnswer {
  message: ChatMessage;
  outcome: Outcome;
}

/** What was said in a chat, newest first. */
export interface MessageList {
  /** Give it to the stream as `since`: it was taken before the list was read. */
  cursor: string;
  messages: ChatMessage[];
  /** Give it as `before` to get the next page; null on the last one. */
  next?: number | null;
}

/** Who says something. */
export type MessageRole = "user" | "bot" | "system";

/** Something to say in a chat. */
export interface NewMessage {
  /** An id that the client has made: sending it again changes nothing. */
  messageId?: string | null;
  metadata?: Record<string, unknown> | null;
  role?: MessageRole;
  /** 1 to 8000 characters. */
  text: string;
  /** The workspace of the token, if it is given at all. */
  workspaceId?: string | null;
}

/** The same from a tool that cannot put the chat into the address. */
export type NewMessageInChat = NewMessage & {
  /** 1 to 128 characters. */
  chatId: string;
};

/** What became of a start, an update or a message. */
export type Outcome = "created" | "changed" | "unchanged" | "ignored";

/** A bot has begun to do something. */
export interface StartAction {
  /** 1 to 128 characters; best a UUID that the client has made. */
  actionId: string;
  /** 1 to 64 characters. */
  actionType: ActionTypeName;
  /** 1 to 128 characters. */
  chatId: string;
  /** At most 300 characters are shown, without HTML. */
  displayText?: string | null;
  payload?: Record<string, unknown> | null;
  /** The workspace of the token, if it is given at all. */
  workspaceId?: string | null;
}

/** How an action goes on, or that it has ended. What is absent or null stays as it was, except that an error never keeps the text: it said what was being done. */
export interface UpdateAction {
  actionId: string;
  actionType?: ActionTypeName | null;
  /** The chat of the action, if it is given at all. */
  chatId?: string | null;
  displayText?: string | null;
  payload?: Record<string, unknown> | null;
  status: BotActionStatus;
  /** The workspace of the token, if it is given at all. */
  workspaceId?: string | null;
}

export declare const botActionTypes: readonly BotActionType[];
export declare const botActionStatuses: readonly BotActionStatus[];
export declare const messageRoles: readonly MessageRole[];
/** Where the lists of actions stop: one that is as long may not be whole. */
export declare const actionsListedMax: number;
/** By language, then by `actionType`; `other` is for every other type. */
export declare const defaultTexts: Record<"ru" | "en", Record<BotActionType | "other", string>>;
/** By language, then by `payload.code` of an error; `other` is for every other code. */
export declare const errorTexts: Record<"ru" | "en", Record<"timeout" | "other", string>>;
