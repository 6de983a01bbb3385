// The benchmark peer graphile-worker (npm): see ../../README.md for the contract.
// This process enqueues, starts the worker processes and keeps the time; worker.mjs does the jobs.
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, makeWorkerUtils } from 'graphile-worker'
import pg from 'pg'
import { emit, options, waitForGo } from '../common.mjs'

const opts = options()
// Measured on 2 cores: a second process gains a third for no-ops, where Node itself is the limit,
// and nothing for HTTP, where the processes, PostgreSQL and the sink already fill both cores.
const PROCESSES = opts.mode === 'noop' ? 2 : 1
// addJobs() is the documented bulk path; 2 000 to 60 000 jobs per call measured alike.
const ADD_AT_ONCE = 10_000

const db = new pg.Client({ connectionString: opts.databaseUrl })
await db.connect()
const isEmpty = async () => {
  const { rows } = await db.query('select not exists (select from graphile_worker._private_jobs) as empty')
  return rows[0].empty
}

const utils = await makeWorkerUtils({ connectionString: opts.databaseUrl, logger: new Logger(() => () => {}) })
await utils.migrate()
if (!await isEmpty()) throw new Error('the queue already holds jobs: use an empty database')

const enqueue = performance.now()
for (let first = 0; first < opts.jobs; first += ADD_AT_ONCE) {
  const length = Math.min(ADD_AT_ONCE, opts.jobs - first)
  await utils.addJobs(Array.from({ length }, (_, i) => ({ identifier: 'bench', payload: { n: first + i } })))
}
emit('enqueued', enqueue)
await utils.release()
// A live database has statistics; a fresh bulk load has none until autovacuum comes. Measured: about a fifth faster.
await db.query('analyze graphile_worker._private_jobs')

// The worker processes are loaded before "ready", so that the measured time holds no module loading.
const finished = Array(PROCESSES).fill(0)
const workers = finished.map((_, i) => {
  const worker = fork(new URL('worker.mjs', import.meta.url), process.argv.slice(2), {
    env: { ...process.env, NO_LOG_SUCCESS: '1', PROCESSES }, // No log line per job, as in its own benchmark.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  worker.on('message', count => { finished[i] = count })
  worker.on('exit', code => { if (code !== 0) process.exit(1) })
  return worker
})
await Promise.all(workers.map(worker => new Promise(resolve => worker.once('message', resolve))))
emit('ready')
await waitForGo()

const run = performance.now()
for (const worker of workers) worker.send('go')
while (finished.reduce((a, b) => a + b) < opts.jobs) await sleep(1)
// Completions are written in batches after the handlers: done means every row is gone.
while (!await isEmpty()) await sleep(1)
emit('done', run)

for (const worker of workers) worker.send('stop')
await Promise.all(workers.map(worker => new Promise(resolve => worker.once('exit', resolve))))
await db.end()
process.exit(0)
