-- An update without what it repeats of other messages; that it answers, pins or changes one stays, by its number.
create or replace function knowledge.without_quotes(p_body jsonb) returns jsonb language sql immutable as $$
    select coalesce(jsonb_object_agg(key, case when jsonb_typeof(value) <> 'object' then value else
               (value - '{reply_to_message,pinned_message,external_reply,quote}'::text[])
                   #- '{checklist_tasks_done,checklist_message}' #- '{checklist_tasks_added,checklist_message}'
               || coalesce((
                   select jsonb_object_agg(q, jsonb_build_object('message_id', value #> array[q, 'message_id']))
                     from unnest('{reply_to_message,pinned_message}'::text[]) q
                    where value #> array[q, 'message_id'] is not null), '{}') end), '{}')
      from jsonb_each(p_body)
$$;
