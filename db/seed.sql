-- The demo workspace. `beresta seed` loads it and gives the hashes of freshly made secrets as settings of the
-- transaction; loaded by hand without them, it makes everything but the endpoints. Safe to repeat.

select core.create_workspace('demo');

-- The bots: the shop's in both messengers, and the one that remembers what a group shared. `beresta seed` names files with their tokens that
-- it made; by hand, set the variables.
insert into core.bots (workspace_id, provider, name, secret_ref, serves)
select w.workspace_id, g.provider, g.name, coalesce(nullif(current_setting(g.setting, true), ''), g.secret_ref), g.serves
  from core.workspaces w,
       (values ('max', 'shopbot-max', 'seed.max_secret_ref', 'env:BERESTA_DEMO_MAX_TOKEN', 'shopbot'),
               ('telegram', 'shopbot-telegram', 'seed.telegram_secret_ref', 'env:BERESTA_DEMO_TELEGRAM_TOKEN', 'shopbot'),
               ('telegram', 'archive', 'seed.archive_secret_ref', 'env:BERESTA_DEMO_ARCHIVE_TOKEN', 'knowledge')
       ) g (provider, name, setting, secret_ref, serves)
 where w.name = 'demo'
on conflict (workspace_id, name) do update set secret_ref = excluded.secret_ref;

-- Where the outside world comes in: posts by push, and the webhooks of the bots.
with given (name, kind, bot, secret_hash) as (
    values ('push', 'webhook_push', null, current_setting('seed.push_secret_hash', true)),
           ('max', 'bot_webhook', 'shopbot-max', current_setting('seed.max_secret_hash', true)),
           ('telegram', 'bot_webhook', 'shopbot-telegram', current_setting('seed.telegram_secret_hash', true)),
           ('archive', 'bot_webhook', 'archive', current_setting('seed.archive_secret_hash', true))
), demo as (
    select workspace_id from core.workspaces where name = 'demo'
), rotated as (
    -- A new secret replaces the old one, whose row stays as history.
    update core.workspace_endpoints e set enabled = false, updated_at = platform.now()
      from given g, demo
     where e.workspace_id = demo.workspace_id and e.enabled and e.meta->>'name' = g.name
       and nullif(g.secret_hash, '') is not null and e.secret_hash <> g.secret_hash
)
insert into core.workspace_endpoints (workspace_id, kind, secret_hash, ingress_rps, meta, bot_id)
select demo.workspace_id, g.kind, g.secret_hash, 50, jsonb_build_object('name', g.name), b.bot_id
  from given g cross join demo
  left join core.bots b on b.workspace_id = demo.workspace_id and b.name = g.bot
 where nullif(g.secret_hash, '') is not null
on conflict (kind, secret_hash) where enabled do nothing;

-- Whose bots post: only where their tokens are kept. `beresta seed` names files that it made; by hand, set the variables.
insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
select w.workspace_id, g.auth_ref, g.platform, coalesce(nullif(current_setting('seed.' || g.platform || '_secret_ref', true), ''), g.secret_ref)
  from core.workspaces w,
       (values ('demo-telegram', 'telegram', 'env:BERESTA_DEMO_TELEGRAM_TOKEN'),
               ('demo-max', 'max', 'env:BERESTA_DEMO_MAX_TOKEN')) g (auth_ref, platform, secret_ref)
 where w.name = 'demo'
on conflict (workspace_id, auth_ref, platform) do update set secret_ref = excluded.secret_ref, updated_at = platform.now();

-- What each bot may send in a second, over all its channels.
insert into posting.platform_limits (workspace_id, platform, rate_group, rate_rps)
select w.workspace_id, g.platform, g.rate_group, 30
  from core.workspaces w, (values ('telegram', 'demo-telegram'), ('max', 'demo-max')) g (platform, rate_group)
 where w.name = 'demo'
on conflict do nothing;

