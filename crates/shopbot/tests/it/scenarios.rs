//! Trying rules without a customer, and replaying conversations with expected answers.

use jiff::SignedDuration;
use serde_json::json;
use shopbot::{
    scenarios::{self, Miss},
    talk::{Act, Talk},
};

use crate::world::World;

#[tokio::test]
async fn an_author_talks_to_the_real_rules_and_nothing_is_written() {
    let world = World::new().await;
    let mut talk = Talk::new(&world.test.db, world.workspace, "max");
    let said = talk.act(&Act::Says("оформить возврат".into())).await.unwrap();
    assert_eq!((said.rule_id.as_deref(), said.rule_version, said.state_after.as_str()), (Some("return"), Some(1), "order"));
    assert_eq!(said.why["keyword"], "оформить возврат");
    assert_eq!(talk.act(&Act::Says("нет".into())).await.unwrap().outcome, "re_asked");
    assert_eq!(talk.act(&Act::Sends).await.unwrap().outcome, "unsupported");
    assert_eq!(talk.act(&Act::Presses("12345".into())).await.unwrap().response.as_deref(), Some("Заказ 12345. Причина?"));
    talk.wait(SignedDuration::from_mins(16));
    assert_eq!(talk.act(&Act::Says("брак".into())).await.unwrap().outcome, "fallback", "the time of the state is over");
    let greeted = talk.act(&Act::Starts).await.unwrap();
    assert_eq!((greeted.outcome.as_str(), greeted.buttons[0][0].text.as_str()), ("greeted", "Доставка"));
    for table in ["bot_inbox", "bot_outbox", "bot_state", "bot_logs"] {
        assert_eq!(world.ask(&format!("select count(*) from shopbot.{table}")).await, json!(0), "{table}");
    }
}

const GOOD: &str = "
- name: a question
  steps:
    - start: true
      outcome: greeted
    - customer: Сколько стоит доставка?
      bot: Доставим
      rule: delivery
- name: a return
  provider: telegram
  steps:
    - press: оформить возврат
      state: order
    - customer: не помню
      outcome: re_asked
    - customer: '12345'
      state: reason
    - wait: 16m
    - customer: брак
      rule: none
      state: default
";

#[tokio::test]
async fn conversations_with_expected_answers_are_replayed_and_what_went_another_way_is_told() {
    let world = World::new().await;
    let good = scenarios::read(GOOD).unwrap();
    assert_eq!(scenarios::play(&world.test.db, world.workspace, &good).await.unwrap(), []);
    let bad = scenarios::read("- name: wrong\n  steps:\n    - customer: доставка\n      bot: Самовывоз\n      rule: payment\n")
        .unwrap();
    let misses = scenarios::play(&world.test.db, world.workspace, &bad).await.unwrap();
    let miss = |words: &str| Miss { scenario: "wrong".into(), step: 1, words: words.into() };
    assert_eq!(
        misses,
        [
            miss("the answer should contain `Самовывоз` and is `Доставим. Звоните 8 800.`"),
            miss("the rule should be `payment` and is `delivery`"),
        ]
    );
}
