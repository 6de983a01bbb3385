-- Called when rules, or the variables that rules use, have changed: at the end of the transaction, so that the steps of
-- a scenario may be saved in any order.
create or replace function shopbot.check_changed_rules() returns trigger language plpgsql as $$
begin
    perform shopbot.check_rules(new.workspace_id);
    return null;
end
$$;
