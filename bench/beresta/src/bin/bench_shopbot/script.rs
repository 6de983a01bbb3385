//! What customers write, in the words of Telegram, and what they have to hear.

use serde_json::json;

/// Messages of one conversation.
pub(crate) const LINES: u64 = 5;

/// Two questions, and a return in three steps, to the rules of `db/seed.sql`: what the customer says, and words of the answer.
/// `#` stands for the number of the order.
const RUSSIAN: [(&str, &str); LINES as usize] = [
    ("Здравствуйте! Сколько стоит доставка?", "Доставляем курьером"),
    ("А картой оплатить можно?", "Оплатить можно картой"),
    ("Хочу оформить возврат", "Напишите номер заказа"),
    ("#", "Заказ #."),
    ("Не подошёл размер", "возврат заказа #, причина: Не подошёл размер."),
];
const ENGLISH: [(&str, &str); LINES as usize] = [
    ("Hi! How much is the delivery to Moscow?", "We deliver by courier"),
    ("Can I pay with a credit card?", "Pay by card"),
    ("I want to return my shoes", "What is the order number?"),
    ("#", "Order #."),
    ("Wrong size", "return of order # is noted, reason: Wrong size."),
];

/// The chats of one run: `first`, `first + 1` and so on, no two of them alike in any run on one database.
#[derive(Clone, Copy)]
pub(crate) struct Chats {
    pub(crate) first: i64,
    pub(crate) count: u64,
}

impl Chats {
    pub(crate) fn id(self, index: u64) -> i64 {
        self.first + i64::try_from(index).unwrap_or(i64::MAX)
    }

    pub(crate) fn messages(self) -> u64 {
        self.count * LINES
    }
}

/// Every other customer writes English. Orders have the same numbers in every run, so that answers can be compared.
fn line(index: u64, line: u64) -> (String, String) {
    let script = if index.is_multiple_of(2) { &RUSSIAN } else { &ENGLISH };
    let (says, hears) = script[usize::try_from(line).unwrap_or(0)];
    let order = (10_000 + index).to_string();
    (says.replace('#', &order), hears.replace('#', &order))
}

/// Words that the answer to this line contains.
pub(crate) fn hears(index: u64, number: u64) -> String {
    line(index, number).1
}

/// The update that brings this line: the same bytes whenever it is brought again in the same second.
pub(crate) fn update(chats: Chats, index: u64, number: u64, now_seconds: u64) -> String {
    let chat_id = chats.id(index);
    let username = format!("customer_{chat_id}");
    json!({
        "update_id": chat_id * 10 + i64::try_from(number).unwrap_or(0),
        "message": {
            "message_id": 2 * number + 1,
            "from": {"id": chat_id, "is_bot": false, "first_name": "Анна", "last_name": "Иванова", "username": username, "language_code": "ru"},
            "chat": {"id": chat_id, "first_name": "Анна", "last_name": "Иванова", "username": username, "type": "private"},
            "date": now_seconds,
            "text": line(index, number).0,
        },
    })
    .to_string()
}
