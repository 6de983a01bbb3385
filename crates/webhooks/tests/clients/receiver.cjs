// A receiver of webhooks, to be killed at any moment. Every request that the reference library of Standard Webhooks accepts is a line
// `<webhook-id> <type> <n>` in a file, written before it is answered; one that it refuses is a line `refused <why>`.
// node receiver.cjs PORT SECRET FILE
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const { Webhook } = require('standardwebhooks');

const [port, secret, file] = process.argv.slice(2);
const webhook = new Webhook(secret);

http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
        let line;
        try {
            const event = webhook.verify(Buffer.concat(parts).toString('utf8'), request.headers);
            line = `${request.headers['webhook-id']} ${event.type} ${event.data.n}`;
        } catch (error) {
            line = `refused ${error.message}`;
        }
        fs.appendFileSync(file, `${line}\n`);
        response.writeHead(204).end();
    });
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
