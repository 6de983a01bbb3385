// One worker process of the graphile-worker peer, started by main.mjs.
import { Logger, run } from 'graphile-worker'
import { handler, options } from '../common.mjs'

const opts = options()
// No-ops: 24 per process, as documented (6 to 48 measured alike). HTTP: measured best of 24, 64, 128.
const total = opts.concurrency ?? (opts.mode === 'noop' ? 48 : 128)
const concurrentJobs = Math.ceil(total / Number(process.env.PROCESSES))
const handle = handler(opts, concurrentJobs)

let finished = 0
const bench = async payload => {
  try {
    await handle(payload)
  } catch (error) {
    // A retried job would be a different measurement.
    console.error(`job ${payload.n}:`, error)
    process.exit(1)
  }
  finished++
}

process.once('disconnect', () => process.exit(1)) // The parent is gone.
process.send(0)
await new Promise(resolve => process.once('message', resolve))

const runner = await run({
  preset: {
    worker: {
      connectionString: opts.databaseUrl,
      concurrentJobs,
      // From here on the figures of its performance page.
      maxPoolSize: 25,
      localQueue: { size: opts.fetch ?? 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new Logger(() => () => {})
    }
  },
  taskList: { bench },
  crontab: '',
  noHandleSignals: true
})

let reported = 0
const report = setInterval(() => {
  if (finished !== reported) process.send(reported = finished)
}, 5)
await new Promise(resolve => process.once('message', resolve))
clearInterval(report)
await runner.stop()
process.exit(0)
