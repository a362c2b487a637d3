import type { Refusal } from '../../schema/errors.ts';
import { refusalUrl } from '../../schema/links.ts';
import { type BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { refusalById, refusalDocument } from '../../subgraphs/receipt/refusal/find.ts';
import type { SessionContext } from '../../subgraphs/session/context.ts';
import type { OpenedRecording } from './record/open-recording.ts';
import type { Hears } from './respond.ts';

type Blocked = { readonly kind: 'blocked'; readonly refusal_id: string } | BlockedTooOften;

export interface BookRefusalParts {
  readonly database: Database;
  readonly recording: Pick<OpenedRecording, 'blocked_calls' | 'booksSaved'>;
  readonly base_url: string;
  readonly hears: Hears;
}

/**
 * Response to a call that the book refused: the signed refusal, each time. The sentence names the kind of ceiling and no figure,
 * because the payer need not own the book. After many similar refusals in this hour there is no new document: the response names
 * the last one, and the call is counted once. A change of the policy takes effect at once.
 */
export type RefusedByBook = (blocked: Blocked, context: Context) => Promise<Refusal>;

export function openRefusedByBook({ database, recording, base_url, hears }: BookRefusalParts): RefusedByBook {
  return async (blocked, { response }) => {
    if (blocked.kind === 'blocked_too_often') {
      recording.blocked_calls.count(blocked);
      const last_refusal_url = refusalUrl(base_url, blocked.last_refusal_id);
      response.headers['x-svc-last-refusal-url'] = last_refusal_url;
      return hears({ kind: 'blocked_too_often', too_often: blocked, last_refusal_url });
    }
    await recording.booksSaved().catch(cause => {
      throw hears({ kind: 'not_taken', unsure: false }, cause);
    });
    const refusal = await refusalById(database, blocked.refusal_id);
    if (refusal === null) throw new Error(`refusal ${blocked.refusal_id} does not stand`);
    const document = refusalDocument(refusal, base_url);
    response.headers['x-svc-refusal-url'] = String(document.refusal_url);
    return hears({ kind: 'blocked', code: refusal.refusalCode, document });
  };
}

/** The same for an act of a session. */
export function openRefusalOfAct(
  { judgeAct }: Pick<OpenedRecording, 'judgeAct'>,
  refusedByBook: RefusedByBook,
): SessionContext['refusalOfAct'] {
  return async (act, context) => {
    const outcome = await judgeAct(act);
    return outcome && refusedByBook(outcome, context);
  };
}
