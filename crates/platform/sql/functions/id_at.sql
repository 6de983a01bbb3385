-- The smallest id that platform.new_id could have made at this time.
create or replace function platform.id_at(p_at timestamptz) returns uuid language sql immutable parallel safe as $$
    select (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-000000000000')::uuid
      from (select lpad(to_hex((extract(epoch from p_at) * 1000)::bigint), 12, '0') as h) t
$$;
