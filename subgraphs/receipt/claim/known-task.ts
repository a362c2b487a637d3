import type { Tx } from '../../database.ts';

/** Whether a task of that id has a receipt or a refusal, or is under way: another thing cannot be called so any more. */
export async function isTaskKnown(tx: Tx, task_id: string): Promise<boolean> {
  const { rows } = await tx.query<{ known: boolean }>({
    name: 'known task',
    text: `select exists (select from receipt where task_id = $1) or exists (select from payment_claim where task_id = $1)
      or exists (select from key_call where task_id = $1) or exists (select from refusal where task_id = $1) as known`,
    values: [task_id],
  });
  return rows[0]?.known ?? false;
}
