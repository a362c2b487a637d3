import type { JsonObject } from '../../schema/canonical-json.ts';
import { collect } from '../../subgraphs/book/ledger/collect.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { awaitArrivals } from '../../subgraphs/receipt/claim/arrival.ts';
import { endKeyCalls } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { keepNamed } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { markRecorded, storeAnswers } from '../../subgraphs/receipt/claim/transitions.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../subgraphs/receipt/log/head.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import type { Stamped } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { collectionOf, paymentRef } from './forms.ts';
import { answerLabel, type Recorded, type Recording } from './recording.ts';

export type Recorder = (tx: Tx, recordings: readonly Recording[]) => Promise<readonly Recorded[]>;

/** One transaction for a batch: claims, stamps' effects, rows, receipts, leaves, head, counters, events, wake-ups. */
export function openRecorder(issuer: Issuer, seal: Vault['seal'], known_log: KnownLog): Recorder {
  return async (tx, recordings) => {
    const paid = recordings.filter(recording => 'lease' in recording);
    const leases = paid.map(({ lease }) => lease);
    const vouched = paid.flatMap(({ lease, settled }) =>
      settled.transfer.kind === 'vouched' ? [lease.claim_key] : [],
    );
    const holds = recordings.flatMap(recording => ('hold' in recording ? [recording.hold] : []));
    await keepNamed(
      tx,
      recordings.flatMap(recording => ('hold' in recording && recording.named ? [recording.named] : [])),
    );
    // One behind the other, in this order, with one wait for all: a claim that is lost has held the log for a moment.
    const marked = markRecorded(tx, leases);
    awaitArrivals(tx, vouched);
    const ended = endKeyCalls(tx, holds);
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
