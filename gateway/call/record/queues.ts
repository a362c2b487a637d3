import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { type BlockedTooOften } from '../../../subgraphs/book/ledger/block.ts';
import { type BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { replay } from '../../../subgraphs/book/ledger/replay.ts';
import {
  type AdmittedCall,
  type ReservationOutcome,
  reserve,
  UNASKED,
} from '../../../subgraphs/book/ledger/reserve.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { addToLandings, blockClaims, standingClaims, unclaim } from '../../../subgraphs/receipt/claim/block-claims.ts';
import { type ClaimOutcome, type ClaimRequest, claimPayments } from '../../../subgraphs/receipt/claim/claim.ts';
import { type Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import type { Faults } from '../../operations/faults.ts';
import type { Ground } from '../ground.ts';
import { runOthers, turnedAway } from './blocked-too-often.ts';
import type { Recorded, Recording } from './facts.ts';
import { holdKeyCalls, type KeyCalling, type KeyCallOutcome } from './key-call-queue.ts';
import { type Claiming, type PlacedClaim, placeClaims } from './place-claims.ts';
import type { Committed } from './record.ts';
import { holdUnder, type RefusedBySession, UNDER_NONE } from './under-sessions.ts';

/** Commits of paid calls by kind: those that arrive together share a transaction. */
export interface Queues extends ClaimQueues {
  readonly record: GroupCommit<Recording, Committed<Recorded>>;
}

export interface ClaimQueues {
  readonly claim: GroupCommit<Claiming, TakenClaim>;
  readonly key_call: GroupCommit<KeyCalling, KeyCallOutcome>;
  readonly replay: GroupCommit<TaskId, undefined>;
}

/** The claim as it was made, with its book and the book's result. */
export interface TakenClaim {
  readonly claim: ClaimRequest;
  readonly outcome: ClaimedCall | Exclude<ClaimOutcome, { kind: 'claimed' }> | BlockedTooOften | RefusedBySession;
}

type ClaimedCall = Extract<ClaimOutcome, { kind: 'claimed' }> &
  Omit<AdmittedCall, 'kind'> & {
    /** Its money had moved already and its session had no room for it, so it is recorded as paid under none. */
    readonly under_none?: boolean;
  };

export function openQueues(
  { database, faults }: Pick<Ground, 'database' | 'faults'>,
  refusing: { readonly refuser: Refuser; readonly blocked_calls: BlockedCalls },
): ClaimQueues {
  const { refuser, blocked_calls } = refusing;
  const items_max = limits.group_commit_items_max;
  const claim: Run<Claiming, TakenClaim> = async (tx, claimings) => {
    const placed = await placeClaims(tx, claimings);
    const outcomes = await runOthers(placed, await turnedAwayUnclaimed(tx, blocked_calls, placed), others =>
      claimAndReserve(tx, refuser, others),
    );
    return placed.map(({ request }, index) => taken(request, outcomes[index] as TakenClaim['outcome']));
  };
  const keyCall: Run<KeyCalling, KeyCallOutcome> = (tx, callings) => holdKeyCalls(tx, refusing, callings);
  return {
    claim: new GroupCommit(database, holding(faults, claim), items_max),
    key_call: new GroupCommit(database, holding(faults, keyCall), items_max),
    replay: new GroupCommit(database, replayAll, items_max),
  };
}

/** Results of policies in shadow mode are stored where the call is recorded, and on the claim of this process. */
function taken(request: ClaimRequest, outcome: TakenClaim['outcome']): TakenClaim {
  if (outcome.kind !== 'claimed') return { claim: request, outcome };
  const said = { ...landingOf(outcome), ...(outcome.under_none && UNDER_NONE) };
  if (Object.keys(said).length === 0) return { claim: request, outcome };
  return { claim: { ...request, landing: { ...request.landing, ...said } }, outcome };
}

function landingsOf(let_pass: ReadonlyMap<string, AdmittedCall>) {
  const said = [...let_pass].map(([claim_key, outcome]) => ({ claim_key, landing: landingOf(outcome) }));
  return said.filter(({ landing }) => Object.keys(landing).length > 0);
}

/** The book's results for a call that it allows: `approval` is used until the claim is released. */
function landingOf({ would_block, approval_id }: Pick<AdmittedCall, 'would_block' | 'approval_id'>): JsonObject {
  return { ...(would_block.length > 0 && { would_block }), ...(approval_id && { approval: approval_id }) };
}

/** Handles a batch in one transaction. */
type Run<I, O> = (tx: Tx, items: readonly I[]) => Promise<readonly O[]>;

function holding<I, O>(faults: Faults | null, run: Run<I, O>): Run<I, O> {
  if (!faults) return run;
  return async (tx, items) => {
    const outcomes = await run(tx, items);
    await faults.reach('in_claim');
    return outcomes;
  };
}

/** A payment that has a claim here gets its former result. */
async function turnedAwayUnclaimed(tx: Tx, blocked_calls: BlockedCalls, placed: readonly PlacedClaim[]) {
  const away = await turnedAway(tx, blocked_calls, placed, ({ asked }) => asked);
  if (away.size === 0) return away;
  const standing = await standingClaims(
    tx,
    [...away.keys()].map(({ request }) => request.claim_key),
  );
  return new Map([...away].filter(([{ request }]) => !standing.has(request.claim_key)));
}

/**
 * A ceiling holds under concurrency because the claim and its reservation are one commit. What the book refuses is released in
 * the same commit, with its row and signed refusal; or without a trace after too many.
 */
async function claimAndReserve(
  tx: Tx,
  refuser: Refuser,
  placed: readonly PlacedClaim[],
): Promise<readonly TakenClaim['outcome'][]> {
  const requests = placed.map(({ request }) => request);
  const outcomes = await claimPayments(tx, requests);
  const asking = placed.flatMap(({ request, asked }, index) =>
    asked && outcomes[index]?.kind === 'claimed' ? [{ asked, request }] : [],
  );
  const reserved = await reserve(
    tx,
    refuser,
    asking.map(({ asked }) => asked),
  );
  const refused = new Map<string, RefusedRequest>();
  const let_pass = new Map<string, AdmittedCall>();
  for (const [index, { request }] of asking.entries()) {
    const outcome = reserved[index] as ReservationOutcome;
    if (outcome.kind === 'reserved') let_pass.set(request.claim_key, outcome);
    else refused.set(request.claim_key, { request, outcome });
  }
  // First, or sessions would count what the book has just refused as held.
  letGo(tx, refused);
  const sessions = await holdUnder(
    tx,
    placed.filter(({ request }, index) => outcomes[index]?.kind === 'claimed' && !refused.has(request.claim_key)),
  );
  const by_session = new Map(sessions.refused.map(it => [it.request.claim_key, it]));
  letGo(tx, by_session);
  for (const [claim_key, it] of by_session) refused.set(claim_key, it);
  addToLandings(tx, landingsOf(let_pass));
  addToLandings(
    tx,
    [...sessions.under_none].map(claim_key => ({ claim_key, landing: UNDER_NONE })),
  );
  return requests.map((claim, index) => {
    const outcome = afterwards(outcomes[index] as ClaimOutcome, claim, refused);
    if (outcome.kind !== 'claimed') return outcome;
    const under_none = sessions.under_none.has(claim.claim_key);
    return { ...(let_pass.get(claim.claim_key) ?? UNASKED), ...outcome, ...(under_none && { under_none }) };
  });
}

interface RefusedRequest {
  readonly request: ClaimRequest;
  readonly outcome: Exclude<ReservationOutcome, { kind: 'reserved' }> | RefusedBySession;
}

function letGo(tx: Tx, refused: ReadonlyMap<string, RefusedRequest>): void {
  const unsaid = [...refused].flatMap(([claim_key, { outcome }]) => (outcome.kind === 'blocked' ? [] : [claim_key]));
  const said = [...refused].flatMap(([claim_key, { outcome }]) =>
    outcome.kind === 'blocked' ? [{ claim_key, refusal_id: outcome.refusal_id }] : [],
  );
  blockClaims(tx, said);
  unclaim(tx, unsaid);
}

/** The same payment may occur in a batch several times: what its book refused is no longer in flight or used. */
function afterwards(
  outcome: ClaimOutcome,
  request: ClaimRequest,
  refused: ReadonlyMap<string, RefusedRequest>,
): ClaimOutcome | BlockedTooOften | RefusedBySession {
  const blocked = refused.get(request.claim_key);
  if (!blocked) return outcome;
  if (blocked.request.request_hash === request.request_hash) return blocked.outcome;
  return { kind: 'in_flight', task_id: request.task_id };
}

async function replayAll(tx: Tx, task_ids: readonly TaskId[]): Promise<readonly undefined[]> {
  await replay(tx, task_ids);
  return task_ids.map(() => undefined);
}