-- Forty channels: a row is all that a channel needs. Those with a filter take only what their tags let in.
with given (channel_id, platform, target_id, title, tags, route_filter) as (
    select 'tg-' || to_char(n, 'FM00'), 'telegram', (-1001000000000 - n)::text, 'Канал ' || n, '{}'::text[], null::jsonb
      from generate_series(1, 20) n
    union all
    select 'max-' || to_char(n, 'FM00'), 'max', (-70000000000000 - n)::text, 'Канал MAX ' || n, '{}', null
      from generate_series(1, 12) n
    union all
    values ('tg-crypto', 'telegram', '-1001000000101', 'Крипта', '{crypto}'::text[], '{"include_any": ["crypto"]}'::jsonb),
           ('tg-listing', 'telegram', '-1001000000102', 'Листинги', '{crypto,listing}', '{"include_all": ["crypto", "listing"]}'),
           ('tg-kids', 'telegram', '-1001000000103', 'Детям', '{kids}', '{"exclude": ["nsfw", "crypto"]}'),
           ('tg-ru', 'telegram', '-1001000000104', 'На русском', '{ru}', '{"include_any": ["ru"], "exclude": ["nsfw"]}'),
           ('max-crypto', 'max', '-70000000000101', 'Крипта в MAX', '{crypto}', '{"include_any": ["crypto"]}'),
           ('max-listing', 'max', '-70000000000102', 'Листинги в MAX', '{crypto,listing}', '{"include_all": ["crypto", "listing"]}'),
           ('max-kids', 'max', '-70000000000103', 'Детям в MAX', '{kids}', '{"exclude": ["nsfw", "crypto"]}'),
           ('max-ru', 'max', '-70000000000104', 'На русском в MAX', '{ru}', '{"include_any": ["ru"], "exclude": ["nsfw"]}')
)
insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, title, rate_rps, max_parallel, tags, route_filter, settings)
select w.workspace_id, g.channel_id, g.platform, g.target_id, 'demo-' || g.platform, 'demo-' || g.platform, g.title,
       case g.platform when 'max' then 2 else 1 end, 1, posting.canonical_tags(g.tags), g.route_filter, '{"parse_mode": "HTML"}'
  from given g, core.workspaces w
 where w.name = 'demo'
on conflict do nothing;

-- What the bots of the shop say.
insert into shopbot.bots (workspace_id, bot_id, provider, greeting_text, fallback_text, escalation_text, unsupported_text, menu, variables)
select b.workspace_id, b.bot_id, b.provider,
       E'Здравствуйте! Это магазин «{{shop_name}}». Спросите о доставке, оплате, возврате, гарантии или контактах.\n'
       'Hello! Ask about delivery, payment, returns, warranty or contacts.',
       E'Не совсем понял вас. Выберите тему или напишите другими словами.\n'
       'Sorry, I did not get that. Choose a topic or put it in other words.',
       E'Передаю вопрос сотруднику: он ответит здесь. Срочно? Звоните: {{phone}}, {{hours}}.\n'
       'A colleague will answer here. Urgent? Call {{phone}}, {{hours_en}}.',
       E'Я понимаю только текст. Напишите, пожалуйста, словами.\nI understand text only. Please put it in words.',
       '[[{"text": "Доставка"}, {"text": "Оплата"}], [{"text": "Возврат"}, {"text": "Гарантия"}],
         [{"text": "Контакты"}, {"text": "In English", "payload": "english"}]]',
       '{"shop_name": "Берёзка", "phone": "8 800 000-00-00", "address": "Великий Новгород, Людогощая ул., 5", "hours": "ежедневно с 10 до 21",
         "address_en": "5 Lyudogoshchaya St, Veliky Novgorod", "hours_en": "10 am to 9 pm every day"}'
  from core.workspaces w join core.bots b on b.workspace_id = w.workspace_id and b.name = 'shopbot-' || b.provider
 where w.name = 'demo'
on conflict (workspace_id, bot_id) do nothing;

