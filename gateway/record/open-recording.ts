import type { JsonObject } from '../../schema/canonical-json.ts';
import { BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import { collect } from '../../subgraphs/book/ledger/collect.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { awaitArrivals } from '../../subgraphs/receipt/claim/arrival.ts';
import { endKeyCalls } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { keepNamed } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { markRecorded, storeAnswers } from '../../subgraphs/receipt/claim/transitions.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../subgraphs/receipt/log/head.ts';
import type { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { Refuser } from '../../subgraphs/receipt/refusal/sign-refusal.ts';
import type { Stamped } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Faults } from '../operations/faults.ts';
import { answerLabel, type Recordable, type Recorded, type Recording } from './facts.ts';
import { collectionOf, type FormParts, paymentRef, prepareRecord } from './forms.ts';
import { openQueues, type Queues, type Run } from './queues.ts';

export interface RecordingParts extends FormParts {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly random: Random;
  /** What this process knows of the log by itself: a batch appends to no other. */
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  /** What a signed refusal says of when it was made. */
  readonly anchor: Refuser['anchor'];
  readonly faults: Faults | null;
}

/** The one way into the record, whoever it is for and whether a payment moved or a key stood in for it. */
export type RecordCall = (recordable: Recordable) => Promise<Recorded>;

export interface OpenedRecording {
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  readonly record: RecordCall;
}

/** Row, receipt, leaf and head in one commit; then the head outside the database, and only then the answer to the caller. */
export function openRecording(parts: RecordingParts): OpenedRecording {
  const { database, issuer, vault, random, profile, known_log, saved_head, anchor, faults } = parts;
  const blocked_calls = new BlockedCalls();
  const refusing = { refuser: { issuer, random, profile, anchor }, blocked_calls };
  const queues = openQueues(database, openRecorder(issuer, vault.seal, known_log), refusing, faults);
  return {
    queues,
    blocked_calls,
    async record(recordable) {
      const prepared = prepareRecord(parts, recordable.settled);
      const recorded = await queues.record.submit({ ...recordable, prepared });
      known_log.committed(recorded.tree_head);
      await faults?.reach('after_record');
      await saved_head.save(recorded.tree_head);
      return recorded;
    },
  };
}

/** One transaction for a batch: claims, stamps' effects, rows, receipts, leaves, head, counters, events, wake-ups. */
function openRecorder(issuer: Issuer, seal: Vault['seal'], known_log: KnownLog): Run<Recording, Recorded> {
  return async (tx, recordings) => {
    const paid = recordings.filter(recording => 'lease' in recording);
    const leases = paid.map(({ lease }) => lease);
    const vouched = paid.flatMap(({ lease, settled }) =>
      settled.transfer.kind === 'vouched' ? [lease.claim_key] : [],
    );
    const by_key = recordings.filter(recording => 'hold' in recording);
    const named = by_key.flatMap(recording => recording.named ?? []);
    if (named.length > 0) await keepNamed(tx, named);
    // One behind the other, in this order, with one wait for all: a claim that is lost has held the log for a moment.
    const marked = markRecorded(tx, leases);
    if (vouched.length > 0) awaitArrivals(tx, vouched);
    const holds = by_key.map(({ hold }) => hold);
    const ended = holds.length > 0 ? endKeyCalls(tx, holds) : null;
    const [log] = await Promise.all([lockLogHead(tx, known_log), marked, ended]);
    const answers: (JsonObject | null)[] = [];
    for (const recording of recordings) answers.push(await answerOf(tx, recording));
    await storeAnswers(
      tx,
      recordings.flatMap((recording, index) => {
        const answer = answers[index];
        if (!answer || !('lease' in recording)) return [];
        const { lease, settled } = recording;
        return [{ claim_key: lease.claim_key, answer_box: seal(JSON.stringify(answer), answerLabel(settled.task_id)) }];
      }),
    );
    const { collected, tree_head } = await collect(tx, issuer, log, recordings.map(collectionOf));
    return collected.map(({ receipt }, index) => ({ receipt, answer: answers[index] ?? null, tree_head }));
  };
}

async function answerOf(tx: Tx, { answer, settled }: Recording): Promise<JsonObject | null> {
  if (answer.kind === 'stored') return null;
  if (answer.kind === 'worked') return answer.answer;
  if (settled.transfer === null) throw new Error(`${settled.task_id}: no key stands in for a stamp`);
  const stamped: Stamped = {
    task_id: settled.task_id,
    agent_id: settled.agent_id,
    payer: { network: settled.network, wallet: settled.payer },
    payment_ref: paymentRef(settled),
  };
  return answer.paid.commit(tx, answer.args, stamped);
}
