import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { type JsonObject } from '../../../schema/canonical-json.ts';
import { type AgentId, type TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { type BlockedTooOften } from '../../../subgraphs/book/ledger/block.ts';
import { type BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { replay } from '../../../subgraphs/book/ledger/replay.ts';
import { type CallPayment, type ReservationRequest } from '../../../subgraphs/book/ledger/reservation.ts';
import {
  type AdmittedCall,
  type ReservationOutcome,
  reserve,
  UNASKED,
} from '../../../subgraphs/book/ledger/reserve.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { addToLandings, blockClaims, standingClaims, unclaim } from '../../../subgraphs/receipt/claim/block-claims.ts';
import { type ClaimOutcome, type ClaimRequest, claimPayments } from '../../../subgraphs/receipt/claim/claim.ts';
import { type OpenAmounts, readOpenAmounts } from '../../../subgraphs/receipt/claim/funds.ts';
import { type Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { type RequestedCall } from '../../../subgraphs/requested-call.ts';
import { agentsOfWallets } from '../../../subgraphs/session/agent/find.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';
import { type Faults } from '../../operations/faults.ts';
import { type Ground } from '../ground.ts';
import { type Recorded, type Recording } from '../record/facts.ts';
import { type Committed } from '../record/record.ts';
import { refusedAlready, runOthers } from './blocked-too-often.ts';
import { holdKeyCalls, type KeyCalling, type KeyCallOutcome } from './hold-key-calls.ts';
import { approvingAct, type ClaimedUnder, holdUnder, type RefusedBySession, UNDER_NONE } from './under-sessions.ts';

/** Commits of paid calls, by kind. Calls that arrive together share a transaction. */
export interface Queues extends ClaimQueues {
  readonly record: GroupCommit<Recording, Committed<Recorded>>;
}

export interface ClaimQueues {
  readonly claim: GroupCommit<Claiming, TakenClaim>;
  readonly key_call: GroupCommit<KeyCalling, KeyCallOutcome>;
  readonly replay: GroupCommit<TaskId, undefined>;
}

/** The claim that was made, with its book, and the result of the claim and of the book's checks. */
export interface TakenClaim {
  readonly claim: ClaimRequest;
  readonly outcome: ClaimedCall | Exclude<ClaimOutcome, { kind: 'claimed' }> | BlockedTooOften | RefusedBySession;
}

type ClaimedCall = Extract<ClaimOutcome, { kind: 'claimed' }> &
  Omit<AdmittedCall, 'kind'> & {
    /** The money had moved already and the session had no room for it, so the call is recorded as paid under no session. */
    readonly under_none?: boolean;
  };

export function openQueues(
  { database, faults }: Pick<Ground, 'database' | 'faults'>,
  refusing: { readonly refuser: Refuser; readonly blocked_calls: BlockedCalls },
): ClaimQueues {
  const { refuser, blocked_calls } = refusing;
  const items_max = limits.group_commit_items_max;
  const claim: Run<Claiming, TakenClaim> = async (tx, claimings) => {
    const [placed, open] = await Promise.all([
      placeClaims(tx, claimings),
      readOpenAmounts(
        tx,
        claimings.map(({ request }) => request),
      ),
    ]);
    const outcomes = await runOthers(placed, await turnedAwayUnclaimed(tx, blocked_calls, placed), others =>
      claimAndReserve(tx, refuser, others, open),
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

/** Adds the results of policies in shadow mode, which are recorded with the call, to the claim that this process has in memory. */
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

/** The book's results for a call that it allows. `approval` is used until the claim is released. */
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

/** Calls that their books keep refusing. A payment that has a claim here is left out, because it gets its former result. */
async function turnedAwayUnclaimed(tx: Tx, blocked_calls: BlockedCalls, placed: readonly PlacedClaim[]) {
  const away = await refusedAlready(tx, blocked_calls, placed, ({ asked }) => asked);
  if (away.size === 0) return away;
  const standing = await standingClaims(
    tx,
    [...away.keys()].map(({ request }) => request.claim_key),
  );
  return new Map([...away].filter(([{ request }]) => !standing.has(request.claim_key)));
}

/**
 * Claims payments and reserves their amounts. Caps and budget hold under concurrency, because the claim and its reservation are one commit.
 * If the book refuses a call, its claim is released in the same commit, with its row and signed refusal. After too many refusals the claim
 * is deleted instead.
 */
async function claimAndReserve(
  tx: Tx,
  refuser: Refuser,
  placed: readonly PlacedClaim[],
  open: OpenAmounts,
): Promise<readonly TakenClaim['outcome'][]> {
  const requests = placed.map(({ request }) => request);
  const outcomes = await claimPayments(tx, requests, open);
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
  // These claims are released first, because sessions would otherwise count what the book has just refused as held.
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

/**
 * The outcome of a claim after refusals. The same payment may occur in a batch several times: a payment that its book refused is then
 * neither in flight nor used.
 */
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

/** A requested claim, and what its book checks of the call. */
export interface Claiming {
  readonly request: Omit<ClaimRequest, 'agent_id' | 'reserved_atomic'>;
  /** `payers`: the payer's own book if there is one, looked up in the claim's transaction. */
  readonly book: AgentId | null | 'payers';
  /** Amount to be reserved on that book. The book is asked only if the amount is not 0. */
  readonly holds_atomic: AtomicAmount;
  readonly call: RequestedCall;
  /** Seals the text that is shown to a person who is to approve the call. */
  readonly sealText: CallPayment['sealText'];
  /** The session that pays. Undefined without a grant. */
  readonly under?: ClaimedUnder;
}

/** A claim with its book, and the reservation that is requested there. */
interface PlacedClaim {
  readonly request: ClaimRequest;
  /** The reservation on the book. Null if the call reserves nothing. */
  readonly asked: ReservationRequest | null;
  readonly under: ClaimedUnder | null;
}

/**
 * Finds the books of claims, with one look-up for all wallets whose book is needed, including the wallets of acts that approve a payment.
 */
async function placeClaims(tx: Tx, claimings: readonly Claiming[]): Promise<readonly PlacedClaim[]> {
  const wallets = claimings.flatMap(({ book, request, under }) => [
    ...(book === 'payers' ? [request.payer] : []),
    ...(under?.approval?.root_payer ? [under.approval.root_payer] : []),
  ]);
  const agents = await agentsOfWallets(tx, [...new Set(wallets)]);
  return claimings.map(({ request: wanted, book, holds_atomic, call, sealText, under = null }) => {
    const agent_id = book === 'payers' ? (agents.get(wanted.payer) ?? null) : book;
    const reserved_atomic = agent_id === null ? atomicAmount(0n) : holds_atomic;
    const approval = approvingAct(under, agent_id, agents);
    const request = { ...wanted, agent_id, reserved_atomic, ...(approval && { approved: true }) };
    const asked = askingOf(request, call, { under, sealText });
    return { request, asked: asked && approval ? { ...asked, approval } : asked, under };
  });
}

type Approving = Pick<Claiming, 'sealText'> & { readonly under: ClaimedUnder | null };

/** The reservation of a claim. Null if the call reserves nothing on a book. */
function askingOf(request: ClaimRequest, call: RequestedCall, approving: Approving): ReservationRequest | null {
  const { agent_id, reserved_atomic } = request;
  if (agent_id === null || reserved_atomic === 0n) return null;
  return {
    ...call,
    agent_id,
    amount: reserved_atomic,
    task_id: request.task_id,
    payer_wallet: request.payer,
    // If the payer's means were not checked, the payment may have moved already. The chain will show whether it paid this service.
    owed: request.means === null,
    payment: paymentOf(request, approving),
  };
}

/** The payment to which a person's approval of the call would be bound. */
function paymentOf({ claim_key, request_hash }: ClaimRequest, { under, sealText }: Approving): CallPayment {
  if (under === null) return { claim_key, request_hash, session: null, sealText };
  const { delegation_hash, path } = under.paid_under;
  const session = { delegation_hash, path, agent_address: under.shown.agent_address };
  return { claim_key, request_hash, session, sealText };
}
