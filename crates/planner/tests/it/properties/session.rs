//! One person's session, played against the planner and against the model at once. After every call the database has to be what
//! the model says, to the last field.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use planner::Caller;
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::{
    action::{Action, wire},
    batch::{FLAWS, Flaw, Raw, Scene, raws, tentative},
    model::{Look, Model},
    outcome::{Cause, Failed, Key, Ran},
};
use crate::world::{World, apply, object};

/// What a client does.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// Preview and apply.
    Batch(Vec<Raw>),
    /// Preview, and apply perhaps later.
    Keep(Vec<Raw>),
    ApplyKept(Index),
    /// A batch that is refused before anything is looked up.
    Flawed(Vec<Raw>, Flaw, Index),
    /// The same key and preview once more.
    Again(Index),
    /// Another key for what is applied.
    OtherKey(Index),
    /// A key that was used, for another preview.
    OtherPreview(Index, Index),
    Undo(Index),
    /// Until every preview has expired.
    Wait,
}

pub(super) fn moves() -> impl Strategy<Value = Vec<Move>> {
    let any_index = any::<Index>;
    let one = prop_oneof![
        8 => raws().prop_map(Move::Batch),
        3 => raws().prop_map(Move::Keep),
        3 => any_index().prop_map(Move::ApplyKept),
        2 => (raws(), prop::sample::select(FLAWS.to_vec()), any_index()).prop_map(|(raws, flaw, at)| Move::Flawed(raws, flaw, at)),
        1 => any_index().prop_map(Move::Again),
        1 => any_index().prop_map(Move::OtherKey),
        1 => (any_index(), any_index()).prop_map(|(key, preview)| Move::OtherPreview(key, preview)),
        5 => any_index().prop_map(Move::Undo),
        1 => Just(Move::Wait),
    ];
    prop::collection::vec(one, 3..=9)
}

/// A preview that is not applied yet.
#[derive(Clone)]
struct Kept {
    preview_id: String,
    batch: Vec<Action>,
    seen: Vec<Look>,
    /// The XP that it promised; nothing if it would fail.
    xp: Option<i64>,
    is_expired: bool,
}

/// A batch that was applied, an undo among them.
struct Applied {
    preview_id: String,
    key: String,
    /// The answer, to the byte.
    body: String,
    before: Model,
    after: Model,
    touched: BTreeSet<Key>,
    is_undone: bool,
    /// Of an undo the batch that it undoes, or undoes the undoing of; of any other batch itself.
    root: usize,
}

pub(super) struct Session<'a> {
    world: &'a World,
    caller: Caller,
    strangers: [i64; 3],
    model: Model,
    kept: Vec<Kept>,
    applied: Vec<Applied>,
    batches: usize,
    keys: usize,
}

impl<'a> Session<'a> {
    pub(super) fn new(world: &'a World, caller: Caller, strangers: [i64; 3]) -> Self {
        let model = Model::default();
        Self { world, caller, strangers, model, kept: Vec::new(), applied: Vec::new(), batches: 0, keys: 0 }
    }

    pub(super) async fn play(&mut self, moves: &[Move]) {
        for one in moves {
            self.make(one).await;
            let found = super::dump(self.world, &self.caller).await;
            assert_eq!(found, self.model.dump(), "after {one:?}");
        }
    }

    async fn make(&mut self, one: &Move) {
        match one {
            Move::Batch(raws) => {
                if let Some(kept) = self.preview(raws).await {
                    self.apply(kept).await;
                }
            }
            Move::Keep(raws) => {
                let kept = self.preview(raws).await;
                self.kept.extend(kept);
            }
            Move::ApplyKept(at) if !self.kept.is_empty() => {
                let kept = self.kept.remove(at.index(self.kept.len()));
                self.apply(kept).await;
            }
            Move::Flawed(raws, flaw, place) => self.preview_flawed(raws, *flaw, *place).await,
            Move::Again(at) if !self.applied.is_empty() => {
                let applied = at.get(&self.applied);
                let (body, _) = self.call_apply(&applied.preview_id, &applied.key).await;
                assert_eq!(body, applied.body, "byte for byte");
            }
            Move::OtherKey(at) if !self.applied.is_empty() => {
                let applied = at.get(&self.applied);
                let (_, answer) = self.call_apply(&applied.preview_id, "another key").await;
                refused(&answer, "Preview already applied");
            }
            Move::OtherPreview(key, preview) if !self.applied.is_empty() && !self.kept.is_empty() => {
                let (key, preview) = (&key.get(&self.applied).key, &preview.get(&self.kept).preview_id);
                let (_, answer) = self.call_apply(preview, key).await;
                refused(&answer, "Idempotency key already used for another preview");
            }
            Move::Undo(at) if !self.applied.is_empty() => self.undo(at.index(self.applied.len())).await,
            Move::Wait => {
                self.world.test.clock.advance(SignedDuration::from_secs(301));
                for kept in &mut self.kept {
                    kept.is_expired = true;
                }
            }
            _ => {}
        }
    }

