import { atomicAmount } from '../../schema/amount.ts';
import type { AgentId, TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { type Asking, replay, reserve } from '../../subgraphs/book/index.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { GroupCommit } from '../../subgraphs/group-commit.ts';
import {
  type BlockedClaim,
  blockClaims,
  type ClaimOutcome,
  type ClaimRequest,
  claimPayments,
  type Refuser,
} from '../../subgraphs/receipt/index.ts';
import { agentsOfWallets } from '../../subgraphs/session/index.ts';
import { holdKeyCalls, type KeyCalling, type KeyCallOutcome } from './key-call-queue.ts';
import type { Landing, Recorded, Recorder, Recording } from './record.ts';
import type { FaultPoint, Faults } from './till.ts';

/** What a paid call commits, each kind with its like: calls that arrive together share a transaction. */
export interface Queues {
  readonly claim: GroupCommit<Claiming, Taken>;
  readonly record: GroupCommit<Recording, Recorded>;
  readonly key_call: GroupCommit<KeyCalling, KeyCallOutcome>;
  readonly replay: GroupCommit<TaskId, undefined>;
}

/** A claim as it is asked for, and what its book is told of the call. */
export interface Claiming {
  readonly request: Omit<ClaimRequest, 'agent_id' | 'reserved_atomic'>;
  /** `payers`: the one that the payer has, if he has one; it is looked for in the claim's own transaction. */
  readonly book: AgentId | null | 'payers';
  /** Whether the price is held on that book. */
  readonly reserves: boolean;
  /** As the request names it. */
  readonly model: string | null;
}

/** The claim as it was made, with its book. */
export interface Taken<O extends ClaimOutcome = ClaimOutcome> {
  readonly claim: ClaimRequest;
  readonly outcome: O;
}

type Placed = Pick<Claiming, 'model'> & { readonly request: ClaimRequest };

export function openQueues(database: Database, recorder: Recorder, refuser: Refuser, faults: Faults): Queues {
  const items_max = limits.group_commit_items_max;
  const claim: Run<Claiming, Taken> = async (tx, claimings) => claimAndReserve(tx, refuser, await place(tx, claimings));
  const keyCall: Run<KeyCalling, KeyCallOutcome> = (tx, callings) => holdKeyCalls(tx, refuser, callings);
  return {
    claim: new GroupCommit(database, holding(faults, 'in_claim', claim), items_max),
    record: new GroupCommit(database, holding(faults, 'in_record', recorder), items_max),
    key_call: new GroupCommit(database, holding(faults, 'in_claim', keyCall), items_max),
    replay: new GroupCommit(database, replayAll, items_max),
  };
}

type Run<I, O> = (tx: Tx, items: readonly I[]) => Promise<readonly O[]>;

function holding<I, O>(faults: Faults, point: FaultPoint, run: Run<I, O>): Run<I, O> {
  return async (tx, items) => {
    const outcomes = await run(tx, items);
    await faults.reach(point);
    return outcomes;
  };
}

/**
 * A cap holds under concurrency because the claim and what it holds on the book are one commit. What the book refuses is
 * let go of in the same one, with its row and its signed refusal.
 */
async function claimAndReserve(tx: Tx, refuser: Refuser, placed: readonly Placed[]): Promise<readonly Taken[]> {
  const requests = placed.map(({ request }) => request);
  const outcomes = await claimPayments(tx, requests);
  const asking = placed.flatMap((claiming, index) => {
    const asked = outcomes[index]?.kind === 'claimed' ? askingOf(claiming) : null;
    return asked ? [{ asked, request: claiming.request }] : [];
  });
  const reserved = await reserve(
    tx,
    refuser,
    asking.map(({ asked }) => asked),
  );
  const blocked = asking.flatMap(({ request: { claim_key, request_hash } }, index) => {
    const outcome = reserved[index];
    return outcome?.kind === 'blocked' ? [{ claim_key, request_hash, refusal_id: outcome.refusal_id }] : [];
  });
  blockClaims(
    tx,
    blocked.map(({ claim_key, refusal_id }) => ({ claim_key, refusal_id })),
  );
  const refused = new Map(blocked.map(claim => [claim.claim_key, claim]));
  return requests.map((claim, index) => {
    const outcome = afterwards(outcomes[index] as ClaimOutcome, claim, refused);
    return { claim, outcome };
  });
}

/** One look for all payers whose own book is meant. */
async function place(tx: Tx, claimings: readonly Claiming[]): Promise<readonly Placed[]> {
  const payers = new Set(claimings.flatMap(({ book, request }) => (book === 'payers' ? [request.payer] : [])));
  const agents = await agentsOfWallets(tx, [...payers]);
  return claimings.map(({ request, book, reserves, model }) => {
    const agent_id = book === 'payers' ? (agents.get(request.payer) ?? null) : book;
    const reserved_atomic = agent_id !== null && reserves ? request.amount_atomic : atomicAmount(0n);
    return { model, request: { ...request, agent_id, reserved_atomic } };
  });
}

/** Null where the order holds nothing on a book. */
function askingOf({ request, model }: Placed): Asking | null {
  const { agent_id, reserved_atomic } = request;
  if (agent_id === null || reserved_atomic === 0n) return null;
  const { intent_id, attempt_index } = request.landing as Landing;
  return {
    agent_id,
    amount: reserved_atomic,
    task_id: request.task_id,
    payer_wallet: request.payer,
    model,
    intent_id,
    attempt_index,
    // Whose means are not asked has paid already, for all that we know: the chain will say whether it was us.
    owed: request.means === null,
  };
}

/** The same payment may stand in one batch several times: what its book refused is no longer in flight, nor used. */
function afterwards(
  outcome: ClaimOutcome,
  request: ClaimRequest,
  refused: ReadonlyMap<string, BlockedClaim & Pick<ClaimRequest, 'request_hash'>>,
): ClaimOutcome {
  const blocked = refused.get(request.claim_key);
  if (!blocked) return outcome;
  if (blocked.request_hash === request.request_hash) return { kind: 'blocked', refusal_id: blocked.refusal_id };
  return { kind: 'in_flight', task_id: request.task_id };
}

async function replayAll(tx: Tx, task_ids: readonly TaskId[]): Promise<readonly undefined[]> {
  await replay(tx, task_ids);
  return task_ids.map(() => undefined);
}
