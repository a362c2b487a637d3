import { journalPost } from '../../../subgraphs/receipt/claim/settlement/write.ts';
import { type JournalledOne, type JournalParts, journalOne } from '../journal-one.ts';
import type { Payment } from '../payment.ts';

/** The one commit of a payment that is handed over, with the block before which it cannot have moved. */
export function journal<I extends Payment & { readonly claim_key: string }>(
  parts: JournalParts<I>,
  item: I,
  from_block: number,
): Promise<JournalledOne> {
  const { network, valid_before_seconds: valid_before } = item.authorization;
  return journalOne(parts, item, from_block, (tx, settlement_id) =>
    journalPost(tx, { network, settlement_id, from_block, valid_before }),
  );
}
