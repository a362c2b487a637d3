import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refusalById, refusalDocument } from '../../subgraphs/receipt/index.ts';
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
