-- A new id whose first bits are the time (UUID version 7), so that neighbours in time are neighbours in an index.
create or replace function platform.new_id() returns uuid language sql volatile parallel safe as $$
    select (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid
      from (select lpad(to_hex((extract(epoch from platform.now()) * 1000)::bigint), 12, '0') as h) t
$$;