    fn scene<'b>(&'b self, today: &'b str) -> Scene<'b> {
        Scene { model: &self.model, today, strangers: self.strangers, batch: self.batches }
    }

    async fn preview(&mut self, raws: &[Raw]) -> Option<Kept> {
        self.batches += 1;
        let today = self.world.test.clock.now().strftime("%F").to_string();
        let batch = self.scene(&today).actions(raws);
        let answer = self.call_preview(wire(&batch)).await;
        match self.model.clone().run(&batch, tentative) {
            Err(failed) if failed.cause == Cause::Elsewhere => {
                refused(&answer, failed.error);
                assert_eq!(answer["failed_action"]["index"], failed.at, "{answer}");
                assert!(answer.get("preview_id").is_none(), "{answer}");
                return None;
            }
            Err(failed) => {
                assert_eq!(answer["success"], true, "{answer}");
                assert_eq!(answer["would_fail"]["index"], failed.at, "{answer}");
                assert_eq!(answer["would_fail"]["error"], failed.error, "{answer}");
                assert_eq!(answer["would_fail"]["action"], batch[failed.at].name, "{answer}");
            }
            Ok(ran) => self.promised(&batch, &ran, &answer),
        }
        let preview_id = answer["preview_id"].as_str().expect("a preview").to_owned();
        let seen = self.model.look(&batch);
        let found = super::dump(self.world, &self.caller).await;
        assert_eq!(found, self.model.dump(), "a preview changes nothing");
        let xp = answer.get("would_fail").is_none().then(|| answer["xp"]["change"].as_i64().unwrap());
        Some(Kept { preview_id, batch, seen, xp, is_expired: false })
    }

    /// A preview says what an apply would do.
    fn promised(&self, batch: &[Action], ran: &Ran, answer: &Value) {
        assert_eq!(answer["success"], true, "{answer}");
        assert!(answer.get("would_fail").is_none(), "{answer}");
        let xp = json!({ "before": self.model.xp(), "change": ran.xp(), "after": self.model.xp() + ran.xp() });
        assert_eq!(answer["xp"], xp, "{answer}");
        let shown = answer["actions"].as_array().expect("actions");
        assert_eq!(shown.len(), batch.len(), "{answer}");
        for ((shown, action), done) in shown.iter().zip(batch).zip(&ran.done) {
            assert_eq!(shown["action"], action.name, "{answer}");
            assert_eq!(shown["client_action_id"], json!(action.client_action_id), "{answer}");
            assert_eq!(shown["xp"].as_i64().unwrap_or_default(), done.xp, "{answer}");
            let own = action.client_action_id.as_ref().map(|name| format!("$ref:{name}"));
            let id = match usize::try_from(-1 - action.target) {
                _ if action.creates() => json!(own),
                Ok(earlier) => json!(batch[earlier].client_action_id.as_ref().map(|name| format!("$ref:{name}"))),
                Err(_) => json!(action.target),
            };
            assert_eq!(shown["id"], id, "{answer}");
        }
    }

    async fn preview_flawed(&mut self, raws: &[Raw], flaw: Flaw, place: Index) {
        self.batches += 1;
        let mut batch = wire(&self.scene("2026-03-02").actions(raws));
        let at = flaw.put(&mut batch, place);
        let answer = self.call_preview(batch).await;
        assert_eq!(answer["success"], false, "{flaw:?}: {answer}");
        assert_eq!(answer["failed_action"]["index"], at, "{flaw:?}: {answer}");
        assert!(answer.get("preview_id").is_none() && answer.get("results").is_none(), "{flaw:?}: {answer}");
    }

