import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Completions } from '../../../subgraphs/board/inbound/completions.ts';
import type { KnownBooks } from '../../../subgraphs/book/heads/known-books.ts';
import type { BlockedTooOften, BookRefusal } from '../../../subgraphs/book/ledger/block.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { type CollectedCall, collect } from '../../../subgraphs/book/ledger/collect.ts';
import { type JudgedAct, judgeAct } from '../../../subgraphs/book/ledger/judge-act.ts';
import type { Reports } from '../../../subgraphs/book/router/reports.ts';
import type { Random } from '../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { awaitArrivals } from '../../../subgraphs/receipt/claim/doubt.ts';
import { endKeyCalls } from '../../../subgraphs/receipt/claim/key-call/hold.ts';
import { keepNamed } from '../../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { answerLabel } from '../../../subgraphs/receipt/claim/rerun.ts';
import { takeFreeSlots } from '../../../subgraphs/receipt/claim/slots.ts';
import { markRecorded, storeAnswers } from '../../../subgraphs/receipt/claim/transitions.ts';
import type { Issuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import type { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import type { Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { countSpent } from '../../../subgraphs/session/delegation/count-spent.ts';
import type { HandOffs } from '../../../subgraphs/session/delegation/hand-offs.ts';
import type { Vault } from '../../../subgraphs/vault.ts';
import type { Faults } from '../../operations/faults.ts';
import { type Recordable, type Recorded, type Recording, SlotTaken } from './facts.ts';
import { type FormParts, leftBy, stampedBy } from './forms.ts';
import { keepUnderSessions } from './keep-under-sessions.ts';
import { leaveHead } from './leave-head.ts';
import { openCompletions } from './open-completions.ts';
import { openHandOffs } from './open-hand-offs.ts';
import { openReporting } from './open-reporting.ts';
import { openQueues, type Queues, type Run } from './queues.ts';

export interface RecordingParts extends FormParts {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly random: Random;
  /** This process's knowledge of the log: a batch extends no other. */
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  /** The same for books. */
  readonly known_books: KnownBooks;
  /** What a signed refusal says of the time at which it was made. */
  readonly anchor: Refuser['anchor'];
  readonly faults: Faults | null;
}

/** The only way to record a call, for callers and reconcile, with a payment or an API key. */
export type RecordCall = (recordable: Recordable) => Promise<Recorded>;

export interface OpenedRecording {
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  readonly record: RecordCall;
  /** Reports: in the same log, without a call to this service. */
  readonly reports: Reports;
  readonly completions: Completions;
  readonly hand_offs: HandOffs;
  /** The refusal of an act by its payer's book; null if the book allows it. */
  judgeAct(act: JudgedAct): Promise<BookRefusal | BlockedTooOften | null>;
  /** Resolves when what is committed of books is on disk, before a caller gets a book's refusal. */
  booksSaved(): Promise<void>;
}

/** Row, receipt, leaf and head in one commit; then the head outside the database; then the response. */
export function openRecording(parts: RecordingParts): OpenedRecording {
  const { database, issuer, vault, random, profile, known_books, known_log, anchor, faults } = parts;
  const blocked_calls = new BlockedCalls();
  const refusing = { refuser: { issuer, random, profile, anchor }, blocked_calls };
  const queues = openQueues(database, openRecorder(issuer, vault.seal, known_log), refusing, faults);
  return {
    queues,
    blocked_calls,
    reports: openReporting(parts),
    completions: openCompletions(parts),
    hand_offs: openHandOffs(parts),
    booksSaved: () => known_books.whenSaved(),
    judgeAct: act => database.transaction(tx => judgeAct(tx, refusing.refuser, act)),
    async record(recordable) {
      const recorded = await queues.record.submit({ ...recordable, ...leftBy(parts, recordable) });
      await leaveHead(parts, recorded.tree_head);
      return recorded;
    },
  };
}

/** One transaction for a batch: claims, stamps' effects, rows, receipts, leaves, head, counters, events, notifications. */
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
    await holdWaivedSlots(tx, by_key);
    // Sent in this order with one wait for all, so a lost claim has locked the log only briefly.
    const marked = markRecorded(tx, leases, siblingsOf(paid));
    if (vouched.length > 0) awaitArrivals(tx, vouched);
    const holds = by_key.map(({ hold }) => hold);
    const ended = holds.length > 0 ? endKeyCalls(tx, holds) : null;
    const [log] = await Promise.all([lockLogHead(tx, known_log), marked, ended]);
    const answers: (JsonObject | null)[] = [];
    for (const recording of recordings) answers.push(await answerOf(tx, recording, log.collected_at_ms));
    await storeAnswers(
      tx,
      recordings.flatMap((recording, index) => {
        const answer = answers[index];
        if (!answer || !('lease' in recording)) return [];
        const { lease, settled } = recording;
        return [{ claim_key: lease.claim_key, answer_box: seal(JSON.stringify(answer), answerLabel(settled.task_id)) }];
      }),
    );
    const under = await keepUnderSessions(tx, paid, by_key);
    const items = recordings.flatMap(({ collections }) => collections);
    const { collected, tree_head } = await collect(tx, issuer, log, items);
    // Last, because sessions are locked after book heads.
    await countSpent(tx, under);
    return firstOfEach(recordings, collected).map(({ receipt }, index) => ({
      receipt,
      tree_head,
      answer: answers[index] ?? null,
    }));
  };
}

/** Payments that are recorded with a later one. */
function siblingsOf(paid: readonly Recording[]): readonly string[] {
  return paid.flatMap(({ sibling }) => sibling ?? []);
}

/** Shown to the caller: the first receipt of its call. */
function firstOfEach(recordings: readonly Recording[], collected: readonly CollectedCall[]): readonly CollectedCall[] {
  let place = 0;
  return recordings.map(({ collections }) => {
    const first = collected[place] as CollectedCall;
    place += collections.length;
    return first;
  });
}

/** Slots of stamps by API key. No money is involved: one that finds a slot taken records nothing. */
async function holdWaivedSlots(tx: Tx, by_key: readonly Extract<Recording, { hold: object }>[]): Promise<void> {
  const wanted = by_key.flatMap(({ answer, settled: { task_id } }) => {
    const { slots } = (answer.kind === 'stamp' && answer.found) || { slots: [] };
    return slots.map(slot => ({ slot, claim_key: `waived:${task_id}` }));
  });
  if ((await takeFreeSlots(tx, wanted)).length > 0) throw new SlotTaken();
}

async function answerOf(tx: Tx, { answer, settled }: Recording, recorded_at_ms: number): Promise<JsonObject | null> {
  if (answer.kind === 'stored') return null;
  if (answer.kind === 'worked') return answer.answer;
  const { paid, args, found } = answer;
  return paid.commit(tx, args, { ...stampedBy(settled), recorded_at_ms }, found?.fact ?? null);
}