-- Five questions that everybody asks, in two languages. A workspace that has rules already keeps them.
with topics (intent, ru_keywords, ru_answer, en_keywords, en_answer) as (values
    ('delivery', '["доставк", "привез", "курьер", "самовывоз", "пункт выдачи"]'::jsonb,
     'Доставляем курьером за 1–3 дня по городу (300 ₽, от 3000 ₽ бесплатно) и в пункты выдачи по всей России за 2–7 дней. Самовывоз: {{address}}, {{hours}}.',
     '["delivery", "deliver", "shipping", "courier", "pickup"]'::jsonb,
     'We deliver by courier in 1–3 days within the city (300 ₽, free from 3000 ₽) and to pickup points all over Russia in 2–7 days. Our shop: {{address_en}}, {{hours_en}}.'),
    ('payment', '["оплат", "оплачив", "картой", "наличн", "сбп"]',
     'Оплатить можно картой или по СБП на сайте, а при получении ещё и наличными. Чек приходит на почту.',
     '["payment", "pay by", "pay with", "credit card", "cash"]',
     'Pay by card or fast bank transfer on the site, or also in cash on delivery. The receipt comes by e-mail.'),
    ('returns', '["возврат", "вернуть", "обмен"]',
     'Товар можно вернуть в течение 14 дней, если он не был в употреблении. Чтобы начать, напишите «оформить возврат».',
     '["return", "refund", "exchange"]',
     'Goods that were not used can be returned within 14 days. To begin, write “start a return”.'),
    ('warranty', '["гаранти", "сломал", "ремонт", "не работает"]',
     'Гарантия 12 месяцев. Принесите товар с чеком в магазин ({{address}}) или напишите нам, что случилось: ремонт бесплатный.',
     '["warranty", "guarantee", "broken", "repair"]',
     'The warranty is 12 months. Bring the goods and the receipt to the shop ({{address_en}}) or tell us what happened: repair is free.'),
    ('contacts', '["контакт", "телефон", "адрес", "где вы", "время работы", "оператор"]',
     'Магазин «{{shop_name}}»: {{address}}, {{hours}}, телефон {{phone}}.',
     '["contact", "phone", "address", "where are you", "opening hours", "operator"]',
     'The shop: {{address_en}}, {{hours_en}}, phone {{phone}}.')
), rules as (
    select jsonb_build_object('rule_id', t.intent || '_ru', 'intent', t.intent, 'priority', 10, 'response_template', t.ru_answer,
                              'pattern', jsonb_build_object('keywords', t.ru_keywords, 'mode', 'contains'),
                              'buttons', case t.intent when 'returns' then '[[{"text": "Оформить возврат"}]]'::jsonb else '[]' end) as rule
      from topics t
    union all
    select jsonb_build_object('rule_id', t.intent || '_en', 'intent', t.intent, 'priority', 10, 'response_template', t.en_answer,
                              'pattern', jsonb_build_object('keywords', t.en_keywords, 'mode', 'contains'),
                              'buttons', case t.intent when 'returns' then '[[{"text": "Start a return"}]]'::jsonb else '[]' end)
      from topics t
    union all
    -- The return itself, step by step: order number, reason, instructions.
    select value from jsonb_array_elements('[
        {"rule_id": "english", "intent": "menu", "priority": 5, "pattern": {"keywords": ["english"], "mode": "contains"},
         "response_template": "Ask about delivery, payment, returns, warranty or contacts.",
         "buttons": [[{"text": "Delivery"}, {"text": "Payment"}], [{"text": "Returns"}, {"text": "Warranty"}], [{"text": "Contacts"}]]},

        {"rule_id": "return_ru", "intent": "return_ru", "priority": 20, "max_turns": 8, "next_state": "return_ru_order",
         "pattern": {"keywords": ["оформить возврат", "сделать возврат", "хочу вернуть", "начать возврат"], "mode": "contains"},
         "response_template": "Оформим возврат. Напишите номер заказа, например 10234.", "buttons": [[{"text": "Отмена"}]]},
        {"rule_id": "return_ru_order", "intent": "return_ru", "state": "return_ru_order", "capture": "order_number", "max_turns": 8,
         "pattern": {"keywords": [], "mode": "contains"}, "check_pattern": "^(№|#)? ?[0-9]{4,10}$", "next_state": "return_ru_reason",
         "response_template": "Заказ {{order_number}}. Почему возвращаете?",
         "re_ask_template": "В номере заказа от 4 до 10 цифр, например 10234. Он есть в письме о заказе. Напишите номер или «отмена».",
         "buttons": [[{"text": "Не подошёл размер"}], [{"text": "Брак"}], [{"text": "Передумал(а)"}]]},
        {"rule_id": "return_ru_reason", "intent": "return_ru", "state": "return_ru_reason", "capture": "reason", "max_turns": 8,
         "pattern": {"keywords": [], "mode": "contains"}, "next_state": "default",
         "response_template": "Записали возврат заказа {{order_number}}, причина: {{reason}}. Упакуйте товар с чеком и отдайте курьеру или принесите в магазин: {{address}}, {{hours}}. Деньги вернём за 10 дней."},
        {"rule_id": "return_ru_order_cancel", "intent": "return_ru", "state": "return_ru_order", "next_state": "default", "max_turns": 8,
         "pattern": {"keywords": ["отмена", "отменить", "стоп"], "mode": "contains"}, "response_template": "Возврат отменён. Чем ещё помочь?"},
        {"rule_id": "return_ru_reason_cancel", "intent": "return_ru", "state": "return_ru_reason", "next_state": "default", "max_turns": 8,
         "pattern": {"keywords": ["отмена", "отменить возврат", "стоп"], "mode": "contains"}, "response_template": "Возврат отменён. Чем ещё помочь?"},

        {"rule_id": "return_en", "intent": "return_en", "priority": 20, "max_turns": 8, "next_state": "return_en_order",
         "pattern": {"keywords": ["start a return", "make a return", "want to return", "return my order"], "mode": "contains"},
         "response_template": "Let us arrange the return. What is the order number? For example 10234.", "buttons": [[{"text": "Cancel"}]]},
        {"rule_id": "return_en_order", "intent": "return_en", "state": "return_en_order", "capture": "order_number", "max_turns": 8,
         "pattern": {"keywords": [], "mode": "contains"}, "check_pattern": "^(№|#)? ?[0-9]{4,10}$", "next_state": "return_en_reason",
         "response_template": "Order {{order_number}}. Why do you return it?",
         "re_ask_template": "An order number has 4 to 10 digits, for example 10234. You find it in the order e-mail. Write the number or “cancel”.",
         "buttons": [[{"text": "Wrong size"}], [{"text": "Defect"}], [{"text": "Changed my mind"}]]},
        {"rule_id": "return_en_reason", "intent": "return_en", "state": "return_en_reason", "capture": "reason", "max_turns": 8,
         "pattern": {"keywords": [], "mode": "contains"}, "next_state": "default",
         "response_template": "The return of order {{order_number}} is noted, reason: {{reason}}. Pack the goods with the receipt and give them to the courier or bring them to the shop: {{address_en}}, {{hours_en}}. The money is back within 10 days."},
        {"rule_id": "return_en_order_cancel", "intent": "return_en", "state": "return_en_order", "next_state": "default", "max_turns": 8,
         "pattern": {"keywords": ["cancel", "stop"], "mode": "contains"}, "response_template": "The return is cancelled. What else can I do for you?"},
        {"rule_id": "return_en_reason_cancel", "intent": "return_en", "state": "return_en_reason", "next_state": "default", "max_turns": 8,
         "pattern": {"keywords": ["cancel the return", "cancel", "stop"], "mode": "contains"}, "response_template": "The return is cancelled. What else can I do for you?"}]')
)
select shopbot.save_rules(w.workspace_id, r.rules, 'seed')
  from core.workspaces w, (select jsonb_agg(rule) as rules from rules) r
 where w.name = 'demo' and not exists (select from shopbot.bot_rules x where x.workspace_id = w.workspace_id);

