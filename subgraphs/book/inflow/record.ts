import { type InitialFacts, type RowRecord, unknownFacts } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { inflowLimits } from '../../../schema/limits.ts';
import { type InflowRequest, USUAL_BUCKET } from '../../../schema/requests/inflow.ts';
import type { Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import type { BookContext } from '../context.ts';
import { appendNewRows } from '../ledger/append-new-rows.ts';
import { lockBook } from '../ledger/damage.ts';
import { requireHourRoom } from '../ledger/hour-room.ts';
import { takeTask } from '../ledger/take-task.ts';
import { type Recorder, recorderOf, requireCollected, requireInSlice } from '../slice/collect.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { signedInflow } from './sign.ts';
import { requireWalletClaim, taskOfClaim } from './wallet-claim.ts';

/**
 * Records an inflow for the owner or for the holder of a `collect` token. The row has no payment and counts in no sum. Returns its
 * task id.
 * @throws inflow_claim_invalid, slice_exceeded, duplicate_task, rate_limited, book_damaged
 */
export async function recordInflow(
  request: InflowRequest,
  { agent_id, granted }: Recorder,
  context: BookContext,
): Promise<string> {
  const { allocation, model, hub, inflow_claim: claim } = request;
  const said = { bucket: request.bucket, allocation, task_id: request.task_id };
  const shown = claim && { kind: 'inflow' as const, claim, param: 'inflow_claim' as const, said };
  const wallet_word = shown ? await requireWalletClaim(shown, agent_id, context) : null;
  const bucket = claim?.bucket ?? request.bucket ?? USUAL_BUCKET;
  const named = claim ? (claim.task_id ?? taskOfClaim('inflow', claim)) : request.task_id;
  const task_id = named ?? newTask(context);
  if (granted) requireInSlice(granted.slice, { task_id, at_ms: context.clock.now_ms() });
  const recorded_by = granted ? recorderOf(granted) : undefined;
  const said_of_it = { agent_id, task_id, bucket, allocation, model, hub, wallet_word, recorded_by };
  const inflow_claim = signedInflow(context, said_of_it);
  const birth = inflowFacts({ task_id, model, hub }, { bucket, allocation, inflow_claim });
  const write = async (tx: Tx) => {
    const row = await appendInflow(tx, agent_id, birth);
    if (granted) await requireCollected(tx, granted, row);
    return row;
  };
  const { task_id: written } = await writeInTurn(agent_id, () => context.database.transaction(write));
  return written;
}

/** Takes the task id, checks the hourly limit and appends the row. */
export async function appendInflow(tx: Tx, agent_id: AgentId, birth: InitialFacts): Promise<RowRecord> {
  await takeTask(tx, birth.task_id);
  await requireRoom(tx, agent_id);
  const [row] = await appendNewRows(tx, [{ agent_id, birth, owed: false }]);
  if (row === undefined) throw new Error('a birth left no row');
  return row;
}

/** Facts of an inflow row, which has a claim but no payment and no amount. */
export function inflowFacts(
  { task_id, model, hub }: { readonly task_id: string; readonly model?: string | null; readonly hub?: string | null },
  facts: JsonObject,
): InitialFacts {
  return {
    ...unknownFacts,
    task_id,
    evidence: 'inflow_claimed',
    collected: false,
    model: model ?? null,
    hub: hub ?? null,
    facts: present(facts),
  };
}

const max = inflowLimits.rows_per_book_hour_max;

/**
 * Limits inflows and corrections per hour, because they are free and kept permanently. Locks the head.
 * @throws rate_limited
 */
async function requireRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  await lockBook(tx, agent_id);
  await requireHourRoom(tx, agent_id, {
    name: 'inflow room',
    at: 'collected_at',
    from: `book_row where agent_id = $1 and evidence = 'inflow_claimed'`,
    newest: 'seq',
    max,
    detail: `A book accepts at most ${max} inflows and corrections per hour.`,
  });
}
