import { Refusal } from '../../schema/errors.ts';
import { refusalUrl } from '../../schema/links.ts';
import { type BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refusalDocument } from '../../subgraphs/receipt/refusal/document.ts';
import { refusalById } from '../../subgraphs/receipt/refusal/find.ts';
import type { Till } from './till.ts';

/**
 * What a caller hears whose call the book refused: the signed refusal itself, the first time and every time after. The
 * sentence says what kind of ceiling it was and no figure: who pays need not be who possesses the book.
 */
export async function refusedByBook(till: Till, refusal_id: string, { response }: Context): Promise<Refusal> {
  const refusal = await refusalById(till.database, refusal_id);
  if (refusal === null) throw new Error(`refusal ${refusal_id} does not stand`);
  const document = refusalDocument(refusal, till.base_url);
  response.headers['x-svc-refusal-url'] = String(document.refusal_url);
  return new Refusal(refusal.refusalCode, { facts: document });
}

/**
 * Of a call that was refused like many before it in this hour: no refusal of its own, but where the last one is. Whoever
 * changes the policy need not wait. Counted once, here, where its caller is told.
 */
export function refusedOnceMore(till: Till, too_often: BlockedTooOften, { response }: Context): Refusal {
  till.blocked_calls.count(too_often);
  const { last_refusal_id, policy_code, retry_after_seconds } = too_often;
  const last_refusal_url = refusalUrl(till.base_url, last_refusal_id);
  response.headers['x-svc-last-refusal-url'] = last_refusal_url;
  const facts = { charged: false, policy_code, last_refusal_url, retry_after_seconds };
  return new Refusal('blocked_too_often', { facts });
}