-- A chat in which a bot has worked already; every id is fixed, so repeating changes nothing.
select actions.add_message(w.workspace_id, 'demo', 'user', 'Расшифруй, пожалуйста, запись встречи.', 'seed-1'),
       actions.start_action(w.workspace_id, 'demo', 'seed-transcript', 'transcribe_audio', '2 hours', p_payload => '{"file": "meeting.ogg"}'),
       actions.update_action(w.workspace_id, 'seed-transcript', 'done'),
       actions.add_message(w.workspace_id, 'demo', 'bot', 'Готово: 12 минут, двое говорящих. Сделать саммари?', 'seed-2')
  from core.workspaces w where w.name = 'demo';

-- The people and the group of the bot that remembers. The history is played by `beresta seed`.
insert into core.tenant_users (workspace_id, tg_user_id, role, name)
select w.workspace_id, p.tg_user_id, p.role, p.name
  from core.workspaces w, (values (7100000001, 'user', 'Анна Орлова'), (7100000002, 'admin', 'Игорь Белов')) p (tg_user_id, role, name)
 where w.name = 'demo'
on conflict do nothing;
select knowledge.register_chat(b.workspace_id, -1007100000010, b.bot_id, 7100000002)
  from core.workspaces w join core.bots b on b.workspace_id = w.workspace_id and b.name = 'archive'
 where w.name = 'demo' and not exists (select from core.tenant_chats c where c.workspace_id = w.workspace_id);
