//! The promises of the simulators, each over a real socket: one file per promise.

mod albums;
mod buttons;
mod chats;
mod clients;
mod control;
mod drops;
mod edits;
mod encodings;
mod faults;
mod files;
mod harness;
mod ledger;
mod limits;
mod max_attachments;
mod max_auth;
mod max_chats;
mod max_messages;
mod max_polling;
mod max_uploads;
mod max_webhooks;
mod polling;
mod restarts;
mod texts;
mod tokens;
mod webhooks;
