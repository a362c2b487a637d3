import { type AgentId } from '../../../schema/ids.ts';
import { type BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { type ReservationRequest } from '../../../subgraphs/book/ledger/reservation.ts';
import {
  type AdmittedCall,
  type ReservationOutcome,
  reserve,
  UNASKED,
} from '../../../subgraphs/book/ledger/reserve.ts';
import { beginKeyCalls, type KeyCallHold } from '../../../subgraphs/receipt/claim/key-call/hold.ts';
import {
  dropNames,
  type NamedCall,
  type NameTaking,
  takeNames,
} from '../../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { type Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { type RequestedCall } from '../../../subgraphs/requested-call.ts';
import { type ClaimSession, judgeUnderSessions } from '../../../subgraphs/session/delegation/hold.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';
import { refusedAlready, runOthers } from './blocked-too-often.ts';
import { type RefusedBySession } from './under-sessions.ts';

/** A call by API key, and what its book checks. */
export interface KeyCalling {
  readonly hold: KeyCallHold;
  /** The caller's name for the call. Null without one. */
  readonly named: NamedCall | null;
  readonly agent_id: AgentId | null;
  readonly call: RequestedCall;
  /** The session under which the call is made. Null without a grant. */
  readonly under: ClaimSession | null;
}

/** A call that its book allows, or that is recorded on no book. */
export type HeldKeyCall = { readonly kind: 'held' } & Omit<AdmittedCall, 'kind'>;

export type KeyCallOutcome =
  | HeldKeyCall
  /** The call was answered under its name before, or its name is taken. */
  | Exclude<NameTaking, { kind: 'taken' }>
  | Exclude<ReservationOutcome, { kind: 'reserved' }>
  | RefusedBySession;

/** Takes each call's name, so that no book is asked twice about one call. Holds the calls that are allowed. */
export async function holdKeyCalls(
  tx: Tx,
  { refuser, blocked_calls }: { readonly refuser: Refuser; readonly blocked_calls: BlockedCalls },
  callings: readonly KeyCalling[],
): Promise<readonly KeyCallOutcome[]> {
  const names = await takeNames(
    tx,
    callings.flatMap(({ hold, named }) => (named ? [{ ...hold, ...named }] : [])),
  );
  const missed = (calling: KeyCalling) => {
    const taking = names.get(calling.hold.task_id);
    return taking && taking.kind !== 'taken' ? taking : null;
  };
  const going = callings.filter(calling => missed(calling) === null);
  const away = await refusedAlready(tx, blocked_calls, going, askingOf);
  const outcomes = await runOthers(going, away, others => holdOthers(tx, refuser, others));
  const outcomeOf = new Map(going.map((calling, index) => [calling, outcomes[index] as KeyCallOutcome]));
  dropNames(
    tx,
    going.flatMap(calling => {
      const { hold, named } = calling;
      return named && outcomeOf.get(calling)?.kind !== 'held' ? [{ ...hold, mark: named.mark }] : [];
    }),
  );
  return callings.map(calling => outcomeOf.get(calling) ?? (missed(calling) as KeyCallOutcome));
}

/** Asks each call's book to allow the call, as for a payment of 0. */
async function holdOthers(
  tx: Tx,
  refuser: Refuser,
  callings: readonly KeyCalling[],
): Promise<readonly KeyCallOutcome[]> {
  const asking = callings.flatMap(calling => askingOf(calling) ?? []);
  const reserved = await reserve(tx, refuser, asking);
  const answers = new Map(asking.map(({ task_id }, index) => [task_id, reserved[index] as ReservationOutcome]));
  const refused = await refusedBySessions(tx, callings);
  const outcomes = callings.map(({ hold }): KeyCallOutcome => {
    const answer = answers.get(hold.task_id) ?? UNASKED;
    if (answer.kind !== 'reserved') return answer;
    return refused.get(hold.task_id) ?? { ...answer, kind: 'held' };
  });
  beginKeyCalls(
    tx,
    callings.flatMap(({ hold }, index) => (outcomes[index]?.kind === 'held' ? [hold] : [])),
  );
  return outcomes;
}

/**
 * Refusals by sessions, by task. Sessions are locked after the heads of books, in the general order. A call by key reserves nothing, so
 * nothing needs to be returned.
 */
async function refusedBySessions(
  tx: Tx,
  callings: readonly KeyCalling[],
): Promise<ReadonlyMap<string, RefusedBySession>> {
  const items = callings.flatMap(({ hold, under }) => (under ? [{ task_id: hold.task_id, under }] : []));
  const judged = await judgeUnderSessions(
    tx,
    items.map(({ under }) => under),
  );
  return new Map(
    items.flatMap(({ task_id }, index) => {
      const refusal = judged[index];
      return !refusal || refusal.kind === 'holds' ? [] : [[task_id, { kind: 'refused_by_session', refusal }]];
    }),
  );
}

function askingOf({ hold, agent_id, call }: KeyCalling): ReservationRequest | null {
  if (agent_id === null) return null;
  return { ...call, agent_id, task_id: hold.task_id, amount: null, payer_wallet: null, owed: false };
}
