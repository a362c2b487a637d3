import { type Refusal } from '../../schema/errors.ts';
import { refusalUrl } from '../../schema/links.ts';
import { type BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import { type Context } from '../../subgraphs/context.ts';
import { refusalById, refusalDocument } from '../../subgraphs/receipt/refusal/find.ts';
import { type SessionContext } from '../../subgraphs/session/context.ts';
import { type CallParts } from './parts.ts';
import { type OpenedRecording } from './record/open-recording.ts';

type Blocked = { readonly kind: 'blocked'; readonly refusal_id: string } | BlockedTooOften;

/**
 * Response to a call that the book refused: the signed refusal, each time. Its sentence names the kind of the limit and no figure, because
 * the payer need not own the book. After many similar refusals in an hour no new document is made: the response names the last one, and the
 * call is only counted. A change of the policy takes effect at once.
 */
export async function refusedByBook(
  { database, log, blocked_calls, base_url, respond }: RefusedParts,
  blocked: Blocked,
  { response }: Context,
): Promise<Refusal> {
  if (blocked.kind === 'blocked_too_often') {
    blocked_calls.count(blocked);
    const last_refusal_url = refusalUrl(base_url, blocked.last_refusal_id);
    response.headers['x-svc-last-refusal-url'] = last_refusal_url;
    return respond({ kind: 'blocked_too_often', too_often: blocked, last_refusal_url });
  }
  // The book's event must be on disk before its refusal is returned.
  await log.books.whenSaved().catch(cause => {
    throw respond({ kind: 'not_taken', unsure: false }, cause);
  });
  const refusal = await refusalById(database, blocked.refusal_id);
  if (refusal === null) throw new Error(`refusal ${blocked.refusal_id} does not stand`);
  const document = refusalDocument(refusal, base_url);
  response.headers['x-svc-refusal-url'] = String(document.refusal_url);
  return respond({ kind: 'blocked', code: refusal.refusalCode, document });
}

type RefusedParts = Pick<CallParts, 'database' | 'log' | 'blocked_calls' | 'base_url' | 'respond'>;

/** The same for an act of a session. Null if the book allows it. */
export function openRefusalOfAct(
  parts: RefusedParts,
  judgeAct: OpenedRecording['judgeAct'],
): SessionContext['refusalOfAct'] {
  return async (act, context) => {
    const outcome = await judgeAct(act);
    return outcome && refusedByBook(parts, outcome, context);
  };
}
