// Verifies requests with the reference library of Standard Webhooks: a list of {secret, headers, body} on standard input, on standard
// output a list with null for each that is accepted and the reason for each that is not.
'use strict';
const fs = require('node:fs');
const { Webhook } = require('standardwebhooks');

const said = JSON.parse(fs.readFileSync(0, 'utf8')).map(({ secret, headers, body }) => {
    try {
        new Webhook(secret).verify(body, headers);
        return null;
    } catch (error) {
        return error.message;
    }
});
process.stdout.write(JSON.stringify(said));
