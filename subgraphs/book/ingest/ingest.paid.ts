import { limits } from '../../../schema/limits.ts';
import { STAMPED_BY } from '../../../schema/route-words.ts';
import type { Tx } from '../../database.ts';
import { dropSlot } from '../../receipt/claim/slots.ts';
import type { Issuer } from '../../receipt/issuer/signing-keys.ts';
import type { Stamp, StampContext } from '../../sale.ts';
import type { BookContext } from '../context.ts';
import { ingestAnswer, type RecordedIngest } from './answer.ts';
import { findTransfer, type IngestArgs, type IngestFact, lookSlot } from './find.ts';
import { storeIngest } from './references.ts';
import { ingestedRow } from './row.ts';

export interface IngestParts {
  readonly issuer: Pick<Issuer, 'signCanonical' | 'base_url'>;
}

/**
 * Sells the recording of a payment to others as a stamp. The transfer is read first, and the result is sealed with the claim when
 * the payment of the stamp is submitted. So a refusal costs nothing, and the row can be made from the sealed result alone.
 */
export function ingestPaid(parts: IngestParts): Stamp<IngestArgs, RecordedIngest, IngestFact> {
  return {
    order: 'stamp',
    chained: 'off_book',
    field: 'Mutation.ingestForeignSpend',
    job_kind: 'other',
    price_atomic: limits.stamp_price_atomic,
    networks: ['base', 'solana'],
    // An ingest records earlier spending elsewhere, so no cap of the book applies to it or to its stamp.
    reserves: false,
    stand_ins: ['waiver'],
    route: { model: 'ingest', hub: STAMPED_BY },
    slots: request => [lookSlot(request)],
    slot_taken: 'duplicate_ref',
    book: async ({ agent_id }) => agent_id,
    find: (args, payer, context) => findTransfer(args, payer, context as BookContext),
    row: ingestedRow,
    commit: (tx, args, stamped, fact) => record(tx, args, stamped, fact, parts),
  };
}

async function record(
  tx: Tx,
  args: IngestArgs,
  { task_id, recorded_at_ms }: StampContext,
  fact: IngestFact | null,
  parts: IngestParts,
): Promise<RecordedIngest> {
  if (fact === null) throw new Error(`${task_id} was settled without what it is to record`);
  storeIngest(tx, args.agent_id, fact, recorded_at_ms);
  // The transfer's own slot is taken now, so the lookup slot is released. A later request can name the same transfer and prove its
  // payer.
  dropSlot(tx, lookSlot(args), task_id);
  return ingestAnswer(args, fact, parts.issuer, recorded_at_ms);
}