    /// Applies a preview as often as it takes; one that failed stays for later.
    async fn apply(&mut self, kept: Kept) {
        let key = self.new_key();
        let (body, answer) = self.call_apply(&kept.preview_id, &key).await;
        if kept.is_expired {
            return refused(&answer, "Preview expired");
        }
        let stale = self.model.stale(&kept.seen);
        if !stale.is_empty() {
            refused(&answer, "Preview stale");
            let named: BTreeSet<(&str, i64)> = answer["stale"].as_array().expect("what is stale").iter().map(named).collect();
            assert_eq!(named, stale.iter().map(entity).collect::<BTreeSet<_>>(), "{answer}");
            return self.kept.push(kept);
        }
        let ids: Vec<i64> = created_ids(&answer);
        let mut after = self.model.clone();
        match after.run(&kept.batch, |at| ids.get(at).copied().filter(|id| *id > 0).unwrap_or_else(|| tentative(at))) {
            Ok(ran) => {
                assert_eq!(kept.xp, Some(ran.xp()), "what was previewed is what happens: {answer}");
                self.done(&kept.batch, &ran, &after, &answer);
                let before = std::mem::replace(&mut self.model, after.clone());
                let (preview_id, touched, root) = (kept.preview_id, ran.touched, self.applied.len());
                self.remember(Applied { preview_id, key, body, before, after, touched, is_undone: false, root }).await;
            }
            Err(failed) => {
                rolled_back(&kept.batch, &failed, &answer);
                // Nothing is stored under the key, so that it says the same as long as the same is there.
                let (again, _) = self.call_apply(&kept.preview_id, &key).await;
                assert_eq!(again, body);
                self.kept.push(kept);
            }
        }
    }

    fn done(&self, batch: &[Action], ran: &Ran, after: &Model, answer: &Value) {
        assert_eq!(answer["success"], true, "{answer}");
        let summary = json!({ "total": batch.len(), "successful": batch.len(), "failed": 0 });
        assert_eq!(answer["summary"], summary, "{answer}");
        assert_eq!(answer["xp"], json!({ "change": ran.xp(), "total": after.xp() }), "{answer}");
        let results = answer["results"].as_array().expect("results");
        assert_eq!(results.len(), batch.len(), "{answer}");
        for ((result, action), done) in results.iter().zip(batch).zip(&ran.done) {
            assert_eq!((&result["action"], &result["success"]), (&json!(action.name), &json!(true)), "{answer}");
            assert_eq!(result["client_action_id"], json!(action.client_action_id), "{answer}");
            assert_eq!(result["created_id"], json!(done.created), "{answer}");
            assert_eq!(result["xp"].as_i64().unwrap_or_default(), done.xp, "{answer}");
            if let Some(id) = done.created {
                assert!(self.model.is_new(action.kind(), id), "an id is never given twice: {answer}");
            }
        }
    }

    /// A retry tells the same at once, and from then on.
    async fn remember(&mut self, applied: Applied) {
        let (again, _) = self.call_apply(&applied.preview_id, &applied.key).await;
        assert_eq!(again, applied.body, "byte for byte");
        self.applied.push(applied);
    }

    async fn undo(&mut self, at: usize) {
        let (touched, is_undone) = (self.applied[at].touched.clone(), self.applied[at].is_undone);
        let wanted = object(json!({ "preview_id": self.applied[at].preview_id }));
        let answer = self.world.planner.undo(&self.caller, &wanted).await.expect("an answer");
        let preview: Value = serde_json::from_str(&answer.body).expect("JSON");
        let is_last = at + 1 == self.applied.len();
        let is_prevented = self.is_prevented(at);
        assert_eq!(answer.is_error, is_undone || is_prevented, "{preview}");
        assert_eq!(preview["success"], !answer.is_error, "{preview}");
        if answer.is_error {
            assert!(is_undone || !preview["prevented_by"].as_array().expect("what prevents it").is_empty(), "{preview}");
            return;
        }
        let before = self.model.clone();
        let mut after = self.model.clone();
        after.restore(&touched, &self.applied[at].before, &self.applied[at].after);
        if is_last {
            assert_eq!(after.dump_of_things(), self.applied[at].before.dump_of_things(), "exactly as it was");
        }
        let undo_id = preview["preview_id"].as_str().expect("a preview").to_owned();
        let key = self.new_key();
        let (body, answer) = self.call_apply(&undo_id, &key).await;
        assert_eq!(answer["success"], true, "{answer}");
        let xp = json!({ "change": after.xp() - before.xp(), "total": after.xp() });
        assert_eq!(answer["xp"], xp, "{answer}");
        assert_eq!(preview["xp"], json!({ "before": before.xp(), "change": xp["change"], "after": after.xp() }), "{preview}");
        self.model = after.clone();
        self.applied[at].is_undone = true;
        let root = self.applied[at].root;
        self.remember(Applied { preview_id: undo_id, key, body, before, after, touched, is_undone: false, root }).await;
    }

