import type { Database } from '../../database.ts';

/** Whether the kill switch is on for a book with a row of that task. */
export async function isStopped(database: Pick<Database, 'query'>, task_id: string): Promise<boolean> {
  const stopped = await database.query({
    name: 'kill switch of task',
    text: `select from book_row r join book b using (agent_id)
      where r.task_id = $1 and b.policy->'kill_switch' = 'true' limit 1`,
    values: [task_id],
  });
  return stopped.length > 0;
}

/** Whether the kill switch of that book is on. False if there is no such book. */
export async function isBookStopped(database: Pick<Database, 'query'>, agent_id: number | null): Promise<boolean> {
  if (agent_id === null) return false;
  const stopped = await database.query({
    name: 'kill switch of book',
    text: `select from book where agent_id = $1 and policy->'kill_switch' = 'true'`,
    values: [agent_id],
  });
  return stopped.length > 0;
}
