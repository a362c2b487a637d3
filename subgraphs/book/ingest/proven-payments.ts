import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { Database } from '../../database.ts';

/** Payer and payee, as the chain shows them. */
export type ProvenPayment = Pick<ObservedTransfer, 'payer' | 'pay_to'>;

/** Payments to others with a proven payer, by task id. Payments that have vanished from their chain are left out. */
export async function provenPayments(
  { query }: Pick<Database, 'query'>,
  task_ids: readonly string[],
): Promise<ReadonlyMap<string, ProvenPayment>> {
  const rows = await query<ProvenPayment & { task_id: string }>({
    name: 'payments to others with a proven payer',
    text: `select task_id, transfer->>'payer' as payer, transfer->>'pay_to' as pay_to from foreign_ingest
      where task_id = any($1) and payer_proven and standing <> 'vanished'`,
    values: [task_ids],
  });
  return new Map(rows.map(({ task_id, ...payment }) => [task_id, payment]));
}