    /// Whether later batches stand in the way of undoing one. Of a batch and the undoing of it, both later, nothing is left.
    fn is_prevented(&self, at: usize) -> bool {
        let own = &self.applied[at].touched;
        let mut standing = BTreeSet::new();
        for later in &self.applied[at + 1..] {
            let meets = later.touched.iter().any(|key| own.iter().any(|own| own.meets(key)));
            if meets && !standing.remove(&later.root) {
                standing.insert(later.root);
            }
        }
        !standing.is_empty()
    }

    fn new_key(&mut self) -> String {
        self.keys += 1;
        format!("key-{}", self.keys)
    }

    async fn call_preview(&self, actions: Vec<Value>) -> Value {
        let wanted = object(json!({ "actions": actions }));
        let answer = self.world.planner.preview(&self.caller, &wanted).await.expect("an answer");
        let body: Value = serde_json::from_str(&answer.body).expect("JSON");
        assert_eq!(body["success"], !answer.is_error, "{body}");
        body
    }

    /// The answer to the byte, and as JSON.
    async fn call_apply(&self, preview_id: &str, key: &str) -> (String, Value) {
        let answer = apply(&self.world.planner, &self.caller, preview_id, key).await;
        let body: Value = serde_json::from_str(&answer.body).expect("JSON");
        assert_eq!(body["success"], !answer.is_error, "{body}");
        (answer.body, body)
    }
}

fn refused(answer: &Value, error: &str) {
    assert_eq!((&answer["success"], &answer["error"]), (&json!(false), &json!(error)), "{answer}");
    let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(results.iter().all(|result| result.get("created_id").is_none()), "{answer}");
}

/// Done and rolled back, failed and why, or not reached.
fn rolled_back(batch: &[Action], failed: &Failed, answer: &Value) {
    refused(answer, failed.error);
    assert_eq!(answer["failed_action"]["index"], failed.at, "{answer}");
    assert_eq!(answer["failed_action"]["action"], batch[failed.at].name, "{answer}");
    let results = answer["results"].as_array().expect("results");
    assert_eq!(results.len(), batch.len(), "{answer}");
    for (at, (result, action)) in results.iter().zip(batch).enumerate() {
        let mut expected = json!({ "action": action.name });
        if let Some(name) = &action.client_action_id {
            expected["client_action_id"] = json!(name);
        }
        expected["success"] = json!(at < failed.at);
        match at.cmp(&failed.at) {
            std::cmp::Ordering::Less => expected["rollback"] = json!(true),
            std::cmp::Ordering::Equal => expected["error"] = json!(failed.error),
            std::cmp::Ordering::Greater => expected["not_reached"] = json!(true),
        }
        assert_eq!(*result, expected, "{answer}");
    }
}

fn created_ids(answer: &Value) -> Vec<i64> {
    let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
    results.iter().map(|result| result["created_id"].as_i64().unwrap_or_default()).collect()
}

/// A stale thing as an answer names it.
fn named(stale: &Value) -> (&str, i64) {
    (stale["entity"].as_str().expect("a kind"), stale["id"].as_i64().expect("an id"))
}

/// The same of the model; the steps of a goal are the goal's.
fn entity(key: &Key) -> (&str, i64) {
    match key {
        Key::Goal(id) | Key::Order(id) => ("goal", *id),
        Key::Step(id) => ("step", *id),
        Key::Habit(id) | Key::Mark(id, _) | Key::Marks(id) => ("habit", *id),
    }
}
