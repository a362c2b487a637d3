import type { Completions } from '../../../subgraphs/board/inbound/completions.ts';
import type { BlockedTooOften, BookRefusal } from '../../../subgraphs/book/ledger/block.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { type JudgedAct, judgeAct } from '../../../subgraphs/book/ledger/judge-act.ts';
import type { Reports } from '../../../subgraphs/book/router/reports.ts';
import type { Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import type { HandOffs } from '../../../subgraphs/session/delegation/hand-offs.ts';
import { openQueues, type Queues } from '../claim/queues.ts';
import type { Ground } from '../ground.ts';
import { openCompletions } from './completed.ts';
import type { Recordable, Recorded } from './facts.ts';
import { collectionsOf, type FormParts } from './forms.ts';
import { openHandOffs } from './handed-on.ts';
import { recordTogether } from './record.ts';
import { openReports } from './reported.ts';
import { soldKind } from './sold.ts';

interface RecordingOptions extends Pick<FormParts, 'profile'> {
  /** The facts in a signed refusal that show the time at which it was made. */
  readonly anchor: Refuser['anchor'];
}

/** Records a call, by payment or by API key. Waiting callers and reconcile use the same function. */
export type RecordCall = (recordable: Recordable) => Promise<Recorded>;

export interface OpenedRecording {
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  readonly record: RecordCall;
  /** The recording of work for which this service was not called. */
  readonly reports: Reports;
  readonly completions: Completions;
  readonly hand_offs: HandOffs;
  /** The refusal of an act by its payer's book. Null if the book allows it. */
  judgeAct(act: JudgedAct): Promise<BookRefusal | BlockedTooOften | null>;
}

/** Opens the claims and records of calls: everything that a call writes to books and the log. */
export function openRecording(ground: Ground, { profile, anchor }: RecordingOptions): OpenedRecording {
  const { database, issuer, random, clock } = ground;
  const forms = { issuer, clock, profile };
  const blocked_calls = new BlockedCalls();
  const refusing = { refuser: { issuer, random, profile, anchor }, blocked_calls };
  const sold = recordTogether(ground, soldKind(ground));
  return {
    queues: { ...openQueues(ground, refusing), record: sold.queue },
    blocked_calls,
    record: recordable => sold.record({ ...recordable, ...collectionsOf(forms, recordable) }),
    reports: openReports(ground, forms),
    completions: openCompletions(ground, forms),
    hand_offs: openHandOffs(ground, forms),
    judgeAct: act => database.transaction(tx => judgeAct(tx, refusing.refuser, act)),
  };
}
