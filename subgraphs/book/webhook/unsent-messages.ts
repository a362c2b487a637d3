import type { Database } from '../../database.ts';
import { addJob } from '../../jobs.ts';
import { JOBS_SCHEMA } from '../../migrate-jobs.ts';
import { bookJob } from '../ledger/webhook-messages.ts';

/** Maximum number of books per round. The next round continues. */
const BOOKS_MAX = 1_000;

/**
 * Adds a job for each book that has unsent messages but no job, because its job failed too often or was removed from the job tables.
 * Returns the number of these books.
 */
export async function queueUnsentMessages(database: Pick<Database, 'query'>): Promise<number> {
  const untold = await database.query<{ agent_id: number }>({
    name: 'untold books',
    text: `select agent_id from webhook w join book b using (agent_id)
      where w.enabled and w.box is not null and b.damage is null and b.webhook_messages > w.told_messages
        and not exists (select from ${JOBS_SCHEMA}.jobs there where there.key = 'webhook ' || agent_id
          and (there.locked_at is not null or there.attempts < there.max_attempts))
      order by agent_id limit ${BOOKS_MAX}`,
  });
  for (const { agent_id } of untold) await addJob(database, bookJob(agent_id));
  return untold.length;
}
