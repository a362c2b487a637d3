import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/**
 * Whether the book has a row of that task, which a call may then follow from: a refused one too, since a call that is tried
 * again follows from the one that was refused. Rows stay where they are, so what is true once is true for good.
 */
export async function isOnBook(database: Database, agent_id: AgentId, task_id: string): Promise<boolean> {
  const found = await database.query({
    name: 'parent on book',
    text: 'select 1 from book_row where agent_id = $1 and task_id = $2',
    values: [agent_id, task_id],
  });
  return found.length > 0;
}
