// The benchmark peer grammY (npm): the shop bot of `cargo xtask bench shopbot` behind a webhook; see ../../README.md.
// Says where it serves, and does so until it is stopped.
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { webhookCallback } from 'grammy'
import pg from 'pg'
import { createBot } from './bot.mjs'
import { createTable, storage } from './sessions.mjs'

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    'api-root': { type: 'string' },
    shop: { type: 'string' },
    secret: { type: 'string' },
    processes: { type: 'string', default: '1' },
    connections: { type: 'string', default: '20' },
    'webhook-reply': { type: 'boolean', default: false }
  }
})
for (const name of ['database-url', 'api-root', 'shop', 'secret']) {
  if (!options[name]) throw new Error(`--${name} is missing`)
}
const processes = Number(options.processes)
// Together as many as our server has.
const max = Math.ceil(Number(options.connections) / processes)
const pool = new pg.Pool({ connectionString: options['database-url'], max, idleTimeoutMillis: 0 })
const say = port => console.log(`grammY serves on http://127.0.0.1:${port}`)

if (!cluster.isWorker) await createTable(pool)
if (processes > 1 && cluster.isPrimary) {
  await pool.end()
  let listening = 0
  cluster.on('listening', (_, address) => { if (++listening === processes) say(address.port) })
  cluster.on('exit', () => process.exit(1)) // Without one of them this is another measurement.
  for (let i = 0; i < processes; i++) cluster.fork()
} else {
  const bot = createBot({
    token: process.env.BOT_TOKEN,
    apiRoot: options['api-root'],
    storage: storage(pool),
    shop: JSON.parse(readFileSync(options.shop, 'utf8')),
    isWebhookReply: options['webhook-reply']
  })
  // An update that fails rejects here and ends the process: a lost answer would be another measurement.
  const server = createServer(webhookCallback(bot, 'http', { secretToken: options.secret }))
  // Telegram keeps its connections; by default Node closes them after five seconds of silence, perhaps in its face.
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1', () => { if (cluster.isPrimary) say(server.address().port) })
}
