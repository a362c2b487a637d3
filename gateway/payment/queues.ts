import type { TaskId } from '../../schema/ids.ts';
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
import { type Landing, type Recorded, type Recorder, type Recording } from './record.ts';

/** What a paid call commits, each kind with its like: calls that arrive together share a transaction. */
export interface Queues {
  readonly claim: GroupCommit<Claiming, ClaimOutcome>;
  readonly record: GroupCommit<Recording, Recorded>;
  readonly replay: GroupCommit<TaskId, undefined>;
}

/** A claim as it is asked for, and what its book is told of the call. */
export interface Claiming {
  readonly request: ClaimRequest;
  /** As the request names it. */
  readonly model: string | null;
}

export function openQueues(database: Database, recorder: Recorder, refuser: Refuser): Queues {
  const items_max = limits.group_commit_items_max;
  return {
    claim: new GroupCommit(database, (tx, claimings) => claimAndReserve(tx, refuser, claimings), items_max),
    record: new GroupCommit(database, recorder, items_max),
    replay: new GroupCommit(database, replayAll, items_max),
  };
}

/**
 * A cap holds under concurrency because the claim and what it holds on the book are one commit. What the book refuses is
 * let go of in the same one, with its row and its signed refusal.
 */
async function claimAndReserve(
  tx: Tx,
  refuser: Refuser,
  claimings: readonly Claiming[],
): Promise<readonly ClaimOutcome[]> {
  const outcomes = await claimPayments(
    tx,
    claimings.map(({ request }) => request),
  );
  const asking = claimings.flatMap((claiming, index) => {
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
  await blockClaims(
    tx,
    blocked.map(({ claim_key, refusal_id }) => ({ claim_key, refusal_id })),
  );
  const refused = new Map(blocked.map(claim => [claim.claim_key, claim]));
  return outcomes.map((outcome, index) => afterwards(outcome, claimings[index]?.request, refused));
}

/** Null where the order holds nothing on a book. */
function askingOf({ request, model }: Claiming): Asking | null {
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
  request: ClaimRequest | undefined,
  refused: ReadonlyMap<string, BlockedClaim & Pick<ClaimRequest, 'request_hash'>>,
): ClaimOutcome {
  const blocked = request && refused.get(request.claim_key);
  if (!blocked) return outcome;
  if (blocked.request_hash === request.request_hash) return { kind: 'blocked', refusal_id: blocked.refusal_id };
  return { kind: 'in_flight', task_id: request.task_id };
}

async function replayAll(tx: Tx, task_ids: readonly TaskId[]): Promise<readonly undefined[]> {
  await replay(tx, task_ids);
  return task_ids.map(() => undefined);
}
