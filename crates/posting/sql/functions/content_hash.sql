-- The fingerprint of a normalized payload: the first 128 bits of the SHA-256 of its only spelling (jsonb sorts its
-- keys). Half the digest is enough to tell posts of one workspace apart, and every index entry is shorter for it.
create or replace function posting.content_hash(p_payload jsonb) returns text language sql immutable parallel safe as $$
    select left(encode(sha256(convert_to(p_payload::text, 'UTF8')), 'hex'), 32)
$$;
