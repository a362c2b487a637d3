import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { outputCommitmentOf } from '../../../schema/output-commitment.ts';
import { type CompletionRequest } from '../../../schema/requests/completion.ts';
import { INBOUND } from '../../../schema/router/work-report.ts';
import { appendBoardEvents } from '../../../subgraphs/board/event/append.ts';
import { type BoardCompletion } from '../../../subgraphs/board/inbound/completion.entity.ts';
import { type CompletionOutcome, type Completions } from '../../../subgraphs/board/inbound/completions.ts';
import {
  dropCompletions,
  isSameCompletion,
  readCompletions,
  takeCompletions,
} from '../../../subgraphs/board/inbound/store.ts';
import { iso } from '../../../subgraphs/clock.ts';
import { type NamedWrite } from '../../../subgraphs/context.ts';
import { takeFreeSlots } from '../../../subgraphs/receipt/claim/slots.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { takeKeys } from '../../../subgraphs/receipt/written-once/written-once.ts';
import { readsOf, type Tx } from '../../../subgraphs/transaction.ts';
import { type Ground } from '../ground.ts';
import { type FormParts } from './forms.ts';
import { type RecordKind, recordTogether, requireSaved } from './record.ts';

interface Completing {
  readonly completion: BoardCompletion;
  readonly named: NamedWrite | null;
  /** The receipt, signed except for its place in the log. */
  readonly prepared: PreparedReceipt;
}

/** Opens the recording of work completed elsewhere. Its name and transfer are taken, and the receipt signs no payment to this service. */
export function openCompletions(ground: Ground, forms: FormParts): Completions {
  const { record } = recordTogether(ground, completedKind);
  return {
    async record(completion, named) {
      ground.log.known.requireSound();
      const prepared = prepareCompletion(forms, completion);
      await ground.faults?.reach('before_record');
      return record({ completion, named, prepared });
    },
    requireSaved: task_id => requireSaved(ground, task_id),
  };
}

/** Lock order: Idempotency-Keys sorted → names sorted → slots sorted → log head → the board's head. */
const completedKind: RecordKind<Completing, CompletionOutcome> = {
  async take(tx, items) {
    await takeKeys(
      tx,
      items.map(({ named }) => named),
    );
    const completions = items.map(({ completion }) => completion);
    const taken = await takeCompletions(tx, completions);
    const fresh = items.filter(({ completion }) => taken.has(completion.taskId));
    const robbed = await withoutTransfer(
      tx,
      fresh.map(({ completion }) => completion),
    );
    dropCompletions(tx, robbed);
    const going = fresh.filter(({ completion }) => !robbed.includes(completion));
    const standing = await readCompletions(readsOf(tx), completions);
    return {
      append: going.length === 0 ? null : async () => going.map(({ prepared }) => ({ prepared, landing: null })),
      async end(appended) {
        if (appended !== null) appendBoardEvents(tx, going.map(eventAt(appended.log.collected_at_ms)));
        return completions.map(completion => outcomeOf(completion, standing));
      },
    };
  },
};

function eventAt(at_ms: number) {
  return ({ completion: { taskId: task_id } }: Completing) => ({
    kind: 'completion_recorded' as const,
    task_id,
    at_ms,
  });
}

function outcomeOf(completion: BoardCompletion, standing: readonly BoardCompletion[]): CompletionOutcome {
  const found = standing.find(other => isSameCompletion(other, completion));
  if (!found) return { kind: 'transfer_taken' };
  return found.taskId === completion.taskId ? { kind: 'recorded' } : { kind: 'standing', standing: found };
}

const FIELD = 'Mutation.recordCompletion';
const JOB_KIND = 'other';

/**
 * Makes the receipt of a completion. This service has seen neither the delivery nor its author, so the facts of the payment are signed as
 * reported.
 */
function prepareCompletion(
  { issuer, clock, profile }: FormParts,
  { taskId, said, transfer }: BoardCompletion,
): PreparedReceipt {
  const request = said as unknown as CompletionRequest;
  const seen = transfer as ObservedTransfer | null;
  const { source, external_id: generation_id, payer, payee, amount, network, output_hash } = request;
  const payment_ref = foreignRef(request);
  const intent = { job_kind: JOB_KIND, resource: null, intent_id: null, attempt_index: null };
  const authorization = {
    payer_wallet: seen?.payer ?? null,
    delegation_hash: null,
    payment_ref: seen ? payment_ref : null,
  };
  const output_commitment = outputCommitmentOf('reporter', output_hash);
  return prepareReceipt(issuer, {
    task_id: taskId,
    issued_at: iso(clock.now_ms()),
    hub: '',
    model: '',
    job_kind: JOB_KIND,
    // Nothing in the request is secret, so the hash needs no salt. The caller can recompute it from the report.
    request_hash: canonicalHash({ field: FIELD, args: said }),
    agent_id: null,
    caller_binding: {},
    intent_id: null,
    attempt_index: null,
    fulfillment: { intent, authorization, output_commitment } satisfies JsonObject,
    settled_by: seen ? 'observed_transfer' : null,
    payment: null,
    reported: {
      by: `${INBOUND}${source}`,
      generation_id,
      rail: 'usdc',
      amount,
      payment_ref,
      ...(seen ? { verified_with: network } : {}),
    },
    reported_parties: { payer, payee, verified: seen !== null },
    profile,
  });
}

/** Completions whose transfer is already used by another record. A transfer belongs to one record permanently. */
async function withoutTransfer(tx: Tx, fresh: readonly BoardCompletion[]): Promise<readonly BoardCompletion[]> {
  const wanted = fresh.flatMap(completion => {
    const transfer = completion.transfer as ObservedTransfer | null;
    const claim_key = `inbound:${completion.taskId}`;
    return transfer === null ? [] : [{ completion, slot: transferSlot(transfer), claim_key }];
  });
  const missed = await takeFreeSlots(
    tx,
    wanted.map(({ slot, claim_key }) => ({ slot, claim_key })),
  );
  const lost = new Set(missed.map(({ claim_key }) => claim_key));
  return wanted.filter(({ claim_key }) => lost.has(claim_key)).map(({ completion }) => completion);
}
