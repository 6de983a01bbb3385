// The benchmark peer pg-boss (npm): see ../../README.md for the contract.
import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { emit, handler, options, waitForGo } from '../common.mjs'

const QUEUE = 'bench'
// insert() is the documented bulk path; 2 000 to 60 000 jobs per call measured alike.
const INSERT_AT_ONCE = 10_000

const opts = options()
// Measured best among 1 to 4 workers with batches of 200 to 5000.
const [localConcurrency, batchSize] = opts.mode === 'noop' ? [3, opts.fetch ?? 2000] : [2, opts.fetch ?? 1000]
// Connections to the sink, shared by all batches: 24, 64 and 128 measured alike, 256 worse.
const handle = handler(opts, opts.concurrency ?? 64)

const fatal = error => {
  console.error(error)
  process.exit(1)
}
const boss = new PgBoss({
  connectionString: opts.databaseUrl,
  // No maintenance and no cron clock beside the measured work: in the peer's favour.
  supervise: false,
  schedule: false
})
boss.on('error', fatal)
await boss.start()
await boss.createQueue(QUEUE)
const db = boss.getDb()
const isPending = async () => {
  const { rows } = await db.executeSql(
    `select exists (select from pgboss.job where name = '${QUEUE}' and state <> 'completed') as pending`)
  return rows[0].pending
}
if (await isPending()) throw new Error('the queue already holds jobs: use an empty database')

const enqueue = performance.now()
for (let first = 0; first < opts.jobs; first += INSERT_AT_ONCE) {
  const length = Math.min(INSERT_AT_ONCE, opts.jobs - first)
  await boss.insert(QUEUE, Array.from({ length }, (_, i) => ({ data: { n: first + i } })))
}
emit('enqueued', enqueue)
// A live database has statistics; a fresh bulk load has none until autovacuum comes. Measured: about a fifth faster.
await db.executeSql('analyze pgboss.job')
emit('ready')
await waitForGo()

let finished = 0
const run = performance.now()
await boss.work(QUEUE, {
  batchSize,
  localConcurrency,
  // Fetch again at once after a full batch; the shortest allowed poll only for the last, short one.
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5
}, async jobs => {
  // The jobs of a batch run together and are completed together, in one statement, when this returns.
  // A retried job would be a different measurement, so a failure ends the run.
  await Promise.all(jobs.map(job => handle(job.data))).catch(fatal)
  finished += jobs.length
})
while (finished < opts.jobs) await sleep(1)
// The last batches are completed after their handlers: done means no row is left in another state.
while (await isPending()) await sleep(1)
emit('done', run)

await boss.stop({ timeout: 5000 })
process.exit(0)
