insert into ops.event_types values
    ('post.sent', 'the last delivery of a post has ended, and at least one channel has it'),
    ('delivery.failed', 'a delivery will not be tried again: it was refused, or could not be rendered'),
    ('delivery.dead', 'a delivery has used up its attempts'),
    ('channel.paused', 'a channel is paused, after errors or by an operator');
