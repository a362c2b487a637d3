import type { TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { replay, reserve } from '../../subgraphs/book/index.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { GroupCommit } from '../../subgraphs/group-commit.ts';
import { type ClaimOutcome, type ClaimRequest, claimPayments } from '../../subgraphs/receipt/index.ts';
import { type Recorded, type Recorder, type Recording } from './record.ts';

/** What a paid call commits, each kind with its like: calls that arrive together share a transaction. */
export interface Queues {
  readonly claim: GroupCommit<ClaimRequest, ClaimOutcome>;
  readonly record: GroupCommit<Recording, Recorded>;
  readonly replay: GroupCommit<TaskId, undefined>;
}

export function openQueues(database: Database, recorder: Recorder): Queues {
  const items_max = limits.group_commit_items_max;
  return {
    claim: new GroupCommit(database, claimAndReserve, items_max),
    record: new GroupCommit(database, recorder, items_max),
    replay: new GroupCommit(database, replayAll, items_max),
  };
}

/** A cap holds under concurrency because the claim and what it holds on the book are one commit. */
async function claimAndReserve(tx: Tx, requests: readonly ClaimRequest[]): Promise<readonly ClaimOutcome[]> {
  const outcomes = await claimPayments(tx, requests);
  await reserve(
    tx,
    requests.flatMap(({ agent_id, reserved_atomic }, index) =>
      agent_id !== null && reserved_atomic > 0n && outcomes[index]?.kind === 'claimed'
        ? [{ agent_id, amount: reserved_atomic }]
        : [],
    ),
  );
  return outcomes;
}

async function replayAll(tx: Tx, task_ids: readonly TaskId[]): Promise<readonly undefined[]> {
  await replay(tx, task_ids);
  return task_ids.map(() => undefined);
}
