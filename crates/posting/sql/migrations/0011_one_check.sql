-- The platform looks for the trouble of every module: ops.check_alerts('posting').
drop function if exists posting.check_alerts();
