// Where the sessions are: one row per chat, read and written whole, as grammY's own adapter for PostgreSQL does it, but with
// prepared statements, which are faster.

export async function createTable (pool) {
  await pool.query('create table if not exists bot_sessions (key text primary key, value text not null)')
}

export function storage (pool) {
  return {
    async read (key) {
      const { rows } = await pool.query({ name: 'read', text: 'select value from bot_sessions where key = $1', values: [key] })
      return rows.length === 0 ? undefined : JSON.parse(rows[0].value)
    },
    async write (key, session) {
      await pool.query({
        name: 'write',
        text: 'insert into bot_sessions (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value',
        values: [key, JSON.stringify(session)]
      })
    },
    async delete (key) {
      await pool.query({ name: 'delete', text: 'delete from bot_sessions where key = $1', values: [key] })
    }
  }
}
